"""Derivatives of what a solver has found, by the equation that it solves.

The solver works on plain arrays. What it found becomes a handle by one step of Newton's method,

    x - (∂F/∂x)⁻¹ · (F(x) - value of F(x)),

which adds zero, so that the value stays, and has the derivative of the implicit function theorem:
the residual F is a handle by whatever its parameters are handles of, be they arguments or closed
over. What is within another record gets its step after the one of the other, and takes x and the
Jacobian from it, so that derivatives of all orders are right.
"""

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.base.arrays.overridable import ACTIVE, anywhere, array_of
from tape_ad.base.errors import ConvergenceWarning, DtypeError, SingularJacobianError
from tape_ad.base.trees import flatten
from tape_ad.record.handles import any_handle, outside, plain, records_of, up_to
from tape_ad.record.primals import primal
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array
from tape_ad.transforms.gradients import vjp
from tape_ad.transforms.jacobians import jacobian

Function = Callable[..., Any]


def implicit(residual: Function, x: Array, name: str, *, elementwise: bool = False) -> Any:
    """Give a solution of ``residual(x) == 0`` the derivatives that the equation has.

    Parameters
    ----------
    residual : callable
        Takes an array like `x`, and gives as many numbers; it may use handles of any records.
    x : array
        The solution. It is taken for exact.
    name : str
        Who found it, for errors.
    elementwise : bool
        Whether each element of the residual depends on that element of `x` alone.

    Returns
    -------
    Tensor or array
        A handle of the value `x`; `x` itself where the residual is plain numbers.

    Raises
    ------
    SingularJacobianError
        Where the equation does not say how the solution moves.
    DtypeError
        For complex unknowns or residuals, unless they are elementwise.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def root(a):  # which a solver has found
    ...     return implicit(lambda x: x * x - a, np.sqrt(ta.stop_gradient(a)), "root")
    >>> ta.grad(root)(4.0)
    array(0.25)
    """

    def rows(x: Any) -> Any:
        return array_of(residual(x)).reshape(-1)

    value = rows(x)
    x = moved_for_all(rows, x, below(value), elementwise)
    if type(value) is not Tensor or not value.size:
        return x
    if "c" in (array_of(x).dtype.kind, value.dtype.kind):
        raise DtypeError(
            f"{name}: the derivatives of complex solutions are not given; solve for real and "
            "imaginary parts as numbers of their own"
        )
    if anywhere(~np.isfinite(primal(value))):
        raise SingularJacobianError(
            f"{name}: the equation is not finite at the solution, so it has no derivative there"
        )
    for record in records_of(value):
        matrix = outside(record, slopes(rows, x, elementwise))
        change = up_to(record, rows(x))
        change = (change - outside(record, change)).reshape(np.shape(x))
        plainly = primal(matrix)
        if not hasattr(plainly, "batch_here"):
            check_regular(plainly.reshape(-1) if elementwise else plainly, name)
        if elementwise:
            x = x - change / matrix
        else:
            x = x - np.linalg.solve(matrix, change.reshape(-1)).reshape(np.shape(x))
    return x


def below(value: Any) -> Any:
    """Give what a handle of any nesting holds, which may be an array of a batch."""
    while hasattr(value, "record"):
        value = value.data
    return value


def moved_for_all(rows: Function, x: Array, value: Any, elementwise: bool) -> Array:
    """Give the solutions of a batch the derivatives that handles below it ask for.

    Each step of Newton's method doubles the number of orders that are right, and adds one.
    """
    stack, depth = getattr(value, "stack", None), 0
    while stack is not None:
        depth += hasattr(stack, "record")
        stack = stack.data if hasattr(stack, "record") else getattr(stack, "stack", None)
    for _ in range(depth.bit_length()):
        matrix, change = below(slopes(rows, x, elementwise)), below(rows(x))
        if elementwise:
            x = x - np.reshape(change / matrix, np.shape(x))
        else:
            x = x - np.reshape(np.linalg.solve(matrix, change), np.shape(x))
    return x


STEPS = 100
"""How many are tried for a batch before each has a search of its own."""


def root_for_all(residual: Function, x0: Any, *, elementwise: bool = False) -> Any:
    """Solve the equations of a batch at once, by Newton's method with steps that are halved.

    Parameters
    ----------
    residual : callable
        As for `implicit`.
    x0 : array
        Where to start, the same for each or one for each.
    elementwise : bool

    Returns
    -------
    array of the batch, or None
        None where there is no batch, and where the residual of one becomes no smaller.
    """

    def rows(x: Any) -> Any:
        return np.reshape(array_of(residual(x)), -1)

    def matrices(x: Any) -> Any:
        return slopes(rows, x, elementwise)

    values = ForAll.of(below(rows(x0))) if ACTIVE.get().batches else None
    start = below(array_of(x0))
    x = None if values is None else values.stack_of(start)
    if values is None or type(x) is not np.ndarray:
        return None
    r = values(rows, x)
    if type(r) is not np.ndarray or r.dtype.kind != "f" or r.size != x.size:
        return None
    x, running = np.array(x, float), np.ones(len(x), bool)
    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            matrix = values(matrices, x)
            step = np.where(running[:, None], steps(matrix, r, elementwise), 0).reshape(x.shape)
            near = largest(step) <= 1e-9 * largest(x - step)
            for _ in range(STEPS):
                after = values(rows, x - step)
                worse = running & ~near & ~(largest(after) < largest(r))
                if not np.any(worse):
                    break
                step[worse] /= 2
            else:
                return None
            x, r = x - step, np.where(running[:, None], after, r)
            running &= ~near & (largest(r) > 0)
            if not np.any(running):
                return values.boxed(x)
    return None


def steps(matrix: Array, r: Array, elementwise: bool) -> Any:
    """Compute the steps of Newton's method."""
    if elementwise:
        return r / np.reshape(matrix, r.shape)
    try:
        return np.linalg.solve(matrix, r[..., None])[..., 0]
    except np.linalg.LinAlgError:
        return np.full(r.shape, np.nan)  # which makes no residual smaller


@frozen
class ForAll:
    """Functions of one of a batch, or of batches in one another, called with all arrays at once.

    Attributes
    ----------
    kind : type
        Of the arrays of a batch.
    batches : list of Batch
        The innermost first.
    """

    kind: Any
    batches: list[Any]

    @classmethod
    def of(cls, value: Any) -> "ForAll | None":
        """Find the batches that an array is of."""
        kind, batches = type(value), []
        while hasattr(value, "batch_here"):
            batches.append(value.batch_here)
            value = below(value.stack)
        return cls(kind, batches) if batches and all(each.size for each in batches) else None

    def boxed(self, stack: Array) -> Any:
        """Give the arrays of all as one sees them."""
        sizes = [batch.size for batch in reversed(self.batches)]
        box: Any = stack.reshape((*sizes, *stack.shape[1:]))
        for batch in reversed(self.batches):
            box = self.kind(box, batch)
        return box

    def stack_of(self, x: Any) -> Any:
        """Give the arrays of all, without what records them."""
        shape = np.shape(x)
        for batch in self.batches:
            if type(x) is self.kind and x.batch_here is batch:
                x = below(x.stack)
            else:
                x = np.broadcast_to(x, (batch.size, *np.shape(x)))
        return x.reshape((-1, *shape)) if type(x) is np.ndarray else x

    def __call__(self, f: Function, stack: Array) -> Any:
        """Call a function."""
        return self.stack_of(below(f(self.boxed(stack))))


def largest(rows: Any) -> Any:
    """Give the largest number of each, without its sign."""
    return np.max(np.abs(np.reshape(rows, (len(rows), -1))), axis=1, initial=0.0)


def between_for_all(f: Function, a: Any, b: Any) -> Any:
    """Find the roots of a batch between numbers where the signs differ, by halving; or None."""
    if not ACTIVE.get().batches:
        return None
    ends = [below(array_of(end)) for end in (a, b)]
    given = [*ends, *[below(array_of(f(end))) for end in ends]]
    values = next(filter(None, map(ForAll.of, given)), None)
    if values is None or any(np.ndim(x) for x in given):
        return None
    low, high, first, last = map(values.stack_of, given)
    plain = all(type(x) is np.ndarray for x in (low, high, first, last))
    if not plain or not np.all(first * last <= 0):
        return None  # which is an error of one
    low, high = np.where(last == 0, high, low), np.where(first == 0, low, high)
    while True:
        middle = low + (high - low) / 2
        if not np.any((middle != low) & (middle != high)):
            return values.boxed(middle)
        at = values(lambda x: array_of(f(x)), middle)
        same = np.sign(at) == np.sign(first)
        low = np.where(same | (at == 0), middle, low)
        high = np.where(same, high, middle)


def slopes(rows: Function, x: Any, elementwise: bool) -> Any:
    """Derive a residual: its Jacobian, shape (n, n), or its diagonal alone, in the shape of `x`."""
    if elementwise:
        value, pull = vjp(rows, x)
        return pull(np.ones(value.shape))[0]
    return jacobian(rows)(x).reshape(-1, np.size(x))


def check_regular(matrix: Array, name: str, advice: str = "") -> None:
    """Refuse a Jacobian that is singular to rounding.

    Raises
    ------
    SingularJacobianError
    """
    if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and np.all(np.isfinite(matrix)):
        regular = np.linalg.cond(matrix, 1) < 0.1 / np.finfo(float).eps
    else:
        regular = np.all(np.isfinite(matrix)) and bool(np.all(matrix != 0)) and matrix.ndim < 2
    if not regular:
        raise SingularJacobianError(
            f"{name}: the Jacobian of the equation is singular at the solution, so that the "
            "solution has no derivative with respect to parameters there (or is not the only one "
            "near by); pass plain numbers where no gradient is wanted"
            f"{advice}"
        )


class OnPlainArrays:
    """A function that returns plain numbers, whatever it closes over; processes can be sent it.

    Attributes
    ----------
    found : list
        Of what is returned: a handle that the function gave, if it ever gave one.
    """

    found: list[Any]
    __wrapped__: Function

    def __init__(self, function: Function) -> None:
        functools.update_wrapper(self, function)
        self.found = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        value = self.__wrapped__(*args, **kwargs)
        if not any_handle(value):
            return value
        if not self.found:
            self.found.extend(leaf for leaf in flatten(value) if type(leaf) is Tensor)
        return plain(value)


def on_plain_arrays(function: Function) -> OnPlainArrays:
    """Let a function return plain numbers, which a solver can work with, whatever it closes over.

    Raises
    ------
    TypeError
        For what cannot be called.
    """
    if not callable(function):
        raise TypeError(f"a function of the unknowns is asked for, not {function!r}")
    return OnPlainArrays(function)


@contextmanager
def lent(function: Function) -> Iterator[Function]:
    """Give a function to code that may keep it in a cycle, and take back what it refers to."""
    own = [function]

    def borrowed(*args: Any, **kwargs: Any) -> Any:
        return own[0](*args, **kwargs)

    try:
        yield borrowed
    finally:
        own.clear()


def valued(x: Any, value: Array) -> Any:
    """Give a handle the value that somebody else has computed for it, to the bit.

    The two are equal up to rounding, so that their difference is exact, and adding it is too (P. H.
    Sterbenz, *Floating-Point Computation*, 1974).
    """
    own = primal(x)
    same = np.array_equal(own, value)
    return x if same or type(x) is not Tensor else x + np.where(own == value, 0, value - own)


def warn_unconverged(name: str, message: Any) -> None:
    """Say that derivatives are taken at a point that is no solution."""
    warnings.warn(
        f"{name} has not succeeded ({message}), so that derivatives are taken at what is no "
        "solution; look at the result before you use them",
        ConvergenceWarning,
        stacklevel=3,
    )
