"""Values that go in and out of programs for HIPS autograd, and the spaces that they lie in."""

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tape_ad import Tensor
from tape_ad.extend.arrays import Array, primal
from tape_ad.extend.trees import flatten, map_leaves, unflatten

__all__ = [
    "SparseObject",
    "VSpace",
    "as_number",
    "balanced_eq",
    "conjugated",
    "given_back",
    "holds_handles",
    "match_complex",
    "repeat_to_match_shape",
    "replace_zero",
    "unbroadcast",
    "unbroadcast_f",
    "value_of",
    "vspace",
]


def number_of(leaf: Any, path: str = "") -> Any:
    """Take a plain array without axes to NumPy's scalar; leave all else as it is."""
    return leaf[()] if type(leaf) is np.ndarray and leaf.ndim == 0 else leaf


def as_number(leaf: Any, path: str = "") -> Any:
    """Take a handle without axes to one of a number, on which ``x += y`` makes another number."""
    return np.positive(leaf) if type(leaf) is Tensor and leaf.ndim == 0 else leaf


def conjugated(tree: Any) -> Any:
    """Take a cotangent of ours to one of HIPS autograd's, or the other way round."""

    def conjugate(leaf: Any, path: str) -> Any:
        dtype = getattr(leaf, "dtype", None)
        kind = dtype.kind if dtype is not None else "c" if isinstance(leaf, complex) else ""
        return np.conj(leaf) if kind == "c" else leaf

    return map_leaves(conjugate, tree)


def given_back(tree: Any) -> Any:
    """Give results as HIPS autograd does: numbers for arrays without axes, arrays to write to."""

    def own(leaf: Any, path: str) -> Any:
        leaf = number_of(leaf)
        return leaf.copy() if type(leaf) is np.ndarray and not leaf.flags.writeable else leaf

    return map_leaves(own, tree)


def value_of(handle: Any) -> Any:
    """Give what is behind a handle: a number, an array, or a handle further out."""
    return number_of(handle.data)


def plain(leaf: Any, path: str = "") -> Any:
    """Give the plain array or number behind a handle of any nesting; anything else as it is."""
    return number_of(primal(leaf)) if type(leaf) is Tensor else leaf


def holds_handles(value: Any) -> bool:
    """Tell whether a handle stands in nested lists and tuples, or in an array of objects."""
    kind = type(value)
    if kind is list or kind is tuple:
        return any(map(holds_handles, value))
    if kind is np.ndarray and value.dtype.kind == "O":
        return any(type(each) is Tensor for each in value.flat)
    return kind is Tensor


class VSpace:
    """What values of one structure have in common, and the algebra on them."""

    def __init__(self, value: Any) -> None:
        self._zeros = map_leaves(zeros_like, value)

    @property
    def shape(self) -> Any:
        """The shape of an array, or the spaces of a structure's leaves."""
        if isinstance(self._zeros, np.ndarray):
            return self._zeros.shape
        return map_leaves(lambda leaf, path: VSpace(leaf), self._zeros)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of an array."""
        dtype: np.dtype[Any] = self._zeros.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of axes of an array."""
        return int(self._zeros.ndim)

    @property
    def iscomplex(self) -> bool:
        """Whether it is a space of complex arrays."""
        return isinstance(self._zeros, np.ndarray) and np.iscomplexobj(self._zeros)

    @property
    def size(self) -> int:
        """How many real numbers a vector is."""
        return sum(leaf.size * (1 + np.iscomplexobj(leaf)) for leaf in flatten(self._zeros))

    def zeros(self) -> Any:
        """Give the vector of zeros."""
        return map_leaves(lambda leaf, path: leaf.copy(), self._zeros)

    def ones(self) -> Any:
        """Give the vector of ones; where it is complex, of 1+1j."""
        return map_leaves(
            lambda leaf, path: np.full_like(leaf, 1 + 1j if np.iscomplexobj(leaf) else 1),
            self._zeros,
        )

    def standard_basis(self) -> Iterator[Any]:
        """Yield the unit vectors of the real space: 1 in one place, and 1j where it is complex."""
        for i, leaf in enumerate(flatten(self._zeros)):
            for index in np.ndindex(leaf.shape):
                for unit in (1, 1j) if np.iscomplexobj(leaf) else (1,):
                    vector = self.zeros()
                    flatten(vector)[i][index] = unit
                    yield vector

    def randn(self) -> Any:
        """Draw a vector from NumPy's global generator, as ``autograd.numpy.random`` does."""

        def draw(leaf: Any, path: str) -> Any:
            drawn: Any = np.random.randn(*leaf.shape)  # noqa: NPY002 - as said
            if np.iscomplexobj(leaf):
                drawn = drawn + 1j * np.random.randn(*leaf.shape)  # noqa: NPY002 - as above
            return np.asarray(drawn).astype(leaf.dtype)

        return map_leaves(draw, self._zeros)

    def add(self, x_prev: Any, x_new: Any) -> Any:
        """Add two vectors."""
        return self._each(operator.add, x_prev, x_new)

    def mut_add(self, x_prev: Any, x_new: Any) -> Any:
        """Add two vectors, of which the first may be None for zero."""
        return self.add(self.zeros() if x_prev is None else x_prev, x_new)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Multiply a vector by a number."""
        return self._each(lambda leaf: leaf * a, x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Give the real inner product of two vectors."""
        pairs = zip(flatten(x), flatten(y), strict=True)
        return sum(np.real(np.dot(np.conj(np.ravel(a)), np.ravel(b))) for a, b in pairs)

    def covector(self, x: Any) -> Any:
        """Give the covector of a vector: the conjugate."""
        return conjugated(x)

    def _each(self, function: Callable[..., Any], *vectors: Any) -> Any:
        return unflatten(self._zeros, map(function, *map(flatten, vectors)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VSpace) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        spaces = map_leaves(lambda leaf, path: f"{leaf.dtype}{leaf.shape}", self._zeros)
        return f"VSpace({spaces!r})"


class SparseObject:
    """A cotangent of which few entries are not zero.

    Parameters
    ----------
    vs : VSpace
        Which space it is in.
    mut_add : callable
        ``mut_add(x)`` adds it to an array of that space, and returns that.
    """

    __slots__ = ["mut_add", "vs"]

    def __init__(self, vs: VSpace, mut_add: Callable[[Any], Any]) -> None:
        self.vs = vs
        self.mut_add = mut_add

    def dense(self) -> Any:
        """Give the vector with all its zeros."""
        return self.mut_add(self.vs.zeros())


def zeros_like(leaf: Any, path: str = "") -> Array:
    """Make zeros of the shape and dtype of an array, a number or a handle.

    Raises
    ------
    TypeError
        For anything else.
    """
    value = plain(leaf)
    if not isinstance(value, (np.ndarray, np.inexact, float, complex)):
        raise TypeError(
            f"there is no space for {value!r} of type {type(value)}, but for arrays, real and "
            "complex numbers, and dicts, lists and tuples of them"
        )
    return np.zeros(np.shape(value), np.result_type(value))


def vspace(value: Any) -> VSpace:
    """Give the space that a value lies in."""
    return VSpace(value)


def unbroadcast(x: Any, target_meta: tuple[Any, ...], broadcast_idx: int = 0) -> Any:
    """Sum a cotangent over the axes along which an argument was broadcast.

    Parameters
    ----------
    x : array
        The cotangent.
    target_meta : tuple
        Shape, number of axes, dtype and whether it is complex, of the argument: see `metadata`.
    broadcast_idx : int
        Where axes were added: 0 for in front, -1 for behind.
    """
    shape, ndim, _, is_complex = target_meta
    while np.ndim(x) > ndim:
        x = np.sum(x, axis=broadcast_idx)
    axes = tuple([i for i, n in enumerate(shape) if n == 1 != np.shape(x)[i]])
    if axes:
        x = np.sum(x, axis=axes, keepdims=True)
    return np.real(x) if np.iscomplexobj(x) and not is_complex else x


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Let what a VJP gives be summed over the axes along which its argument was broadcast."""
    meta = np.shape(target), np.ndim(target), np.result_type(target), np.iscomplexobj(target)
    return lambda g: unbroadcast(f(g), meta)


def match_complex(target: Any, x: Any) -> Any:
    """Bring a cotangent to a real argument, or a complex one, by its real part or as it is."""
    if np.iscomplexobj(target):
        return x if np.iscomplexobj(x) else x + 0j
    return np.real(x) if np.iscomplexobj(x) else x


def repeat_to_match_shape(
    g: Any, shape: tuple[int, ...], dtype: Any, axis: Any, keepdims: bool
) -> tuple[Any, int]:
    """Repeat what a reduction gave to the shape of what it took.

    Returns
    -------
    array
    int
        How many elements each one stands for.
    """
    if not shape:
        return g, 1
    axes = range(len(shape)) if axis is None else np.atleast_1d(axis) % len(shape)
    kept = [1 if i in axes else n for i, n in enumerate(shape)]
    repeated = np.broadcast_to(np.reshape(g, kept), shape) + np.zeros(shape, dtype)
    return repeated, int(np.prod([shape[i] for i in axes]))


def replace_zero(x: Any, val: Any) -> Any:
    """Put another value in place of zeros."""
    return np.where(x, x, val)


def balanced_eq(x: Any, z: Any, y: Any) -> Any:
    """Tell where `x` equals `z`, as a share: a half where `y` does too."""
    return (x == z) / (1.0 + (x == y))
