from .eyelink.device import (
    EyeLinkDevice as EyeLinkDevice,
    load_pylink as load_pylink,
)
from .eyelink.link import (
    LONGEST_MESSAGE as LONGEST_MESSAGE,
)
from .eyelink.setup import (
    EyeLinkSettings as EyeLinkSettings,
)
from .protocol import (
    Calibrates as Calibrates,
    ControlsPlayback as ControlsPlayback,
    CrossStimulus as CrossStimulus,
    DrawsInWindow as DrawsInWindow,
    GazeDevice as GazeDevice,
    HasHostFile as HasHostFile,
    HasHostMenu as HasHostMenu,
    HostRequest as HostRequest,
    ImageStimulus as ImageStimulus,
    LooksAtTargets as LooksAtTargets,
    SeesStimulus as SeesStimulus,
    SendsMessages as SendsMessages,
    TellsProblems as TellsProblems,
)
from .recorder import (
    PATIENCE_S as PATIENCE_S,
    ChunkSink as ChunkSink,
    Recorder as Recorder,
)
from .replay import (
    ReplayDevice as ReplayDevice,
)
from .simulated import (
    SaliencyOf as SaliencyOf,
    SimulatedDevice as SimulatedDevice,
    saliency_in as saliency_in,
)
