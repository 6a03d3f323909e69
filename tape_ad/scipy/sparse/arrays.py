"""Sparse arrays whose elements may be a handle, in SciPy's formats.

An array is its elements and their pattern; a format says what `data` looks like, and no more. What
only moves elements (an index, a transpose, a block of blocks) is done by SciPy, to an array of the
elements' numbers.
"""

import operator
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from attrs import define, frozen

from tape_ad.errors import ConversionError, ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, holds, joined
from tape_ad.extend.maps import Gather
from tape_ad.extend.rules import takes_over

MULTIPLYING = frozenset({"multiply", "_multiply_2d_with_broadcasting"})
"""SciPy's methods that multiply element by element, the one called by the other."""


@frozen(eq=False)
class Pattern:
    """Where the elements of a sparse matrix are.

    Attributes
    ----------
    rows, columns : array of int, shape (nnz,)
    shape : tuple of int
    """

    rows: Array
    columns: Array
    shape: tuple[int, int]

    def transposed(self) -> "Pattern":
        """Give the pattern of the transpose."""
        return Pattern(self.columns, self.rows, (self.shape[1], self.shape[0]))

    def matrix(self, data: Array) -> Any:
        """Make SciPy's matrix of plain elements; SuperLU takes indices of few bits."""
        few = np.intc if max(self.shape) < np.iinfo(np.intc).max else np.intp
        rows, columns = self.rows.astype(few), self.columns.astype(few)
        return scipy.sparse.csc_array((data, (rows, columns)), shape=self.shape)

    def times(self, data: Array, x: Array) -> Array:
        """Multiply the matrix with elements `data` by matrices, shape (..., n, k)."""
        m, n = self.shape
        products = data[..., :, None] * Gather(-2, self.columns, n).push(x)
        return Gather(-2, self.rows, m).pull(products)

    def gradient(self, g: Array, x: Array) -> Array:
        """Compute the gradient of <g, M x> by the elements of M."""
        m, n = self.shape
        outer = Gather(-2, self.rows, m).push(g) * Gather(-2, self.columns, n).push(x).conjugate()
        return np.add.reduce(outer, axis=-1)

    def places(self) -> Array:
        """Number the places, row by row."""
        return self.rows.astype(np.intp) * self.shape[1] + self.columns

    def positions(self, layout: str = "coo", first: int = 1) -> Any:
        """Make SciPy's array of the elements' numbers, which stand for them where they move."""
        numbers = np.arange(first, first + len(self.rows))
        made = scipy.sparse.coo_array((numbers, (self.rows, self.columns)), shape=self.shape)
        return made.asformat(layout)

    @classmethod
    def of(cls, matrix: Any) -> "Pattern":
        """Tell where a matrix of SciPy's has the elements of ``matrix.tocoo().data``."""
        rows, columns = coordinates(matrix)
        return cls(rows, columns, matrix.shape)


def coordinates(matrix: Any) -> tuple[Array, Array]:
    """Give the rows and columns of a matrix of coordinates, which SciPy names in two ways."""
    whole = matrix.tocoo()
    return whole.coords if hasattr(whole, "coords") else (whole.row, whole.col)


def merged(data: Array, pattern: Pattern) -> tuple[Array, Pattern]:
    """Add up the elements that are at the same place, and sort them row by row."""
    places, which = np.unique(pattern.places(), return_inverse=True)
    rows, columns = np.divmod(places, max(pattern.shape[1], 1))
    total = Gather(-1, which, len(places)).pull(data)
    return total, Pattern(rows, columns, pattern.shape)


def absent(kind: str, name: str) -> Exception:
    """Say that sparse arrays of handles have no such attribute; SciPy asks by one what they are."""
    asking = str(sys._getframe(2).f_globals.get("__name__"))
    if name == "matvec" and asking.startswith("scipy."):
        return ConversionError(
            "scipy.sparse.linalg takes matrices of plain numbers, and the elements of this one are "
            "a handle; write the function of that name in tape_ad.scipy.sparse.linalg, or pass "
            ".toarray().data for the value alone"
        )
    return AttributeError(
        f"{kind} has no {name}, which SciPy's may have; write it with .data, .tocoo().coords or "
        ".toarray()"
    )


def compared(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Make the method that compares all elements, those that are not stored too."""

    def method(self: Any, other: Any) -> Any:
        kind = scipy.sparse.csr_matrix if self.is_matrix else scipy.sparse.csr_array
        return kind(compare(self.toarray(), other.toarray() if is_sparse(other) else other))

    return method


OTHER = "tape_ad.scipy.sparse: "


@define(eq=False, repr=False, init=False)
class SparseArray:
    """A sparse array in one of SciPy's formats, whose elements may be a handle.

    Parameters
    ----------
    arg1
        As in SciPy: a dense array, a sparse one, or a tuple of data and where they are. Of these,
        what is data may be a handle. A dense one keeps its zeros as elements, which have a
        gradient. Elements at the same place are added up.
    shape, dtype, copy
        As in SciPy.

    Attributes
    ----------
    elements : array or Tensor, shape (nnz,)
    pattern : Pattern

    Notes
    -----
    Without a handle, SciPy's own array is made. See SciPy's for the methods.
    """

    __array_ufunc__ = None  # so that arrays and handles leave operators to it
    format: ClassVar[str]
    is_matrix: ClassVar[bool] = False
    elements: Array
    pattern: Pattern

    def __new__(
        cls, arg1: Any, shape: Any = None, dtype: Any = None, copy: bool = False, **options: Any
    ) -> Any:
        """Make an array as SciPy does, and SciPy's own where nothing is a handle."""
        if not (isinstance(arg1, SparseArray) or takes_over(type(arg1)) or holds(arg1)):
            return getattr(scipy.sparse, cls.__name__)(arg1, shape, dtype, copy, **options)
        if isinstance(arg1, SparseArray):
            found = cls.of(arg1.elements, arg1.pattern)
        else:
            found = cls.of(*constructed(cls, arg1, shape, options))
        return found if dtype is None else found.astype(dtype)

    @classmethod
    def of(cls, elements: Array, pattern: Pattern) -> Self:
        """Make an array of its elements."""
        made = object.__new__(cls)
        made.elements, made.pattern = elements, pattern
        return made

    def like(self, elements: Array) -> Self:
        """Make an array with other elements in the same places."""
        return self.of(elements, self.pattern)

    def moved(self, positions: Any) -> Any:
        """Take the elements to where their numbers are."""
        return taken(positions, self.elements, positions.format, matrix=self.is_matrix)

    def in_layout(self, layout: str, elements: Array, pattern: Pattern) -> Any:
        """Make an array in another format, a matrix where this is one."""
        return made_in(layout, self.is_matrix).of(elements, pattern)

    # What SciPy's have

    @property
    def shape(self) -> tuple[int, int]:
        """The lengths of the two axes."""
        return self.pattern.shape

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.elements.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return 2

    @property
    def nnz(self) -> int:
        """The number of elements, zeros among them included."""
        return len(self.pattern.rows)

    size = nnz

    @property
    def data(self) -> Array:
        """The elements, as the format has them."""
        places = self.pattern.positions(self.format).data
        if self.format == "coo" or np.array_equal(places, np.arange(1, self.nnz + 1)):
            return self.elements
        return filled(self.elements, places)

    @property
    def coords(self) -> tuple[Array, Array]:
        """The rows and the columns of the elements."""
        return self.pattern.rows, self.pattern.columns

    @property
    def T(self) -> Any:  # noqa: N802 - the name that arrays give it
        """The transpose of the matrix."""
        return self.transpose()

    real = property(lambda self: self.like(np.real(self.elements)), doc="The real parts.")
    imag = property(lambda self: self.like(np.imag(self.elements)), doc="The imaginary parts.")

    def __repr__(self) -> str:
        return (
            f"<tape_ad.scipy.sparse.{type(self).__name__} of shape {self.shape} with {self.nnz} "
            f"stored elements: {self.elements!r}>"
        )

    def __getattr__(self, name: str) -> Any:
        if name in ("indices", "indptr", "offsets", "row", "col"):
            positions = self.pattern.positions(self.format)
            if hasattr(positions, name):
                return getattr(positions, name)
        raise absent(f"tape_ad.scipy.sparse.{type(self).__name__}", name)

    def toarray(self, order: str | None = None, out: Any = None) -> Array:
        """Make the dense array of the same elements."""
        if out is not None:
            raise UnsupportedArgumentError(
                f"{OTHER}toarray: out= is an array, which cannot hold the gradient of a handle; "
                "leave it out, and use what the method returns"
            )
        return filled(self.elements, self.pattern.positions().toarray())

    todense = toarray

    def asformat(self, format: str | None, copy: bool = False) -> Any:
        """Give the array in another format."""
        if format is None or format == self.format:
            return self
        if not hasattr(scipy.sparse, f"{format}_array"):
            raise ValueError(f"Format {format} is unknown.")
        return self.in_layout(format, self.elements, self.pattern)

    def copy(self) -> Self:
        """Give another array of the same elements."""
        return self.like(self.elements)

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Self:
        """Take the elements to a dtype."""
        return self.like(self.elements.astype(dtype, casting=casting))

    def conjugate(self, copy: bool = True) -> Self:
        """Conjugate the elements, in the same pattern."""
        return self.like(np.conjugate(self.elements))

    conj = conjugate

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """Transpose the matrix, or permute the axes of an array."""
        if axes is not None:
            return self.moved(self.pattern.positions(self.format).transpose(axes))
        turned = {"csr": "csc", "csc": "csr"}.get(self.format, self.format)
        return self.in_layout(turned, self.elements, self.pattern.transposed())

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """Give the array of another shape, row by row."""
        return self.moved(self.pattern.positions(self.format).reshape(*shape, **options))

    def diagonal(self, k: int = 0) -> Array:
        """Give the dense k-th diagonal."""
        return filled(self.elements, self.pattern.positions("csr").diagonal(k))

    def trace(self, offset: int = 0) -> Any:
        """Sum the elements of a diagonal."""
        return np.sum(self.diagonal(offset))

    def nonzero(self) -> tuple[Array, Array]:
        """Tell where what is not 0 is."""
        there = np.flatnonzero(self.elements != 0)
        return self.pattern.rows[there], self.pattern.columns[there]

    def count_nonzero(self, axis: Any = None) -> Any:
        """Count what is not 0."""
        return self.pattern.matrix(np.asarray(self.elements != 0)).count_nonzero(axis)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Add up all, or along an axis."""
        data = self.elements if dtype is None else self.elements.astype(dtype)
        if out is not None:
            raise UnsupportedArgumentError(f"{OTHER}sum: out= cannot hold the gradient of a handle")
        if axis is None:
            return np.sum(data)
        if axis not in (0, 1, -1, -2):
            raise UnsupportedArgumentError(f"{OTHER}sum: takes one axis, got {axis!r}")
        across = axis % 2
        index = self.pattern.rows if across else self.pattern.columns
        out = Gather(-1, index, self.shape[1 - across]).pull(data)
        return np.expand_dims(out, axis) if self.is_matrix else out

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Divide the sum by the number of places."""
        count = np.prod(self.shape) if axis is None else self.shape[axis]
        return self.sum(axis, dtype, out) / count

    def __getitem__(self, key: Any) -> Any:
        indexed = self.format if self.format in ("csc", "dok", "lil") else "csr"
        found = self.pattern.positions(indexed)[key]
        if not scipy.sparse.issparse(found):
            return filled(self.elements, found)
        if found.ndim != 2:
            raise UnsupportedArgumentError(
                f"{OTHER}an index that leaves one axis is not taken of elements that are a handle; "
                "write a[[i]] or a[i : i + 1] for a row of two axes, or a.toarray()[i]"
            )
        return self.moved(found)

    def __len__(self) -> int:
        raise TypeError("sparse array length is ambiguous; use shape[0] or nnz")

    # Operators

    __hash__ = object.__hash__
    __eq__, __ne__ = compared(operator.eq), compared(operator.ne)
    __lt__, __le__ = compared(operator.lt), compared(operator.le)
    __gt__, __ge__ = compared(operator.gt), compared(operator.ge)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        frame, name = sys._getframe(1), type(self).__name__
        if frame.f_code.co_name == "__init__" or np.dtype(dtype or object) != object:
            raise ConversionError(
                f"a {name} of tape_ad.scipy.sparse holds the elements of a handle, which plain "
                "arrays cannot; write functions of tape_ad.scipy.sparse in place of SciPy's, "
                "a = a + b for a += b, or b.toarray()"
            )
        while frame.f_code.co_name in MULTIPLYING and frame.f_back is not None:
            frame = frame.f_back
        if frame is not sys._getframe(1) and frame.f_code.co_name != "__mul__":  # an operator's
            raise ConversionError(
                f"a.multiply(b) of SciPy's sparse arrays takes no {name} of tape_ad.scipy.sparse; "
                "write b.multiply(a)"
            )
        whole = np.empty((), object)  # which leaves operators to it
        whole[()] = self
        return whole

    def multiply(self, other: Any) -> Any:
        """Multiply element by element; of another sparse array, where both have one."""
        other = sparse_of(other)
        if isinstance(other, SparseArray):
            match(self, other, "multiply")
            mine, theirs = (merged(each.elements, each.pattern) for each in (self, other))
            places, i, j = np.intersect1d(mine[1].places(), theirs[1].places(), return_indices=True)
            rows, columns = np.divmod(places, max(self.shape[1], 1))
            return result_like(self, mine[0][i] * theirs[0][j], Pattern(rows, columns, self.shape))
        other = as_array(other)
        if np.ndim(other) == 0:
            return self.like(self.elements * other)
        if np.broadcast_shapes(self.shape, other.shape) != self.shape:
            raise UnsupportedArgumentError(
                f"tape_ad.scipy.sparse: a sparse array of shape {self.shape} does not grow to that "
                f"of an array of shape {other.shape}; write a.toarray()"
            )
        other = np.broadcast_to(other, self.shape)
        here = other[self.pattern.rows, self.pattern.columns]
        return self.in_layout("coo", self.elements * here, self.pattern)

    def power(self, n: Any, dtype: Any = None) -> Any:
        """Raise the elements to a power, which is not 0."""
        if np.any(np.equal(n, 0)):
            raise NotImplementedError("zero power is not supported, as it would densify the array")
        made = self.like(self.elements**n)
        return made if dtype is None else made.astype(dtype)

    def dot(self, other: Any) -> Any:
        """Multiply by a number, a vector or a matrix."""
        return self * other if np.ndim(other) == 0 and not is_sparse(other) else self @ other

    def __matmul__(self, other: Any) -> Any:
        other = sparse_of(other)
        if isinstance(other, SparseArray):
            return product(self, other)
        x = as_array(joined(other))
        if x.ndim == 0 or x.shape[0] != self.shape[1]:
            raise ShapeError(
                f"tape_ad.scipy.sparse: shapes {self.shape} and {x.shape} do not fit for @"
            )
        if x.ndim == 1:
            return self.pattern.times(self.elements, x[:, None])[:, 0]
        return self.pattern.times(self.elements, x)

    def __rmatmul__(self, other: Any) -> Any:
        other = sparse_of(other)
        if isinstance(other, SparseArray):
            return product(other, self)
        x = as_array(joined(other))
        turned = self.transpose()
        return turned @ x if x.ndim == 1 else np.matrix_transpose(turned @ np.matrix_transpose(x))

    def __mul__(self, other: Any) -> Any:
        if self.is_matrix and (np.ndim(other) or is_sparse(other)):
            return self @ other
        return self.multiply(other)

    def __rmul__(self, other: Any) -> Any:
        if self.is_matrix and (np.ndim(other) or is_sparse(other)):
            return other @ self
        return self.multiply(other)

    def __truediv__(self, other: Any) -> Any:
        if is_sparse(other):
            raise UnsupportedArgumentError(
                "tape_ad.scipy.sparse: a quotient of sparse arrays is not sparse; write "
                "a.toarray() / b.toarray()"
            )
        return self.multiply(1.0 / as_array(other))

    def __add__(self, other: Any) -> Any:
        other = sparse_of(other)
        if isinstance(other, SparseArray):
            match(self, other, "add")
            data = np.concatenate([self.elements, other.elements])
            pairs = zip(self.coords, other.coords, strict=True)
            rows, columns = (np.concatenate(pair) for pair in pairs)
            return result_like(self, *merged(data, Pattern(rows, columns, self.shape)))
        if np.ndim(other) == 0:
            if not takes_over(type(other)) and other == 0:
                return self
            raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported")
        return self.toarray() + as_array(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __neg__(self) -> Any:
        return self.like(-self.elements)

    def __abs__(self) -> Any:
        return self.like(np.abs(self.elements))

    def __pow__(self, n: Any) -> Any:
        if self.is_matrix:
            raise UnsupportedArgumentError(
                "tape_ad.scipy.sparse: write tape_ad.scipy.sparse.linalg.matrix_power(a, n) for a "
                "power of a matrix"
            )
        return self.power(n)


def is_sparse(a: Any) -> bool:
    """Tell whether something is a sparse array, of ours or SciPy's."""
    return isinstance(a, SparseArray) or scipy.sparse.issparse(a)


def result_like(a: SparseArray, elements: Array, pattern: Pattern) -> Any:
    """Make what arithmetic gives, which SciPy has in compressed rows or columns."""
    return a.in_layout(a.format if a.format in ("bsr", "csc", "csr") else "csr", elements, pattern)


def match(a: SparseArray, b: SparseArray, what: str) -> None:
    """Refuse arrays of two shapes.

    Raises
    ------
    ShapeError
    """
    if a.shape != b.shape:
        raise ShapeError(
            f"tape_ad.scipy.sparse: {what} takes arrays of one shape, got {a.shape} and {b.shape}"
        )


def product(a: SparseArray, b: SparseArray) -> Any:
    """Multiply two sparse arrays, of each pair of elements that meet."""
    if a.shape[1] != b.shape[0]:
        raise ShapeError(f"tape_ad.scipy.sparse: shapes {a.shape} and {b.shape} do not fit for @")
    counts = np.bincount(b.pattern.rows, minlength=b.shape[0])
    starts = np.cumsum(counts) - counts
    partners = counts[a.pattern.columns]
    left = np.repeat(np.arange(len(a.pattern.rows)), partners)
    within = np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
    order = np.argsort(b.pattern.rows, kind="stable")
    right = order[starts[a.pattern.columns[left]] + within]
    shape = (a.shape[0], b.shape[1])
    pattern = Pattern(a.pattern.rows[left], b.pattern.columns[right], shape)
    return result_like(a, *merged(a.elements[left] * b.elements[right], pattern))


def in_format(name: str) -> Callable[[SparseArray], Any]:
    """Make a method that goes over to a format."""

    def convert(self: SparseArray, *args: Any, **options: Any) -> Any:
        return self.asformat(name)

    convert.__name__ = f"to{name}"
    convert.__doc__ = f"Give the array in the format {name!r}."
    return convert


def elementwise(ufunc: Any) -> Callable[[SparseArray], Any]:
    """Make a method that calls a function, which is 0 at 0, with the elements."""

    def method(self: SparseArray) -> Any:
        return self.like(ufunc(self.elements))

    method.__name__ = ufunc.__name__
    method.__doc__ = f"Give the {ufunc.__name__} of each element."
    return method


NAMES = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")

SUMMING = frozenset({"bsr", "csc", "csr"})
"""The formats that SciPy makes of coordinates by adding up what is at the same place, which would
add up numbers that stand for elements."""

for _name in NAMES:
    setattr(SparseArray, f"to{_name}", in_format(_name))

for _ufunc in (
    *(np.arcsin, np.arcsinh, np.arctan, np.arctanh, np.deg2rad, np.expm1, np.log1p, np.rad2deg),
    *(np.sin, np.sinh, np.sqrt, np.tan, np.tanh),
):
    setattr(SparseArray, _ufunc.__name__, elementwise(_ufunc))


FORMATS: dict[str, type[SparseArray]] = {
    f"{name}_{kind}": type(
        f"{name}_{kind}",
        (SparseArray,),
        {
            "__slots__": (),
            "__module__": "tape_ad.scipy.sparse",
            "__doc__": SparseArray.__doc__,
            "format": name,
            "is_matrix": kind == "matrix",
        },
    )
    for name in NAMES
    for kind in ("array", "matrix")
}


def made_in(layout: str, is_matrix: bool) -> type[SparseArray]:
    """Give the class of a format."""
    return FORMATS[f"{layout}_{'matrix' if is_matrix else 'array'}"]


def sparse_of(a: Any) -> Any:
    """Take a sparse array of SciPy's to one of ours; anything else stays as it is."""
    if not scipy.sparse.issparse(a):
        return a
    if a.ndim != 2:
        raise UnsupportedArgumentError(
            f"{OTHER}sparse arrays of handles have two axes, not {a.ndim}; write a.toarray()"
        )
    whole = a.tocoo()
    elements, pattern = whole.data, Pattern.of(whole)
    if not getattr(a, "has_canonical_format", True):
        elements, pattern = each_once(elements, pattern)
    return made_in(a.format, isinstance(a, scipy.sparse.spmatrix)).of(elements, pattern)


def each_once(elements: Array, pattern: Pattern) -> tuple[Array, Pattern]:
    """Add up elements at the same place, if there are any."""
    several = len(np.unique(pattern.places())) < len(pattern.rows)
    return merged(elements, pattern) if several else (elements, pattern)


def constructed(
    cls: type[SparseArray], arg1: Any, shape: Any, options: Any
) -> tuple[Array, Pattern]:
    """Let SciPy put numbers where elements are to stand.

    Raises
    ------
    UnsupportedArgumentError
        Where a place is given by a handle, or where there are not two axes.
    """
    several = isinstance(arg1, tuple)
    data = as_array(joined(arg1[0] if several else arg1))
    places = arg1[1:] if several else ()
    if any(takes_over(type(each)) or holds(each) for each in places):
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.sparse.{cls.__name__}: where the elements are is constant; pass "
            "indices that are plain arrays"
        )
    numbers = np.arange(1, data.size + 1).reshape(data.shape)
    given = (numbers, *places) if several else numbers
    positions = getattr(scipy.sparse, cls.__name__)(given, shape, **options)
    if len(places) == 1 and cls.format in SUMMING:
        positions = scipy.sparse.coo_array(given, positions.shape)
    if positions.ndim != 2:
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.sparse.{cls.__name__}: sparse arrays of handles have two axes, not "
            f"{positions.ndim}; write a dense one"
        )
    flat = numbered(positions)
    elements = data.reshape(-1)
    if not np.array_equal(flat.data, np.arange(1, data.size + 1)):
        elements = elements[flat.data - 1]
    return each_once(elements, Pattern.of(flat))


def numbered(positions: Any) -> Any:
    """Give where numbers stand for elements, without the zeros that fill up blocks."""
    flat = positions.tocoo()
    flat.eliminate_zeros()
    return flat


def filled(elements: Array, positions: Any) -> Array:
    """Give the elements of given numbers, and 0 for 0."""
    return np.concatenate([np.zeros(1, elements.dtype), elements])[positions]


def taken(positions: Any, elements: Array, layout: str, *, matrix: bool) -> SparseArray:
    """Make the array that has the elements where their numbers are."""
    flat = numbered(positions)
    return made_in(layout, matrix).of(elements[flat.data - 1], Pattern.of(flat))


def pattern_of(a: Any) -> tuple[Array, Pattern] | None:
    """Give the elements of a sparse matrix and where they are; None for what is no such matrix.

    Parameters
    ----------
    a : sparse array of ours or SciPy's, or a tuple of data, indices and starts of rows
    """
    if isinstance(a, tuple):
        a = FORMATS["csr_array"](a)
    if isinstance(a, SparseArray):
        return a.elements, a.pattern
    if not scipy.sparse.issparse(a):
        return None
    whole = a.tocoo()
    whole.sum_duplicates()
    return whole.data, Pattern.of(whole)
