from .config.reading import (
    config_error as config_error,
    examine_config as examine_config,
    resolved as resolved,
    snapshot as snapshot,
)
from .config.schema import (
    Dashboard as Dashboard,
    ExperimentConfig as ExperimentConfig,
    Simulated as Simulated,
    Stimuli as Stimuli,
    Tracker as Tracker,
    Trial as Trial,
)
from .config.summary import (
    summary as summary,
)
from .config.template import (
    SCRIPT as SCRIPT,
    effective as effective,
    key_names as key_names,
    write_start as write_start,
)
from .display.display import (
    Participant as Participant,
)
from .display.windowless_display import (
    open_windowless as open_windowless,
)
from .doctor.examination import (
    examine as examine,
)
from .doctor.finding import (
    Finding as Finding,
    Situation as Situation,
)
from .process.launch import (
    RunSpec as RunSpec,
    launch as launch,
)
from .process.named_files import (
    missing_files as missing_files,
)
from .process.preparation import (
    prepare as prepare,
)
from .run import (
    main as main,
)
