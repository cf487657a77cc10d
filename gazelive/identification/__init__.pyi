from .contract import (
    DEFAULT_TERMS as DEFAULT_TERMS,
    Arrays as Arrays,
    Estimate as Estimate,
    Identifier as Identifier,
    LooksAtImages as LooksAtImages,
    Probe as Probe,
    Terms as Terms,
)
from .enrolment import (
    enrol as enrol,
    forget as forget,
    merge as merge,
)
from .expectation import (
    Expectation as Expectation,
    ExpectedRow as ExpectedRow,
    expect as expect,
)
from .explanation import (
    explain_probe as explain_probe,
)
from .fitted import (
    Accuracy as Accuracy,
    Fitted as Fitted,
    Options as Options,
)
from .methods.scenewalk import (
    SceneWalkIdentifier as SceneWalkIdentifier,
)
from .model_file import (
    DetectorChoice as DetectorChoice,
    Manifest as Manifest,
    Provenance as Provenance,
    TrainedModel as TrainedModel,
    load_model as load_model,
    new_model as new_model,
    read_model_manifest as read_model_manifest,
    save_model as save_model,
    trial_patterns_of as trial_patterns_of,
)
from .posterior_kernels import (
    write_leading as write_leading,
)
from .probe import (
    take_running as take_running,
)
from .registry import (
    fit_method as fit_method,
    method_kind as method_kind,
    method_names as method_names,
)
from .stimuli import (
    image_problems as image_problems,
    looks_at_images as looks_at_images,
    with_stimuli as with_stimuli,
)
from .training_data import (
    SourceKind as SourceKind,
    TrainingSet as TrainingSet,
    training_set as training_set,
)
