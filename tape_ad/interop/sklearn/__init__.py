"""Scores, losses and distances: functions of `sklearn.metrics` on handles.

They have scikit-learn's names and arguments. scikit-learn's own turn what they get into plain
arrays, or end in Python's ``float``; these give scikit-learn's results for plain arrays, and record
what they do for handles. There is no flag to be set. They need scikit-learn, which
``pip install 'tape-ad[sklearn]'`` installs.

Scores that are smooth in predictions, targets or weights are differentiated. Those that only count
or sort (`accuracy_score`, `roc_auc_score`) are piecewise constant, and give plain numbers.

Examples
--------
>>> import tape_ad as ta
>>> prediction = ta.ComputationRecord().tensor([2.5, 0.0, 1.0])
>>> loss = ta.interop.sklearn.mean_squared_error([3.0, -0.5, 2.0], prediction)
>>> loss.grad().wrt(prediction).round(3)
array([-0.333,  0.333, -0.667])
"""

import functools
import importlib
from collections.abc import Callable
from typing import Any

from tape_ad.extend.packages import listed
from tape_ad.interop.sklearn import classification, pairwise, regression
from tape_ad.interop.sklearn.counterparts import constant, published

__all__ = ["pairwise"]

SMOOTH = regression.SMOOTH | classification.SMOOTH
FORMULAS = regression.FORMULAS | classification.FORMULAS
NAMES = {*SMOOTH, *classification.CONSTANT}


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Give the functions by their names, as far as the installed scikit-learn has them."""
    found = published("sklearn.metrics", SMOOTH, FORMULAS)
    theirs = importlib.import_module("sklearn.metrics")
    return found | {name: constant(getattr(theirs, name)) for name in classification.CONSTANT}


def __getattr__(name: str) -> Any:
    """Give a function, for which scikit-learn is imported when the first is asked for."""
    if name in NAMES and name in functions():
        return functions()[name]
    raise AttributeError(
        f"tape_ad.interop.sklearn has no {name}: scikit-learn has no such score, or none for "
        "handles"
    )


__dir__ = listed([*__all__, *NAMES])
