"""Boolean map saliency: regions that are enclosed at many thresholds stand out.

J. Zhang and S. Sclaroff, "Saliency detection: a Boolean map approach", ICCV 2013. Each colour
channel is cut at many levels; a region that does not reach the image's border is a figure, and
the saliency of a place is how often, and in how sparse a map, it belongs to a figure.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from gazelive.gaze import Flags, Floats

THRESHOLD_STEP = 8.0
"""Distance of two cuts in CIELAB units scaled to 0 … 255, as in the paper."""
DILATION_SHARE = 7 / 600
"""Width of the dilation of each figure, as a share of the image's width."""
_EIGHT_NEIGHBOURS = np.ones((3, 3), dtype=bool)


def boolean_map_saliency(rgb: Floats) -> Floats:
    """Return the mean attention map, shape (rows, columns), of an image.

    `rgb` is (rows, columns, 3) in 0 … 1. Some 120 columns are enough: regions matter, not details.
    The values are at least 0 and have no scale.
    """
    attention = np.zeros(rgb.shape[:2])
    width = max(3, round(DILATION_SHARE * rgb.shape[1]) | 1)
    for channel in np.moveaxis(_to_lab(rgb), 2, 0):
        lowest, highest = float(channel.min()), float(channel.max())
        for threshold in np.arange(lowest + THRESHOLD_STEP / 2, highest, THRESHOLD_STEP):
            above = channel > threshold
            for side in (above, ~above):
                figures = _enclosed(side)
                if figures.any():
                    grown = ndimage.maximum_filter(figures, size=width)
                    attention += grown / np.sqrt(np.count_nonzero(grown))
    return attention


def _enclosed(mask: Flags) -> Flags:
    """Return the part of `mask` that is not connected to the border."""
    labels, n_regions = ndimage.label(mask, structure=_EIGHT_NEIGHBOURS)
    enclosed = np.ones(n_regions + 1, dtype=bool)
    enclosed[0] = False
    for edge in (labels[0], labels[-1], labels[:, 0], labels[:, -1]):
        enclosed[edge] = False
    figures: Flags = enclosed[labels]
    return figures


def _to_lab(rgb: Floats) -> Floats:
    """Return CIELAB (D65) of sRGB, lightness scaled to 0 … 255 as the paper's 8-bit images."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = linear @ to_xyz.T / np.array([0.9505, 1.0, 1.089])
    curve = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = np.moveaxis(curve, 2, 0)
    return np.stack([2.55 * (116 * y - 16), 500 * (x - y), 200 * (y - z)], axis=2)
