"""NumPy's own Python, copied as other people's is: its functions that no rule is written for."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.transforms.differentiable.classes import make_class
from tape_ad.transforms.differentiable.copying import MAKERS, converted, make_function
from tape_ad.transforms.differentiable.numpy_names import Elementwise
from tape_ad.transforms.differentiable.reach import reaches
from tape_ad.transforms.differentiable.table import note_stand_in

__all__: list[str] = []


def copying_own_code(function: Callable[..., Any]) -> None:
    """Let a copy of a function's code run where there are handles."""
    code = inspect.unwrap(function)  # what NumPy dispatches to

    @functools.wraps(code)
    def calling(*args: Any, **kwargs: Any) -> Any:
        if not reaches((args, kwargs)):
            return function(*unwrapped(args), **unwrapped(kwargs))
        return copy()(*args, **kwargs)

    copy = functools.cache(lambda: make_function(code))
    note_stand_in(function, calling)


MAKERS[np.vectorize] = lambda function: Elementwise(
    converted(function.pyfunc), function, function.excluded
)

for _function in (np.polydiv, np.bmat, np.apply_over_axes):
    copying_own_code(_function)
note_stand_in(np.poly1d, make_class(np.poly1d))
