"""Every function that takes axes takes those that NumPy takes, and refuses those it refuses."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import frozen

import tape_ad as ta
from tape_ad import nn
from tape_ad.testing import check_grads
from tests.rules.grouping import for_each

numpy: Any = np  # called here with what its annotations do not foresee

Array = Any
Function = Callable[[Array, Any], Any]

SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3)]
AXES: list[Any] = [
    *(None, 0, -1, 1, -2, 4, np.int64(0)),
    *((), (0,), (-1,), (0, 1), (1, 0), (0, 0), (0, -1), [0], [1, 0], np.array([1, 0])),
]
ANYTHING = (TypeError, ValueError, IndexError)


def named(*names: str, module: Any = np, **options: Any) -> dict[str, Function]:
    """Make calls of the functions with such names, as far as the installed NumPy has them."""
    functions = {name: getattr(module, name) for name in names if hasattr(module, name)}
    return {name: called_with(function, options) for name, function in functions.items()}


def called_with(function: Any, options: dict[str, Any]) -> Function:
    return lambda x, axis: function(x, axis=axis, **options)


def methods(*ufuncs: Any) -> dict[str, Function]:
    """Make calls of the methods that ufuncs have."""
    return {
        f"{ufunc.__name__}.{method}": call
        for ufunc in ufuncs
        for method, call in {
            "reduce": lambda x, axis, ufunc=ufunc: ufunc.reduce(x, axis=axis),
            "accumulate": lambda x, axis, ufunc=ufunc: ufunc.accumulate(x, axis=axis),
            "reduceat": lambda x, axis, ufunc=ufunc: ufunc.reduceat(x, [0], axis=axis),
        }.items()
    }


REDUCTIONS = ("sum", "mean", "prod", "max", "min", "ptp", "var", "std", "median", "average")
NAN_REDUCTIONS = tuple(f"nan{n}" for n in ("sum", "mean", "prod", "max", "min", "var", "std"))
SCANS = ("cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod")
FUNCTIONS: dict[str, Function] = {
    **named(*REDUCTIONS, *NAN_REDUCTIONS, "nanmedian"),
    **{f"{k} kept": v for k, v in named(*REDUCTIONS, *NAN_REDUCTIONS, keepdims=True).items()},
    **named(*SCANS, "sort", "flip", "diff", "gradient", "trapezoid", "unstack", "unwrap"),
    **named("squeeze", "expand_dims", "trim_zeros"),
    **{f"{k} + 1": v for k, v in named("cumulative_sum", include_initial=True).items()},
    **methods(np.add, np.subtract, np.multiply, np.divide, np.maximum, np.fmin, np.logaddexp),
    **named("softmax", "log_softmax", "logsumexp", module=nn),
    **{f"fft.{k}": v for k, v in named("rfft", "hfft", module=np.fft).items()},
    "fft.fftn": lambda x, axis: np.fft.fftn(x, axes=axis),
    "fft.fftshift": np.fft.fftshift,
    "quantile": lambda x, axis: np.quantile(x, [0.3, 0.6], axis),
    "nanquantile": lambda x, axis: np.nanquantile(x, [[0.3, 0.6], [0.1, 0.7]], axis),
    "weighted average": lambda x, axis: np.average(x, axis, np.ones(np.shape(x))),
    "diff of order 0": lambda x, axis: np.diff(x, 0, axis),
    "diff prepended": lambda x, axis: np.diff(x, axis=axis, prepend=1.0),
    "gradient of spacing 2": lambda x, axis: np.gradient(x, 2.0, axis=axis),
    "trapezoid between places": lambda x, axis: np.trapezoid(x, np.arange(3.0), axis=axis),
    "partition": lambda x, axis: np.partition(x, 0, axis),
    "roll": lambda x, axis: np.roll(x, 1, axis),
    "repeat": lambda x, axis: np.repeat(x, 2, axis),
    "repeat [2]": lambda x, axis: np.repeat(x, [2], axis),
    "take": lambda x, axis: np.take(x, [0, 0], axis),
    "take 0": lambda x, axis: np.take(x, 0, axis),
    "compress": lambda x, axis: np.compress([True], x, axis),
    "delete": lambda x, axis: np.delete(x, 0, axis),
    "insert": lambda x, axis: np.insert(x, 0, 1.5, axis),
    "concatenate": lambda x, axis: np.concatenate([x, x], axis),
    "stack": lambda x, axis: np.stack([x, x], axis),
    "append": lambda x, axis: np.append(x, x, axis),
    "array_split": lambda x, axis: np.array_split(x, 2, axis),
    "apply_along_axis": lambda x, axis: np.apply_along_axis(np.sum, axis, x),
    "apply_over_axes": lambda x, axis: np.apply_over_axes(np.sum, x, axis),
    "swapaxes": lambda x, axis: np.swapaxes(x, 0, axis),
    "moveaxis from": lambda x, axis: np.moveaxis(x, axis, 0),
    "moveaxis to": lambda x, axis: np.moveaxis(x, 0, axis),
    "rollaxis": np.rollaxis,
    "transpose": np.transpose,
    "x.transpose": lambda x, axis: x.transpose(axis),
    "rot90": lambda x, axis: np.rot90(x, 1, axis),
    "diagonal": lambda x, axis: np.diagonal(x, 0, 0, axis),
    "linspace": lambda x, axis: np.linspace(x, 2 * x, 3, axis=axis),
    "logspace": lambda x, axis: np.logspace(x, 2 * x, 3, axis=axis),
    "geomspace": lambda x, axis: np.geomspace(x, 2 * x, 3, axis=axis),
    "tensordot": lambda x, axis: np.tensordot(x, x, axis),
    "tensordot of pairs": lambda x, axis: np.tensordot(x, x, ([axis], [axis])),
    "cross": lambda x, axis: np.linalg.cross(x, x + 1, axis=axis),
    "vecdot": lambda x, axis: numpy.linalg.vecdot(x, x, axis=axis),
    "norm": lambda x, axis: np.linalg.norm(x, axis=axis),
    "vector_norm": lambda x, axis: np.linalg.vector_norm(x, axis=axis),
    "tensorsolve": lambda x, axis: np.linalg.tensorsolve(x, x[0], axis),
}


@frozen(eq=False, repr=False)
class Case:
    """A function with an axis for an array of some shape."""

    name: str
    shape: tuple[int, ...]
    axis: Any

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape)) or "0d"
        return f"{self.name}-{shape}-{self.axis!r}"

    @property
    def data(self) -> Array:
        return np.random.default_rng(0).uniform(0.5, 2.0, self.shape)

    def apply(self, x: Array) -> Any:
        return FUNCTIONS[self.name](x, self.axis)


CASES = [Case(name, shape, axis) for name in FUNCTIONS for shape in SHAPES for axis in AXES]


def arrays(result: Any) -> list[Array]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def refusals() -> dict[Case, type[Exception]]:
    """Ask NumPy which cases it refuses, and how."""
    refused = {}
    for case in CASES:
        try:
            case.apply(case.data)
        except Exception as error:
            refused[case] = type(error)
    return refused


REFUSALS = refusals()
TAKEN = [case for case in CASES if case not in REFUSALS and arrays(case.apply(case.data))]
NO_SUCH_AXIS = [case for case in REFUSALS if REFUSALS[case] is np.exceptions.AxisError]
OTHERWISE = [case for case in REFUSALS if REFUSALS[case] is not np.exceptions.AxisError]


@for_each(TAKEN, by=lambda case: case.name)
def test_what_numpy_takes_has_its_value_and_derivative(case: Case) -> None:
    found = arrays(case.apply(ta.ComputationRecord().tensor(case.data)))
    for one, other in zip(found, arrays(case.apply(case.data)), strict=True):
        np.testing.assert_allclose(getattr(one, "data", one), other, rtol=1e-14, atol=1e-14)

    def real_parts(x: Array) -> list[Array]:
        return [part for out in arrays(case.apply(x)) for part in (np.real(out), np.imag(out))]

    check_grads(real_parts, (case.data,), order=1)


@for_each(NO_SUCH_AXIS, by=lambda case: case.name)
def test_an_axis_that_does_not_exist(case: Case) -> None:
    with pytest.raises(np.exceptions.AxisError):
        case.apply(ta.ComputationRecord().tensor(case.data))


@for_each(OTHERWISE, by=lambda case: case.name)
def test_what_else_numpy_refuses(case: Case) -> None:
    with pytest.raises(ANYTHING):
        case.apply(ta.ComputationRecord().tensor(case.data))
