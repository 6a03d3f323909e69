"""Distances and kernels of all pairs of points: functions of `sklearn.metrics.pairwise` on handles.

They need scikit-learn, as all of `tape_ad.interop.sklearn` does.

Examples
--------
>>> import tape_ad as ta
>>> points = ta.ComputationRecord().tensor([[0.0, 0.0], [3.0, 4.0]])
>>> distances = ta.interop.sklearn.pairwise.euclidean_distances(points, [[0.0, 1.0]])
>>> distances.sum().grad().wrt(points).round(3)
array([[ 0.   , -1.   ],
       [ 0.707,  0.707]])
"""

from typing import Any

from tape_ad.extend.packages import listed
from tape_ad.interop.sklearn.pairs import FORMULAS, functions

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    """Give a function, for which scikit-learn is imported when the first is asked for."""
    if name in FORMULAS and name in functions():
        return functions()[name]
    raise AttributeError(f"tape_ad.interop.sklearn.pairwise has no {name}")


__dir__ = listed([*__all__, *FORMULAS])
