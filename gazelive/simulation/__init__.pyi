from .corpus import (
    CorpusPlan as CorpusPlan,
    write_corpus as write_corpus,
)
from .image_pool import (
    ImagePool as ImagePool,
    default_stimuli as default_stimuli,
)
from .people import (
    random_stream as random_stream,
)
from .viewer import (
    ViewerSimulation as ViewerSimulation,
)
