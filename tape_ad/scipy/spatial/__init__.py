"""Distances and rotations: functions of `scipy.spatial` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.spatial`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.spatial"):
    import scipy.spatial  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.faces import face
from tape_ad.scipy.interpolate.polynomials import PIECES
from tape_ad.scipy.spatial import distance as distance
from tape_ad.scipy.spatial import transform as transform
from tape_ad.scipy.spatial.distance import VECTORS
from tape_ad.scipy.spatial.metrics import PAIRS, ROOTS
from tape_ad.scipy.spatial.neighbours import *
from tape_ad.scipy.spatial.quaternions import ANGLES
from tape_ad.scipy.spatial.rotations import geometric_slerp as geometric_slerp

add_rules(merged(ROOTS, PAIRS, VECTORS, ANGLES, NEIGHBOURS))
add_rules(PIECES)  # which rotations that are splines of time are made of

__getattr__, __dir__ = face(__name__, packages=["distance", "transform"])
