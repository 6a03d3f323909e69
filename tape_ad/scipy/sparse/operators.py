"""Linear operators that are applied to handles, or made of functions that hold handles."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define

from tape_ad.errors import ShapeError, TapeError
from tape_ad.extend.arrays import Array, as_array, joined
from tape_ad.extend.maps import PlainMap, pushed
from tape_ad.extend.patterns import rows_of
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.sparse.arrays import is_ours, is_sparse

__all__ = ["LaplacianNd", "LinearOperator", "Recording", "aslinearoperator"]

Function = Callable[..., Any]
SciPys: Any = scipy.sparse.linalg.LinearOperator


@define(eq=False, repr=False)
class Applied(PlainMap):
    """An operator of plain numbers applied to the last axis.

    Parameters
    ----------
    operator : LinearOperator
        Where it has no adjoint, one is made of the products with all unit vectors.
    """

    pattern = rows_of
    operator: Any

    def forward(self, t: Array) -> Array:
        return self._each(lambda x: SciPys.matmat(self.operator, x), t)

    def backward(self, ct: Array) -> Array:
        return self._each(self._adjoint, ct)

    def _adjoint(self, x: Array) -> Array:
        try:
            return SciPys.rmatmat(self.operator, x)
        except NotImplementedError:
            columns = SciPys.matmat(self.operator, np.eye(self.operator.shape[1]))
            return columns.conj().T @ x

    def _each(self, product: Function, x: Array) -> Array:
        flat = x.reshape((-1, x.shape[-1]))
        return product(flat.T).T.reshape((*x.shape[:-1], -1))


class Recording(SciPys):  # type: ignore[misc]  # SciPy tells no types
    """An operator that is linear in a handle, and recorded as one node."""

    def matvec(self, x: Any) -> Any:
        """Multiply a vector by the operator."""
        return self._recorded(x, "matvec", self.shape)

    def matmat(self, X: Any) -> Any:  # noqa: N803 - SciPy's name
        """Multiply the columns of a matrix."""
        return self._recorded(X, "matmat", self.shape)

    def rmatvec(self, x: Any) -> Any:
        """Multiply a vector by the adjoint."""
        return self._recorded(x, "rmatvec", self.shape[::-1])

    def rmatmat(self, X: Any) -> Any:  # noqa: N803 - SciPy's name
        """Multiply the columns of a matrix by the adjoint."""
        return self._recorded(X, "rmatmat", self.shape[::-1])

    def dot(self, x: Any) -> Any:
        """Multiply a vector or a matrix, a number, or another operator."""
        if isinstance(x, SciPys):
            return composed(self, x)
        x = joined(x)
        if np.ndim(x) == 0:
            return scaled(self, x)
        x = as_array(x)
        return self.matvec(x) if x.ndim == 1 or x.shape[1] == 1 else self.matmat(x)

    def _rdot(self, x: Any) -> Any:
        if isinstance(x, SciPys):
            return composed(x, self)
        x = as_array(joined(x))
        return self.T.dot(np.transpose(x)).T

    def __rmul__(self, x: Any) -> Any:
        return scaled(self, x) if np.ndim(x) == 0 and not isinstance(x, SciPys) else self._rdot(x)

    def __truediv__(self, other: Any) -> Any:
        return scaled(self, 1.0 / other)

    def __neg__(self) -> Any:
        return scaled(self, -1)

    def __pow__(self, p: int) -> Any:
        out: Any = LinearOperator(self.shape, *(lambda x: x,) * 3, self.dtype, lambda x: x)
        for _ in range(p):
            out = composed(self, out)
        return out

    def __add__(self, x: Any) -> Any:
        return combined(self, x) if isinstance(x, SciPys) else NotImplemented

    def _transpose(self) -> Any:
        def conjugated(product: Function) -> Function:
            return lambda x: np.conjugate(product(np.conjugate(x)))

        return self._adjoint_of(conjugated)

    def _adjoint(self) -> Any:
        return self._adjoint_of(lambda product: product)

    def _adjoint_of(self, changed: Function) -> Any:
        products = map(changed, (self.rmatvec, self.matvec, self.rmatmat, self.matmat))
        matvec, rmatvec, matmat, rmatmat = products
        return LinearOperator(
            self.shape[::-1], matvec, rmatvec, matmat, dtype=self.dtype, rmatmat=rmatmat
        )

    def _recorded(self, x: Any, name: str, shape: tuple[int, int]) -> Any:
        x = joined(x)
        if not takes_over(type(x)):
            return getattr(super(), name)(x)
        if x.ndim not in (1, 2) or x.shape[0] != shape[1]:
            raise ShapeError(
                f"an operator of shape {shape} takes {shape[1]} numbers, or columns of so many, "
                f"got shape {x.shape}"
            )
        turned = self.H if name.startswith("r") else self
        if x.ndim == 1:
            return pushed(x, Applied(turned))
        return np.matrix_transpose(pushed(np.matrix_transpose(x), Applied(turned)))

    __array_ufunc__ = None  # so that arrays and handles leave operators to it


class LinearOperator(Recording):
    """An operator given by a function, as `scipy.sparse.linalg.LinearOperator` is.

    Parameters
    ----------
    shape : tuple of int
    matvec, rmatvec, matmat, rmatmat : callable
        They may hold handles, and are then called with handles, to record themselves. A function
        of plain numbers alone is called with plain arrays, and is linear: its adjoint is `rmatvec`,
        or where there is none it is made of the products with all unit vectors.
    dtype : dtype, optional

    Examples
    --------
    >>> import tape_ad as ta
    >>> a = ta.ComputationRecord().tensor(3.0)
    >>> operator = LinearOperator((2, 2), matvec=lambda x: a * x)
    >>> np.sum(operator @ np.ones(2)).grad().wrt(a)
    array(2.)
    """

    def __init__(
        self,
        shape: tuple[int, int],
        matvec: Function,
        rmatvec: Function | None = None,
        matmat: Function | None = None,
        dtype: Any = None,
        rmatmat: Function | None = None,
    ) -> None:
        super().__init__(dtype, shape)
        self.args = ()
        self._products = {
            "matvec": matvec,
            "rmatvec": rmatvec,
            "matmat": matmat,
            "rmatmat": rmatmat,
        }
        if dtype is None:
            self.dtype: Any = as_array(matvec(np.zeros(self.shape[1], np.int8))).dtype

    def _matvec(self, x: Any) -> Any:
        product: Any = self._products["matvec"]
        return product(x)

    def _rmatvec(self, x: Any) -> Any:
        product = self._products["rmatvec"]
        if product is None:
            raise NotImplementedError("rmatvec is not defined")
        return product(x)

    def _matmat(self, X: Any) -> Any:  # noqa: N803 - SciPy's name
        return self._in_columns("matmat", self._matvec, X)

    def _rmatmat(self, X: Any) -> Any:  # noqa: N803 - SciPy's name
        return self._in_columns("rmatmat", self._rmatvec, X)

    def _in_columns(self, name: str, product: Function, x: Any) -> Any:
        whole: Any = self._products[name]
        if whole is not None:
            return whole(x)
        return np.stack([as_array(product(column)).reshape(-1) for column in x.T], axis=1)

    def _recorded(self, x: Any, name: str, shape: tuple[int, int]) -> Any:
        x, product = as_array(joined(x)), getattr(self, f"_{name}")
        if not takes_over(type(x)):
            y = product(x) if x.ndim in (1, 2) and x.shape[0] == shape[1] else None
            if y is None or not takes_over(type(y)):
                return super()._recorded(x, name, shape)
            return y.reshape((shape[0], *x.shape[1:]))
        try:
            y = product(x)
        except TapeError:  # of a function that wants plain arrays, as np.array([x[1], x[0]]) does
            y = None
        if y is None or not takes_over(type(y)):
            return super()._recorded(x, name, shape)
        return y.reshape((shape[0], *x.shape[1:]))


def scaled(a: Any, factor: Any) -> LinearOperator:
    """Multiply an operator by a number."""

    def by(factor: Any, product: Function) -> Function:
        return lambda x: factor * product(x)

    return LinearOperator(
        a.shape,
        by(factor, a.matvec),
        by(np.conjugate(factor), a.rmatvec),
        by(factor, a.matmat),
        np.result_type(a.dtype, getattr(factor, "dtype", type(factor))),
        by(np.conjugate(factor), a.rmatmat),
    )


def combined(a: Any, b: Any) -> LinearOperator:
    """Add two operators, which become one."""
    if a.shape != b.shape:
        raise ShapeError(f"operators of shapes {a.shape} and {b.shape} have no sum")

    def both(name: str) -> Function:
        return lambda x: getattr(a, name)(x) + getattr(b, name)(x)

    names = "matvec", "rmatvec", "matmat", "rmatmat"
    matvec, rmatvec, matmat, rmatmat = map(both, names)
    dtype = np.result_type(a.dtype, b.dtype)
    return LinearOperator(a.shape, matvec, rmatvec, matmat, dtype, rmatmat)


def composed(a: Any, b: Any) -> LinearOperator:
    """Apply one operator after the other."""
    if a.shape[1] != b.shape[0]:
        raise ShapeError(f"operators of shapes {a.shape} and {b.shape} have no product")
    return LinearOperator(
        (a.shape[0], b.shape[1]),
        lambda x: a.matvec(b.matvec(x)),
        lambda x: b.rmatvec(a.rmatvec(x)),
        lambda x: a.matmat(b.matmat(x)),
        np.result_type(a.dtype, b.dtype),
        lambda x: b.rmatmat(a.rmatmat(x)),
    )


class LaplacianNd(Recording, scipy.sparse.linalg.LaplacianNd):  # type: ignore[misc]  # the same
    """The Laplacian on a grid, as `scipy.sparse.linalg.LaplacianNd`, which handles may be given.

    Parameters
    ----------
    grid_shape : tuple of int
    boundary_conditions : {"neumann", "dirichlet", "periodic"}
    dtype : dtype

    Examples
    --------
    >>> LaplacianNd((3,)).matvec(np.array([1.0, 2.0, 4.0]))
    array([ 1.,  1., -2.])
    """

    def _adjoint(self) -> Any:
        return self

    def _transpose(self) -> Any:
        return self


def aslinearoperator(A: Any) -> Any:  # noqa: N803 - SciPy's name
    """Make an operator of a matrix, as `scipy.sparse.linalg.aslinearoperator` does.

    Parameters
    ----------
    A : array or Tensor, sparse array of ours or SciPy's, or LinearOperator, shape (m, n)

    Returns
    -------
    LinearOperator
    """
    if isinstance(A, SciPys):
        return A
    A = as_array(A) if not (is_ours(A) or is_sparse(A)) else A  # noqa: N806 - SciPy's name
    adjoint = A.conj().T

    def product(matrix: Any) -> Function:
        return lambda x: matrix @ x

    forth, back = product(A), product(adjoint)
    return LinearOperator(A.shape, forth, back, forth, A.dtype, back)
