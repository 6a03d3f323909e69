"""What a record is asked to see to: the user's lines, nan, times, arrays that are written to."""

from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import ContextDecorator
from typing import Any, Self

import numpy as np
from attrs import define, evolve, field

from tape_ad.base.arrays.overridable import ACTIVE, is_later
from tape_ad.base.errors import ConversionError, NonFiniteError
from tape_ad.base.naming import function_name, line_name
from tape_ad.base.trees import flatten
from tape_ad.record.arena import CONSTANT, Arena, held_arrays
from tape_ad.record.call_metadata import written
from tape_ad.record.inspection.pages.figures import Range, shape_as_text
from tape_ad.record.messages.callers import user_lines
from tape_ad.record.primals import primal
from tape_ad.record.sweeps import careful_sweep, reverse_sweep
from tape_ad.record.watching import node_name
from tape_ad.rules.maps import Array

# Where a nan or an inf came up first: what an error says of it

LONGEST = 12
"""Of a longer way, so many nodes are written: half of them from each end."""


def is_finite(array: Any, infs: bool) -> bool:
    """Tell whether an array holds no nan, and no inf where that counts.

    Raises
    ------
    ConversionError
        When it is not computed yet.
    """
    if is_later(array):
        raise ConversionError(
            "nan and inf are looked for as values come, and a Dask array has none before it is "
            "computed; compute it first, with fewer rows of it where it is large"
        )
    with np.errstate(all="ignore"):
        return bool(np.all(np.isfinite(array)) if infs else not np.any(np.isnan(array)))


@define(eq=False)
class Finding:
    """A node at which something is not finite.

    Attributes
    ----------
    arena : Arena
    node : int
    """

    arena: Arena
    node: int

    def of_value(self, value: Array, used: Iterable[tuple[str, Any]]) -> NonFiniteError:
        """Describe a node whose value is not finite."""
        function = self.arena.functions[self.node]
        if function is None:
            name = self.arena.names.get(self.node, "")
            what = f"the leaf {name} (%{self.node})" if name else f"the leaf %{self.node}"
            return self.error([f"{what} holds {which(value)}{self.made()}: {Range.of(value)}"])
        lines = [f"{function_name(function)} gives {which(value)}, forward, at {self.where()}"]
        lines.append(f"  it gives {described(value)}")
        lines += [f"  of {name}, {described(operand)}" for name, operand in used]
        return self.error([*lines, *self.way_from_leaf()])

    def of_seed(self, seed: Array) -> NonFiniteError:
        """Say that a sweep was begun with what is not finite."""
        return self.error([f"the seed of the sweep holds {which(seed)}: {described(seed)}"])

    def of_cotangent(
        self, pulled: Array, parent: int, ct: Array, edge: int, came_from: Mapping[int, int]
    ) -> NonFiniteError:
        """Say that what a node hands back is not finite."""
        arena = self.arena
        function = function_name(arena.functions[self.node])
        lines = [
            f"the derivative of {function} gives {which(pulled)}, backward, at {self.where()}",
            f"  the cotangent of %{parent} from there is {described(pulled)}",
            f"  the one that came to %{self.node} is {described(ct)}",
        ]
        held = list(held_arrays(arena.partials[edge]))
        if isinstance(arena.partials[edge], (float, int, complex, np.generic)):
            held = [np.asarray(arena.partials[edge])]
        lines += [f"  the partial holds {described(array)}" for array in held]
        way = [self.node]
        while way[-1] in came_from:
            way.append(came_from[way[-1]])
        back = ["  the cotangent's way:", *self.listed(way[::-1])] if len(way) > 1 else []
        return self.error([*lines, *back, *self.way_from_leaf()])

    def of_tangent(self, t: Array) -> NonFiniteError:
        """Describe a node whose tangent is not finite."""
        function = function_name(self.arena.functions[self.node])
        first = f"the tangent of {function} is {which(t)}, in a forward sweep, at {self.where()}"
        return self.error([first, f"  it is {described(t)}", *self.way_from_leaf()])

    def where(self) -> str:
        """Name the node and the user's line."""
        return f"node %{self.node}{self.made()}"

    def made(self) -> str:
        """Name the line of the user's code that made a node."""
        source = self.arena.sources.get(self.node)
        return f", made at {line_name(source)}" if source else ""

    def way_from_leaf(self) -> list[str]:
        """List the nodes from a leaf to this one: the nearest leaf that has a name, if any has."""
        arena = self.arena
        names = arena.names
        toward: dict[int, int] = {self.node: self.node}
        waiting, best = deque([self.node]), None
        while waiting:
            node = waiting.popleft()
            if arena.functions[node] is None and (best is None or node in names):
                best = node
                if node in names:
                    break
            first, last = arena.starts[node : node + 2]
            for parent in arena.parents[first:last]:
                if parent not in toward:
                    toward[parent] = node
                    waiting.append(parent)
        if best is None or best == self.node:
            return []
        way = [best]
        while way[-1] != self.node:
            way.append(toward[way[-1]])
        return ["  the way there:", *self.listed(way)]

    def listed(self, way: list[int]) -> list[str]:
        """Write nodes, a line each."""
        half = LONGEST // 2
        left_out = len(way) - LONGEST
        lines = [self.line(node) for node in (way if left_out <= 0 else way[:half] + way[-half:])]
        if left_out > 0:
            lines.insert(half, f"    ... {left_out} more nodes ...")
        return lines

    def line(self, node: int) -> str:
        """Write a node as a record prints it, without its shape."""
        arena = self.arena
        first, last = arena.starts[node : node + 2]
        mark = arena.marks[node]
        call = None if type(mark) is object else mark
        source = arena.sources.get(node)
        text = written(arena.functions[node], arena.parents[first:last], call)
        return f"    %{node}: {text}" + (f"  # {line_name(source)}" if source else "")

    def error(self, lines: list[str]) -> NonFiniteError:
        """Make the error that names the first node that is not finite."""
        error = NonFiniteError("\n".join(lines))
        error.node, error.source = self.node, self.arena.sources.get(self.node)
        return error


def which(array: Any) -> str:
    """Say what is in an array that should not be."""
    array = np.asarray(array)
    nan, inf = bool(np.isnan(array).any()), bool(np.isinf(array).any())
    return "nan and inf" if nan and inf else "nan" if nan else "inf"


def described(array: Any) -> str:
    """Say the dtype and shape of an array, and what its elements lie between."""
    array = np.asarray(array)
    return f"{array.dtype}{shape_as_text(array.shape)}: {Range.of(array)}"


# What a record is asked to see to: the user's lines, nan, times, arrays that are written to


@define(eq=False)
class Wishes:
    """What was asked for by context managers, in this thread or task.

    Attributes
    ----------
    nans, infs : bool
        Whether the first nan, or the first inf, is an error.
    profiles : tuple of Profile
        Those that take times.
    """

    nans: bool = False
    infs: bool = False
    profiles: tuple[Any, ...] = ()


NO_WISHES = Wishes()


def wishes_here() -> Wishes:
    """Give what is asked for in this thread or task."""
    wishes: Wishes | None = ACTIVE.get().wishes
    return wishes or NO_WISHES


@define(eq=False)
class Observer:
    """What a record tells of itself while it is made and swept.

    Attributes
    ----------
    wishes : Wishes
    compares : bool
        Whether all elements of the arrays that operations have used are compared.
    """

    wishes: Wishes
    compares: bool = False
    entries: dict[tuple[int, int], Any] = field(factory=dict, init=False)

    @property
    def sees_arrays(self) -> bool:
        """Whether arrays are to stay as they are when they are assigned to."""
        return self.compares or self.wishes.nans

    def noted(
        self, handle: Any, function: Any, operands: tuple[Any, ...], options: Mapping[str, Any]
    ) -> None:
        """Look at the value of a node that has just been appended.

        Raises
        ------
        NonFiniteError
        """
        record, index = handle.record, handle.index
        for profile in self.wishes.profiles:
            profile.stop()
        lines = user_lines()
        record.sources[index] = lines[0]
        if operands or function is None:
            record.compare_all(index, (operands, tuple(options.values()), handle.data))
        for profile in self.wishes.profiles:
            profile.noted(self, handle, function, lines)
        if (
            self.wishes.nans
            and function is not CONSTANT
            and not is_finite(data := primal(handle.data), self.wishes.infs)
        ):
            raise Finding(record, index).of_value(data, used_by(operands, options))
        for profile in self.wishes.profiles:
            profile.start()

    def sweep(
        self,
        arena: Arena,
        root: int,
        seed: Array,
        *,
        release: bool,
        more: Mapping[int, Array],
        chosen: bool,
    ) -> dict[int, Array]:
        """Sweep back, and say in an error at which node it was.

        Raises
        ------
        NonFiniteError
        """
        profiles = self.wishes.profiles
        reached: list[int] = profiles[0].clock() if profiles else []
        try:
            if not self.wishes.nans:
                return reverse_sweep(
                    arena, root, seed, release=release, more=more, chosen=chosen, reached=reached
                )
            kept = self.checked(arena, root, seed, more, chosen, reached)
            arena.release(reached if release else ())
            return kept
        except Exception as error:
            if reached and not isinstance(error, FloatingPointError):
                name = node_name(arena, reached[-1])
                error.add_note(f"this was in the reverse sweep from %{root}, at {name}")
            raise
        finally:
            for profile in profiles:
                profile.swept(self, reached)

    def checked(
        self,
        arena: Arena,
        root: int,
        seed: Array,
        more: Mapping[int, Array],
        chosen: bool,
        reached: list[int],
    ) -> dict[int, Array]:
        """Sweep back and look at every cotangent on the way."""
        infs = self.wishes.infs
        came_from: dict[int, int] = {}
        for node, ct in {root: seed, **more}.items():
            if not is_finite(primal(ct), infs):
                raise Finding(arena, node).of_seed(primal(ct))

        def look(node: int, edge: int, parent: int, ct: Array, pulled: Array) -> None:
            came_from[parent] = node
            if not reached or reached[-1] != node:
                reached.append(node)
            if not is_finite(data := primal(pulled), infs):
                finding = Finding(arena, node)
                raise finding.of_cotangent(data, parent, primal(ct), edge, came_from)

        return careful_sweep(arena, root, seed, more, chosen, look)

    def pushed(self, arena: Arena, node: int, t: Array) -> None:
        """Look at a tangent on a forward sweep.

        Raises
        ------
        NonFiniteError
        """
        if self.wishes.nans and not is_finite(data := primal(t), self.wishes.infs):
            raise Finding(arena, node).of_tangent(data)


def used_by(operands: Any, options: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """List the arrays and numbers that a call was made with, each with a name for it."""
    leaves = flatten((operands, dict(options)))
    kinds = (np.ndarray, np.generic, float, int, complex)
    pairs = [(f"%{x.index}" if hasattr(x, "record") else "a constant", primal(x)) for x in leaves]
    return [(name, x) for name, x in pairs if isinstance(x, kinds) and not isinstance(x, bool)]


def observer_for(
    within: Any, *, check_inputs: bool, trace_source: bool, debug_nans: bool
) -> Observer | None:
    """Make the observer of a fresh record: what it was asked for, and what is asked for here."""
    wishes = wishes_here()
    if not all(each.takes_all for each in wishes.profiles):
        wishes = evolve(wishes, profiles=tuple(p for p in wishes.profiles if p.takes_all))
    outer = getattr(within, "observer", None)
    if outer is not None and wishes is not outer.wishes:  # as its derivatives are those of this
        nans, infs = wishes.nans or outer.wishes.nans, wishes.infs or outer.wishes.infs
        wishes = evolve(wishes, nans=nans, infs=infs)
    if debug_nans:
        wishes = evolve(wishes, nans=True, infs=True)
    if not (check_inputs or trace_source or wishes.nans or wishes.profiles):
        return Observer(wishes) if outer is not None else None
    return Observer(wishes, check_inputs)


class Asking(ContextDecorator):
    """A context in which something is asked for; it may be entered again, and within others."""

    def __init__(self) -> None:
        self._before: list[Wishes | None] = []

    def asked(self, before: Wishes) -> Wishes:
        """Give what is asked for inside, from what was asked for outside."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        active = ACTIVE.get()
        self._before.append(active.wishes)
        ACTIVE.set(evolve(active, wishes=self.asked(active.wishes or NO_WISHES)))
        return self

    def __exit__(self, *error: object) -> None:
        ACTIVE.set(evolve(ACTIVE.get(), wishes=self._before.pop()))


class debug_nans(Asking):  # noqa: N801 - a context manager, called as a function
    """Raise an error at the first nan or inf, in values and in derivatives.

    It holds for records made inside, by hand or by a transform: each value that they compute, each
    cotangent of their reverse sweeps and each tangent of their forward sweeps is looked at. The
    error says where it is: the node, forward or backward, the line of yours, what lay between what,
    and the way there from a named leaf. Compiled functions are not replayed inside, but run as
    they stand.

    It is for finding a bug: each array is read once more, and the reverse sweep goes a slower way,
    whose results may differ in the last digits. It may be a decorator, it may be nested, and it
    holds in the thread or task that it is entered in alone.

    Parameters
    ----------
    infs : bool
        Whether inf counts too. An attention's mask of ``-inf`` is no error, for example.

    Raises
    ------
    NonFiniteError
        From what is computed inside.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def loss(x):
    ...     return np.sum(np.log(x - 1))
    >>> with ta.debug_nans(), np.errstate(all="ignore"):
    ...     ta.grad(loss)(np.array([2.0, 0.5]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tape_ad.errors.NonFiniteError: log gives nan, forward, at node %2, made at ...
    """

    def __init__(self, *, infs: bool = True) -> None:
        super().__init__()
        self.infs = infs

    def asked(self, before: Wishes) -> Wishes:
        """Add this to what was asked for outside."""
        return evolve(before, nans=True, infs=self.infs)
