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

from tape_ad.base.arrays.overridable import anywhere, array_of
from tape_ad.base.errors import ConvergenceWarning, DtypeError, SingularJacobianError
from tape_ad.base.trees import flatten
from tape_ad.record.handles import any_handle, outside, plain, records_of, up_to
from tape_ad.record.primals import primal
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array
from tape_ad.transforms.lockstep import ForAll, below, records_in, slopes

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
    np.float64(0.25)
    """

    def rows(x: Any) -> Any:
        return array_of(residual(x)).reshape(-1)

    value = rows(x)
    x = moved_for_all(rows, x, below(value), name, elementwise)
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
        check_regular(plainly.reshape(-1) if elementwise else plainly, name)
        if elementwise:
            x = x - change / matrix
        else:
            x = x - np.linalg.solve(matrix, change.reshape(-1)).reshape(np.shape(x))
    return x


def moved_for_all(rows: Function, x: Array, value: Any, name: str, elementwise: bool) -> Array:
    """Give the solutions of a batch the derivatives that handles below it ask for.

    Each step of Newton's method doubles the number of orders that are right, and adds one. As the
    residual counts from its value, there are no steps in the values.
    """
    values = ForAll.of(value)
    for _ in range(records_in(value).bit_length()):
        matrix, change = below(slopes(rows, x, elementwise)), below(rows(x))
        check_regular(matrix, name)
        if values is not None:
            change = change - values.boxed(values.stack_of(change))
        if elementwise:
            x = x - np.reshape(change / matrix, np.shape(x))
        else:
            x = x - np.reshape(np.linalg.solve(matrix, change), np.shape(x))
    return x


def check_regular(matrix: Array, name: str, advice: str = "") -> None:
    """Refuse a Jacobian that is singular to rounding, or a diagonal with a zero, of each.

    Raises
    ------
    SingularJacobianError
    """
    values = ForAll.of(matrix)
    stack = matrix[None] if values is None else values.stack_of(matrix)
    regular = np.all(np.isfinite(stack), axis=tuple(range(1, stack.ndim)))
    if stack.ndim == 2:
        regular &= np.all(stack != 0, axis=1)
    elif stack.ndim == 3 and stack.shape[1] == stack.shape[2] and np.any(regular):
        regular &= np.linalg.cond(stack, 1) < 0.1 / np.finfo(float).eps
    elif stack.ndim > 2:
        regular = np.zeros(len(stack), bool)
    if not (regular[0] if values is None else values.agreed(regular)):
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
