"""Optimizers: gradient descent, and those with a rate for every parameter.

Each has one formula, which works in place: on the store itself in `step`, on copies in `update`.
"""

import copy
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from attrs import Attribute, define, field

from tape_ad.base.arrays.interpreter import is_box
from tape_ad.base.errors import StoreMismatchError
from tape_ad.base.trees import by_name, gives_copies, unflatten
from tape_ad.optim.clipping import (
    Fitting,
    Plain,
    at_least_zero,
    below_one,
    described,
    different_names,
    fitting,
)
from tape_ad.record.messages.migration_hints import may_be_missing, with_hints

COUNT = "step"
"""The name of the number of steps taken, where an optimizer keeps it."""

PIECE = 2**17
"""How many bytes of a parameter are updated at once.

What an update computes on the way is as large, and counts at the peak of a step's memory. It stays
in the processor's cache; smaller pieces take longer."""


@with_hints
@define(eq=False)
class Optimizer:
    """What the optimizers share: `step` and `update`, and a state that is a plain dict of arrays.

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
            When names, shapes or dtypes differ, when a parameter cannot be written to, when two
            names stand for one array, or when the state belongs to another store or to another
            kind of optimizer.
        InPlaceError
            When the store or the gradients hold handles.
        """
        pairs = fitting(params, gradients)
        used = self._kinds_used()
        keys = {kind: [f"{kind}.{name}" for name, _, _ in pairs] for kind in used}
        known = self._look_up(self.state, pairs, keys)
        for kind, values in known.items():
            for key, value, (name, p, _) in zip(keys[kind], values, pairs, strict=True):
                check_state(key, value, name, p)
        count = self._count_so_far(self.state) + 1
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

    def update(
        self, params: Any, gradients: Any, state: Mapping[str, Any], *, lr: Any = None
    ) -> tuple[Any, dict[str, Any]]:
        """Compute what a step gives, in new arrays; nothing is changed, the optimizer neither.

        It is `step` as a pure function, for `ta.compile`, `ta.batched` and `ta.grad`: a whole
        training step is compiled with it, or differentiated with respect to what it began with.

        Parameters
        ----------
        params : dict of str to array, or another tree of arrays
        gradients : mapping of str to array, or a tree like that of the parameters
            The same names, each with its parameter's shape.
        state : mapping of str to array
            Before the first step ``{}``, then what the last call returned, or a `state` of
            `step`. The optimizer's own is neither read nor changed.
        lr : float, or array of shape (), optional
            The rate of this step instead of the optimizer's. A rate that changes from step to
            step has to be an argument of the compiled function.

        Returns
        -------
        params : like the parameters
            Each of its parameter's dtype.
        state : dict of str to array

        Raises
        ------
        StoreMismatchError
            When names or shapes differ, or when the state belongs to another store or to another
            kind of optimizer.

        Notes
        -----
        Adam and RMSprop take the root of a mean of squares, whose derivative is infinite where all
        gradients of an element so far were 0.

        Examples
        --------
        >>> import tape_ad as ta
        >>> def loss(p, x):
        ...     return np.mean((x @ p["w"] - 1) ** 2)
        >>> optimizer = Adam(lr=0.5)
        >>> @ta.compile
        ... def step(params, state, x):
        ...     return optimizer.update(params, ta.grad(loss)(params, x), state)
        >>> params, state = {"w": np.zeros(2)}, {}
        >>> for _ in range(20):
        ...     params, state = step(params, state, np.eye(2))
        >>> params["w"].round(2)
        array([1.24, 1.24])
        """
        own, slopes = by_name(params), by_name(gradients)
        if own.keys() != slopes.keys():
            raise different_names(own.keys(), slopes.keys())
        pairs = [(name, p, slopes[name]) for name, p in own.items()]
        used = self._kinds_used()
        keys = {kind: [f"{kind}.{name}" for name in own] for kind in used}
        known = self._look_up(state, pairs, keys)
        before = state.get(COUNT, 0)
        boxed = is_box(before)  # then an array as well, and no number
        count = np.add(before, 1)[...] if boxed else np.array(self._count_so_far(state) + 1)
        fresh = len(known) < len(used)
        made, kept_after = [], dict[str, Any]({COUNT: count} if self.counts else {})
        for i, (name, p, g) in enumerate(pairs):
            kept = [known[kind][i] if kind in known else self._start(kind, p) for kind in used]
            for what, each in (("gradient", g), *zip(used, kept, strict=True)):
                if np.shape(each) != np.shape(p):
                    raise StoreMismatchError(
                        f"the {what} of {name!r} has shape {np.shape(each)}, but the parameter has "
                        f"{np.shape(p)}"
                    )
            new = [to_be_written(each, p, g, *kept, lr) for each in (p, *kept)]
            self._update_copies(new, g, lr, count if boxed else int(count), fresh)
            made.append(new[0])
            kept_after |= {f"{kind}.{name}": each for kind, each in zip(used, new[1:], strict=True)}
        return unflatten(params, made), kept_after

    @np.errstate(all="ignore")
    def _update_copies(self, new: list[Any], g: Any, lr: Any, count: Any, fresh: bool) -> None:
        """Update copies of a parameter and of what is kept for it, be they handles."""
        formula = self
        if lr is not None:  # past the converter, which makes floats
            formula = copy.copy(self)
            object.__setattr__(formula, "lr", in_dtype_of(new[0].real, lr))
        parts = [[*new, g]]
        if new[0].dtype.kind == "c":
            parts = [[each.real for each in parts[0]], [each.imag for each in parts[0]]]
        for p, *kept, slope in parts:
            formula._update(p, slope, kept, np.copy(p), count, fresh)

    @np.errstate(all="ignore")  # a warning made an error would stop half-way
    def _update_all(
        self, params: Any, pairs: Fitting, columns: list[list[Plain]], count: int, fresh: bool
    ) -> None:
        """Update the parameters one by one; a column has what is kept of one kind for each."""
        write_back = gives_copies(params)
        for i, (name, p, g) in enumerate(pairs):
            kept = [column[i] for column in columns]
            if p.nbytes <= PIECE and p.dtype.kind == "f":
                self._update(p, g, kept, np.empty(p.shape, p.dtype), count, fresh)
            else:
                self._update_in_pieces(p, g, kept, count, fresh)
            if write_back:
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

    def _look_up(
        self, state: Mapping[str, Any], pairs: Fitting, keys: Mapping[str, list[str]]
    ) -> dict[str, list[Any]]:
        """Find the state of every parameter, for each kind that has been started."""
        known: dict[str, list[Any]] = {}
        for kind, names in keys.items():
            there = [key in state for key in names]
            if not any(there):
                continue
            if not all(there):
                raise StoreMismatchError(
                    f"the state of {type(self).__name__} has no {names[there.index(False)]!r}, but "
                    f"it has {names[there.index(True)]!r}; use one optimizer for one store, and "
                    "restore its state together with its store"
                )
            known[kind] = [state[key] for key in names]
        if len(state) > sum(map(len, known.values())):
            self._refuse_unknown(state, {name for name, _, _ in pairs})
        return known

    def _refuse_unknown(self, state: Mapping[str, Any], names: set[str]) -> None:
        for key in state:
            kind, _, name = key.partition(".")
            if not (kind in self.kinds and name in names) and not (self.counts and key == COUNT):
                raise StoreMismatchError(
                    f"the state of {type(self).__name__} has an entry {key!r} that fits nothing "
                    "in this store; use one optimizer for one store, and restore its state "
                    "together with its store"
                )

    def _count_so_far(self, state: Mapping[str, Any]) -> int:
        """Read how many steps were taken."""
        count: Any = state.get(COUNT) if self.counts else None
        if count is None:
            return 0
        if np.shape(count) != () or np.asarray(count).dtype.kind not in "iu" or count < 0:
            raise StoreMismatchError(
                f"the state of {type(self).__name__} has {count!r} as its {COUNT!r}, which has to "
                "be a number of steps; restore the state that was saved"
            )
        return int(count)


may_be_missing(Optimizer.step, None, None)


def to_be_written(array: Any, *operands: Any) -> Any:
    """Copy an array so that a formula of these operands, be they handles, can be written to it."""
    highest = max(operands, key=level_of)
    if level_of(highest) > level_of(array):
        array = np.where(True, array, highest).astype(array.dtype)
    return np.copy(array)


def level_of(operand: Any) -> int:
    """Give the level of whoever answers the calls of an operand, 0 for a plain one."""
    level: int = operand.interpreter.level if is_box(operand) else 0
    return level


def in_dtype_of(p: Any, number: Any) -> Any:
    """Give a number in the dtype of a parameter where it is an array, whose dtype would count."""
    return number if isinstance(number, (int, float)) else number.astype(p.dtype)


def check_state(key: str, value: Any, name: str, p: Plain) -> None:
    """Check that an array of the state can be used for a parameter."""
    fits = isinstance(value, np.ndarray) and value.shape == p.shape and value.dtype == p.dtype
    if not fits or not value.flags.writeable:
        found = described(value) if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise StoreMismatchError(
            f"the state {key!r} is {found}, but the parameter {name!r} is {described(p)}; use one "
            "optimizer for one store, and restore its state together with its store"
        )


@define(eq=False)
class SGD(Optimizer):
    """Gradient descent, with momentum if wanted.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    momentum : float
        The fraction of the velocity that each step keeps, in [0, 1).
    dampening : float
        The fraction of the gradient that is left out of the velocity, except in the first step.
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    nesterov : bool
        Whether to look ahead along the velocity. Needs a momentum, and no dampening.
    state : dict of str to array
        The velocities, as ``"momentum_buffer.{name}"``; none where there is no momentum.

    Notes
    -----
    As PyTorch's ``torch.optim.SGD`` does: v = momentum * v + (1 - dampening) * g, where v starts
    as g, then p -= lr * v, or p -= lr * (g + momentum * v) with Nesterov's. See Sutskever,
    Martens, Dahl & Hinton, "On the importance of initialization and momentum in deep learning",
    2013, for the other formula, where lr multiplies g.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> SGD(lr=0.5).step(params, {"w": np.array([2.0, 0.0])})
    >>> params["w"]
    array([0., 2.])
    """

    lr: float = field(default=1e-3, converter=float, validator=at_least_zero)
    momentum: float = field(default=0.0, converter=float, validator=below_one)
    dampening: float = field(default=0.0, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    nesterov: bool = False

    kinds: ClassVar[tuple[str, ...]] = ("momentum_buffer",)

    def __attrs_post_init__(self) -> None:
        if self.nesterov and (self.momentum == 0 or self.dampening != 0):
            raise ValueError(
                "SGD: nesterov=True needs a momentum above 0 and no dampening, got momentum="
                f"{self.momentum} and dampening={self.dampening}"
            )

    def _kinds_used(self) -> tuple[str, ...]:
        return self.kinds if self.momentum else ()

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        g = decayed(g, p, self.weight_decay)
        if not self.momentum:
            np.multiply(g, self.lr, out=scratch, dtype=p.dtype.type)
            p -= scratch
            return
        [v] = kept
        if fresh:
            v[...] = g
        else:
            v *= self.momentum
            v += np.multiply(g, 1 - self.dampening, out=scratch) if self.dampening else g
        np.multiply(v, self.momentum if self.nesterov else self.lr, out=scratch)
        if self.nesterov:
            scratch += g
            scratch *= self.lr
        p -= scratch


def decayed(g: Plain, p: Plain, weight_decay: float) -> Plain:
    """Add a share of the parameter to its gradient."""
    if not weight_decay:
        return g
    total: Plain = np.multiply(p, weight_decay)
    total += g
    return total


Betas = tuple[float, float]


def as_betas(values: Betas) -> Betas:
    """Make two floats of a pair of numbers."""
    first, second = values
    return float(first), float(second)


def both_below_one(optimizer: "Adam", attribute: "Attribute[Betas]", value: Betas) -> None:
    """Check the shares that the two averages of Adam keep."""
    if not all(0 <= beta < 1 for beta in value):
        raise ValueError(f"{type(optimizer).__name__}: betas must lie in [0, 1), got {value}")


@define(eq=False)
class Adam(Optimizer):
    """Adam: a running mean of the gradient over the root of that of its square.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    betas : tuple of two floats
        The shares that the running means of the gradient and of its square keep in each step.
    eps : float
        What is added to the root.
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    amsgrad : bool
        Whether to divide by the largest mean square so far.
    state : dict of str to array
        ``"exp_avg.{name}"``, ``"exp_avg_sq.{name}"``, with `amsgrad`
        ``"max_exp_avg_sq.{name}"``, and ``"step"``.

    Notes
    -----
    Kingma & Ba, https://arxiv.org/abs/1412.6980; amsgrad: Reddi, Kale & Kumar,
    https://arxiv.org/abs/1904.09237. As in PyTorch, a complex parameter is two real ones.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> Adam(lr=0.5).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.5, 2. ])
    """

    lr: float = field(default=1e-3, converter=float, validator=at_least_zero)
    betas: Betas = field(default=(0.9, 0.999), converter=as_betas, validator=both_below_one)
    eps: float = field(default=1e-8, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    amsgrad: bool = False

    kinds: ClassVar[tuple[str, ...]] = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    counts: ClassVar[bool] = True

    def _kinds_used(self) -> tuple[str, ...]:
        return self.kinds if self.amsgrad else self.kinds[:2]

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        self._descend(p, decayed(g, p, self.weight_decay), kept, scratch, count)

    def _descend(
        self,
        p: Plain,
        g: Plain,
        kept: list[Plain],
        scratch: Plain,
        count: int,
        shrink: float | None = None,
    ) -> None:
        mean, square = kept[:2]
        mean_kept, square_kept = self.betas
        np.subtract(g, mean, out=scratch, dtype=p.dtype.type)
        scratch *= 1 - mean_kept
        mean += scratch
        add_square(square, g, square_kept, scratch)
        if self.amsgrad:
            square = np.maximum(square, kept[2], out=kept[2])
        np.sqrt(square, out=scratch)
        scratch /= in_dtype_of(p, (1 - square_kept**count) ** 0.5)
        scratch += self.eps
        np.divide(mean, scratch, out=scratch)
        scratch *= in_dtype_of(p, self.lr / (1 - mean_kept**count))
        if shrink is not None:
            p *= shrink
        p -= scratch


@define(eq=False)
class AdamW(Adam):
    """Adam with a weight decay that is apart from the gradient: p -= lr * weight_decay * p.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    betas : tuple of two floats
        The shares that the running means of the gradient and of its square keep in each step.
    eps : float
        What is added to the root.
    weight_decay : float
        The share of the parameter that a step takes away, in units of `lr`.
    amsgrad : bool
        Whether to divide by the largest mean square so far.
    state : dict of str to array
        ``"exp_avg.{name}"``, ``"exp_avg_sq.{name}"``, with `amsgrad`
        ``"max_exp_avg_sq.{name}"``, and ``"step"``.

    Notes
    -----
    Loshchilov & Hutter, https://arxiv.org/abs/1711.05101.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> AdamW(lr=0.5, weight_decay=0.1).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.45, 1.9 ])
    """

    weight_decay: float = field(default=1e-2, converter=float, validator=at_least_zero)

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        shrink = 1 - self.lr * self.weight_decay if self.weight_decay else None
        self._descend(p, g, kept, scratch, count, shrink)


@define(eq=False)
class RMSprop(Optimizer):
    """RMSprop: the gradient over the root of a running mean of its square.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    alpha : float
        The share that the running mean of the square keeps in each step.
    eps : float
        What is added to the root.
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    momentum : float
        The fraction of the velocity that each step keeps, in [0, 1).
    centered : bool
        Whether to divide by the root of the variance instead of that of the mean square.
    state : dict of str to array
        ``"square_avg.{name}"``, with a momentum ``"momentum_buffer.{name}"``, and with
        `centered` ``"grad_avg.{name}"``.

    Notes
    -----
    Tieleman & Hinton, lecture 6.5 of "Neural Networks for Machine Learning", 2012; centered:
    Graves, https://arxiv.org/abs/1308.0850.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> RMSprop(lr=0.05).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.5, 2. ])
    """

    lr: float = field(default=1e-2, converter=float, validator=at_least_zero)
    alpha: float = field(default=0.99, converter=float, validator=below_one)
    eps: float = field(default=1e-8, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    momentum: float = field(default=0.0, converter=float, validator=below_one)
    centered: bool = False

    kinds: ClassVar[tuple[str, ...]] = ("square_avg", "momentum_buffer", "grad_avg")

    def _kinds_used(self) -> tuple[str, ...]:
        wanted = (True, self.momentum > 0, self.centered)
        return tuple(kind for kind, want in zip(self.kinds, wanted, strict=True) if want)

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        g = decayed(g, p, self.weight_decay)
        square = kept[0]
        add_square(square, g, self.alpha, scratch)
        if self.centered:
            mean = kept[-1]
            np.subtract(g, mean, out=scratch, dtype=p.dtype.type)
            scratch *= 1 - self.alpha
            mean += scratch
            np.multiply(mean, mean, out=scratch)
            np.subtract(square, scratch, out=scratch)
            np.maximum(scratch, 0, out=scratch)  # rounding may have taken it below
            np.sqrt(scratch, out=scratch)
        else:
            np.sqrt(square, out=scratch)
        scratch += self.eps
        np.divide(g, scratch, out=scratch, dtype=p.dtype.type)
        if self.momentum:
            velocity = kept[1]
            velocity *= self.momentum
            velocity += scratch
            scratch[...] = velocity
        scratch *= self.lr
        p -= scratch


@define(eq=False)
class Adagrad(Optimizer):
    """Adagrad: the gradient over the root of the sum of all its squares so far.

    Parameters
    ----------
    lr : float
        The learning rate, 0 or above. It may be set between steps.
    lr_decay : float
        The rate of step n, counted from 0, is lr / (1 + n * lr_decay).
    weight_decay : float
        How much of the parameter itself is added to the gradient.
    initial_accumulator_value : float
        What the sum starts from.
    eps : float
        What is added to the root.
    state : dict of str to array
        ``"sum.{name}"``, and ``"step"``.

    Notes
    -----
    Duchi, Hazan & Singer, https://jmlr.org/papers/v12/duchi11a.html.

    Examples
    --------
    >>> params = {"w": np.array([1.0, 2.0])}
    >>> Adagrad(lr=0.5).step(params, {"w": np.array([4.0, 0.0])})
    >>> params["w"].round(6)
    array([0.5, 2. ])
    """

    lr: float = field(default=1e-2, converter=float, validator=at_least_zero)
    lr_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    weight_decay: float = field(default=0.0, converter=float, validator=at_least_zero)
    initial_accumulator_value: float = field(default=0.0, converter=float, validator=at_least_zero)
    eps: float = field(default=1e-10, converter=float, validator=at_least_zero)

    kinds: ClassVar[tuple[str, ...]] = ("sum",)
    counts: ClassVar[bool] = True

    def _start(self, kind: str, p: Plain) -> Plain:
        start = np.zeros_like(p, subok=False)
        start += self.initial_accumulator_value * (1 + 1j if p.dtype.kind == "c" else 1)
        return start

    def _update(
        self, p: Plain, g: Plain, kept: list[Plain], scratch: Plain, count: int, fresh: bool
    ) -> None:
        g = decayed(g, p, self.weight_decay)
        [total] = kept
        np.multiply(g, g, out=scratch, dtype=p.dtype.type)
        total += scratch
        np.sqrt(total, out=scratch)
        scratch += self.eps
        np.divide(g, scratch, out=scratch, dtype=p.dtype.type)
        scratch *= in_dtype_of(p, self.lr / (1 + (count - 1) * self.lr_decay))
        p -= scratch


def add_square(square: Plain, g: Plain, share: float, scratch: Plain) -> None:
    """Move a running mean of squares on in place; `scratch` is overwritten."""
    np.multiply(g, g, out=scratch, dtype=scratch.dtype.type)
    scratch *= 1 - share
    square *= share
    square += scratch
