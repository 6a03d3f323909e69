"""What random calls are known to find, and is not asked of them again."""

from collections.abc import Mapping

__all__ = ["KNOWN"]

KNOWN: Mapping[tuple[str, str], str] = {
    ("np.histogram_bin_edges", "difference"): "edges count as constants",
    ("np.histogram", "difference"): "edges count as constants",
    ("np.histogram2d", "difference"): "edges count as constants",
    ("np.histogramdd", "difference"): "edges count as constants",
    ("np.histogram", "silent"): "weights that do not fit the sample's shape",
    ("np.histogram", "value"): "complex samples",
    ("np.nextafter", "difference"): "counts as piecewise constant",
    ("np.linalg.eig", "difference"): "vectors are free in a factor",
    ("np.linalg.eigh", "difference"): "vectors are free in a factor",
    ("np.linalg.svd", "difference"): "vectors are free in a factor",
    ("np.partition", "value"): "the order beside the chosen element is open",
    ("np.empty_like", "value"): "whatever is in the memory",
    ("tape_ad.linalg.cho_factor", "value"): "SciPy leaves the other triangle as it is",
    ("tape_ad.linalg.lu_factor", "sweep"): "a singular matrix",
    ("tape_ad.linalg.sqrtm", "difference"): "SciPy's own value is wrong in another byte order",
    ("tape_ad.linalg.sqrtm", "sweep"): "SciPy's own value is wrong in another byte order",
}
"""For a function and a kind of problem, why it is none, or not one of ours."""
