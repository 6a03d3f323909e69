"""Functions that also draw what they compute: on handles, SciPy's own draws their values."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tape_ad.extend.arrays import any_handle, plain


def drawing(copy: Callable[..., Any]) -> Callable[..., Any]:
    """Let SciPy's function draw plain values where a copy of it computes with handles."""
    theirs = inspect.unwrap(copy)
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def public(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        if given.get("plot") is None or not any_handle((args, kwargs)):
            return copy(*args, **kwargs)
        theirs(**{name: each if name == "plot" else plain(each) for name, each in given.items()})
        del given["plot"]
        return copy(*bound.args, **bound.kwargs)

    return public


DRAWING = dict.fromkeys(
    ("boxcox_normplot", "ppcc_plot", "probplot", "yeojohnson_normplot"), drawing
)
"""By the names of the functions, what makes the public ones of their copies."""
