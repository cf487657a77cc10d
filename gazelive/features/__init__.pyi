from .derivatives import (
    short_filter as short_filter,
)
from .feature_set import (
    ALL_ALIKE as ALL_ALIKE,
    DIRECTIONS as DIRECTIONS,
    DIRECTIONS_AND_SIZES as DIRECTIONS_AND_SIZES,
    EIGHT_DIRECTIONS as EIGHT_DIRECTIONS,
    TURNS as TURNS,
    Feature as Feature,
    FeatureSet as FeatureSet,
    TypeRule as TypeRule,
    copied as copied,
)
from .feature_set_kernels import (
    Features as Features,
    TypeCode as TypeCode,
    row_type as row_type,
    row_values as row_values,
)
from .identity_kernels import (
    Movement as Movement,
)
from .kinematics_kernels import (
    Kinematics as Kinematics,
)
from .overshoot import (
    overshoots as overshoots,
)
from .saccades import (
    AnalysedGaze as AnalysedGaze,
    between_ends as between_ends,
    saccade_features as saccade_features,
)
from .scanpath import (
    COLUMN_NAMES as COLUMN_NAMES,
    LATE_COLUMN as LATE_COLUMN,
    MOVEMENT_AT as MOVEMENT_AT,
    N_COLUMNS as N_COLUMNS,
    Column as Column,
    Rows as Rows,
    Scanpath as Scanpath,
    scanpath_of as scanpath_of,
    scanpath_row as scanpath_row,
    scanpaths_of_fixations as scanpaths_of_fixations,
)
from .schema import (
    AFTER as AFTER,
    MOVEMENT as MOVEMENT,
    TEXTURE as TEXTURE,
)
from .stream import (
    FeatureStream as FeatureStream,
    SaccadeRow as SaccadeRow,
)
from .turns import (
    Turn as Turn,
    turn_between as turn_between,
)
from .vigor import (
    DEFAULT_RATE_DEG as DEFAULT_RATE_DEG,
    mean_rate_deg as mean_rate_deg,
    vigor_deg_s as vigor_deg_s,
)
