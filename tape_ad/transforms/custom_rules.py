"""Functions that bring their own derivatives: solvers, simulators, code in other languages."""

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Protocol, TypeVar, overload

import numpy as np
from attrs import define, field, frozen

from tape_ad.base.arrays.overridable import foreign
from tape_ad.base.errors import NoModeError, OutputError, UnsupportedArgumentError
from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.record.primals import PLAIN_TYPES, read_only
from tape_ad.record.spaces import fitted, float_to_array, matched
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array, LinearMap, Partial, Scale, as_map
from tape_ad.transforms.blocks import Use, block, has_derivative
from tape_ad.transforms.tracing import Transformed

Function = Callable[..., Any]
Arguments = ParamSpec("Arguments")
Output = TypeVar("Output")
Shape = tuple[int, ...]

if TYPE_CHECKING:

    class Decorator(Protocol):
        """What gives a function a rule, and leaves its signature as it is."""

        @overload
        def __call__(self, f: np.ufunc, /) -> Any: ...
        @overload
        def __call__(self, f: Callable[Arguments, Output], /) -> Callable[Arguments, Output]: ...


def custom_rule(
    function: None = None,
    /,
    *,
    pull: Function | None = None,
    push: Function | None = None,
    partials: Function | None = None,
    stacked: bool = False,
) -> "Decorator":
    """Give a function its own partial derivatives, in place of those of what it computes.

    The function then sees plain arrays only, so it may call anything: a solver, a simulator, a
    library in C. One of `pull` and `push` is enough for the sweeps in its direction; `partials`
    serve both.

    Parameters
    ----------
    function : None
        Left out: the rule is called with its options first, and returns the decorator.
    pull : callable, optional
        ``pull(ct, out, *args)`` takes a cotangent of the output to those of the arguments: a
        tuple, with None for zero, or the cotangent alone where there is one argument. `ct` and
        `out` look like the output, and a cotangent looks like its argument, trees included. `ct`
        is read-only, for others may use it as well.
    push : callable, optional
        ``push(tangents, out, *args)`` takes a tuple of tangents, one like each argument, to that
        of the output. They are read-only too.
    partials : callable, optional
        ``partials(out, *args)`` gives the derivative by each argument: a tuple, or the one alone
        where there is one argument. An array is the derivative element by element, and broadcasts
        to the output; any other is a `LinearMap`; None is for what the output does not depend on.
        The arguments and the output are then bare arrays.
    stacked : bool
        Whether `pull` and `push` take cotangents and tangents with further axes in front. If not,
        they are called for one after the other of a stack.

    Returns
    -------
    callable
        The decorator. Arguments that a function only takes by keyword are constants, and are
        passed on to `pull`, `push` and `partials`.

    Raises
    ------
    NoModeError
        In a sweep, when there is a push only and a reverse sweep asks for a pull, or the other way
        round.
    SeedError
        In a sweep, when what `pull` or `push` returns does not fit the argument or the output.
    InPlaceError
        In a call with handles, when the function writes to an argument.
    MutatedInputError
        In a sweep, when `pull`, `push` or `partials` write to what they are given, or when what the
        function gave was written to after the call: it gives a new array each time.

    Notes
    -----
    Floating-point errors in `pull`, `push` and `partials` are treated as NumPy was set to when the
    function was called; a sweep is silent otherwise.

    The function is one call to everybody else. `tape_ad.extend` is for the functions of a package,
    of which batching, Dask and the compiler are told facts.

    Derivatives of second order differentiate `pull` or `push`, which then get handles: they are
    to be NumPy code, or to call a function with a custom rule in their turn.

    Examples
    --------
    >>> import math
    >>> import tape_ad as ta
    >>> @ta.custom_rule(pull=lambda ct, out, x: ct * out)
    ... def exp(x):
    ...     return math.exp(x)
    >>> ta.grad(exp)(0.0)
    np.float64(1.0)
    """
    if function is not None:
        raise TypeError(
            "custom_rule is called before it decorates; write @ta.custom_rule(pull=...), with "
            "what takes a cotangent of the output to those of the arguments"
        )
    if pull is None and push is None and partials is None:
        raise TypeError("custom_rule needs one of pull=, push= and partials= at least")
    for name, given in (("pull", pull), ("push", push)):
        if given is not None and not callable(given):
            raise TypeError(f"custom_rule: {name}= is a function, not {given!r}")
    if partials is not None and (pull is not None or push is not None):
        raise TypeError("custom_rule takes partials=, which serve both modes, or pull= and push=")

    def decorator(function: Function) -> Function:
        return WithRule(function, Custom(function, pull, push, partials, stacked))

    typed: Decorator = decorator
    return typed


@define(eq=False, repr=False)
class WithRule(Transformed):
    """A function with a rule of its own.

    Attributes
    ----------
    custom : Custom
    """

    made_by: ClassVar[str] = "custom_rule"
    custom: "Custom"
    public: Any = field(init=False)
    signature: Any = field(init=False, default=None)

    def __attrs_post_init__(self) -> None:
        self.public = block(self.function, self.custom)
        Transformed.__attrs_post_init__(self)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the user's function on plain arrays; its rule needs nothing else of that."""
        if kwargs:
            if self.signature is None:
                self.signature = inspect.signature(self.function)
            bound = self.signature.bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
            if any(type(leaf) is Tensor for leaf in flatten(kwargs)):
                raise UnsupportedArgumentError(
                    f"{self.custom.name} got a handle in a keyword-only argument, which its rule "
                    "takes for a constant; pass .data of it"
                )
        elif PLAIN_TYPES.issuperset(map(type, args)):
            return self.function(*args)
        return self.public.call(*args, **kwargs)


@frozen
class Custom:
    """The block behind a function with a custom rule."""

    keeps_output: ClassVar[bool] = True
    function: Function
    pull_one: Any
    push_one: Any
    partials: Any
    stacked: bool

    @property
    def name(self) -> str:
        """The function's name, for errors."""
        return str(getattr(self.function, "__name__", self.function))

    def run(self, *args: Any, **kwargs: Any) -> tuple[Any, None]:
        """Call the user's function on plain arrays, and keep what its rule asks for."""
        return foreign(self.function, args, kwargs), None

    def pull(self, use: Use, cotangents: Any, stack: Shape, chosen: bool) -> list[Any]:
        """Pull with the user's function, or with the maps."""
        args, kwargs = use.arguments(use.values)
        cotangents = map_leaves(shielded, cotangents)
        if self.partials is not None:
            [ct] = flatten(cotangents)
            maps = self.maps(use, args, kwargs)
            return [None if each is None else applied(use, each, "pull", ct) for each in maps]
        if self.pull_one is None:
            raise self.no_mode("pull", "reverse", "forward (ta.jvp, or jacobian(mode='forward'))")
        if self.stacked or not stack:
            result = self.by_user(use, "pull", cotangents, *args, **kwargs)
            return self.pulled(use, result, stack)
        rows = []
        for index in np.ndindex(*stack):
            ct = map_leaves(functools.partial(taken, index), cotangents)
            rows.append(self.pulled(use, self.by_user(use, "pull", ct, *args, **kwargs), ()))
        return restacked(rows, use.values, stack)

    def pulled(self, use: Use, result: Any, stack: Shape) -> list[Any]:
        """Sort what a pull returned, with a stack, to the operands."""
        args, _ = use.arguments(use.values)
        if len(args) == 1 and not isinstance(result, tuple):
            result = (result,)
        if not isinstance(result, tuple) or len(result) != len(args):
            alone = "its cotangent, or " if len(args) == 1 else ""
            raise OutputError(
                f"the pull of {self.name} gave {described(result)} for {of_arguments(args)}; "
                f"return {alone}a tuple of {len(args)}, one for each argument in their order, "
                "with None for zero"
            )
        found: list[Any] = []
        for i, (arg, cts) in enumerate(zip(args, result, strict=True)):
            if type(cts) is type(arg) is np.ndarray and is_like(cts, arg, stack):
                found.append(cts.copy())  # which is what `fitted` would do
                continue
            if cts is None:
                found += [None] * len(flatten(arg))
                continue
            what = f"the cotangent that the pull of {self.name} gave for argument {i}"
            whole = f"argument {i} of {self.name}"
            for path, leaf, ct in matched(arg, cts, "cotangents", whole.__str__):
                fits = ct is not None and type(leaf) is not int and has_derivative(leaf)
                found.append(fitted(ct, leaf, stack, what + path)[0] if fits else None)
        return [found[slot] for slot in use.slots]

    def push(self, use: Use, position: int, tangent: Array, stack: Shape) -> Any:
        """Push with the user's function, or with the map."""
        args, kwargs = use.arguments(use.values)
        tangent = shielded(tangent)
        if self.partials is not None:
            each = self.maps(use, args, kwargs)[position]
            [out] = flatten(use.output)
            zeros = np.zeros(stack + out.shape, out.dtype)
            t = zeros if each is None else applied(use, each, "push", tangent)
            return unflatten(use.output, [t])
        if self.push_one is None:
            raise self.no_mode("push", "forward", "reverse (ta.grad, or jacobian(mode='reverse'))")
        if self.stacked or not stack:
            return self.pushed(use, position, tangent, stack)
        rows = [self.pushed(use, position, tangent[index], ()) for index in np.ndindex(*stack)]
        return unflatten(use.output, restacked(map(flatten, rows), flatten(use.output), stack))

    def pushed(self, use: Use, position: int, tangent: Array, stack: Shape) -> Any:
        """Call the user's push with one tangent, and with zeros for the other arguments."""
        args, kwargs = use.arguments(use.values)
        counter = itertools.count()
        tangents = map_leaves(
            lambda leaf, path: (
                tangent if next(counter) == use.slots[position] else zero_tangent(leaf, stack)
            ),
            args,
        )
        result = self.by_user(use, "push", tangents, *args, **kwargs)
        what = f"the tangent that the push of {self.name} gave for the output"
        fits = [
            fitted(t, leaf, stack, what + path)[0] if has_derivative(leaf) else None
            for path, leaf, t in matched(
                use.output, result, "tangents", lambda: f"what {self.name} gives"
            )
        ]
        return unflatten(use.output, fits)

    def maps(self, use: Use, args: Any, kwargs: Any) -> list[LinearMap | None]:
        """Make the map for each operand."""
        try:
            with np.errstate(**use.errors):
                found = self.partials(use.saved, *args, **kwargs)
        except TypeError as error:
            if told := self.misfit("partials", "out", args, kwargs):
                raise OutputError(told) from error
            raise
        maps = found if isinstance(found, tuple) else (found,)
        if len(maps) != len(args) or len(flatten((args, use.output))) != len(args) + 1:
            raise OutputError(
                f"the partials of {self.name} are {described(found)} for {of_arguments(args)}; "
                "there has to be one map or None for each, and all arguments and the output have "
                "to be bare arrays"
            )
        return [self.as_map(maps[slot], use.output.shape) for slot in use.slots]

    def as_map(self, partial: Partial | None, shape: Shape) -> LinearMap | None:
        """Take an array to the map that it stands for, if it broadcasts to the output."""
        if partial is None or hasattr(type(partial), "pull"):
            return partial
        array: Array = partial
        given: Shape = np.shape(array)
        pairs = zip(given[::-1], shape[::-1], strict=False)
        if len(given) > len(shape) or any(have not in (1, want) for have, want in pairs):
            raise OutputError(
                f"the partials of {self.name} hold an array of shape {given}, which is meant as "
                f"the derivative element by element and has to broadcast to the output's {shape}; "
                "for another derivative, give a LinearMap, or write pull= and push="
            )
        return as_map(array)

    def by_user(self, use: Use, mode: str, given: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a pull or push of the user's, whose own floating-point warnings are to be seen.

        A sweep is silent, so they are what NumPy was set to when the function was called.
        """
        derivative = self.pull_one if mode == "pull" else self.push_one
        try:
            with np.errstate(**use.errors):
                return foreign(derivative, (given, use.saved, *args), kwargs, shielded=1)
        except TypeError as error:
            first = "ct, out" if mode == "pull" else "tangents, out"
            if told := self.misfit(mode, first, args, kwargs):
                raise OutputError(told) from error
            raise

    def misfit(self, mode: str, first: str, args: Sequence[Any], kwargs: Any) -> str:
        """Say how a pull, push or partials are called, if that is what the user's does not take."""
        derivative = {"pull": self.pull_one, "push": self.push_one}.get(mode, self.partials)
        try:
            takes = inspect.signature(derivative)
        except (TypeError, ValueError):  # code in C does not always tell
            return ""
        try:
            takes.bind(*first.split(), *args, **kwargs)
        except TypeError as reason:
            names = [first, *(f"argument {i}" for i in range(len(args)))]
            names += [f"{name}=" for name in kwargs]
            return (
                f"the {mode} of {self.name} is called with ({', '.join(names)}), but takes "
                f"{takes}: {reason}"
            )
        return ""

    def no_mode(self, missing: str, asked: str, other: str) -> NoModeError:
        """Say that the rule serves the other mode only."""
        return NoModeError(
            f"the custom rule of {self.name} has no {missing}, so it cannot be differentiated in "
            f"{asked} mode; give custom_rule a {missing}=, or use {other}"
        )


def described(result: Any) -> str:
    """Describe what a function returned, for an error.

    Examples
    --------
    >>> described((1.0, None)), described(np.ones(3)), described(None)
    ('a tuple of 2', 'an array of shape (3,)', 'None')
    """
    if result is None:
        return "None"
    if isinstance(result, (tuple, list)):
        return f"a {type(result).__name__} of {len(result)}"
    shape = getattr(result, "shape", None)
    return f"one {type(result).__name__}" if shape is None else f"an array of shape {shape}"


def of_arguments(args: Sequence[Any]) -> str:
    """Count arguments in words that agree with their number."""
    return "1 argument" if len(args) == 1 else f"{len(args)} arguments"


def applied(use: Use, linear: LinearMap, method: str, given: Array) -> Array:
    """Pull or push with a map; one of the user's own may warn, as in `Custom.by_user`."""
    if isinstance(linear, Scale):
        return getattr(linear, method)(given)
    with np.errstate(**use.errors):
        return getattr(linear, method)(given)


def is_like(ct: Array, arg: Array, stack: Shape) -> bool:
    """Tell whether an array is in the space of an argument as it is, as nearly all are."""
    return ct.dtype is arg.dtype and ct.shape == stack + arg.shape


def shielded(leaf: Any, path: str = "") -> Any:
    """View a plain array without the right to write."""
    return read_only(leaf) if isinstance(leaf, np.ndarray) else leaf


def taken(index: Shape, ct: Any, path: str) -> Any:
    """Take one cotangent from a stack."""
    return None if ct is None else ct[index]


def zero_tangent(leaf: Any, stack: Shape) -> Any:
    """Give zeros for an argument that is an array or a float, None for any other."""
    leaf = float_to_array(leaf)
    return np.zeros(stack + leaf.shape, leaf.dtype) if has_derivative(leaf) else None


def restacked(rows: Iterable[Sequence[Any]], spaces: Sequence[Any], stack: Shape) -> list[Any]:
    """Put single tangents or cotangents on each other, each row being one for each space."""
    columns = list(zip(*rows, strict=True)) or [()] * len(spaces)
    found: list[Any] = []
    for column, space in zip(columns, spaces, strict=True):
        if not has_derivative(space):
            found.append(None)
            continue
        filled = [np.zeros(space.shape, space.dtype) if row is None else row for row in column]
        stacked = np.stack(filled) if filled else np.zeros((0, *space.shape), space.dtype)
        found.append(stacked.reshape(stack + space.shape))
    return found
