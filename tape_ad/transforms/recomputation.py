"""Computing again in the sweep what was not kept for it: `checkpoint` and its like.

The files from which a run of training goes on are called checkpoints too; those are
`tape_ad.training.save_checkpoint` and have nothing to do with this.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, ParamSpec, TypeVar, overload

import numpy as np
from attrs import frozen

from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.record.primals import read_only_primal
from tape_ad.record.spaces import float_to_array
from tape_ad.rules.maps import Array
from tape_ad.transforms.blocks import Sums, Use, block, has_derivative, require_same, sums_of
from tape_ad.transforms.tracing import Trace, check_callable, trace, trace_arrays

Function = Callable[..., Any]
Arguments = ParamSpec("Arguments")
Output = TypeVar("Output")
State = TypeVar("State")
Shape = tuple[int, ...]


@overload
def checkpoint(f: np.ufunc) -> Any: ...
@overload
def checkpoint(f: Callable[Arguments, Output]) -> Callable[Arguments, Output]: ...
def checkpoint(f: Function, *arguments: Any) -> Function:
    """Let a function keep only its arguments for the sweep, which computes the inside again.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns an array or a tree. It is called
        again in the sweep, so it must do the same then: let it draw from a generator that it makes
        itself, of a seed or a state among the arguments. And it must not close over handles: pass
        them as arguments.

    Returns
    -------
    callable
        The same function. On handles it makes one node (and a few more to take a tree apart), and
        the memory of what happens inside is free once it has returned. A sweep runs it once more,
        so a gradient takes up to one evaluation longer. It works at every order, inside each
        other, and forward.

    Raises
    ------
    TypeError
        When arguments for `f` are passed along with it; they go to the returned function.
    RecordMismatchError
        By the returned function, when `f` closes over a handle.
    RecomputationError
        By the sweep, when `f` gives other values than it gave before, as weighted sums tell.

    Examples
    --------
    >>> import numpy as np
    >>> import tape_ad as ta
    >>> ta.grad(lambda x: np.sum(ta.checkpoint(np.sin)(x)))(np.zeros(2))
    array([1., 1.])
    """
    check_callable("checkpoint", f)
    if arguments:
        raise TypeError("checkpoint takes a function and gives a function; write checkpoint(f)(x)")
    return block(f, Recomputed(f))


@frozen
class Recomputed:
    """The block behind `checkpoint`."""

    keeps_output: ClassVar[bool] = False
    function: Function

    def over(self, transform: Callable[[Function], Function]) -> "Recomputed":
        """Make the block of what a transform makes of the function."""
        return Recomputed(transform(self.function))

    def run(self, *args: Any, **kwargs: Any) -> tuple[Any, None]:
        """Call the function, and keep nothing."""
        return self.function(*args, **kwargs), None

    def pull(self, use: Use, cotangents: Any, stack: Shape, chosen: bool) -> list[Any]:
        """Record the function, and sweep.

        Where that happens on handles of an outer record, it is a checkpoint there.
        """
        form, before = use.form(), use.sums

        def pulled(cotangents: Any, constants: list[Any], *values: Array) -> tuple[Any, ...]:
            inside = of_operands(self.function, form.beside(constants))
            traced = retraced(inside, values, range(len(values)), before)
            return traced.pull(cotangents, release=True, chosen=chosen)

        return list(checkpoint(pulled)(cotangents, form.leaves, *use.values))

    def push(self, use: Use, position: int, tangent: Array, stack: Shape) -> Any:
        """Record the function, and push."""
        form, before = use.form(), use.sums

        def pushed(tangent: Array, constants: list[Any], *values: Array) -> Any:
            inside = of_operands(self.function, form.beside(constants))
            return retraced(inside, values, (position,), before).push((tangent,))

        return checkpoint(pushed)(tangent, form.leaves, *use.values)


def retraced(
    inside: Function, values: tuple[Array, ...], positions: Sequence[int], before: Sums
) -> Trace:
    """Record a function that was run before, and see that it computes the same.

    Raises
    ------
    RecomputationError
    """
    traced = trace(inside, values, {}, positions)
    require_same(
        inside,
        before,
        outputs(traced.output),
        lambda: outputs(inside(*map(read_only_primal, values))),
        lambda: outputs(trace(inside, values, {}, positions).output),
    )
    return traced


def outputs(tree: Any) -> list[Any]:
    """List the arrays of an output that have derivatives."""
    return list(filter(has_derivative, flatten(map_leaves(float_to_array, tree))))


def of_operands(function: Function, use: Use) -> Function:
    """Make the function of a block's operands alone."""
    form = use.form()

    @functools.wraps(function)
    def inside(*values: Array) -> Any:
        args, kwargs = form.arguments(values)
        return function(*args, **kwargs)

    return inside


def checkpoint_sequential(
    step: Callable[..., State], n: int, state: State, *params: Any, slots: int | None = None
) -> State:
    """Apply a step many times, keeping a few of the states for the sweep.

    The states to keep, and those to keep in their place as the sweep frees them, are chosen such
    that the fewest steps are computed again: the binomial schedule of Griewank and Walther,
    "Algorithm 799: revolve", ACM TOMS 26 (2000), and *Evaluating Derivatives*, chapter 12. With c
    slots and r repetitions it sweeps over (c + r)! / (c! r!) steps.

    Parameters
    ----------
    step : callable
        ``step(state, *params) -> state``, a function of trees. It must not close over handles:
        pass them as `params`, or within the state. An int in the state is a constant, so it can
        count the steps.
    n : int
        How many times.
    state : array or tree
        The first state.
    *params : array or tree
        What every step is given beside the state.
    slots : int, optional
        How many states to keep, the first one included; at least 1. When left out, as many as
        let no step be computed more than twice before it is recorded, about sqrt(2 n).

    Returns
    -------
    array or tree
        The last state.

    Raises
    ------
    RecordMismatchError
        When `step` closes over a handle.
    RecomputationError
        By the sweep, when `step` gives other values than it gave before.

    Examples
    --------
    >>> import tape_ad as ta
    >>> halve = lambda x, rate: x - rate * x
    >>> ta.grad(lambda rate: checkpoint_sequential(halve, 3, 1.0, rate, slots=2))(0.5)
    np.float64(-0.75)
    """
    check_callable("checkpoint_sequential", step)
    if n < 0 or (slots is not None and slots < 1):
        raise ValueError(f"n is at least 0 and slots at least 1, not n={n} and slots={slots}")
    if n == 0:
        return state
    if slots is None:
        slots = next(c for c in range(1, n + 1) if reach(c, 2) >= n)
    last: State = block(step, Repeated(step, n, slots))(state, *params)
    return last


def reach(slots: int, repetitions: int) -> int:
    """Tell how many steps can be swept with so many slots, if each is computed so many times."""
    return math.comb(slots + repetitions, slots) if repetitions >= 0 else 0


def advance_by(steps: int, slots: int) -> int:
    """Say how far the next state to keep is from the last one.

    Parameters
    ----------
    steps : int
        From the last state that was kept to the end, at least 2.
    slots : int
        How many states may be kept on that way, that one included; at least 2.
    """
    repetitions = next(r for r in range(steps) if reach(slots, r) >= steps)
    return min(reach(slots, repetitions - 1), steps - reach(slots - 1, repetitions - 1))


@frozen
class Repeated:
    """The block behind `checkpoint_sequential`."""

    keeps_output: ClassVar[bool] = False
    step: Function
    n: int
    slots: int

    def run(self, state: Any, *params: Any) -> tuple[Any, Any]:
        """Compute all steps; keep the states in slots, and the last but one, for the sweep."""
        kept = [(0, arrays(state))]
        before_last = self.state_before(self.n, kept, params)
        return arrays(self.step(before_last, *params)), (kept, before_last)

    def state_before(self, end: int, kept: list[tuple[int, Any]], params: Any) -> Any:
        """Advance from the last state that was kept to the one before `end`, filling free slots."""
        at, state = kept[-1]
        while at < end - 1:
            free = self.slots - len(kept)
            count = advance_by(end - at, free + 1) if free else end - 1 - at
            for _ in range(count):
                state = arrays(self.step(state, *params))
            at += count
            if free:
                kept.append((at, state))
        return state

    def pull(self, use: Use, cotangents: Any, stack: Shape, chosen: bool) -> list[Any]:
        """Go through the steps from the last to the first, recording and sweeping each."""
        saved, use.saved = use.saved, None  # a second sweep starts from the first state again
        call, sums = use.form(), use.sums

        def pulled(cotangents: Any, constants: list[Any], saved: Any, *values: Array) -> list[Any]:
            form = call.beside(constants)
            (state, *params), _ = form.arguments(values)
            kept, before = saved or ([(0, arrays(state))], None)
            kept, cts, expected = list(kept), flatten(cotangents), sums
            totals: dict[int, Array] = {}
            for end in range(self.n, 0, -1):
                if before is None:
                    before = self.state_before(end, kept, params)
                traced, slots, count = self.recorded_step(before, params, form)
                self.compare(traced, expected, before, params, form)
                expected = sums_of(outputs(before))
                pairs = zip(flatten(traced.output), cts, strict=True)
                reached = traced.swept(pairs, release=True, chosen=chosen)
                cts = [None] * count
                for slot, leaf in zip(slots, traced.inputs, strict=True):
                    ct = reached.get(leaf.index)
                    if slot < count:
                        cts[slot] = ct
                    elif ct is not None:
                        totals[slot] = totals[slot] + ct if slot in totals else ct
                if kept[-1][0] == end - 1:
                    kept.pop()
                before = None
            return [cts[slot] if slot < count else totals.get(slot) for slot in form.slots]

        pulls = checkpoint(pulled)(cotangents, call.leaves, saved, *use.values)
        return list(pulls)

    def push(self, use: Use, position: int, tangent: Array, stack: Shape) -> Any:
        """Record and push the steps one after the other."""
        call = use.form()
        start = call.slots[position]

        def pushed(tangent: Array, constants: list[Any], *values: Array) -> Any:
            form = call.beside(constants)
            (state, *params), _ = form.arguments(values)
            state, tangents = arrays(state), {start: tangent}
            fixed = {} if start < len(flatten(state)) else {start: tangent}
            for _ in range(self.n):
                traced, slots, _ = self.recorded_step(state, params, form)
                out = traced.push(tuple(tangents.get(slot) for slot in slots))
                state = arrays(traced.value(traced.output))
                pairs = zip(flatten(state), flatten(out), strict=True)
                tangents = fixed | {i: t for i, (x, t) in enumerate(pairs) if has_derivative(x)}
            return out

        return checkpoint(pushed)(tangent, call.leaves, *use.values)

    def compare(
        self, traced: Trace, expected: Sums, state: Any, params: list[Any], form: Use
    ) -> None:
        """See that a step that is recorded computes the state that was computed from it before."""
        require_same(
            self.step,
            expected,
            outputs(traced.output),
            lambda: outputs(self.step(*map_leaves(read_only_primal, (state, *params)))),
            lambda: outputs(self.recorded_step(state, params, form)[0].output),
        )

    def recorded_step(
        self, state: Any, params: list[Any], use: Use
    ) -> tuple[Trace, list[int], int]:
        """Record a step with respect to the arrays of the state, and the operands beside it.

        Returns
        -------
        tuple of Trace, list of int, and int
            The trace, which leaves of ``(state, *params)`` its inputs are, and how many of those
            leaves belong to the state.
        """
        leaves = flatten(state)
        count = len(leaves)
        slots = [i for i in range(count) if has_derivative(leaves[i])]
        beside = [slot for slot in use.slots if slot >= count]
        if beside:
            leaves += flatten(params)
            slots += beside

        def inside(*values: Array) -> Any:
            for slot, value in zip(slots, values, strict=True):
                leaves[slot] = value
            own = unflatten(state, leaves[:count])
            return self.step(own, *(unflatten(params, leaves[count:]) if beside else params))

        return trace_arrays(inside, [leaves[slot] for slot in slots]), slots, count


def arrays(state: Any) -> Any:
    """Take the floats of a state to arrays, which have derivatives."""
    return map_leaves(float_to_array, state)
