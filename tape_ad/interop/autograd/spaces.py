"""Values that go in and out of programs for HIPS autograd, and the spaces that they lie in."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from tape_ad import Tensor
from tape_ad.extend.arrays import Array, primal
from tape_ad.extend.trees import flatten, map_leaves, unflatten

__all__ = [
    "ArrayVSpace",
    "ComplexArrayVSpace",
    "ContainerVSpace",
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
    """What values of one type and shape have in common, and the algebra on them.

    A subclass says what a vector of its kind is; ``Subclass.register(type)`` lets `vspace` find it.
    """

    mappings: ClassVar[dict[type, Callable[[Any], Any]]] = {}
    iscomplex: bool = False
    shape: Any
    size: int

    def __init__(self, value: Any) -> None:
        pass

    def zeros(self) -> Any:
        """Return the zero vector of the space."""
        raise NotImplementedError(f"{type(self).__name__} has no zeros")

    def ones(self) -> Any:
        """Give the vector of ones."""
        raise NotImplementedError(f"{type(self).__name__} has no ones")

    def standard_basis(self) -> Iterator[Any]:
        """Yield the unit vectors, of the real space."""
        raise NotImplementedError(f"{type(self).__name__} has no standard_basis")

    def randn(self) -> Any:
        """Draw a vector from the standard normal distribution."""
        raise NotImplementedError(f"{type(self).__name__} has no randn")

    def add(self, x_prev: Any, x_new: Any) -> Any:
        """Add two vectors of the space."""
        return self._add(x_prev, x_new)

    def mut_add(self, x_prev: Any, x_new: Any) -> Any:
        """Add two vectors, of which the first may be None for zero."""
        return self._mut_add(self.zeros() if x_prev is None else x_prev, x_new)

    def scalar_mul(self, x: Any, a: Any) -> Any:
        """Multiply a vector by a number."""
        return self._scalar_mul(x, a)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Give the real inner product of two vectors."""
        return self._inner_prod(x, y)

    def covector(self, x: Any) -> Any:
        """Give the covector of a vector: the conjugate."""
        return self._covector(x)

    def _add(self, x: Any, y: Any) -> Any:
        return x + y

    def _mut_add(self, x: Any, y: Any) -> Any:
        return x + y

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        return x * a

    def _inner_prod(self, x: Any, y: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no inner_prod")

    def _covector(self, x: Any) -> Any:
        return x

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{self.__dict__}"

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], Any] | None = None) -> None:
        """Say which space the values of a type are in."""
        VSpace.mappings[value_type] = vspace_maker or cls


class ArrayVSpace(VSpace):
    """Real arrays and numbers of one shape and dtype."""

    dtype: np.dtype[Any]

    def __init__(self, value: Any) -> None:
        value = np.asarray(value)
        self.shape = value.shape
        self.dtype = value.dtype

    @property
    def size(self) -> int:  # type: ignore[override]  # worked out here, an attribute elsewhere
        """How many real numbers a vector is."""
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def zeros(self) -> Array:
        """Give an array of zeros."""
        return np.zeros(self.shape, self.dtype)

    def ones(self) -> Array:
        """Give an array of ones."""
        return np.ones(self.shape, self.dtype)

    def standard_basis(self) -> Iterator[Array]:
        """Yield the arrays with a one in one place."""
        for index in np.ndindex(*self.shape):
            unit = self.zeros()
            unit[index] = 1
            yield unit

    def randn(self) -> Array:
        """Draw an array from NumPy's global generator, as ``autograd.numpy.random`` does."""
        return np.array(np.random.randn(*self.shape)).astype(self.dtype)  # noqa: NPY002 - as said

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.dot(np.ravel(x), np.ravel(y))


class ComplexArrayVSpace(ArrayVSpace):
    """Complex arrays and numbers of one shape and dtype."""

    iscomplex = True

    @property
    def size(self) -> int:  # type: ignore[override]  # as above
        """How many real numbers a vector is."""
        return 2 * int(np.prod(self.shape))

    def ones(self) -> Array:
        """Give an array of 1+1j."""
        return np.full(self.shape, 1 + 1j, self.dtype)

    def standard_basis(self) -> Iterator[Array]:
        """Yield the arrays with 1 or 1j in one place."""
        for unit in super().standard_basis():
            yield unit
            yield unit * unit.dtype.type(1j)

    def randn(self) -> Array:
        """Draw the real and the imaginary parts."""
        shape = self.shape
        real, imag = np.random.randn(*shape), np.random.randn(*shape)  # noqa: NPY002 - as above
        return np.asarray(real + 1j * imag).astype(self.dtype)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return np.real(np.dot(np.conj(np.ravel(x)), np.ravel(y)))

    def _covector(self, x: Any) -> Any:
        return np.conj(x)


class ContainerVSpace(VSpace):
    """Nested dicts, lists and tuples of one structure, whose `shape` has spaces for leaves."""

    def __init__(self, value: Any) -> None:
        self.shape = map_leaves(lambda leaf, path: vspace(leaf), value)

    @property
    def leaves(self) -> list[Any]:
        """The spaces of the leaves."""
        return flatten(self.shape)

    @property
    def size(self) -> int:  # type: ignore[override]  # as above
        """How many real numbers a vector is."""
        return sum(int(space.size) for space in self.leaves)

    def zeros(self) -> Any:
        """Give the structure with zeros."""
        return map_leaves(lambda space, path: space.zeros(), self.shape)

    def ones(self) -> Any:
        """Give the structure with ones."""
        return map_leaves(lambda space, path: space.ones(), self.shape)

    def randn(self) -> Any:
        """Draw a normal random array for every leaf of the structure."""
        return map_leaves(lambda space, path: space.randn(), self.shape)

    def standard_basis(self) -> Iterator[Any]:
        """Yield the structures with one unit vector, and zeros elsewhere."""
        for i, space in enumerate(self.leaves):
            for unit in space.standard_basis():
                leaves = [each.zeros() for each in self.leaves]
                leaves[i] = unit
                yield unflatten(self.shape, leaves)

    def _each(self, method: str, *trees: Any) -> Any:
        columns = zip(self.leaves, *map(flatten, trees), strict=True)
        return [getattr(space, method)(*leaves) for space, *leaves in columns]

    def _add(self, x: Any, y: Any) -> Any:
        return unflatten(self.shape, self._each("_add", x, y))

    def _mut_add(self, x: Any, y: Any) -> Any:
        return self._add(x, y)

    def _scalar_mul(self, x: Any, a: Any) -> Any:
        leaves = [space.scalar_mul(leaf, a) for space, leaf in self._pairs(x)]
        return unflatten(self.shape, leaves)

    def _inner_prod(self, x: Any, y: Any) -> Any:
        return sum(self._each("_inner_prod", x, y))

    def _covector(self, x: Any) -> Any:
        return unflatten(self.shape, self._each("_covector", x))

    def _pairs(self, x: Any) -> Any:
        return zip(self.leaves, flatten(x), strict=True)


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


def array_space(value: Any) -> ArrayVSpace:
    """Give the space of an array."""
    return ComplexArrayVSpace(value) if np.iscomplexobj(value) else ArrayVSpace(value)


for _kind in (np.ndarray, float, np.longdouble, np.float64, np.float32, np.float16):
    VSpace.register(_kind, array_space)
for _complex in (complex, np.clongdouble, np.complex64, np.complex128):
    ComplexArrayVSpace.register(_complex)
for _container in (list, tuple, dict):
    ContainerVSpace.register(_container)
VSpace.register(SparseObject, lambda value: value.vs)


def vspace(value: Any) -> Any:
    """Give the space that a value lies in.

    Raises
    ------
    TypeError
        When nobody has registered one for its type.
    """
    if type(value) is Tensor:
        value = primal(value)
    kind = type(value)
    maker = VSpace.mappings.get(kind)
    if maker is None and isinstance(value, tuple):  # a named tuple, as slogdet returns
        maker = ContainerVSpace
    if maker is None:
        known = ", ".join(sorted(each.__name__ for each in VSpace.mappings))
        raise TypeError(f"there is no space for {value!r} of type {kind}, but for {known}")
    return maker(value)


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
