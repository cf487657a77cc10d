from .area import (
    Area as Area,
    Circle as Circle,
    Rectangle as Rectangle,
)
from .dwell import (
    Dwell as Dwell,
)
from .parameters import (
    TriggerParameters as TriggerParameters,
)
from .trigger import (
    GazePoint as GazePoint,
    Trigger as Trigger,
    TriggerKind as TriggerKind,
)
from .triggers import (
    Triggers as Triggers,
)
from .watch import (
    Watch as Watch,
)
