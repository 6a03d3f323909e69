"""Functions that take the place of SciPy's: on plain arrays SciPy's own, on handles a rule.

`counterpart` makes the public function, and enters the lines that are called on handles into a
table of rules. They are NumPy calls and counterparts of other functions, and record themselves. A
value of theirs that differs from SciPy's in the last bit is replaced by SciPy's (`with_value`).
`scipy_function` makes a public function alone, for which there is another kind of rule.
"""

import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, cast, overload

import numpy as np

from tape_ad.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, holds, is_handle, is_traced, joined
from tape_ad.extend.maps import SAME
from tape_ad.extend.packages import called
from tape_ad.extend.rules import (
    Call,
    Derivation,
    Entry,
    add_facts,
    declined,
    facts_of,
    jointly,
    overridable,
    takes_over,
)
from tape_ad.extend.trees import map_leaves

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

SEQUENCES = frozenset({list, tuple})
FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
"""What functions are, apart from objects that can be called."""


def taken_over(public: Any, args: Any, kwargs: Any) -> Any:
    """Let arrays in lists and tuples take a call over, as arrays that stand alone do."""
    found: dict[type, Any] = {}

    def look(tree: Any) -> None:
        if takes_over(type(tree)):
            found.setdefault(type(tree), tree)
        elif type(tree) in SEQUENCES:
            for each in tree:
                look(each)

    look((*args, *kwargs.values()))
    for array in found.values():
        out = array.__array_function__(public, tuple(found), args, kwargs)
        if out is not NotImplemented:
            return out
    return declined(public, tuple(found))


def takes_lists(function: F) -> F:
    """Make a function overridable, and stack lists and tuples that have handles in them first.

    It is for functions all of whose arguments are arrays where handles stand in them.
    """
    return overridable(function, prepare=stacked)


def stacked(args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Stack what stands in the lists and tuples of a call, where there are handles in them."""
    if SEQUENCES.isdisjoint(map(type, args)) and SEQUENCES.isdisjoint(map(type, kwargs.values())):
        return args, kwargs
    return tuple(map(joined, args)), {key: joined(each) for key, each in kwargs.items()}


def scipy_function(
    function: Function, module: str, handles: str = "", *, trees: str = "", model: Any = None
) -> Function:
    """Make the function of ours that does what one of SciPy's does, and that rules can be for.

    Parameters
    ----------
    function : callable
        SciPy's. Its signature is that of ours too, in every release.
    module : str
        The module that publishes it: "tape_ad.scipy.ndimage".
    handles : str
        The parameters that may be handles, apart by spaces.
    trees : str
        Those that are lists or tuples of arrays, which are not stacked.
    model : callable, optional
        What has its signature and docstring.

    Returns
    -------
    callable
        Overridable. A list or tuple with handles in it counts as the array that they make, and a
        function may close over handles: then it is called once more, as if the first argument were
        one.
    """
    name = function.__name__
    home = module.removeprefix("tape_ad.")

    def plain(*args: Any, **kwargs: Any) -> Any:
        if any(map(holds, (*args, *kwargs.values()))):
            if trees:
                return taken_over(public, args, kwargs)
            named = {key: joined(each) for key, each in kwargs.items()}
            return public(*[joined(each) for each in args], **named)
        if not handles:  # and what is compiled may ask how many arguments a function takes
            return function(*args, **kwargs)
        given: list[Any] = []
        found = function(
            *[watched(each, given) for each in args],
            **{key: watched(each, given) for key, each in kwargs.items()},
        )
        return beside(given[0], args, kwargs) if given else found

    def beside(handle: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do the call with a constant of the handle's record, for a function closes over that.

        What calls SciPy's function itself for the value says in `closing` what is done instead.
        """
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        composition = getattr(public, "closing", None)
        if composition is not None:
            return composition(*bound.args, **bound.kwargs)
        first = next(iter(bound.arguments))
        array = as_array(bound.arguments[first])
        if "output" in signature.parameters:
            refuse_integers(public, array)
        bound.arguments[first] = constant_beside(array, handle)
        return public(*bound.args, **bound.kwargs)

    signature = inspect.signature(model or function)
    plain.__name__ = plain.__qualname__ = name
    plain.__module__ = model.__module__ if model else module
    plain.__doc__ = model.__doc__ if model else documented(name, home, handles)
    plain.__signature__ = signature  # type: ignore[attr-defined]  # as inspect looks for it
    public = overridable(plain)
    public.handles = frozenset(handles.split())  # type: ignore[attr-defined]  # for `derived`
    public.trees = frozenset(trees.split())  # type: ignore[attr-defined]  # as well
    return public


def signed_as(function: Function, **own: Any) -> Callable[[Function], Function]:
    """Let a function show the signature of SciPy's, and options of its own."""
    signature, kind = inspect.signature(function), inspect.Parameter.KEYWORD_ONLY
    further = [inspect.Parameter(name, kind, default=each) for name, each in own.items()]

    def decorate(ours: Function) -> Function:
        parameters = sorted([*signature.parameters.values(), *further], key=lambda each: each.kind)
        ours.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # as inspect looks for it
        return ours

    return decorate


def named(function: Function, first: int, more: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    """Name the arguments of a call, from a position on."""
    names = list(inspect.signature(function).parameters)[first : first + len(more)]
    return zip(names, more, strict=True)


def is_users(value: Any) -> bool:
    """Tell whether something is a function of the user's, which may close over handles."""
    if isinstance(value, FUNCTIONS):
        return True
    kind = type(value)
    known = kind.__module__.partition(".")[0] in ("builtins", "numpy", "scipy", "tape_ad")
    return callable(value) and not isinstance(value, type) and not known


def constant_beside(data: Any, handle: Any) -> Any:
    """Make a constant of a handle's record; of integers it has no derivative, and they get floats.

    Raises
    ------
    UnsupportedArgumentError
        When it is no array of numbers.
    """
    array = as_array(data)
    constant = np.asarray(array if array.dtype.kind in "fc" else array.astype(float), like=handle)
    if not is_handle(constant):
        raise UnsupportedArgumentError(
            f"a function closes over a handle beside an array of {array.dtype}, for which there is "
            "no derivative here; pass its .data if it is meant as a constant"
        )
    return constant


def watched(value: Any, given: list[Any]) -> Any:
    """Let a function of the user's give plain numbers, and keep the first handle that it gives."""
    if not is_users(value):
        return value

    def watching(*args: Any, **kwargs: Any) -> Any:
        return plain(value(*args, **kwargs))

    def plain(found: Any, path: str = "") -> Any:
        if holds(found):
            return map_leaves(plain, found)
        if not is_handle(found):
            return found
        given.append(found)
        while is_handle(found):
            found = found.data
        return found

    return functools.update_wrapper(watching, value)


def documented(name: str, home: str, handles: str) -> str:
    """Write the docstring of a function that stands for one of SciPy's."""
    given = handles.replace(" ", ", ")
    what = f"Handles may be: {given}." if handles else "Handles count as constants in it."
    return (
        f"The counterpart of `{home}.{name}`, with its arguments and defaults.\n\n    {what} "
        "Plain arrays give SciPy's own result."
    )


def refuse_elsewhere(public: Function, arguments: Mapping[str, Any]) -> None:
    """Refuse handles in arguments by which there is no derivative.

    Raises
    ------
    UnsupportedArgumentError
    """
    known = public.handles  # type: ignore[attr-defined]  # which `scipy_function` has given it
    for name, value in arguments.items():
        if name not in known and (is_handle(value) or holds(value)):
            raise UnsupportedArgumentError(
                f"{called(public)}: there is no derivative by {name}=, which may not be a handle; "
                "pass its .data if it is meant as a constant"
            )


def refuse_integers(function: Function, array: Array) -> None:
    """Refuse an array of integers beside handles, for SciPy then rounds the result to integers.

    Raises
    ------
    UnsupportedArgumentError
    """
    if array.dtype.kind not in "fc":
        raise UnsupportedArgumentError(
            f"{called(function)}: an array of {array.dtype} gives a result of {array.dtype}, which "
            "has no derivative; pass array.astype(float)"
        )


class Slot(int):
    """Stands for an array among the arguments of a call: which one of them it is."""


@overridable
def with_value(
    composed: Array,
    number: int | None,
    function: Function,
    args: Any,
    kwargs: Any,
    axis: int | None = None,
) -> Array:
    """Give what a function gives, with the derivative of what stands for it.

    Parameters
    ----------
    composed : array or Tensor
        The function's output, composed of functions that have rules.
    number : int or None
        Which of several outputs it is.
    function : callable
    args, kwargs
        What it is called with.
    axis : int, optional
        The axis that vectors lie along, where what is composed may have others of their signs.

    Returns
    -------
    array or Tensor
    """
    out = function(*args, **kwargs)
    return np.asarray(out if number is None else out[number])[()]


def with_value_signature(
    composed: Array,
    number: int | None,
    function: Function,
    args: Any,
    kwargs: Any,
    axis: int | None = None,
) -> Call:
    """Sort the arguments: the arrays that the function is called with are operands, too."""
    arrays: list[Any] = []

    def stored(argument: Any) -> Any:
        argument = joined(argument)
        if not hasattr(argument, "ndim"):
            return argument
        arrays.append(argument)
        return Slot(len(arrays) - 1)

    layout = tuple(map(stored, args)), {key: stored(each) for key, each in kwargs.items()}
    options = {"number": number, "function": function, "layout": layout, "axis": axis}
    return (composed, *arrays), options


def compute(
    composed: Array,
    *arrays: Any,
    number: int | None,
    function: Function,
    layout: Any,
    axis: int | None,
) -> Any:
    """Call the function one level below."""

    def filled(argument: Any) -> Any:
        return arrays[argument] if type(argument) is Slot else argument

    args, kwargs = layout
    out = function(*map(filled, args), **{key: filled(each) for key, each in kwargs.items()})
    out = out if number is None else out[number]
    out = out if hasattr(out, "dtype") else np.asarray(out)[()]
    if np.shape(composed) != out.shape:  # a sweep would broadcast one to the other
        raise ShapeError(
            f"{called(function)} gives shape {out.shape}, and what is composed for its derivative "
            f"has {np.shape(composed)}"
        )
    return out


def partials(
    positions: Sequence[int],
    out: Array,
    composed: Array,
    *arrays: Any,
    axis: int | None,
    **options: Any,
) -> list[Any]:
    """Make the partial by what is composed, which has all of the derivative."""
    partial: Any = SAME
    if axis is not None:
        overlap = np.add.reduce(composed.conjugate() * out, axis=axis, keepdims=True)
        none = np.equal(overlap, 0)
        phase = np.where(none, 1, overlap / np.where(none, 1, np.abs(overlap)))
        partial = np.broadcast_to(phase, out.shape)
    return [None if position else partial for position in positions]


def derivation(
    public: Any,
    composition: Function,
    axes: Mapping[int | None, int],
    anchor: bool | Callable[..., bool],
) -> Derivation:
    """Make the entry of a function that is composed, and has its own value all the same."""
    signature = inspect.signature(public)

    def derived(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        refuse_elsewhere(public, bound.arguments)
        for name in public.handles - public.trees:
            bound.arguments[name] = joined(bound.arguments[name])
        out = composition(*bound.args, **bound.kwargs)
        if not (anchor(*args, **kwargs) if callable(anchor) else anchor):
            return out
        call = public, args, kwargs
        if not isinstance(out, tuple):
            return settled(out, None, *call, axes.get(None))
        made = [settled(each, i, *call, axes.get(i)) for i, each in enumerate(out)]
        return out._make(made) if hasattr(out, "_make") else tuple(made)

    return Derivation(derived)


@overload
def counterpart(
    table: dict[Any, Entry], original: Any, handles: str, composition: Function, **known: Any
) -> Function: ...


@overload
def counterpart(
    table: dict[Any, Entry], original: Any, handles: str, **known: Any
) -> Callable[[F], F]: ...


def counterpart(
    table: dict[Any, Entry],
    original: Function | None,
    handles: str,
    composition: Function | None = None,
    *,
    trees: str = "",
    axes: Mapping[int | None, int] = MappingProxyType({}),
    anchor: bool | Callable[..., bool] | None = None,
    **known: Any,
) -> Any:
    """Make the public function that is composed on handles, and enter it into a table of rules.

    Called with plain arrays, it calls SciPy's with the same arguments. It is a decorator where no
    composition is given: of lines with SciPy's signature and a docstring, which are published.

    Parameters
    ----------
    table : dict
    original : callable or None
        SciPy's function, or one around it; None where SciPy has none, and the lines run always.
    handles, trees
        As for `scipy_function`.
    composition : callable, optional
        Takes its arguments, with all defaults given, and gives its outputs.
    axes : mapping of int
        For those of its outputs that are vectors of either sign, the axis that they lie along; for
        the only one, under None.
    anchor : bool or callable, optional
        Whether the value is SciPy's, and not that of the composition; ``anchor(*args, **kwargs)``
        decides it for each call. It is SciPy's, but where the function is a decorator.
    **known
        Facts about it (see `tape_ad.extend.facts`), such as ``signature="(m,n)->..."``.

    Returns
    -------
    callable
        The public function, or the decorator.
    """

    def made(lines: Function, anchor: Any, model: Any = None) -> Function:
        theirs: Any = original or lines
        parts = theirs.__module__.split(".")
        public = [part for part in parts if not part.startswith("_")]
        home = ".".join(public) if parts[0] == "tape_ad" else ".".join(["tape_ad", *public])
        function: Any = scipy_function(theirs, home, handles, trees=trees, model=model)
        table[function] = derivation(function, lines, axes, anchor)
        add_facts(table, (function,), **known)
        return cast("Function", function)

    if composition is not None:
        return made(composition, True if anchor is None else anchor)
    return lambda lines: made(lines, anchor or False, lines)


def composition_of(
    table: dict[Any, Entry], original: Function, handles: str, **options: Any
) -> Callable[[F], F]:
    """Enter the lines that a function of SciPy's is composed of on handles; see `counterpart`."""

    def decorate(lines: F) -> F:
        counterpart(table, original, handles, lines, **options)
        return lines

    return decorate


def settled(
    out: Any, number: int | None, public: Function, args: Any, kwargs: Any, axis: int | None
) -> Any:
    """Anchor one output, if it has a derivative."""
    if not takes_over(type(out)) or is_traced(out):
        return out
    return with_value(out, number, public, args, kwargs, axis)


def composed_alone(
    composed: Array,
    number: int | None,
    function: Function,
    args: Any,
    kwargs: Any,
    axis: int | None = None,
) -> Array:
    """Give what is composed, for a batch: but for signs it is the function's value to 1e-12."""
    if axis is not None or facts_of(function).dtype_by_values:
        raise UnsupportedArgumentError(f"{called(function)} has to be asked itself")
    return composed


WITH_VALUE: dict[Any, Entry] = {
    with_value: jointly(
        partials,
        signature=with_value_signature,
        compute=compute,
        facts=facts.composed(composed_alone),
    )
}
