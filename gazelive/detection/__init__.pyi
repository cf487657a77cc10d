from .agreement import (
    Agreement as Agreement,
    compare_events as compare_events,
    mask_of as mask_of,
    match_events as match_events,
)
from .binocular import (
    CyclopeanGaze as CyclopeanGaze,
    cyclopean as cyclopean,
)
from .engbert_kliegl import (
    detect_engbert_kliegl as detect_engbert_kliegl,
    detect_engbert_kliegl_binocular as detect_engbert_kliegl_binocular,
)
from .events import (
    DetectorOutput as DetectorOutput,
    Runs as Runs,
    runs_of as runs_of,
)
from .online.detector import (
    OnlineDetector as OnlineDetector,
)
from .online.noise import (
    NoiseMemory as NoiseMemory,
)
from .online.online_state import (
    N_RECENT as N_RECENT,
)
from .online.traced import (
    Trace as Trace,
    TracedDetector as TracedDetector,
    compiled_trace as compiled_trace,
)
from .online.velocity_kernels import (
    centred_velocity as centred_velocity,
)
from .parameters import (
    DETECTOR_REVISION as DETECTOR_REVISION,
    HIGHEST_RATE_HZ as HIGHEST_RATE_HZ,
    LOWEST_RATE_HZ as LOWEST_RATE_HZ,
    DetectorParameters as DetectorParameters,
    EngbertKlieglParameters as EngbertKlieglParameters,
    check_rate as check_rate,
    preset as preset,
    to_samples as to_samples,
)
from .result import (
    Detection as Detection,
    Method as Method,
)
from .settled.interval import (
    detect_online as detect_online,
    detect_settled as detect_settled,
)
from .settled.review import (
    EyeTrace as EyeTrace,
    smallest_amplitude as smallest_amplitude,
    typical_peak as typical_peak,
)
