"""Distances and rotations: functions of `scipy.spatial` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.spatial`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.base.extras import extra
from tape_ad.record.messages.migration_hints import attributes_of, listed

with extra("scipy", "tape_ad.scipy.spatial"):
    import scipy.spatial  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.rules import add_rules
from tape_ad.scipy.interpolate.pieces import PIECES
from tape_ad.scipy.spatial import distance, transform
from tape_ad.scipy.spatial.neighbours import (
    KDTree,
    distance_matrix,
    minkowski_distance,
    minkowski_distance_p,
    procrustes,
)
from tape_ad.scipy.spatial.rules import SPATIAL
from tape_ad.scipy.spatial.slerps import geometric_slerp

__all__ = [
    "KDTree",
    "distance",
    "distance_matrix",
    "geometric_slerp",
    "minkowski_distance",
    "minkowski_distance_p",
    "procrustes",
    "transform",
]

add_rules(SPATIAL)
add_rules(PIECES)  # which rotations that are splines of time are made of

__getattr__ = attributes_of(__name__)
__dir__ = listed(__all__)
