"""What a rule is, and the small pieces that the tables share."""

import functools
import inspect
import operator
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from attrs import evolve, field, frozen, validators
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from tape_ad.base.arrays.overridable import asarray, is_traced
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.rules.facts import UNKNOWN, Facts
from tape_ad.rules.maps import Array, Partial

Maker = Callable[..., Partial | None]
"""``maker(out, *operands, **options)``: the partial with respect to one operand; None for zero.

An array is the derivative element by element.
"""

Makers = Callable[..., Sequence[Partial | None]]
"""``makers(positions, out, *operands, **options)``: the partials of several operands at once."""

Call = tuple[tuple[Any, ...], dict[str, Any]]
"""The operands and the options of a call: what a derivative may be asked for, and the rest."""

Signature = Callable[..., Call]
"""Takes a call's arguments as NumPy's function does, gives the `Call`."""

NO_VALUE: Any = np._NoValue
"""What NumPy's options are where they were not given."""


IS_FACTS = validators.instance_of(Facts)
IS_FUNCTION = validators.optional(validators.is_callable())


@frozen(eq=False, repr=False)
class Rule:
    """How to compute a function and make the partial for each of its operands.

    Attributes
    ----------
    makers : tuple of Maker or None
        One for each operand; None where the function is piecewise constant in it.
    variadic : Makers or None
        For a function of any number of operands: it makes the partials of all those that are
        handles in one call, as calls of so many arguments take time.
    signature : Signature or None
        Sorts a call's arguments into operands and options; None for a ufunc.
    compute : callable or None
        ``compute(*operands, **options)``; None for the function itself.
    saves : bool
        Whether `compute` gives ``(out, saved)``, with what it has computed on the way. A maker is
        then called with `saved` in the place of `out`.
    multiple : bool
        Whether the function has several outputs. Each gets a node, and a maker is then called as
        ``maker(output, outs, *operands, **options)`` with the number of the output and all of
        them; it gives None where that output does not depend on the operand.
    straight : bool
        Whether the function takes a few operands, no options, and has a partial for each: what the
        dispatch does in straight lines.
    facts : Facts
        What others have to know of the function.

    Notes
    -----
    `rule`, `outputs`, `jointly` and `each` make one.
    """

    makers: tuple[Any, ...] = ()
    variadic: Makers | None = None
    signature: Signature | None = field(default=None, validator=IS_FUNCTION)
    compute: Callable[..., Any] | None = field(default=None, validator=IS_FUNCTION)
    saves: bool = False
    multiple: bool = False
    facts: Facts = field(default=UNKNOWN, validator=IS_FACTS)
    straight: bool = field(init=False)

    @straight.default
    def _is_straight(self) -> bool:
        plain = self.signature is None and self.compute is None
        return plain and bool(self.makers) and None not in self.makers and not self.multiple


@frozen(eq=False, repr=False)
class Derivation:
    """A composition: a few lines of NumPy that are recorded themselves.

    Attributes
    ----------
    compute : callable
        The lines.
    signature : Signature or None
        Sorts a call's arguments into those of `compute`; None where they are the same.
    facts : Facts
        What others have to know of the function.

    Examples
    --------
    >>> cubed = Derivation(lambda x: x * x * x)
    >>> cubed.compute(2.0)
    8.0
    """

    compute: Callable[..., Any]
    signature: Signature | None = field(default=None, validator=IS_FUNCTION)
    facts: Facts = field(default=UNKNOWN, validator=IS_FACTS)


@frozen(eq=False, repr=False)
class Constant:
    """A function that is piecewise constant, or not about values: it returns plain data.

    Attributes
    ----------
    facts : Facts
        What others have to know of the function.

    Examples
    --------
    >>> table = {np.sign: Constant(), np.argmax: Constant()}
    """

    facts: Facts = field(default=UNKNOWN, validator=IS_FACTS)


@frozen(eq=False, repr=False)
class Filled:
    """A function that makes an array like another (``zeros_like``): it gives a constant handle.

    So code that makes an array and then fills it works on handles.

    Attributes
    ----------
    facts : Facts
        What others have to know of the function.

    Examples
    --------
    >>> table = {np.zeros_like: Filled(), np.full_like: Filled()}
    """

    facts: Facts = field(default=UNKNOWN, validator=IS_FACTS)


@frozen(eq=False, repr=False)
class Refused:
    """A function that cannot work on handles.

    Attributes
    ----------
    instead : str
        Why, and what to write instead.
    facts : Facts
        What others have to know of the function.

    Examples
    --------
    >>> table = {np.save: Refused("a file holds no graph; pass t.data of the handle")}
    """

    instead: str
    facts: Facts = field(default=UNKNOWN, validator=IS_FACTS)


Entry = Rule | Derivation | Constant | Filled | Refused


def writing(instead: str, body: Callable[..., Any] | None = None) -> Refused:
    """Refuse a function that writes to its first argument.

    Examples
    --------
    >>> table = {np.putmask: writing("write np.where(mask, values, t)")}
    """
    return Refused(
        f"it writes to its first argument, and would drop the gradient; {instead}",
        Facts(body=body, writes=True),
    )


def rule(
    *makers: Maker | None,
    signature: Signature | None = None,
    compute: Callable[..., Any] | None = None,
    saves: bool = False,
    facts: Facts = UNKNOWN,
    body: Callable[..., Any] | None = None,
) -> Rule:
    """Make a rule from one maker per operand.

    Parameters
    ----------
    *makers : Maker or None
        ``maker(out, *operands, **options)`` gives the partial with respect to one operand: an
        array, which is the derivative element by element, or a `LinearMap`. None for an operand in
        which the function is piecewise constant. A maker is called when its operand is a handle,
        with plain arrays or handles of an enclosing record, so it is written in NumPy.
    signature : callable, optional
        Sorts a call's arguments into operands and options, see `arguments_of`. It is left out for a
        ufunc, and for a function of operands by position alone.
    compute : callable, optional
        ``compute(*operands, **options)`` computes the value; the function itself if left out.
    saves : bool
        Whether `compute` gives the value and what a maker gets in its place.
    facts : Facts
        What batching, Dask, the compiler and sparse derivatives have to know of the function.
    body : callable, optional
        The function as a few lines of NumPy, which becomes one of its facts.

    Returns
    -------
    Rule

    Examples
    --------
    >>> cosine = rule(lambda out, x: -np.sin(x))
    >>> cosine.makers[0](None, np.zeros(2))
    array([-0., -0.])
    >>> product = rule(lambda out, x, y: y, lambda out, x, y: x)
    """
    facts = facts if body is None else facts.also(body=body)
    return Rule(makers=makers, signature=signature, compute=compute, saves=saves, facts=facts)


def outputs(
    *makers: Maker | None,
    signature: Signature,
    compute: Callable[..., Any] | None = None,
    facts: Facts = UNKNOWN,
) -> Rule:
    """Make a rule for a function with several outputs from one maker per operand.

    Parameters
    ----------
    *makers : Maker or None
        ``maker(output, outs, *operands, **options)``, with the number of the output and all of
        them, gives the partial of that output with respect to one operand; None where there is
        none.
    signature : callable
        As for `rule`.
    compute : callable, optional
        As for `rule`. It gives a tuple.
    facts : Facts

    Returns
    -------
    Rule

    Examples
    --------
    >>> both = outputs(  # of x**2 and x**3
    ...     lambda output, outs, x: 3 * outs[0] if output else 2 * x,
    ...     signature=lambda x: ((x,), {}),
    ...     compute=lambda x: (x * x, x * x * x),
    ... )
    """
    return Rule(makers=makers, signature=signature, compute=compute, multiple=True, facts=facts)


def jointly(
    variadic: Makers,
    *,
    signature: Signature,
    compute: Callable[..., Any] | None = None,
    facts: Facts = UNKNOWN,
) -> Rule:
    """Make a rule for a function of any number of operands.

    Parameters
    ----------
    variadic : Makers
        ``variadic(positions, out, *operands, **options)`` gives the partials of those operands.
    signature : callable
        As for `rule`.
    compute : callable, optional
        As for `rule`.
    facts : Facts

    Returns
    -------
    Rule

    Examples
    --------
    >>> total = jointly(  # of sum_of(x, y, z, ...)
    ...     lambda positions, out, *xs: [1.0 for _ in positions],
    ...     signature=lambda *xs: (xs, {}),
    ...     compute=lambda *xs: sum(xs),
    ... )
    """
    return Rule(variadic=variadic, signature=signature, compute=compute, facts=facts)


def each(maker: Maker, *, signature: Signature, compute: Callable[..., Any] | None = None) -> Rule:
    """Make a rule from one ``maker(position, out, ...)`` for any operand.

    Each call of it takes all of them, so it is for functions of few.

    Parameters
    ----------
    maker : callable
        ``maker(position, out, *operands, **options)`` gives the partial of the operand there.
    signature : callable
        As for `rule`.
    compute : callable, optional
        As for `rule`.

    Returns
    -------
    Rule

    Examples
    --------
    >>> total = each(lambda position, out, *xs: 1.0, signature=lambda *xs: (xs, {}))
    """

    def variadic(positions: Sequence[int], *arguments: Any, **options: Any) -> list[Any]:
        return [maker(position, *arguments, **options) for position in positions]

    return jointly(functools.wraps(maker)(variadic), signature=signature, compute=compute)


def constants(*functions: Callable[..., Any], facts: Facts = UNKNOWN) -> dict[Any, Entry]:
    """List functions that are piecewise constant, or not about values.

    Examples
    --------
    >>> table = constants(np.sign, np.floor)
    """
    return dict.fromkeys(functions, Constant(facts))


def stated(facts: Facts, table: dict[Any, Any]) -> dict[Any, Any]:
    """Say the same facts of all functions of a table.

    Examples
    --------
    >>> from tape_ad.rules.facts import ELEMENTWISE
    >>> table = stated(ELEMENTWISE, {abs: rule(lambda out, x: np.sign(x))})
    >>> table[abs].facts.is_elementwise
    True
    """
    return {function: evolve(entry, facts=facts) for function, entry in table.items()}


def add_facts(table: dict[Any, Any], functions: Iterable[Callable[..., Any]], **known: Any) -> None:
    """Say more of some functions of a table than stands beside their rules.

    Parameters
    ----------
    table : dict
        The entries of the functions are replaced in it.
    functions : iterable of callable
    **known
        Attributes of `Facts`.

    Examples
    --------
    >>> table = constants(np.nonzero, np.sign)
    >>> add_facts(table, [np.nonzero], shape_by_values=True)
    >>> table[np.nonzero].facts.shape_by_values, table[np.sign].facts.shape_by_values
    (True, False)
    """
    for function in functions:
        entry = table[function]
        table[function] = evolve(entry, facts=entry.facts.also(**known))


def merged(*tables: dict[Callable[..., Any], Entry]) -> dict[Callable[..., Any], Entry]:
    """Merge rule tables into one.

    Raises
    ------
    ValueError
        When a function stands in two tables.

    Examples
    --------
    >>> table = constants(np.sign)
    >>> merged(table, constants(np.floor)).keys() == {np.sign, np.floor}
    True
    """
    together: dict[Callable[..., Any], Entry] = {}
    for table in tables:
        for function, entry in table.items():
            if function in together:
                raise ValueError(f"{function!r} has two rules")
            together[function] = entry
    return together


def refuse(name: str, **arguments: Any) -> None:
    """Refuse arguments that were given a value other than None or NumPy's "no value".

    Raises
    ------
    UnsupportedArgumentError
        It names the argument and what to write instead.

    Examples
    --------
    >>> refuse("sum", out=np.zeros(3))
    Traceback (most recent call last):
        ...
    tape_ad.errors.UnsupportedArgumentError: np.sum: the argument out= ...
    """
    for argument, value in arguments.items():
        if value is None or value is NO_VALUE:
            continue
        if argument == "out":
            instead = " by position; write out=handle, or use the returned handle"
        elif argument == "where":
            instead = "; write np.where(mask, result, other) around the operands or the result"
        else:
            instead = "; combine it with the result yourself"
        raise UnsupportedArgumentError(
            f"np.{name}: the argument {argument}= is not supported on handles{instead}"
        )


def as_array(x: Any) -> Array:
    """Take a list, a number or PyTorch's array to one; what has NumPy's dtypes stays as it is.

    Examples
    --------
    >>> as_array([1, 2])
    array([1, 2])
    """
    return x if isinstance(getattr(x, "dtype", None), np.dtype) else asarray(x)


def as_constant(x: Any) -> Array:
    """Take what may not be a handle to an array; one that notes calls stays as it is.

    Examples
    --------
    >>> as_constant([1, 2])
    array([1, 2])
    """
    return x if is_traced(x) else np.asarray(x)


def in_double(x: Array) -> Array:
    """Cast to double precision, as libraries compute in that know no other.

    Examples
    --------
    >>> in_double(np.float32(0.5)).dtype, in_double([1j]).dtype
    (dtype('float64'), dtype('complex128'))
    """
    x = as_array(x)
    dtype = np.result_type(x.dtype, np.float64)
    return x if x.dtype == dtype else x.astype(dtype)


def axes_of(ndim: int, axis: Any, *, repeated: bool = False) -> tuple[int, ...]:
    """Write NumPy's `axis` argument as a tuple of negative axes.

    Parameters
    ----------
    ndim : int
    axis : int, sequence of int or None
        For no axes at all, NumPy's reductions take 0 and -1 too.
    repeated : bool
        Whether an axis may be named more than once.

    Raises
    ------
    numpy.exceptions.AxisError
        When there is no such axis.
    ValueError
        When an axis is named twice.

    Examples
    --------
    >>> axes_of(3, (0, -1)), axes_of(3, None)
    ((-3, -1), (-3, -2, -1))
    """
    if axis is None:
        return tuple(range(-ndim, 0))
    if type(axis) is int and -ndim <= axis < ndim:
        return (axis if axis < 0 else axis - ndim,)
    if type(axis) is tuple:
        return several_axes(ndim, whole(axis), repeated)
    if ndim == 0 and np.ndim(axis) == 0 and axis in (0, -1):
        return ()
    return several_axes(ndim, whole(np.atleast_1d(axis).tolist()), repeated)


def whole(axes: Iterable[Any]) -> tuple[int, ...]:
    """Take axes for Python's integers, as what is remembered by them outlives captured numbers."""
    return tuple([axis if type(axis) is int else operator.index(axis) for axis in axes])


@functools.lru_cache(maxsize=256)
def several_axes(ndim: int, axes: tuple[int, ...], repeated: bool) -> tuple[int, ...]:
    """Write a tuple of axes as one of negative axes; NumPy's own function takes longer."""
    numbers = normalize_axis_tuple(axes, ndim, allow_duplicate=repeated)
    return tuple(number - ndim for number in numbers)


def axis_of(ndim: int, axis: Any) -> int:
    """Write the one axis that a function works along as a negative number.

    Raises
    ------
    numpy.exceptions.AxisError
        When there is no such axis.

    Examples
    --------
    >>> axis_of(3, 1)
    -2
    """
    number: int = normalize_axis_index(axis, ndim)
    return number - ndim


def along(axis: int, entry: Any) -> tuple[Any, ...]:
    """Make the key that is `entry` on one axis, a negative number, and whole on all others.

    Examples
    --------
    >>> np.zeros((5, 4, 3))[along(-2, slice(1))].shape
    (5, 1, 3)
    """
    return (..., entry, *(slice(None),) * (-axis - 1))


def quiet(maker: Maker) -> Maker:
    """Let a maker meet a singular point (``sqrt`` at 0) without a warning.

    The partial is then inf or nan, which is the answer; NumPy's own warnings about the value of
    the function stay as they are.

    Examples
    --------
    >>> quiet(lambda out, x: 0.5 / out)(np.zeros(1), np.zeros(1))
    array([inf])
    """
    return np.errstate(all="ignore")(maker)  # which takes half of the time of a with statement


def arguments_of(
    function: Callable[..., Any], operands: str, options: str | None = None, *, ignored: str = ""
) -> Signature:
    """Make the signature of a function whose arguments need nothing but sorting.

    A parameter that is named nowhere, such as one that a newer NumPy has added, may be left out or
    given its default; any other value is refused by name.

    Parameters
    ----------
    function : callable
        Of NumPy, or of our own: not one written in C, which older releases give no signature.
    operands : str
        The parameters that have a derivative, apart by spaces, in the order of the rule's makers.
    options : str, optional
        Those that the makers take besides. When left out, all others that there are, which is
        right for a function of our own.
    ignored : str
        Those that may have any value, for they change nothing.

    Notes
    -----
    The text of the signature is written and compiled when it is first called: that takes longer
    than it takes to import the module that it stands in. It then takes the place of the code that
    wrote it, so that a call costs what it costs in a signature written by hand.

    Examples
    --------
    >>> import numpy as np
    >>> signature = arguments_of(np.roll, "a", "shift axis")
    >>> signature("x", 3)
    (('x',), {'shift': 3, 'axis': None})
    """
    namespace: dict[str, Any] = {}
    signature = types.FunctionType(unmade.__code__, namespace)

    def first_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = compiled(function, operands, options, ignored, namespace)
        signature.__defaults__, signature.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
        signature.__name__ = signature.__qualname__ = made.__name__
        signature.__code__ = made.__code__  # last, as another thread may call it at any time
        return signature(*args, **kwargs)

    namespace["first_call"] = first_call
    return signature


def unmade(*args: Any, **kwargs: Any) -> Any:
    """Stand for a signature until it is called; `first_call` is in each one's own namespace."""
    return first_call(args, kwargs)  # type: ignore[name-defined]  # noqa: F821 - as it says


def compiled(
    function: Callable[..., Any],
    operands: str,
    options: str | None,
    ignored: str,
    namespace: dict[str, Any],
) -> types.FunctionType:
    """Write the text of a signature, and compile it in a namespace for the defaults."""
    parameters = inspect.signature(function).parameters
    first = operands.split()
    second = [each for each in parameters if each not in first]
    if options is not None:
        second = options.split()
    known = {*first, *second, *ignored.split()}

    def refused(name: str, value: Any) -> None:
        default = parameters[name].default
        if type(value) is not type(default) or value != default:
            refuse(called(function).removeprefix("np."), **{name: value})

    heads = []
    for name, parameter in parameters.items():
        namespace[f"default_{name}"] = parameter.default
        default = parameter.empty if parameter.default is parameter.empty else Default(name)
        heads.append(parameter.replace(default=default, annotation=parameter.empty))
    lines = [
        f"def {function.__name__}{inspect.Signature(heads)}:",
        *(
            f"    if {name} is not default_{name}: refused({name!r}, {name})"
            for name in parameters
            if name not in known
        ),
        f"    return ({''.join(f'{name}, ' for name in first)}), "
        f"{{{', '.join(option(name, parameters[name].default) for name in second)}}}",
    ]
    namespace["refused"] = refused
    made: dict[str, types.FunctionType] = {}  # of this call alone, as two threads may be here
    exec("\n".join(lines), namespace, made)  # noqa: S102 - the text is made here, of parameters' names
    return made[function.__name__]


def option(name: str, default: Any) -> str:
    """Write an option; of ``np.True_`` NumPy's reductions make an error where they get it."""
    if name not in ("keepdims", "hermitian") or not isinstance(default, bool | type(NO_VALUE)):
        return f"{name!r}: {name}"
    given = "" if isinstance(default, bool) else f" and {name} is not default_{name}"
    return f"{name!r}: bool({name}){given}"


class Default(str):
    """A name that stands for a default in the text of a signature."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Give the name in the namespace."""
        return f"default_{self}"
