"""Distances: functions of `scipy.spatial.distance` on handles.

Examples
--------
>>> import tape_ad as ta
>>> points = ta.ComputationRecord().tensor([[0.0, 0.0], [3.0, 4.0]])
>>> ta.scipy.spatial.distance.pdist(points).sum().grad().wrt(points)
array([[-0.6, -0.8], [ 0.6,  0.8]])
"""

from tape_ad.record.messages.migration_hints import listed
from tape_ad.scipy.spatial.pairs import cdist, pdist
from tape_ad.scipy.spatial.vectors import (
    braycurtis,
    canberra,
    chebyshev,
    cityblock,
    correlation,
    cosine,
    dice,
    directed_hausdorff,
    euclidean,
    hamming,
    is_valid_dm,
    is_valid_y,
    jaccard,
    jensenshannon,
    mahalanobis,
    minkowski,
    num_obs_dm,
    num_obs_y,
    rogerstanimoto,
    russellrao,
    seuclidean,
    sokalsneath,
    sqeuclidean,
    squareform,
    yule,
)

__all__ = [
    "braycurtis",
    "canberra",
    "cdist",
    "chebyshev",
    "cityblock",
    "correlation",
    "cosine",
    "dice",
    "directed_hausdorff",
    "euclidean",
    "hamming",
    "is_valid_dm",
    "is_valid_y",
    "jaccard",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "num_obs_dm",
    "num_obs_y",
    "pdist",
    "rogerstanimoto",
    "russellrao",
    "seuclidean",
    "sokalsneath",
    "sqeuclidean",
    "squareform",
    "yule",
]
__dir__ = listed(__all__)
