"""Compiled functions that are called with handles: one node each, with compiled derivatives.

The value is a replay. So are pulls and pushes, of programs that are captured when they are first
needed; they compute again what is in between. Where they are called with handles of an outer
record, they are nodes in their turn, so derivatives of all orders are right.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from attrs import frozen

from tape_ad.base.errors import CaptureError, RecomputationError
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, unflatten
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array
from tape_ad.transforms.blocks import Recording, Use, are_close, sums_of
from tape_ad.transforms.opaque import recorded
from tape_ad.transforms.recomputation import Recomputed
from tape_ad.transforms.tracing import Trace

Function = Callable[..., Any]
Shape = tuple[int, ...]


def called_as_node(compiled: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a compiled function with handles, and record it as one node."""
    leaves = flatten((args, kwargs))
    slots = tuple([i for i, leaf in enumerate(leaves) if type(leaf) is Tensor])
    node = Recording(OfCompiled(compiled.function, compiled, slots))
    node.__name__ = getattr(compiled, "__name__", "compiled")  # type: ignore[attr-defined]  # for errors
    return node(*args, **kwargs)


@frozen(eq=False)
class Kept:
    """What a call with handles keeps for its derivatives.

    Attributes
    ----------
    watched : sequence of FreeVariables
        What the function read then.
    sums : list, optional
        Those of the arrays of its value, where the pull is of another program.
    pull : callable, optional
    """

    watched: Sequence[Any]
    sums: Any = None
    pull: Callable[[Any], Any] | None = None


@frozen(eq=False)
class OfCompiled(Recomputed):
    """The block of a compiled function.

    What looks into it, as a sparsity pattern does, may compute the function again.

    Attributes
    ----------
    function : callable
        What the compiled one is made of.
    compiled : Compiled
    slots : tuple of int
        Which leaves of the arguments are handles.
    """

    compares: ClassVar[bool] = False
    compiled: Any
    slots: tuple[int, ...]

    def run(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Replay the function; where there is one, by the program that keeps what a pull needs.

        Raises
        ------
        CaptureError
            Where the function itself is to be recorded instead.
        """
        found = self.derived(Pull, self.slots, False).forward(args, kwargs)
        if found is not None:
            value, pull, watched = found
            return value, Kept([watched], pull=pull)
        value = self.compiled(*args, **kwargs)
        if self.compiled.may_draw():
            raise CaptureError("the pull would draw again, or do again what nobody knows of")
        return value, Kept(self.compiled.watched(), sums(value))

    def pull(self, use: Use, cotangents: Any, stack: Shape, chosen: bool) -> list[Any]:
        """Replay the pull.

        Raises
        ------
        RecomputationError
            When the function has computed something else than before.
        """
        given = [ct for ct in flatten(cotangents) if ct is not None]
        before = use.saved or Kept(())
        if before.pull is not None and use.slots == self.slots and not chosen:
            kept: list[Any] | None = before.pull(given)
            if kept is not None:
                return kept
        self.check_variables(use)
        derived, args = self.derived(Pull, use.slots, chosen), use.arguments(use.values)
        pulled: list[Any]
        value, pulled = derived(given, *args)
        same = before.sums is None or are_close(before.sums, sums(value))
        if not same and not self.is_rounded(use):
            raise RecomputationError(
                f"{called(self.function)}, which is compiled, gives other values in the sweep, "
                "which computes it again, than it gave before; what it draws from, counts in "
                "or reads anew has to be an argument"
            )
        if use.slots == self.slots and not chosen:
            derived.split(given, *args)
        return pulled

    def check_variables(self, use: Use) -> None:
        """Refuse to compute again what reads other variables now, even if its value is the same.

        Raises
        ------
        RecomputationError
        """
        for each in () if use.saved is None else use.saved.watched:
            if not each.hold():
                raise RecomputationError(
                    f"{called(self.function)}, which is compiled, has been called with handles, "
                    f"and {each.changed()} is bound to something else when the sweep computes it "
                    "again; pass that as an argument"
                )

    def is_rounded(self, use: Use) -> bool:
        """Tell whether the value is as before where it is computed as it was then.

        A residual that is nearly zero has other digits in native code than in NumPy.
        """
        args, kwargs = use.arguments(use.values)
        try:
            return any(
                all(are_close(use.saved.sums, sums(function(*args, **kwargs))) for _ in range(2))
                for function in (self.compiled, self.function)
            )
        except CaptureError:  # which is no rounding
            return False

    def push(self, use: Use, position: int, tangent: Array, stack: Shape) -> Any:
        """Replay the push."""
        self.check_variables(use)
        return self.derived(Push, use.slots, position)(tangent, *use.arguments(use.values))

    def derived(self, kind: Any, slots: tuple[int, ...], form: Any) -> Any:
        """Give a derivative of the function, compiled as that is."""
        return self.compiled.derived(
            (kind, slots, form), lambda function: kind(function, slots, form)
        )


@frozen(eq=False)
class Derivative:
    """A derivative of a function with respect to some of the leaves of its arguments.

    Attributes
    ----------
    function : callable
    slots : tuple of int
    form : hashable
        What else it depends on.
    """

    function: Function
    slots: Sequence[int]
    form: Any

    @property
    def __name__(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", "compiled"))

    @property
    def __wrapped__(self) -> Function:
        """The function, whose variables are watched."""
        return self.function

    def recorded(self, args: Any, kwargs: Any) -> Trace:
        """Record the function."""

        def inside(*leaves: Any) -> Any:
            own, named = unflatten((args, kwargs), list(leaves))
            return self.function(*own, **named)

        return recorded(inside, flatten((args, kwargs)), self.slots)


class Pull(Derivative):
    """The value and the pull.

    The form is whether the zeros of cotangents are of what was not chosen.
    """

    def __call__(self, cotangents: list[Any], args: Any, kwargs: Any) -> tuple[Any, list[Any]]:
        """Give the output, and take the cotangents of all arrays in it to those of the operands."""
        traced, following = self.recorded(args, kwargs), iter(cotangents)
        found = [leaf for leaf in flatten(traced.output) if is_floating(leaf)]
        pairs = [(leaf, next(following)) for leaf in found]
        stack: Shape = ()
        for leaf, ct in pairs[:1]:
            stack = ct.shape[: ct.ndim - getattr(leaf, "ndim", 0)]
        swept = traced.swept(pairs, release=True, chosen=self.form)
        return traced.value(traced.output), list(traced.gradients(swept, stack))


class Push(Derivative):
    """The push; its form is the place of the operand whose tangent it takes."""

    def __call__(self, tangent: Array, args: Any, kwargs: Any) -> Any:
        """Take the tangent of one operand to those of the output."""
        traced = self.recorded(args, kwargs)
        operand = traced.inputs[self.form]
        stack = tangent.shape[: tangent.ndim - operand.ndim]
        reached = traced.pushed({operand.index: tangent})
        leaves = flatten(traced.output)
        tangents = [
            traced.tangent(leaf, reached, stack) if is_floating(leaf) else leaf for leaf in leaves
        ]
        return unflatten(traced.output, tangents)


def sums(value: Any) -> Any:
    """Sum the arrays of an output, to be compared."""
    return sums_of(list(filter(is_floating, flatten(value))))


def is_floating(leaf: Any) -> bool:
    """Tell whether a leaf of an output has a derivative."""
    return isinstance(leaf, (float, complex)) or (
        hasattr(leaf, "dtype") and leaf.dtype.kind in "fc"
    )
