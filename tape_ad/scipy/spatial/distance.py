"""Distances: functions of `scipy.spatial.distance` on handles.

Examples
--------
>>> import tape_ad as ta
>>> points = ta.ComputationRecord().tensor([[0.0, 0.0], [3.0, 4.0]])
>>> ta.scipy.spatial.distance.pdist(points).sum().grad().wrt(points)
array([[-0.6, -0.8], [ 0.6,  0.8]])
"""

import scipy.spatial.distance  # noqa: F401 - whose names are published

from tape_ad.extend.packages import published
from tape_ad.scipy.spatial.pairs import *
from tape_ad.scipy.spatial.vectors import *

__getattr__, __dir__ = published(__name__)
