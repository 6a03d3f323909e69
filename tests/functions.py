"""Functions of four variables to take Hessians of, in NumPy and for any library like it."""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["AT", "HESSIANS_OF", "numpy_like"]

RNG = np.random.default_rng(3)
AT = RNG.normal(size=4)
A, B, C = RNG.normal(size=(3, 4, 4))
SPREAD = np.diag([1.0, 3.0, 6.0, 10.0])  # keeps eigenvalues apart


def numpy_like(np: Any) -> dict[str, Callable[[Any], Any]]:
    """Make the functions with NumPy, or with a module that has the same functions."""

    def positive(x: Any) -> Any:
        root = A + np.outer(x, np.sin(x))
        return root @ root.T + np.eye(4)

    return {
        "rosenbrock": lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2),
        "network": lambda x: np.sum(np.tanh(B @ np.tanh(A @ x)) ** 2),
        "logdet": lambda x: np.linalg.slogdet(positive(x))[1],
        "solve": lambda x: np.sum(x * np.linalg.solve(positive(x), np.exp(x))),
        "eigenvalues": lambda x: np.linalg.eigh(SPREAD + np.outer(x, x))[0] @ np.arange(4.0),
        "cholesky": lambda x: np.sum(np.sin(np.linalg.cholesky(positive(x)))),
        "indexing": lambda x: np.sum(x[np.array([0, 1, 1, 3])] ** 3 * x[::-1]) * x[2],
        "einsum": lambda x: np.einsum("i,j,k,ij,jk->", x, np.sin(x), x * x, A, B),
        "softmax": lambda x: np.log(np.sum(np.exp(C @ x))) * np.prod(np.cos(x)),
        "where": lambda x: np.sum(np.where(x > 0, np.exp(x), np.sin(x)) * np.maximum(x, x * x)),
        "shapes": lambda x: (
            np.sum(np.concatenate([x * x, np.sin(x)]).reshape(2, 4).T @ np.ones((2, 3)) ** 2) ** 2
        ),
        "norms": lambda x: np.sqrt(np.sum(x * x)) ** 3 + np.arctan2(x[0], 2 + x[1]),
    }


HESSIANS_OF = numpy_like(np)
