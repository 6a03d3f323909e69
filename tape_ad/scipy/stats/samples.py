"""What functions of samples do with their arguments where handles are among them."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle, as_array, joined, primal, refuse_handles
from tape_ad.scipy.installed import scipy

Function = TypeVar("Function", bound=Callable[..., Any])


def as_one(tree: Any) -> Any:
    """Stack what stands in a list or tuple, if there are handles in it and it makes an array."""
    try:
        return joined(tree)
    except ValueError:  # of shapes that differ, which SciPy's function then has to take
        return tree


def as_told(x: Any, value: Any) -> Any:
    """Give what was computed here the value that SciPy gives, where its constants are rounded."""
    own = primal(x)
    return x + np.where(np.equal(own, value), 0.0, value - own)


def floating(x: Any) -> Array:
    """Take an operand to an array of floats, as SciPy does."""
    x = as_array(x)
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def floats(operands: Sequence[Any]) -> list[Array]:
    """Take operands to arrays of floats; Python's numbers take the precision of the arrays."""
    arrays = [floating(x) for x in operands]
    strong = [x.dtype for x, given in zip(arrays, operands, strict=True) if hasattr(given, "dtype")]
    if not strong or np.result_type(*strong) != np.float32:
        return arrays
    weak = (np.float64, np.float32)
    return [
        x.astype(weak[type(given) in (int, float)]) if not hasattr(given, "dtype") else x
        for x, given in zip(arrays, operands, strict=True)
    ]


def refuse_option(name: str, argument: str, value: Any) -> None:
    """Refuse an option that is given for plain arrays alone.

    Raises
    ------
    UnsupportedArgumentError
    """
    raise UnsupportedArgumentError(
        f"scipy.stats.{name}: the argument {argument}={value!r} is not supported on handles; leave "
        "it out, or pass .data of the handles if no gradient is meant to flow"
    )


def on_handles(smooth: str) -> Callable[[Function], Function]:
    """Let lines stand for SciPy's function of that name where there are handles.

    Parameters
    ----------
    smooth : str
        The arguments that may be handles, apart by spaces.
    """
    taken = frozenset(smooth.split())

    def decorate(lines: Function) -> Function:
        theirs = getattr(scipy.stats, lines.__name__)
        signature = inspect.signature(lines)
        # What this release of SciPy takes besides, which newer ones do
        optional = dict(inspect.signature(theirs).parameters)
        for name, parameter in signature.parameters.items():
            optional.pop(name, None)
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                optional.clear()

        @functools.wraps(lines)
        def public(*args: Any, **kwargs: Any) -> Any:
            if not any_handle((args, kwargs)):
                return theirs(*args, **kwargs)
            for name in optional.keys() & kwargs.keys():
                if kwargs[name] != optional[name].default:
                    refuse_option(lines.__name__, name, kwargs[name])
            kwargs = {name: x for name, x in kwargs.items() if name not in optional}
            bound = signature.bind(*args, **kwargs)
            given = bound.arguments
            others = {name: value for name, value in given.items() if name not in taken}
            refuse_handles(f"scipy.stats.{lines.__name__}", others)
            given.update({name: as_one(x) for name, x in given.items()})
            return lines(*bound.args, **bound.kwargs)

        return cast("Function", public)

    return decorate
