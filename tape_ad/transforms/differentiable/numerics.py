"""Python's own functions of numbers on handles: `math`, `cmath` and `statistics` in copies."""

import cmath
import functools
import importlib
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable.kinds import as_number, as_pythons
from tape_ad.transforms.differentiable.reach import is_active, reaches
from tape_ad.transforms.differentiable.table import stands_in_for

__all__: list[str] = []

Function = Callable[..., Any]


def special(name: str) -> Function:
    """Give a function of `scipy.special`, which is imported when it is called."""

    def calling(*args: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*args)

    return calling


def log(x: Any, base: Any = math.e) -> Any:
    """`math.log`, to any base."""
    return np.log(x) if base is math.e else np.log(x) / np.log(base)


def hypot(*coordinates: Any) -> Any:
    """`math.hypot`; its derivative at the origin is 0, as that of `numpy.hypot`."""
    return functools.reduce(np.hypot, coordinates, 0.0)


def dist(p: Any, q: Any) -> Any:
    """`math.dist`."""
    return hypot(*[a - b for a, b in zip(p, q, strict=True)])


def fsum(values: Any) -> Any:
    """`math.fsum`."""
    return np.sum(np.stack([*values]))


def prod(values: Any, *, start: Any = 1) -> Any:
    """`math.prod`."""
    return start * np.prod(np.stack([*values]))


def sumprod(p: Any, q: Any) -> Any:
    """`math.sumprod`."""
    return np.sum(np.stack([*p]) * np.stack([*q]))


def modf(x: Any) -> Any:
    """`math.modf`, whose whole part is a plain number."""
    whole = math.trunc(as_number(x).item())
    return x - whole, float(whole)


def ldexp(x: Any, i: Any) -> Any:
    """`math.ldexp`."""
    return x * 2.0**i


def frexp(x: Any) -> Any:
    """`math.frexp`, whose exponent is a plain integer."""
    mantissa, exponent = np.frexp(x)
    return mantissa, int(primal(exponent))


def remainder(x: Any, y: Any) -> Any:
    """`math.remainder`; how often the divisor is taken off is a plain number."""
    given = [as_number(each).item() if is_active(each) else each for each in (x, y)]
    plain = [primal(each) for each in given]
    return x - round((plain[0] - math.remainder(*plain)) / plain[1]) * y


def nextafter(x: Any, y: Any) -> Any:
    """`math.nextafter`, which is the number but for a constant step."""
    start = primal(x)
    return x + (math.nextafter(start, primal(y)) - start)


def polar(z: Any) -> Any:
    """`cmath.polar`."""
    return np.absolute(z), np.angle(z)


def rect(r: Any, phi: Any) -> Any:
    """`cmath.rect`."""
    return r * (np.cos(phi) + 1j * np.sin(phi))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """`statistics.harmonic_mean`."""
    return 1 / averaged([1 / each for each in data], weights)


def normal_quantile(p: Any, mu: Any, sigma: Any) -> Any:
    """`statistics.NormalDist.inv_cdf`."""
    return mu + sigma * special("ndtri")(p)


def mean_and_deviation(data: Any) -> Any:
    """Give what `statistics.NormalDist.from_samples` takes."""
    values = np.stack([*data])
    return np.mean(values), np.std(values, ddof=1)


def geometric_mean(data: Any) -> Any:
    """`statistics.geometric_mean`."""
    return np.exp(np.mean(np.log(np.stack([*data]))))


def averaged(data: Any, weights: Any = None) -> Any:
    """`statistics.mean` and `statistics.fmean`."""
    values = np.stack([*data])
    return np.mean(values) if weights is None else np.average(values, weights=np.stack([*weights]))


def spread(function: Function, ddof: int) -> Function:
    """Make one of the variances and deviations of `statistics`."""

    def calling(data: Any, center: Any = None) -> Any:
        values = np.stack([*data])
        if center is None:
            return function(values, ddof=ddof)
        found = np.sum((values - center) ** 2) / (values.size - ddof)
        return np.sqrt(found) if function is np.std else found

    return calling


SAME = ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log2", "log10", "log1p")
RENAMED = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
OF_NUMBERS: dict[str, Function] = {
    **{name: getattr(np, name) for name in (*SAME, "sqrt", "degrees", "radians", "copysign")},
    **{name: getattr(np, numpys) for name, numpys in RENAMED.items()},
    "atan2": np.arctan2,
    "pow": np.power,
    "fabs": np.absolute,
    "fmod": np.fmod,
    "log": log,
    "cbrt": np.cbrt,
    "exp2": np.exp2,
    "hypot": hypot,
    "modf": modf,
    "ldexp": ldexp,
    "remainder": remainder,
    "nextafter": nextafter,
    "frexp": frexp,
    "fma": lambda x, y, z: x * y + z,
    "erf": special("erf"),
    "erfc": special("erfc"),
    "gamma": special("gamma"),
    "lgamma": special("gammaln"),
}
"""`math`'s functions of numbers, and what does the same on handles."""

OF_SERIES: dict[str, Function] = {"dist": dist, "fsum": fsum, "prod": prod, "sumprod": sumprod}

PLAIN = ("ceil", "floor", "trunc", "ulp", "isclose")
"""What gives an integer, a step or an answer: of the numbers that handles stand for."""

ANSWERS = ("isnan", "isinf", "isfinite")
"""Questions that NumPy answers of handles, too."""

COMPLEX: dict[str, Function] = {
    **{name: getattr(np, name) for name in (*SAME[:7], "log10", "sqrt")},
    **{name: getattr(np, numpys) for name, numpys in RENAMED.items()},
    "log": log,
    "phase": np.angle,
    "polar": polar,
    "rect": rect,
}

OF_SAMPLES: dict[str, Function] = {
    "mean": averaged,
    "fmean": averaged,
    "median": lambda data: np.median(np.stack([*data])),
    "harmonic_mean": harmonic_mean,
    "geometric_mean": geometric_mean,
    "variance": spread(np.var, 1),
    "pvariance": spread(np.var, 0),
    "stdev": spread(np.std, 1),
    "pstdev": spread(np.std, 0),
    "_normal_dist_inv_cdf": normal_quantile,
    "_mean_stdev": mean_and_deviation,
}
"""What `statistics` has under each name, two of which its `NormalDist` calls."""


NUMBERS = frozenset({int, float, complex, bool, np.float64})
"""The types of most numbers that are no handles."""

OF_ONE = (int, float, complex, np.generic, np.ndarray)
"""The types of what a plain number is read from."""

TOTAL = frozenset(
    {"sin", "cos", "tan", "asinh", "atan", "atan2", "tanh", "erf", "erfc", "fabs", "cbrt"}
)
"""Functions that give a finite number for every one."""


def of_handles(original: Function, function: Function, *, kind: type | None) -> None:
    """Let NumPy's function stand for one of numbers, where it is given a handle.

    Called with the plain numbers, the original raises the errors that it does. What is captured or
    batched has none until it is asked, as it is where NumPy's function gives no finite number.
    """
    is_total = original.__name__ in TOTAL

    @stands_in_for(original)
    def calling(*args: Any) -> Any:
        if NUMBERS.issuperset(map(type, args)) or not any(map(is_active, args)):
            return original(*args)
        given = [as_number(each) if is_active(each) else each for each in args]
        plain = [primal(each) if is_active(each) else each for each in given]
        is_known = all(issubclass(type(each), OF_ONE) for each in plain)
        if kind and is_known:
            original(*map(kind, plain))
        if kind is complex:  # NumPy's functions of real numbers give nan where these are complex
            given = [each.astype(complex) if is_active(each) else each for each in given]
        if is_known or is_total or kind is None:
            found = function(*given)
            return tuple(map(as_pythons, found)) if type(found) is tuple else as_pythons(found)
        with np.errstate(all="ignore"):
            found = function(*given)
        if not np.isfinite(primal(found)):
            original(*map(kind, plain))
        return as_pythons(found)


def of_series(original: Function, function: Function) -> None:
    """Let NumPy's function stand for one of a series, where a handle is in it."""

    @stands_in_for(original)
    def calling(*args: Any, **kwargs: Any) -> Any:
        given = [
            each if is_active(each) or not hasattr(each, "__next__") else [*each] for each in args
        ]
        if not reaches((given, kwargs)):
            return original(*given, **kwargs)
        found = function(*given, **kwargs)
        return as_pythons(found) if original.__module__ == "math" else found


ROUNDING: dict[Function, Function] = {
    math.floor: np.floor,
    math.ceil: np.ceil,
    math.trunc: np.trunc,
}
"""Functions that give an integer, and NumPy's that give it as a float."""


def of_values(original: Function) -> None:
    """Have what gives an integer or an answer called with the numbers that handles stand for."""

    @stands_in_for(original)
    def calling(*args: Any, **kwargs: Any) -> Any:
        given = [primal(as_number(x)) if is_active(x) else x for x in args]
        if original in ROUNDING and hasattr(given[0], "batch_here"):
            return int(ROUNDING[original](given[0]))  # which is the same for more of a batch
        return original(*[x.item() if hasattr(x, "item") else x for x in given], **kwargs)


def answering(original: Function) -> None:
    """Have NumPy answer a question about a number, where it is one about a handle."""
    question = getattr(np, original.__name__)

    @stands_in_for(original)
    def calling(x: Any) -> bool:
        return bool(question(as_number(x))) if is_active(x) else original(x)


for _name, _function in OF_NUMBERS.items():
    if hasattr(math, _name):  # fma came with 3.13
        number: type | None = None if _name in ("modf", "ldexp", "frexp") else float
        of_handles(getattr(math, _name), _function, kind=number)
for _name in OF_SERIES.keys() & vars(math).keys():
    of_series(getattr(math, _name), OF_SERIES[_name])
for _name, _function in OF_SAMPLES.items():
    of_series(getattr(statistics, _name), _function)
for _name, _function in COMPLEX.items():
    number = None if _name in ("phase", "polar", "rect") else complex
    of_handles(getattr(cmath, _name), _function, kind=number)
for _module in (math, cmath):
    for _name in vars(_module).keys() & PLAIN:
        of_values(getattr(_module, _name))
    for _name in ANSWERS:
        answering(getattr(_module, _name))
