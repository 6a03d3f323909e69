"""How functions of samples take SciPy's arguments, whichever of them they are about.

SciPy's functions of samples share the arguments `axis`, `nan_policy` and `keepdims`. Here a formula
is written for samples along the last axis, and `of_samples` makes of it what handles get when they
are given to SciPy's function.
"""

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import (
    TYPED_BY_VALUES,
    Derivation,
    Entry,
    constants,
    overridable,
    takes_over,
)
from tape_ad.scipy.counterparts import constant_beside, is_handle, is_users, joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.policies import by_policy, mapped
from tape_ad.scipy.stats.results import OutcomeResult, SignificanceResult

__all__ = [
    "RANKED",
    "RANKS",
    "Table",
    "as_one",
    "as_scipys",
    "as_told",
    "floating",
    "floats",
    "last",
    "of_samples",
    "off_limits",
    "primal",
    "refuse_option",
    "taken_over",
    "with_result",
]

Table = dict[Any, Entry]

REQUIRED: dict[str, dict[str, Any]] = {
    "pmean": {"p": 1},
    "trim_mean": {"proportiontocut": 0},
    "boxcox_llf": {"lmb": 1.5},
    "yeojohnson_llf": {"lmb": 1.5},
    "ks_1samp": {"cdf": scipy.stats.norm.cdf},
    "cramervonmises": {"cdf": scipy.stats.norm.cdf},
}
"""Options without a default."""


REAL = frozenset(
    {
        *("variation", "gstd", "circmean", "circvar", "circstd"),
        *("describe", "jarque_bera", "shapiro", "lmoment"),
    }
)
"""Functions that SciPy refuses complex samples in, or computes nothing sensible of."""


def taken_over(name: str, fields: Sequence[str] = ()) -> Callable[..., Any]:
    """Make SciPy's function of that name one that handles can take over.

    With `fields` it gives those parts of SciPy's result, as a tuple.
    """
    theirs = getattr(scipy.stats, name)

    @functools.wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tuple(map(as_one, args)), {key: as_one(x) for key, x in kwargs.items()}
        if any(takes_over(type(x)) for x in (*args, *kwargs.values())):  # there was one in a list
            return public(*args, **kwargs)
        result = theirs(*args, **kwargs)
        if fields:
            return tuple(part_of(result, field) for field in fields)
        return np.float64(result) if type(result) is float else result

    if hasattr(np, name):
        function.__module__ = "tape_ad.scipy.stats"  # so that it is not called NumPy's
    public = overridable(function)
    TYPED_BY_VALUES.add(public)  # before 1.15 SciPy gives nan in another precision
    return public


def part_of(result: Any, field: str) -> Any:
    """Give a part of a result; what counts may be whole or not as values are, so as floats."""
    part = getattr(result, field)
    return np.float64(part) if type(part) is float or field in ("df", "_n") else part


class HandleGiven(BaseException):
    """A function of the user's has given a handle; SciPy's code catches errors of functions."""


def watched(value: Any) -> Any:
    """Let a function of the user's end the call with the first handle that it gives."""
    if not is_users(value):
        return value

    def watching(*args: Any, **kwargs: Any) -> Any:
        found = value(*args, **kwargs)
        if is_handle(found):
            raise HandleGiven(found)
        return found

    return functools.update_wrapper(watching, value)


def beside(signature: inspect.Signature, args: Any, kwargs: Any, handle: Any) -> Any:
    """Put constants of a handle's record in place of the data, for a function closes over that."""
    bound = signature.bind(*args, **kwargs)
    name = "values" if "values" in signature.parameters else next(iter(signature.parameters))
    data = bound.arguments[name]
    several = isinstance(data, (tuple, list)) and any(np.ndim(each) for each in data)
    bound.arguments[name] = (
        tuple(constant_beside(each, handle) for each in data)
        if several
        else constant_beside(data, handle)
    )
    return bound.args, bound.kwargs


def with_result(function: Callable[..., Any], result: Callable[..., Any]) -> Callable[..., Any]:
    """Make of a function that gives a tuple one that gives what SciPy's gives, or its like.

    A `result` with a method may say in `options` which arguments of the call it needs besides.
    """
    theirs = getattr(scipy.stats, function.__name__)
    signature, needed = inspect.signature(theirs), getattr(result, "options", ())

    @functools.wraps(theirs)
    def public(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tuple(map(as_one, args)), {key: as_one(x) for key, x in kwargs.items()}
        if not any(takes_over(type(x)) for x in (*args, *kwargs.values())):
            try:
                return theirs(*map(watched, args), **{k: watched(x) for k, x in kwargs.items()})
            except HandleGiven as given:
                handle = given.args[0]
            args, kwargs = beside(signature, args, kwargs, handle)
        parts = function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return result(*parts, **{name: bound.arguments[name] for name in needed})

    return public


def as_one(tree: Any) -> Any:
    """Stack what stands in a list or tuple, if there are handles in it and it makes an array."""
    try:
        return joined(tree)
    except ValueError:  # of shapes that differ, which SciPy's function then has to take
        return tree


def off_limits(name: str, parameter: str, value: Any, *limits: float) -> None:
    """Refuse a handle at a number where another formula holds, which does not know of the slope.

    Raises
    ------
    UnsupportedArgumentError
    """
    if takes_over(type(value)) and any(np.any(np.equal(primal(value), each)) for each in limits):
        told = ", ".join(f"{each:g}" for each in limits)
        raise UnsupportedArgumentError(
            f"scipy.stats.{name}: {parameter}= is a handle, and exactly one of {told}, where the "
            "formula is a limit of which the slope is not computed; pass a plain number, or a "
            "slightly different one"
        )


def primal(x: Any) -> Any:
    """Give the plain array below a handle, of however many records."""
    while is_handle(x):
        x = x.data
    return x


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


def last(samples: Sequence[Array], axis: Any) -> tuple[list[Array], tuple[int, ...], int]:
    """Bring the axes of samples to the end, as one, and tell which they were, of how many."""
    if axis is None:
        ndim = max(x.ndim for x in samples)
        return [np.reshape(x, -1) for x in samples], tuple(range(ndim)), ndim
    ndim = max(x.ndim for x in samples)
    samples = [x[(None,) * (ndim - x.ndim)] if x.ndim < ndim else x for x in samples]
    axes = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axes, ndim)))
    if axes == (ndim - 1,):
        return list(samples), axes, ndim
    end = tuple(range(ndim - len(axes), ndim))
    moved = [np.moveaxis(x, axes, end) for x in samples]
    if len(axes) > 1:
        moved = [np.reshape(x, (*x.shape[: -len(axes)], -1)) for x in moved]
    return moved, axes, ndim


def of_samples(
    name: str, compute: Callable[..., Any], samples: str, fields: Sequence[str] = ()
) -> tuple[Any, Derivation]:
    """Make SciPy's function and what it does with handles.

    Parameters
    ----------
    name : str
        That of SciPy's function.
    compute : callable
        ``compute(*samples, **options)`` for samples of floats, along the last axis; it names the
        options of SciPy's function that it knows. One that it does not know is refused. A list
        that it gives is stacked.
    samples : str
        SciPy's names of the samples, apart by spaces.
    fields : sequence of str
        Of SciPy's result, what `compute` gives as a tuple, if it has parts.
    """
    function = taken_over(name, fields)
    signature = inspect.signature(getattr(scipy.stats, name))
    known = set(inspect.signature(compute).parameters)
    names = samples.split()

    def derived(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        options = dict(bound.arguments)
        given = [options.pop(each) for each in names]
        variadic = signature.parameters[names[0]].kind is inspect.Parameter.VAR_POSITIONAL
        arrays = floats([x for x in (given[0] if variadic else given) if x is not None])
        arrays = [x if x.ndim else np.reshape(x, 1) for x in arrays]  # a number is a sample of one
        if name in REAL and any(x.dtype.kind == "c" for x in arrays):
            raise UnsupportedArgumentError(
                f"scipy.stats.{name}: on handles, samples are real; write out what you mean by it "
                "for complex ones"
            )
        arrays, axes, ndim = last(arrays, options.pop("axis", 0))
        keepdims, policy = options.pop("keepdims", False), options.pop("nan_policy", "propagate")
        for option, value in options.items():
            default = signature.parameters[option].default
            if option not in known and not (value is default or value == default):
                refuse_option(name, option, value)
        formula = functools.partial(
            compute, **{key: x for key, x in options.items() if key in known}
        )
        texts = {key: value for key, value in options.items() if type(value) is str}
        result = by_policy(name, formula, arrays, policy, len(fields))
        result = as_scipys(
            function, () if variadic else names, arrays, len(axes) == ndim, result, texts
        )
        if keepdims:
            result = mapped(lambda x: np.expand_dims(x, axes) if np.ndim(x) < ndim else x, result)
        return np.stack(result) if type(result) is list else result

    return function, Derivation(derived)


def is_floating(x: Any) -> bool:
    """Tell arrays of floats from counts."""
    return hasattr(x, "dtype") and x.dtype.kind == "f"


def as_scipys(
    function: Callable[..., Any],
    names: Sequence[str],
    arrays: Sequence[Array],
    reduced: bool,
    result: Any,
    texts: Mapping[str, str],
) -> Any:
    """Give results of single precision the dtypes that this SciPy gives them.

    Releases differ in when they compute in double precision, and NumPy's scalars from its arrays.
    """
    if any(x.dtype != np.float32 for x in arrays):
        return result
    ndim = 0 if arrays[0].ndim == 0 else 1 if reduced else 2
    dtypes = iter(single_dtypes(function, tuple(names), len(arrays), ndim, tuple(texts.items())))
    return mapped(lambda x: x.astype(next(dtypes, x.dtype)) if is_floating(x) else x, result)


@functools.cache
def single_dtypes(
    function: Any, names: tuple[str, ...], count: int, ndim: int, texts: tuple[tuple[str, str], ...]
) -> list[np.dtype[Any]]:
    """Ask SciPy's function for the dtypes of its results, by an example."""
    rng = np.random.default_rng(0)
    example = rng.uniform(1, 2, {0: (), 1: (24,), 2: (24, 2)}[ndim]).astype(np.float32)
    examples = [rng.permutation(example) if ndim else example for _ in range(count)]
    if function.__name__ == "ttest_1samp":
        examples[1] = examples[1][:1]
    options = {**REQUIRED.get(function.__name__, {}), **dict(texts)}
    named = dict(zip(names, examples, strict=False))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = function(**named, **options) if named else function(*examples, **options)
    dtypes: list[np.dtype[Any]] = []
    mapped(
        lambda x: dtypes.append(x.dtype) if is_floating(x) else None,
        result,
    )
    return dtypes


TUPLES = (
    *("kendalltau", "spearmanr", "spearmanrho", "mannwhitneyu", "wilcoxon", "ranksums", "kruskal"),
    *("friedmanchisquare", "brunnermunzel", "ansari", "mood", "ks_2samp", "chatterjeexi"),
    "fligner",
)
OBJECTS = ("somersd", "cramervonmises_2samp", "page_trend_test", "bws_test")

RANKED: dict[str, Callable[..., Any]] = {
    name: result
    for names, result in ((TUPLES, SignificanceResult), (OBJECTS, OutcomeResult))
    for name in names
    if getattr(scipy.stats, name)  # some are in newer releases of SciPy alone
}
"""What is made of the statistics and p-values of rank tests."""

RANKS: Table = constants(
    *map(taken_over, ("rankdata", "tiecorrect", "percentileofscore")),
    *(taken_over(name, ("statistic", "pvalue")) for name in RANKED),
)
"""Rank correlations, and tests of ranks."""
