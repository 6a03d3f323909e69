"""What every optimizer does: check everything, find its state, then update in place."""

from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import define, field

from tape_ad.base.errors import StoreMismatchError
from tape_ad.optim.fitting import Fitting, Plain, described, fitting
from tape_ad.record.messages.migration_hints import with_hints

__all__ = ["Optimizer"]

COUNT = "step"
"""The name of the number of steps taken, where an optimizer keeps it."""

PIECE = 2**17
"""How many bytes of a parameter are updated at once.

What an update computes on the way is as large, and counts at the peak of a step's memory. It stays
in the processor's cache; smaller pieces take longer."""


@with_hints
@define(eq=False)
class Optimizer:
    """What the optimizers share: `step`, and a state that is a plain dict of arrays.

    Attributes
    ----------
    state : dict of str to array
        What is kept from step to step: ``"{kind}.{name}"`` for each parameter, where the kinds
        have PyTorch's names (``"exp_avg.hidden.weight"``), and ``"step"`` where steps are
        counted. It is empty before the first step and belongs to one store; save and load it
        beside the parameters to go on later.
    """

    state: dict[str, Plain] = field(factory=dict, kw_only=True, repr=False)

    kinds: ClassVar[tuple[str, ...]] = ()  # that it may keep, with any settings
    counts: ClassVar[bool] = False

    def __new__(cls, *args: Any, **_: Any) -> Self:
        """Refuse parameters in the place of the learning rate, where PyTorch has them."""
        if args and isinstance(args[0], Iterable) and not isinstance(args[0], np.ndarray):
            raise TypeError(
                f"{cls.__name__} holds no parameters; write {cls.__name__}(lr=...), and "
                "optimizer.step(params, gradients)"
            )
        return super().__new__(cls)

    def step(self, params: Any, gradients: Any) -> None:
        """Move every parameter against its gradient, in place.

        Everything is checked before anything is changed. A gradient that is not finite is applied
        as it is, without a warning. Large parameters are updated piece by piece, so temporary
        arrays are small.

        Parameters
        ----------
        params : dict of str to array, or another tree of arrays
            The store, not what `ComputationRecord.bind` makes of it. Its arrays keep their dtype.
            In a tree of dicts, lists, tuples and classes, an array's name for the state has dots:
            ``"hidden.0.weight"``.
        gradients : mapping of str to array, or a tree like that of the parameters
            What ``grads.wrt(p)`` gives: the same names, each with its parameter's shape.

        Raises
        ------
        TypeError
            When the gradients are no mapping from names to arrays.
        StoreMismatchError
            When names, shapes or dtypes differ, when a parameter cannot be written to, or when
            the state belongs to another store or to another kind of optimizer.
        InPlaceError
            When the store or the gradients hold handles.
        """
        pairs = fitting(params, gradients)
        used = self._kinds_used()
        keys = {kind: [f"{kind}.{name}" for name, _, _ in pairs] for kind in used}
        known = self._look_up(pairs, keys)
        count = self._count_so_far() + 1
        started = {
            kind: [self._start(kind, p) for _, p, _ in pairs] for kind in used if kind not in known
        }
        for kind, arrays in started.items():
            self.state.update(zip(keys[kind], arrays, strict=True))
        known |= started
        if self.counts:
            self.state[COUNT] = np.array(count)
        columns = [known[kind] for kind in used]
        self._update_all(params, pairs, columns, count, bool(started))

    @np.errstate(all="ignore")  # a warning made an error would stop half-way
    def _update_all(
        self,
        params: Any,
        pairs: Fitting,
        columns: list[list[Plain]],
        count: int,
        fresh: bool,
    ) -> None:
        """Update the parameters one by one; a column has what is kept of one kind for each."""
        write_back = type(params) is not dict and isinstance(params, MutableMapping)
        for i, (name, p, g) in enumerate(pairs):
            kept = [column[i] for column in columns]
            if p.nbytes <= PIECE and p.dtype.kind == "f":
                self._update(p, g, kept, np.empty(p.shape, p.dtype), count, fresh)
            else:
                self._update_in_pieces(p, g, kept, count, fresh)
            if write_back:  # a store may give out copies
                params[name] = p

    def _kinds_used(self) -> tuple[str, ...]:
        """Give the kinds of state that the present settings need."""
        return self.kinds

    def _start(self, kind: str, p: Plain) -> Plain:
        """Make the state of a parameter that has none."""
        return np.zeros_like(p, subok=False)

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        """Update one real parameter and what is kept for it, in the order of the kinds used.

        `scratch`, of the parameter's shape and dtype, may be written over. `count` is the number of
        this step, from 1; `fresh` says that a kind is used for the first time.
        """
        raise NotImplementedError

    def _update_in_pieces(
        self, p: Plain, g: Plain, kept: list[Plain], count: int, fresh: bool
    ) -> None:
        """Update a large parameter, or a complex one, which is two real ones.

        What is computed with a piece stays in the processor's cache.
        """
        arrays = [p, g, *kept]
        if p.dtype.kind == "c":
            for part in ([each.real for each in arrays], [each.imag for each in arrays]):
                self._update(part[0], part[1], part[2:], np.empty_like(part[0]), count, fresh)
        elif not all(each.flags.c_contiguous for each in arrays):
            self._update(p, g, kept, np.empty_like(p, subok=False), count, fresh)
        else:
            length = -(-p.size // -(-p.nbytes // PIECE))  # all of about the same
            scratch = np.empty(length, p.dtype)
            flat = [each.reshape(-1) for each in arrays]
            for start in range(0, p.size, length):
                own, slope, *rest = [each[start : start + length] for each in flat]
                self._update(own, slope, rest, scratch[: own.size], count, fresh)

    def _look_up(self, pairs: Fitting, keys: Mapping[str, list[str]]) -> dict[str, list[Plain]]:
        """Find the state of every parameter, for each kind that has been started."""
        known: dict[str, list[Plain]] = {}
        for kind, names in keys.items():
            there = [key in self.state for key in names]
            if not any(there):
                continue
            if not all(there):
                raise StoreMismatchError(
                    f"the state of {type(self).__name__} has no {names[there.index(False)]!r}, but "
                    f"it has {names[there.index(True)]!r}; use one optimizer for one store, and "
                    "restore its state together with its store"
                )
            known[kind] = [
                checked_state(key, self.state[key], name, p)
                for key, (name, p, _) in zip(names, pairs, strict=True)
            ]
        if len(self.state) > sum(map(len, known.values())):
            self._refuse_unknown({name for name, _, _ in pairs})
        return known

    def _refuse_unknown(self, names: set[str]) -> None:
        for key in self.state:
            kind, _, name = key.partition(".")
            if not (kind in self.kinds and name in names) and not (self.counts and key == COUNT):
                raise StoreMismatchError(
                    f"the state of {type(self).__name__} has an entry {key!r} that fits nothing "
                    "in this store; use one optimizer for one store, and restore its state "
                    "together with its store"
                )

    def _count_so_far(self) -> int:
        """Read how many steps were taken."""
        count: Any = self.state.get(COUNT) if self.counts else None
        if count is None:
            return 0
        if np.shape(count) != () or np.asarray(count).dtype.kind not in "iu" or count < 0:
            raise StoreMismatchError(
                f"the state of {type(self).__name__} has {count!r} as its {COUNT!r}, which has to "
                "be a number of steps; restore the state that was saved"
            )
        return int(count)


def checked_state(key: str, value: Any, name: str, p: Plain) -> Plain:
    """Check that an array of the state can be used for a parameter."""
    fits = isinstance(value, np.ndarray) and value.shape == p.shape and value.dtype == p.dtype
    if not fits or not value.flags.writeable:
        found = described(value) if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise StoreMismatchError(
            f"the state {key!r} is {found}, but the parameter {name!r} is {described(p)}; use one "
            "optimizer for one store, and restore its state together with its store"
        )
    array: Plain = value
    return array
