"""The sparse arrays of `tape_ad.scipy.sparse`: against SciPy's values, and differences."""

import itertools
import numbers
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import tape_ad as ta
from tape_ad.errors import ConversionError, ShapeError, UnsupportedArgumentError
from tape_ad.scipy import sparse
from tape_ad.testing import check_grads

Array = Any

DENSE = np.array([[0.0, 1.5, 0.0, -0.7], [2.0, 0.0, 0.0, 0.4], [0.0, 0.3, 1.1, 0.0]])
MATRIX = scipy.sparse.csr_array(DENSE)
SQUARE = scipy.sparse.csc_array(DENSE[:, :3] + np.eye(3))
DATA = MATRIX.data
VECTOR = np.array([0.5, -1.0, 2.0, 0.3])
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")


def of(data: Array, layout: str = "csr") -> Any:
    """Make the matrix of other elements, in SciPy's way for plain ones."""
    made = sparse.csr_array((data, MATRIX.indices, MATRIX.indptr), MATRIX.shape)
    return made.asformat(layout)


def dense(result: Any) -> Any:
    """Give what is comparable of a result."""
    if isinstance(result, tuple):
        return result[-1]
    return result.toarray() if hasattr(result, "toarray") else result


def agrees(program: Callable[..., Any], *operands: Array, order: int = 2) -> None:
    """Check that handles have SciPy's value, type and shape, and its derivatives by differences."""
    expected = program(*operands)
    record = ta.ComputationRecord()
    found = program(*map(record.tensor, operands))
    if scipy.sparse.issparse(expected):
        assert type(found).__name__ == type(expected).__name__
        assert found.shape == expected.shape
    values = dense(found)
    assert isinstance(values, ta.Tensor)
    np.testing.assert_allclose(values.data, np.asarray(dense(expected)), atol=1e-12)
    check_grads(lambda *each: dense(program(*each)), operands, order=order)


@pytest.mark.parametrize("layout", FORMATS)
def test_formats(layout: str) -> None:
    agrees(lambda data: of(data, layout), DATA, order=1)
    agrees(lambda data: getattr(sparse, f"{layout}_array")(of(data)), DATA, order=1)
    agrees(getattr(sparse, f"{layout}_array"), DENSE, order=1)
    made = of(ta.ComputationRecord().tensor(DATA), layout)
    assert isinstance(made, getattr(sparse, f"{layout}_array"))
    assert isinstance(of(DATA, layout), getattr(scipy.sparse, f"{layout}_array"))


def test_scipy_does_not_take_them_for_its_own_where_copies_of_its_classes_exist() -> None:
    class Users(scipy.sparse.csr_array):  # type: ignore[misc]  # SciPy has no types
        def total(self) -> Any:
            return np.asarray(self.data).sum()

    assert ta.differentiable(Users) is not Users  # which copies what it derives from, too
    made = of(ta.ComputationRecord().tensor(DATA))
    numbers.Number.register(type("Number", (), {}))  # no abstract class keeps its answers
    assert not scipy.sparse.issparse(made)
    assert not isinstance(made, (scipy.sparse.csr_array, scipy.sparse.sparray))
    assert scipy.sparse.issparse(MATRIX)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo", "dia"])
def test_data_lies_as_in_scipy(layout: str) -> None:
    found = of(ta.ComputationRecord().tensor(DATA), layout)
    expected = of(DATA, layout)
    np.testing.assert_array_equal(found.data.data, expected.data)
    for name in {"indices", "indptr", "offsets", "row", "col"} & set(dir(expected)):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


ROWS, COLUMNS = np.array([0, 2, 0, 1]), np.array([1, 2, 1, 0])

CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "coordinates, some twice": lambda x: sparse.coo_array((x, (ROWS, COLUMNS)), shape=(3, 4)),
    "columns": lambda x: sparse.csc_array((x, [0, 2, 1, 0], [0, 2, 3, 4]), shape=(3, 3)),
    "diagonals": lambda x: sparse.dia_array((np.stack([x, 2 * x]), [0, -1]), shape=(4, 4)),
    "blocks": lambda x: sparse.bsr_array(
        (x.reshape(1, 2, 2), [1], [0, 1, 1]), shape=(4, 4), blocksize=(2, 2)
    ),
    "a dtype": lambda x: sparse.csr_array(np.diag(x), dtype=np.complex128),
    "a matrix": lambda x: sparse.csr_matrix(np.diag(x)) * np.ones((4, 2)),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_constructors(name: str) -> None:
    agrees(CONSTRUCTORS[name], VECTOR, order=1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "transpose": lambda a: a.T,
    "conjugate": lambda a: a.conj(),
    "parts": lambda a: a.real - a.imag,
    "reshape": lambda a: a.reshape(4, 3),
    "rows": lambda a: a[[2, 0]],
    "block": lambda a: a[1:, ::2],
    "element": lambda a: a[1, 3],
    "no element": lambda a: a[0, 0] + a[1, 3],
    "places": lambda a: a[[0, 1], [1, 0]],
    "diagonal": lambda a: a.diagonal(1),
    "trace": lambda a: a.trace(),
    "sum": lambda a: a.sum(),
    "sum of columns": lambda a: a.sum(axis=0),
    "sum of rows": lambda a: a.sum(axis=-1),
    "mean": lambda a: a.mean(axis=1) * a.mean(),
    "number": lambda a: (2 * a - a / 4) * 3,
    "power": lambda a: a**3,
    "absolute": lambda a: abs(-a),
    "sine": lambda a: a.sin() + a.tanh() * a.arctan(),
    "sum with a constant": lambda a: MATRIX + a - MATRIX[:, [1, 0, 2, 3]] + 0,
    "product with a constant": lambda a: a.multiply(MATRIX[:, [1, 0, 2, 3]]) + MATRIX * a,
    "elements by a dense": lambda a: a * DENSE[:, [1, 0, 2, 3]] + a.multiply(VECTOR),
    "quotient": lambda a: a / np.array([[2.0], [3.0], [4.0]]),
    "sum with a dense": lambda a: a + DENSE,
    "vector": lambda a: a @ VECTOR + a.dot(VECTOR),
    "row": lambda a: VECTOR[:3] @ a,
    "matrix": lambda a: DENSE @ a.T,
    "sparse product": lambda a: a @ a.T,
    "product with a constant one": lambda a: a @ MATRIX.T + MATRIX @ a.T,
    "lower": lambda a: sparse.tril(a, k=1),
    "upper": lambda a: sparse.triu(a, format="csc"),
    "find": sparse.find,
    "kron": lambda a: sparse.kron(a, MATRIX[:2, :2], format="csr"),
    "kronsum": lambda a: sparse.kronsum(a[:, :3], SQUARE),
    "stacks": lambda a: sparse.vstack([sparse.hstack([a, MATRIX]), sparse.hstack([MATRIX, 2 * a])]),
    "blocks": lambda a: sparse.block_array([[a, None], [None, MATRIX]], format="csr"),
    "block diagonal": lambda a: sparse.block_diag([a, [[2.0, 3.0]], a[:1]]),
}


CURVED = ("power", "sine", "sparse product", "sum of rows", "stacks")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_methods_and_functions(name: str) -> None:
    agrees(lambda data: FUNCTIONS[name](of(data)), DATA, order=2 if name in CURVED else 1)


DIAGONALS: dict[str, Callable[..., Any]] = {
    "one": lambda x: sparse.diags_array(x, offsets=1),
    "several": lambda x: sparse.diags_array([x, x[:3]], offsets=[0, -1], format="csr"),
    "numbers": lambda x: sparse.diags_array([x[0], -2.0, x[1]], offsets=[-1, 0, 1], shape=(4, 4)),
    "a matrix": lambda x: sparse.diags(x, 0, dtype=float) * 2,
    "of different lengths": lambda x: sparse.diags([[1, 2, 3], x, [1, 2]], [1, 0, -2]),
    "all of one length": lambda x: sparse.spdiags(np.stack([x, x * x]), [0, -1], 4, 4),
    "dense blocks": lambda x: sparse.block_diag([sparse.coo_array(x.reshape(2, 2)), np.eye(2)]),
    "a dense triangle": lambda x: sparse.tril(sparse.coo_array(x.reshape(2, 2))),
}


@pytest.mark.parametrize("name", DIAGONALS)
def test_diagonals_and_dense_blocks(name: str) -> None:
    agrees(DIAGONALS[name], VECTOR, order=1)


def test_two_arrays_that_are_handles() -> None:
    agrees(lambda x, y: of(x) @ of(y).T + of(x).multiply(of(y))[:, :3], DATA, DATA[::-1].copy())
    agrees(lambda x, y: of(x) @ y, DATA, VECTOR)
    agrees(lambda x, y: y[:3] @ of(x), DATA, VECTOR)
    agrees(lambda x, y: of(x) * y + y * of(x), DATA, VECTOR, order=1)


def test_zeros_of_a_dense_array_have_a_gradient() -> None:
    a = ta.ComputationRecord().tensor(DENSE)
    total = np.sum(sparse.csr_array(a) @ VECTOR)
    np.testing.assert_array_equal(total.grad().wrt(a), np.broadcast_to(VECTOR, (3, 4)))


def test_matrices_multiply_as_matrices() -> None:
    a = sparse.csr_matrix(ta.ComputationRecord().tensor(DENSE))
    assert a.sum(axis=0).shape == (1, 4)
    np.testing.assert_allclose((a * VECTOR).data, DENSE @ VECTOR)
    np.testing.assert_allclose((a * a.T).toarray().data, DENSE @ DENSE.T)
    with pytest.raises(UnsupportedArgumentError, match="matrix_power"):
        a**2


REFUSALS: dict[str, tuple[type[Exception], Callable[[Any, Any], Any]]] = {
    "indices": (UnsupportedArgumentError, lambda t, a: sparse.coo_array((DATA, (t, ROWS)))),
    "offsets": (UnsupportedArgumentError, lambda t, a: sparse.diags_array(t, offsets=t[0])),
    "two axes": (UnsupportedArgumentError, lambda t, a: sparse.coo_array(t)),
    "a sum to out=": (UnsupportedArgumentError, lambda t, a: a.sum(out=np.zeros(()))),
    "an array to out=": (UnsupportedArgumentError, lambda t, a: a.toarray(out=DENSE)),
    "a quotient": (UnsupportedArgumentError, lambda t, a: a / MATRIX),
    "growth": (UnsupportedArgumentError, lambda t, a: a[:1].multiply(DENSE)),
    "a shape of a product": (ShapeError, lambda t, a: a @ t[:2]),
    "a shape of a sparse product": (ShapeError, lambda t, a: a @ a),
    "a shape of a sum": (ShapeError, lambda t, a: a + a.T),
    "a number added": (NotImplementedError, lambda t, a: a + 1.0),
    "a power of 0": (NotImplementedError, lambda t, a: a**0),
    "a length": (TypeError, lambda t, a: len(a)),
    "what SciPy's has": (AttributeError, lambda t, a: a.setdiag(t)),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    kind, program = REFUSALS[name]
    t = ta.ComputationRecord().tensor(DATA)
    with pytest.raises(kind):
        program(t, of(t))


def test_empty_arrays() -> None:
    t = ta.ComputationRecord().tensor(np.zeros(0))
    a = sparse.coo_array((t, (np.zeros(0, int), np.zeros(0, int))), shape=(2, 3))
    np.testing.assert_array_equal((a @ np.ones(3)).data, [0.0, 0.0])
    np.testing.assert_array_equal((a @ a.T + a @ a.T).toarray().data, np.zeros((2, 2)))


KINDS = [f"{layout}_{kind}" for layout in ("csr", "csc", "lil") for kind in ("array", "matrix")]


@pytest.mark.parametrize("name", KINDS)
def test_scipys_arrays_are_scaled_by_handles_by_rows_and_columns(name: str) -> None:
    a = getattr(scipy.sparse, name)([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    row, column = np.array([2.0, 3.0, 5.0]), np.array([[7.0], [11.0]])

    def total(scaled: Any) -> Any:
        return np.sum(dense(scaled) * np.arange(1.0, 7.0).reshape(2, 3))

    products: list[Any] = [lambda x, y: x / y]
    if name.endswith("array"):  # of a matrix, this is the product
        products += [lambda x, y: x * y, lambda x, y: y * x]
    for f, v in itertools.product(products, (row, column)):
        slopes = [ta.grad(lambda v, f=f, x=x: total(f(x, v)))(v) for x in (a, a.toarray())]
        np.testing.assert_allclose(*slopes)


@pytest.mark.parametrize("name", KINDS)
def test_a_method_of_scipys_array_that_takes_no_handle_says_what_does(name: str) -> None:
    a = getattr(scipy.sparse, name)(np.eye(3))
    t: Any = ta.ComputationRecord().tensor(np.ones(3))

    with pytest.raises(ConversionError, match=r"write scipy\.sparse\.\w+_array\(a\) \* t"):
        a.multiply(t)
    with pytest.raises((ConversionError, ValueError), match=r"_array\(a\)\.toarray|not compatible"):
        a.maximum(t)
    with pytest.raises(ConversionError, match=r"b\.multiply\(a\)"):
        a.multiply(t[0] * a)


def filled_with(a: Any) -> None:
    scipy.sparse.lil_array(DENSE)[:, :] = a


def added_to(a: Any) -> None:
    into = scipy.sparse.lil_array(DENSE)
    into += a


@pytest.mark.parametrize(
    "use",
    [
        *(filled_with, added_to, lambda a: np.asarray(a, float)),
        *(lambda a: scipy.sparse.vstack([MATRIX, a]), lambda a: scipy.sparse.kron(MATRIX, a)),
    ],
    ids=["assignment", "in place", "np.asarray", "vstack", "kron"],
)
def test_what_makes_a_plain_matrix_of_one_of_a_handle_says_what_does_not(use: Any) -> None:
    a = ta.ComputationRecord().tensor(2.0) * MATRIX
    with pytest.raises(ConversionError, match=r"holds the elements of a handle.*a = a \+ b"):
        use(a)


@pytest.mark.parametrize("compare", [operator.eq, operator.ne, operator.lt, operator.ge])
@pytest.mark.parametrize("other", [0.3, MATRIX * 2, DENSE], ids=["number", "sparse", "dense"])
def test_comparisons_are_plain_and_scipys(compare: Callable[..., Any], other: Any) -> None:
    ours = of(ta.ComputationRecord().tensor(DATA))
    plain = other.toarray() if scipy.sparse.issparse(other) else other
    expected = compare(DENSE, plain)
    np.testing.assert_array_equal(compare(ours, other).toarray(), expected, strict=True)
    if scipy.sparse.issparse(other):
        np.testing.assert_array_equal(compare(other, ours).toarray(), compare(plain, DENSE))
    with pytest.raises(ValueError, match="truth value"):
        bool(compare(ours, other))


@pytest.mark.parametrize(
    "call",
    [
        lambda a: a.transpose((0, 1)),
        lambda a: a.transpose(axes="nonsense"),
        lambda a: a.astype(np.int64, casting="safe"),
        lambda a: a.asformat("nonsense"),
    ],
)
def test_options_of_methods_that_scipy_refuses(call: Callable[..., Any]) -> None:
    for a in (MATRIX, of(ta.ComputationRecord().tensor(DATA))):
        with pytest.raises((TypeError, ValueError)):
            call(a)
