"""Functions of sparse matrices: inverses, powers, norms, and functions times vectors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.linalg
from attrs import define

from tape_ad import differentiable
from tape_ad.errors import TapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, joined, refuse_handles
from tape_ad.extend.maps import LinearMap, PlainMap, pushed
from tape_ad.extend.patterns import rows_of
from tape_ad.extend.rules import Constant, Entry, arguments_of, overridable, rule, takes_over
from tape_ad.scipy.counterparts import with_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.functions import Derivative, block, one_by_one
from tape_ad.scipy.linalg.functions import expm as dense_expm
from tape_ad.scipy.sparse.arrays import SparseArray, is_sparse, made_in, merged
from tape_ad.scipy.sparse.systems import sparse_solved
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["SPARSE_FUNCTIONS", "aslinearoperator", "expm", "funm_multiply_krylov", "inv"]
__all__ += ["norm", "onenormest"]


Function = Callable[..., Any]


def inv(A: Any) -> Any:
    """Invert a sparse matrix, as `scipy.sparse.linalg.inv` does.

    Parameters
    ----------
    A : sparse array of ours or SciPy's, shape (n, n)

    Returns
    -------
    sparse array, of columns, all of whose elements are there if it is of ours
    """
    if not isinstance(A, SparseArray):
        return scipy.sparse.linalg.inv(A)
    elements, pattern = merged(A.elements, A.pattern)
    return made_in("csc", A.is_matrix)(sparse_solved(elements, np.eye(A.shape[0]), pattern))


def expm(A: Any) -> Any:
    """Compute the exponential of a matrix, as `scipy.sparse.linalg.expm` does.

    Parameters
    ----------
    A : array or Tensor, sparse array of ours or SciPy's, shape (n, n)
        One of ours becomes dense on the way.

    Returns
    -------
    array or Tensor, or sparse array, of columns, all of whose elements are there if it is of ours
    """
    if isinstance(A, SparseArray):
        return made_in("csc", A.is_matrix)(dense_expm(A.toarray()))
    return dense_expm(A) if takes_over(type(A)) else scipy.sparse.linalg.expm(A)


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """Compute a norm of a sparse array, as `scipy.sparse.linalg.norm` does.

    Parameters
    ----------
    x : sparse array of ours or SciPy's
    ord : {None, "fro", 1, -1, inf, -inf}
        Of ours. One with `axis` may be any that `numpy.linalg.norm` takes, of dense rows.
    axis : int, optional

    Returns
    -------
    number, array or Tensor
    """
    if not isinstance(x, SparseArray):
        return scipy.sparse.linalg.norm(x, ord, axis)
    if axis is not None:
        return np.linalg.norm(x.toarray(), ord, axis)
    elements, pattern = merged(x.elements, x.pattern)
    if ord in (None, "fro", "f"):
        return np.linalg.norm(elements)
    if ord not in (1, -1, np.inf, -np.inf):
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.sparse.linalg.norm: ord={ord!r} is not supported on handles; write "
            "np.linalg.norm(a.toarray(), ord), or tape_ad.scipy.sparse.linalg.svds(a, 1)[1] for 2"
        )
    sums = abs(type(x).of(elements, pattern)).sum(axis=0 if abs(ord) == 1 else 1)
    return np.max(sums) if ord > 0 else np.min(sums)


def onenormest(
    A: Any, t: int = 2, itmax: int = 5, compute_v: bool = False, compute_w: bool = False
) -> Any:
    """Estimate the 1-norm of a matrix, as `scipy.sparse.linalg.onenormest` does.

    Parameters
    ----------
    A : array or Tensor, sparse array of ours or SciPy's, or LinearOperator, shape (n, n)
    t, itmax, compute_v, compute_w
        As in SciPy. The vector v, for which the norm of ``A @ v`` is the estimate, is constant.

    Returns
    -------
    est : number or Tensor
    v : array, shape (n,)
    w : array or Tensor, shape (n,)
    """
    if not (isinstance(A, SparseArray) or takes_over(type(A))):
        return scipy.sparse.linalg.onenormest(A, t, itmax, compute_v, compute_w)
    given: tuple[Any, Any] = (A.elements, A.pattern) if isinstance(A, SparseArray) else (A, None)
    v = maximal(*given, t, itmax)
    w = A @ v
    found = (np.sum(np.abs(w)), *((v,) if compute_v else ()), *((w,) if compute_w else ()))
    return found if len(found) > 1 else found[0]


@overridable
def maximal(data: Array, pattern: Any, t: int, itmax: int) -> Array:
    """Find the vector for which `onenormest` finds the norm."""
    matrix = data if pattern is None else pattern.matrix(data)
    return scipy.sparse.linalg.onenormest(matrix, t, itmax, compute_v=True)[1]


# Functions of matrices that a user gives


@overridable
def function_of(a: Array, f: Function) -> Array:
    """Call a function of matrices.

    Parameters
    ----------
    a : array or Tensor, shape (..., n, n)
    f : callable
        Of plain matrices, given by a power series, as ``expm`` is.

    Returns
    -------
    array or Tensor, shape of `a`
    """
    return one_by_one(lambda each, _: f(each), a, a)


def function_partial(out: Array, a: Array, f: Function) -> LinearMap:
    """Make the partial: the derivative is a block of the function of a block matrix."""
    n = a.shape[-1]

    def along(a: Array, e: Array) -> Array:
        return function_of(block(a, e, a), f)[..., :n, n:]

    return Derivative(along, a)


def funm_multiply_krylov(f: Function, A: Any, b: Array, *, t: Any = 1.0, **options: Any) -> Any:
    """Compute ``f(t * A) @ b``, as `scipy.sparse.linalg.funm_multiply_krylov` does.

    Parameters
    ----------
    f : callable
        A function of plain matrices, given by a power series, as ``scipy.linalg.expm`` is.
    A : array or Tensor, sparse array of ours or SciPy's, shape (n, n)
        It becomes dense where a handle is among the arguments.
    b : array or Tensor, shape (n,)
    t : float or Tensor
    options
        As in SciPy, which takes the steps of Krylov with them.

    Returns
    -------
    array or Tensor, shape (n,)
    """
    b = joined(b)
    if not (isinstance(A, SparseArray) or any(takes_over(type(each)) for each in (A, b, t))):
        return scipy.sparse.linalg.funm_multiply_krylov(f, A, b, t=t, **options)
    refuse_handles("tape_ad.scipy.sparse.linalg.funm_multiply_krylov", options)
    dense = A.toarray() if is_sparse(A) else as_array(A)
    out = function_of(t * dense, f) @ as_array(b)
    if takes_over(type(dense)):
        return out

    def below(b: Array, t: Array) -> Any:
        return funm_multiply_krylov(f, A, b, t=t, **options)

    return with_value(out, None, below, (b, as_array(t)), {})


SPARSE_FUNCTIONS: dict[Any, Entry] = {
    maximal: Constant(),
    function_of: rule(function_partial, signature=arguments_of(function_of, "a")),
}


# Linear operators that are applied to handles, or made of functions that hold handles.
#
# They are SciPy's own classes (`tape_ad.transforms.differentiable`), but for functions that take
# plain numbers alone: such a product is linear, and is recorded as one node.


Given = scipy.sparse.linalg._interface._CustomLinearOperator
OfMatrix = scipy.sparse.linalg._interface.MatrixLinearOperator


@define(eq=False, repr=False)
class Applied(PlainMap):
    """An operator of plain numbers applied to the last axis.

    Parameters
    ----------
    operator : LinearOperator
        SciPy's own. Where it has no adjoint, that is made of the products with all unit vectors.
    """

    pattern = rows_of
    operator: Any

    def forward(self, t: Array) -> Array:
        return self._each(self.operator.matmat, t)

    def backward(self, ct: Array) -> Array:
        return self._each(self._adjoint, ct)

    def _adjoint(self, x: Array) -> Array:
        try:
            return self.operator.rmatmat(x)
        except NotImplementedError:
            return self.operator.matmat(np.eye(self.operator.shape[1])).conj().T @ x

    def _each(self, product: Callable[[Array], Array], x: Array) -> Array:
        flat = x.reshape((-1, x.shape[-1]))
        return product(flat.T).T.reshape((*x.shape[:-1], -1))


PRODUCTS = "matvec", "rmatvec", "matmat", "rmatmat"


def recording(name: str) -> Callable[[Any, Array], Array]:
    """Make the product of an operator given by functions with a handle."""

    def product(self: Any, x: Array) -> Array:
        functions = {
            each: getattr(self, f"_CustomLinearOperator__{each}_impl") for each in PRODUCTS
        }
        try:
            if functions[name] is None and name.endswith("mat"):
                one = getattr(self, f"{name[:-3]}vec")
                return np.stack([one(column) for column in x.T], axis=1)
            y = functions[name] and functions[name](x)
        except TapeError:  # of a function that wants plain arrays, as np.array([x[1], x[0]]) does
            y = None
        if takes_over(type(y)):
            return y
        plain = Given(self.shape, **functions, dtype=self.dtype)
        return pushed(x.T, Applied(plain.H if name[0] == "r" else plain)).T

    return product


for _name in PRODUCTS:
    stands_for(getattr(Given, f"_{_name}"))(recording(_name))


@stands_for(OfMatrix._matmat)
def times(self: Any, X: Array) -> Array:
    """Multiply by a matrix, which may be sparse."""
    return self.A @ X


@stands_for(OfMatrix._adjoint)
def adjoint(self: Any) -> Any:
    """Make the operator of the adjoint of a matrix, of which SciPy 1.18 asks a ufunc."""
    return differentiable(OfMatrix)(self.A.conj().T)


def aslinearoperator(A: Any) -> Any:
    """Make an operator of a matrix, as `scipy.sparse.linalg.aslinearoperator` does.

    Parameters
    ----------
    A : array or Tensor, sparse array of ours or SciPy's, or LinearOperator, shape (m, n)

    Returns
    -------
    LinearOperator
    """
    if isinstance(A, scipy.sparse.linalg.LinearOperator):
        return A
    matrix = A if is_sparse(A) else as_array(joined(A))
    return differentiable(OfMatrix)(matrix)
