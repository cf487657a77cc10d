from .gamma import (
    fit_gamma as fit_gamma,
)
from .gp_density_kernels import (
    N_BINS as N_BINS,
    bin_number as bin_number,
)
from .markov import (
    MarkovModel as MarkovModel,
    gradient_cells as gradient_cells,
    markov_dynamics_features as markov_dynamics_features,
    markov_features as markov_features,
    markov_of_statistics as markov_of_statistics,
    scanpath_statistics as scanpath_statistics,
)
from .math_kernels import (
    LEAST_EXP2 as LEAST_EXP2,
    exp2 as exp2,
    vectorised as vectorised,
)
from .scenewalk.box import (
    check_bounds as check_bounds,
)
from .scenewalk.equations import (
    ImageGrid as ImageGrid,
    SceneWalk as SceneWalk,
    SceneWalkParameters as SceneWalkParameters,
    sample_position as sample_position,
)
from .scenewalk.fit import (
    VIEWER_SD as VIEWER_SD,
)
from .scenewalk.model import (
    LiveScore as LiveScore,
    SceneWalkModel as SceneWalkModel,
)
from .scenewalk.saliency_choice import (
    ImageFixations as ImageFixations,
    SaliencyBank as SaliencyBank,
)
from .scenewalk.viewing import (
    Viewing as Viewing,
)
from .semiparametric import (
    Population as Population,
    Saccades as Saccades,
    ViewerPrior as ViewerPrior,
)
from .storage import (
    LARGEST as LARGEST,
    StoredArrays as StoredArrays,
    read_arrays as read_arrays,
    stored_number as stored_number,
    write_arrays as write_arrays,
)
from .typed_density_kernels import (
    FAMILY as FAMILY,
    NONE as NONE,
    add_type_scores as add_type_scores,
    add_value_scores as add_value_scores,
    cell_score as cell_score,
)
