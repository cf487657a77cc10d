from .image_files import (
    find_image as find_image,
    images_in as images_in,
    open_image as open_image,
)
from .painted_images import paint_images as paint_images
from .saliency import (
    GRID_SHAPE as GRID_SHAPE,
    SaliencyMap as SaliencyMap,
    centre_bias as centre_bias,
    empirical_density as empirical_density,
    generated_saliency as generated_saliency,
    image_saliency as image_saliency,
    learned_centre_bias as learned_centre_bias,
)
