"""What the modules of SciPy's special functions share."""

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import scipy.special

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, possibly
from tape_ad.extend.rules import Maker, quiet
from tape_ad.scipy import installed
from tape_ad.scipy.installed import Missing

__all__ = [
    "BERNOULLI",
    "Probe",
    "in_double",
    "no_partial",
    "sp",
    "ufuncs",
    "where_found",
]

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B_2, B_4, and so on."""


class Probe:
    """An operand that tells by NEP 13 which ufunc stands behind a function of SciPy's."""

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return ufunc


def floating_dtype(*operands: Array) -> np.dtype[Any]:
    """Give the dtype that SciPy's ufuncs give for real operands: float32 or float64."""
    dtype = np.result_type(*operands)
    return np.promote_types(dtype, np.float32 if dtype.kind == "f" else np.float64)


def in_double(compute: Callable[..., Array], *operands: Array) -> Array:
    """Compute in double precision, in silence, and give the dtype that a ufunc would give."""
    dtype = floating_dtype(*operands)
    with np.errstate(all="ignore"):
        broadcast = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in operands))
        return np.asarray(compute(*broadcast)).astype(dtype)[()]


def no_partial(function: str, argument: str) -> Maker:
    """Make the maker for an operand that no derivative is known for: it refuses handles.

    None instead of it would say that the function is piecewise constant in the operand.
    """

    def refuse_handle(*arguments: Any, **options: Any) -> NoReturn:
        raise UnsupportedArgumentError(
            f"scipy.special.{function} cannot be differentiated with respect to {argument}; pass "
            f"{argument}.data there if it is meant as a constant"
        )

    return refuse_handle


def where_found(maker: Callable[..., Array]) -> Maker:
    """Give no slope where there is no value."""

    def partial(out: Array, *args: Array) -> Array:
        nowhere = np.isnan(out)
        slope = maker(out, *args)
        return slope * np.where(nowhere, np.nan, 1.0) if possibly(nowhere) else slope

    return quiet(partial)


def itself(function: Any) -> Any:
    """Give the ufunc behind a function of SciPy's; one without is given as it is."""
    inner = inspect.unwrap(function) if callable(function) else function
    return inner if isinstance(inner, np.ufunc) else function


class Functions(SimpleNamespace):
    """The names of `scipy.special`; see `Missing` for those that it has not."""

    def __getattr__(self, name: str) -> Missing:
        return Missing(f"scipy.special.{name}")


sp: Any = Functions(**{name: itself(each) for name, each in vars(scipy.special).items()})

ufuncs: Any = installed.scipy.special._ufuncs
"""What SciPy's own Python computes with, also names that are not public."""

sp.zeta = inspect.unwrap(sp.zeta)  # which calls one of two ufuncs
sp.sinc = np.sinc
