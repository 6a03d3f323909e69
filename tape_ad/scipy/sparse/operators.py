"""Linear operators that are applied to handles, or made of functions that hold handles.

They are SciPy's own classes (`tape_ad.transforms.differentiable`), but for functions that take
plain numbers alone: such a product is linear, and is recorded as one node.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define

from tape_ad import differentiable
from tape_ad.errors import TapeError
from tape_ad.extend.arrays import Array, as_array, joined
from tape_ad.extend.maps import PlainMap, pushed
from tape_ad.extend.patterns import rows_of
from tape_ad.extend.rules import takes_over
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.sparse.arrays import is_sparse
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["aslinearoperator"]

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
def times(self: Any, X: Array) -> Array:  # noqa: N803 - SciPy's name
    """Multiply by a matrix, which may be sparse."""
    return self.A @ X


@stands_for(OfMatrix._adjoint)
def adjoint(self: Any) -> Any:
    """Make the operator of the adjoint of a matrix, of which SciPy 1.18 asks a ufunc."""
    return differentiable(OfMatrix)(self.A.conj().T)


def aslinearoperator(A: Any) -> Any:  # noqa: N803 - SciPy's name
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
