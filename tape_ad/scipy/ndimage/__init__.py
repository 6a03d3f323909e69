"""Filters and geometric transforms of images: functions of `scipy.ndimage` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.ndimage`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.base.extras import extra
from tape_ad.record.messages.migration_hints import attributes_of, listed

with extra("scipy", "tape_ad.scipy.ndimage"):
    import scipy.ndimage

from tape_ad.rules import add_rules
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.correlation import (
    convolve,
    convolve1d,
    correlate,
    correlate1d,
    uniform_filter1d,
)
from tape_ad.scipy.ndimage.filters import (
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
    generic_gradient_magnitude,
    generic_laplace,
    laplace,
    prewitt,
    sobel,
    uniform_filter,
)
from tape_ad.scipy.ndimage.fourier import (
    fourier_ellipsoid,
    fourier_gaussian,
    fourier_shift,
    fourier_uniform,
)
from tape_ad.scipy.ndimage.interpolation import map_coordinates
from tape_ad.scipy.ndimage.measurements import (
    center_of_mass,
    extrema,
    histogram,
    label,
    labeled_comprehension,
    maximum,
    maximum_position,
    mean,
    median,
    minimum,
    minimum_position,
    standard_deviation,
    sum_labels,
    variance,
)
from tape_ad.scipy.ndimage.morphology import (
    binary_closing,
    binary_dilation,
    binary_erosion,
    binary_fill_holes,
    binary_hit_or_miss,
    binary_opening,
    binary_propagation,
    black_tophat,
    distance_transform_bf,
    distance_transform_cdt,
    distance_transform_edt,
    grey_closing,
    grey_opening,
    morphological_gradient,
    morphological_laplace,
    white_tophat,
)
from tape_ad.scipy.ndimage.ranks import (
    grey_dilation,
    grey_erosion,
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    rank_filter,
)
from tape_ad.scipy.ndimage.rules import NDIMAGE
from tape_ad.scipy.ndimage.splines import spline_filter, spline_filter1d
from tape_ad.scipy.ndimage.transforms import (
    affine_transform,
    geometric_transform,
    rotate,
    shift,
    zoom,
)
from tape_ad.scipy.ndimage.user_functions import generic_filter, generic_filter1d

find_objects = scipy.ndimage.find_objects  # of integers and shapes, which handles are not
generate_binary_structure = scipy.ndimage.generate_binary_structure
iterate_structure = scipy.ndimage.iterate_structure
value_indices = scipy.ndimage.value_indices
watershed_ift = scipy.ndimage.watershed_ift

__all__ = [
    "affine_transform",
    "binary_closing",
    "binary_dilation",
    "binary_erosion",
    "binary_fill_holes",
    "binary_hit_or_miss",
    "binary_opening",
    "binary_propagation",
    "black_tophat",
    "center_of_mass",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "distance_transform_bf",
    "distance_transform_cdt",
    "distance_transform_edt",
    "extrema",
    "find_objects",
    "fourier_ellipsoid",
    "fourier_gaussian",
    "fourier_shift",
    "fourier_uniform",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generate_binary_structure",
    "generic_filter",
    "generic_filter1d",
    "generic_gradient_magnitude",
    "generic_laplace",
    "geometric_transform",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "histogram",
    "iterate_structure",
    "label",
    "labeled_comprehension",
    "laplace",
    "map_coordinates",
    "maximum",
    "maximum_filter",
    "maximum_filter1d",
    "maximum_position",
    "mean",
    "median",
    "median_filter",
    "minimum",
    "minimum_filter",
    "minimum_filter1d",
    "minimum_position",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "standard_deviation",
    "sum_labels",
    "uniform_filter",
    "uniform_filter1d",
    "value_indices",
    "variance",
    "watershed_ift",
    "white_tophat",
    "zoom",
]

add_rules(NDIMAGE)

__getattr__ = attributes_of(__name__)
__dir__ = listed(__all__)
