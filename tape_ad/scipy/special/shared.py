"""What the modules of SciPy's special functions share."""

import functools
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
import scipy.special
from attrs import evolve

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, possibly
from tape_ad.extend.rules import Entry, Maker, Rule, overridable, quiet, rule
from tape_ad.scipy import installed
from tape_ad.scipy.installed import Missing

F = TypeVar("F", bound=Callable[..., Any])

HOME = "tape_ad.scipy.special"
"""The module that publishes what stands for SciPy's functions."""

BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
"""B_2, B_4, and so on."""


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


def of_doubles(compute: F) -> F:
    """Make a function of arrays, and of whole numbers behind them, that computes in doubles.

    It is overridable, elementwise, and in silence; see `in_double`.
    """
    count, signature = len(operands_of(compute)), inspect.signature(compute)

    @overridable
    @functools.wraps(compute)
    def function(*args: Any, **named: Any) -> Array:
        args = signature.bind(*args, **named).args if named else args
        return in_double(lambda *arrays: compute(*arrays, *args[count:]), *args[:count])

    vars(function)["lines"] = functools.partial(lines_in_double, compute=compute)
    return cast("F", function)


def operands_of(function: Callable[..., Any]) -> list[str]:
    """List the parameters of a function of ours that are no whole numbers."""
    parameters = inspect.signature(function).parameters.values()
    return [each.name for each in parameters if each.annotation is not int]


def lines_in_double(*args: Any, compute: Callable[..., Any]) -> Any:
    """Do what `in_double` does by calls of NumPy's alone, for the compiler."""
    kinds = {arg.dtype for arg in args if hasattr(arg, "dtype")}
    if {kind.kind for kind in kinds} != {"f"} or complex in map(type, args):
        raise TypeError("no real numbers")  # which leaves them to the function itself
    double = np.dtype(np.float64)
    found = compute(
        *(arg.astype(double) if getattr(arg, "dtype", double) != double else arg for arg in args)
    )
    dtype = np.result_type(*kinds)
    return found if dtype == double else found.astype(dtype)


def with_body(*makers: Any, of: Callable[..., Any]) -> Rule:
    """Make the rule of an elementwise function of ours that the compiler may look into."""
    known = facts.ELEMENTWISE.also(body=getattr(of, "lines", inspect.unwrap(of)))
    return rule(*(maker and quiet(maker) for maker in makers), facts=known)


def special_rules(table: dict[Any, Any]) -> dict[Any, Entry]:
    """Make the rules of elementwise functions, each from a row.

    A row is a maker, or a tuple of one for each operand: see `tape_ad.extend.rules.rule`. Instead
    of a maker there may be None where the function is piecewise constant, and the operand's name
    where there is no derivative, so that handles are refused. Makers compute in silence, and with
    floats, as the function itself does: with whole numbers as they are, ``n - 1`` turns unsigned
    zeros into large numbers, and ``log`` of small integers is in half precision. What needs
    something else is a rule already.
    """
    return {
        function: entry_of(function, row)
        for function, row in table.items()
        if not isinstance(function, Missing)
    }


def entry_of(function: Any, row: Any) -> Entry:
    """Make one rule; see `special_rules`."""
    if type(row) is Rule and not (row.multiple or row.saves):
        return evolve(row, makers=tuple(maker and of_floats(maker) for maker in row.makers))
    if not (callable(row) or isinstance(row, tuple)):
        return row  # type: ignore[no-any-return]  # an entry
    makers: list[Any] = [
        no_partial(function.__name__.strip("_"), maker)
        if isinstance(maker, str)
        else maker and quiet(of_floats(maker))
        for maker in (row if isinstance(row, tuple) else (row,))
    ]
    if isinstance(function, np.ufunc):
        return Rule(makers=tuple(makers), multiple=function.nout > 1)
    operands, count = operands_of(function), len(inspect.signature(function).parameters)
    makers += [None] * (count - len(makers))
    known = facts.ELEMENTWISE if len(operands) == count else facts.elementwise(*operands)
    return rule(*makers, facts=known)


def of_floats(maker: Maker) -> Maker:
    """Cast integers and truth values among the operands of a maker."""

    def cast_first(*arguments: Any, **options: Any) -> Any:
        return maker(*map(as_float, arguments), **options)

    cast_first.__wrapped__ = maker  # type: ignore[attr-defined]  # whose signature it has
    return cast_first


def as_float(x: Any) -> Any:
    """Cast an array of integers or truth values; anything else is given as it is."""
    return x.astype(np.float64) if hasattr(x, "dtype") and x.dtype.kind in "biu" else x


def negative(row: Any) -> Any:
    """Make the row of a function's complement, one less the function."""
    if isinstance(row, tuple):
        return tuple(map(negative, row))
    return (lambda *args: -row(*args)) if callable(row) else row


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

    return partial


def itself(function: Any) -> Any:
    """Give the ufunc behind a function of SciPy's; one without is given as it is."""
    wrapped = hasattr(function, "__wrapped__")
    inner = inspect.unwrap(function) if wrapped else function
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
