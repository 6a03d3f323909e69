"""Powers that make a sample most like a normal one: as handles, by what holds at the best one.

A search gives a number λ at which the slope of a likelihood, or of a correlation, is zero. That
equation says how λ moves with the sample.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from tape_ad import grad
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import any_handle, joined, plain, refuse_handles
from tape_ad.extend.solvers import implicit
from tape_ad.scipy.installed import asked, scipy
from tape_ad.scipy.stats.methods import ppf
from tape_ad.scipy.stats.rules import PUBLISHED
from tape_ad.scipy.stats.samples import as_one, floating, refuse_option

__all__ = [
    "boxcox",
    "boxcox_normmax",
    "obrientransform",
    "on_handles",
    "order_medians",
    "solved",
    "yeojohnson",
    "yeojohnson_normmax",
]

Function = TypeVar("Function", bound=Callable[..., Any])

FAR = 1e-4
"""How far from an extremum a search may stop, relative to 1 and to it."""

boxcox_at, yeojohnson_at = PUBLISHED["boxcox"], PUBLISHED["yeojohnson"]
boxcox_llf, yeojohnson_llf = PUBLISHED["boxcox_llf"], PUBLISHED["yeojohnson_llf"]
pearsonr = PUBLISHED["pearsonr"]


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


def order_medians(n: int) -> Any:
    """The medians of the order statistics of n uniform numbers; Filliben 1975."""
    end = 0.5 ** (1.0 / n)
    between = (np.arange(2, n) - 0.3175) / (n + 0.365)
    return np.concatenate([[1 - end], between, [end]])[-n:]


def stationary(objective: Callable[[Any], Any], found: Any, name: str) -> Any:
    """Make a handle of where a function of a number is least or greatest.

    Raises
    ------
    UnsupportedArgumentError
        Where it is not: an optimizer may have stopped at a bound that it alone knows.
    """
    slope = grad(objective)
    step = float(plain(slope(found))) / float(plain(grad(slope)(found)))
    if not abs(step) <= FAR * (1 + abs(found)):
        raise UnsupportedArgumentError(
            f"scipy.stats.{name}: {found} is no extremum, and has no derivative here; leave out "
            "optimizer= or brack= that hold it back, or pass .data of the sample"
        )
    return solved(slope, found, name)


def solved(residual: Callable[[Any], Any], found: Any, name: str) -> Any:
    """Make a handle of where a function of a number is zero."""
    start = np.array([float(found)])
    return implicit(lambda x: joined(residual(x[0])).reshape(1), start, f"scipy.stats.{name}")[0]


def alikeness(transform: Callable[..., Any], x: Any) -> Callable[[Any], Any]:
    """Give how well a transformed sample correlates with a normal one, by the power."""
    normal = scipy.stats.norm.ppf(order_medians(x.shape[0]))
    return lambda power: pearsonr(normal, np.sort(transform(x, power)))[0]


@on_handles("x")
def boxcox_normmax(
    x: Any, brack: Any = None, method: str = "pearsonr", optimizer: Any = None, **options: Any
) -> Any:
    """Find the power of Box and Cox that makes a sample most like a normal one.

    It has SciPy's arguments, and the search is SciPy's.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    brack, method, optimizer, ymax
        See `scipy.stats.boxcox_normmax`.

    Returns
    -------
    number, Tensor or array of both
        For ``method="all"`` both powers, the one by correlation first.
    """
    refuse_handles("scipy.stats.boxcox_normmax", options)
    sample = np.asarray(plain(x))
    found = scipy.stats.boxcox_normmax(sample, brack, method, optimizer, **options)
    options["ymax"] = np.inf
    free = scipy.stats.boxcox_normmax(sample, brack, method, optimizer, **options)
    if not np.array_equal(found, free, equal_nan=True):
        raise UnsupportedArgumentError(
            "scipy.stats.boxcox_normmax: ymax= holds the power back, and has no derivative here; "
            "scale the sample, or pass .data of it"
        )
    ways = ("pearsonr", "mle") if method == "all" else (method,)
    powers = [
        stationary(objective, each, "boxcox_normmax")
        for each, objective in (
            (each, {"pearsonr": alikeness(boxcox_at, x), "mle": lambda p: boxcox_llf(p, x)}[way])
            for each, way in zip(np.atleast_1d(found), ways, strict=True)
        )
    ]
    return np.stack(powers) if method == "all" else powers[0]


@on_handles("x")
def yeojohnson_normmax(x: Any, brack: Any = None) -> Any:
    """Find the power of Yeo and Johnson that makes a sample most like a normal one.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    brack : tuple, optional
        See `scipy.stats.yeojohnson_normmax`.

    Returns
    -------
    number or Tensor
    """
    found = scipy.stats.yeojohnson_normmax(plain(x), brack)
    return stationary(lambda power: yeojohnson_llf(power, x), found, "yeojohnson_normmax")


@on_handles("x lmbda alpha")
def boxcox(x: Any, lmbda: Any = None, alpha: Any = None, optimizer: Any = None) -> Any:
    """Transform a sample by a power, or by the one that makes it most like a normal one.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        Above zero.
    lmbda : number, array or Tensor, optional
        The power. If there is none, the likeliest one is found, by SciPy's search.
    alpha : number or Tensor, optional
        One less the confidence level of an interval of the power.
    optimizer : callable, optional
        See `scipy.stats.boxcox`.

    Returns
    -------
    array or Tensor
        Without lmbda a tuple of it, the power, and the interval if alpha is given.
    """
    if lmbda is not None:
        return boxcox_at(x, lmbda)
    found = scipy.stats.boxcox(plain(x), None, plain(alpha), optimizer)

    def likelihood(power: Any) -> Any:
        return boxcox_llf(power, x)

    best = stationary(likelihood, found[1], "boxcox")
    if alpha is None:
        return boxcox_at(x, best), best
    least = likelihood(best) - 0.5 * ppf(1 - alpha, 1.0, 0.0, 1.0, name="chi2")
    ends = tuple(solved(lambda power: likelihood(power) - least, end, "boxcox") for end in found[2])
    return boxcox_at(x, best), best, ends


@on_handles("x lmbda")
def yeojohnson(x: Any, lmbda: Any = None) -> Any:
    """Transform a sample by a power, or by the one that makes it most like a normal one.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    lmbda : number, array or Tensor, optional
        The power. If there is none, the likeliest one is found, by SciPy's search.

    Returns
    -------
    array or Tensor
        Without lmbda a tuple of it and the power.
    """
    if lmbda is not None:
        return yeojohnson_at(x, lmbda)
    best = yeojohnson_normmax(x)
    return yeojohnson_at(x, best), best


APART = isinstance(asked(lambda: scipy.stats.obrientransform([1.0, 2.0, 4.0])), tuple)
"""Whether the transformed samples are a tuple, as they are since SciPy 1.18."""


def obrientransform(*samples: Any, **options: Any) -> Any:
    """Transform samples so that their means are their variances; see `scipy.stats.obrientransform`.

    Parameters
    ----------
    *samples : array or Tensor, shape (n,)
    **options
        Those of this release of SciPy, for plain arrays.

    Returns
    -------
    array or Tensor, shape (k, n)
        A tuple of arrays where SciPy gives one, as it does since 1.18.
    """
    if not any_handle((samples, options)):
        return scipy.stats.obrientransform(*samples, **options)
    for name, value in options.items():
        refuse_option("obrientransform", name, value)
    transformed = []
    for sample in map(floating, map(joined, samples)):
        if sample.ndim != 1:
            raise UnsupportedArgumentError(
                "scipy.stats.obrientransform: on handles, a sample has one axis; transform one "
                "after the other"
            )
        n, squares = sample.shape[0], (sample - np.mean(sample)) ** 2
        total = np.sum(squares)
        t = ((n - 1.5) * n * squares - 0.5 * total) / ((n - 1) * (n - 2))
        if np.absolute(total / (n - 1) - np.mean(t)) > np.sqrt(np.finfo(np.float64).eps):
            raise ValueError("Lack of convergence in obrientransform.")
        transformed.append(t)
    if APART:
        dtype = np.result_type(*[t.dtype for t in transformed])
        return tuple(t.astype(dtype) for t in transformed)
    if len({t.shape for t in transformed}) > 1:
        raise UnsupportedArgumentError(
            "scipy.stats.obrientransform: on handles, samples have one length, for else the result "
            "is an array of arrays; transform them one by one"
        )
    return np.stack(transformed)
