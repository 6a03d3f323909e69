"""Every row of the test table, captured at one point and replayed at others: the same bits.

As to compile them takes long, each run tries a part of the functions, and of functions with many
rows a part of those (`tests.sampling`).
"""

import contextlib
import functools
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from attrs import frozen

import tape_ad as ta
from tape_ad.base.naming import called
from tape_ad.errors import CaptureError, InPlaceError
from tape_ad.transforms.tracing import Transformed
from tests.programs.bits import all_same, nearly_same, replayed
from tests.rules.checks import pairing
from tests.rules.grouping import for_each
from tests.rules.rows import CONSTANTS, FILLED, ROWS
from tests.rules.table import Case, Row, cases, in_single_precision
from tests.sampling import falls

Array = Any

SMALL = 200
"""Up to how many entries a Jacobian is taken."""

ALIGNED: dict[str, str] = dict.fromkeys(
    ("tape_ad.scipy.linalg.logm", "tape_ad.scipy.linalg.logm_derivative"),
    "SciPy's own code gives other last digits when its operands lie elsewhere in memory",
)
"""Functions of which two eager calls on copies of the same arrays differ, and why."""

IN_LINES = {"fourier_gaussian", "fourier_shift", "fourier_uniform"}
"""Functions of SciPy's that on plain arrays are compiled code, whose last digits are not those of
the lines that a program has in its place, as it says by `rounds`."""

ALIKE: set[str] = {
    *("np.shape", "np.ndim", "np.size", "np.result_type", "np.iscomplexobj", "np.isrealobj"),
    *("memory_order", "np.can_cast", "np.common_type", "np.shares_memory", "np.may_share_memory"),
    *("np.diag_indices_from", "np.tril_indices_from", "np.triu_indices_from"),
    *("histogram_bin_edges-7-bins=3-range=(0, 2)", "choose_conv_method-4,3"),
    *("np.isreal", "np.iscomplex", "np.zeros_like", "np.ones_like", "np.empty_like", "filled_like"),
}
"""Functions of a table of constants that are of shapes, dtypes and memory alone."""

UNCAPTURED: set[str] = {"tape_ad.scipy.signal.find_peaks"}
"""Functions that cannot be captured: they give a dict."""

REFUSED: set[str] = {"np.min_scalar_type", "np.einsum_path"}
"""Functions of a table of constants that cannot be captured: a dtype, and a list with a text."""

FULL = 2
"""How many rows of a function are taken to all orders; of the others each to some."""

FUNCTIONS = 10
"""One in so many functions is tried."""

ONE_IN = 8
"""Of the rows behind those, and of functions for SciPy's, one in so many is tried."""

NATIVE = 10
"""Of the rows behind the first of a function, native code replays one in so many."""


@frozen(eq=False)
class Checked:
    """A row as it is checked here.

    Attributes
    ----------
    case : Case
        The row with one of the dtypes that it is checked with elsewhere.
    orders : set of str
        Of "gradient", "second" and "jacobian", what is taken besides the value.
    single : bool
        Whether the operands are in single precision.
    natively : bool
        Whether native code replays it too.
    """

    case: Case
    orders: set[str]
    single: bool
    natively: bool

    def __repr__(self) -> str:
        return f"{self.case}{'-single' * self.single}"

    def operands(self, seed: int) -> list[Array]:
        """Draw the operands, or take those of the row for the seed 0."""
        case = self.case
        values = case.primals()
        if self.single:
            values = in_single_precision(case)[0]
        if seed:
            rng = np.random.default_rng(seed)
            pairs = zip(case.row.operands, values, strict=True)
            values = [operand.sample(rng, value.dtype) for operand, value in pairs]
        return values


def checked(rows: Sequence[Row]) -> Iterator[Checked]:
    """Choose dtypes and orders by the row's name and its place among those of its function."""
    seen: Counter[Any] = Counter()
    for row in rows:
        every, chance = cases([row]), zlib.crc32(repr(row).encode())
        case = every[chance % len(every)]
        place = seen[row.function]
        seen[row.function] += 1
        full = 0 if stands_for_scipys(row.function) else FULL
        if not falls(place_of(row.function), FUNCTIONS):
            continue
        if place >= full and not falls(chance, ONE_IN):
            continue
        further = {"second", "jacobian"} if place < FULL else {("second", "jacobian")[place % 2]}
        single = case.kind == "real" and chance % 7 == 0
        natively = place == 0 or falls(chance, NATIVE)
        yield Checked(case, {"gradient"} | further, single, natively)


def place_of(function: Any) -> int:
    """Give a function a number by its name, the same in every release of the libraries."""
    return zlib.crc32(called(function).encode())


def stands_for_scipys(function: Any) -> bool:
    """Tell whether a function is one of ours for one of SciPy's, and is made of calls of others."""
    module = getattr(function, "__module__", None) or ""
    return module.startswith(("scipy", "tape_ad.scipy")) or module.count(".") == 1


CASES = list(checked(ROWS))


def name_of(one: Checked) -> str:
    return called(one.case.row.function)


def orders(one: Checked) -> Callable[..., Any]:
    """Make the function of all operands that gives value, gradient, Jacobian and second order."""
    case = one.case
    row, places = case.row, case.row.differentiable
    every = tuple(range(len(places)))
    operands = one.operands(0)
    values = row.apply(operands)
    weights = case.cotangents([np.asarray(value) for value in values])
    along = [t.astype(operands[p].dtype) for t, p in zip(case.tangents(), places, strict=True)]
    size = sum(np.size(v) for v in values) * sum(v.size for v in case.leaves())

    def function(*operands: Array) -> dict[str, Any]:
        def outputs(*leaves: Array) -> list[Array]:
            filled = list(operands)
            for place, leaf in zip(places, leaves, strict=True):
                filled[place] = leaf
            return row.apply(filled)

        slopes = ta.grad(lambda *leaves: pairing(weights, outputs(*leaves)), every)
        leaves = [operands[place] for place in places]
        results: dict[str, Any] = {"value": outputs(*leaves), "gradient": slopes(*leaves)}
        if "second" in one.orders:
            second = ta.grad(lambda *leaves: pairing(along, slopes(*leaves)), every)
            results["second"] = second(*leaves)
        if "jacobian" in one.orders and case.kind == "real" and size <= SMALL:
            results["jacobian"] = ta.jacobian(outputs, every)(*leaves)
        return results

    return function


@contextlib.contextmanager
def refused_copies(one: Checked) -> Iterator[None]:
    """Let a copy of SciPy's own code be refused, as what fills plain arrays is."""
    try:
        yield
    except (CaptureError, InPlaceError):
        if not isinstance(one.case.row.function, Transformed):
            raise


@for_each(CASES, by=name_of)
@np.errstate(all="ignore")
def test_replays_give_the_bits_of_eager_calls(one: Checked) -> None:
    if name_of(one) in UNCAPTURED:
        with pytest.raises(CaptureError):
            ta.compile(orders(one))(*one.operands(0))
        return
    in_lines = name_of(one) in IN_LINES
    same = nearly_same if in_lines or name_of(one) in ALIGNED else all_same
    points = one.operands(0), one.operands(7)
    with refused_copies(one):
        fast = replayed(orders(one), *points, same=same, natively=one.natively)
        assert not in_lines or all(program.rounds for program in fast.programs)


def test_functions_of_other_last_digits_say_so() -> None:
    found: list[Any] = [row.function for row in ROWS if called(row.function) in ALIGNED]
    assert found
    assert all(function.rounds for function in found)


@for_each([*CONSTANTS, *FILLED])
@np.errstate(all="ignore")
@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # NumPy 2.5
@pytest.mark.filterwarnings("ignore:Ties preclude use:UserWarning")  # SciPy 1.14's ansari
def test_constants_are_no_constants_in_a_replay(row: Row) -> None:
    here, *others = points_of(row)
    function = functools.partial(value_of, row)
    if called(row.function) in REFUSED:
        with pytest.raises(CaptureError, match=called(row.function)):
            ta.compile(function)(*here)
        return
    first = function(*here)
    other = next((point for point in others if differ(function(*point), first)), None)
    assert (other is None) == (called(row.function) in ALIKE or repr(row) in ALIKE)
    replayed(function, here, other or others[0])


def points_of(row: Row) -> list[list[Array]]:
    """Draw operands; and some with zeros, ties, equal operands, nan and inf in them."""
    drawn = [[x.sample(np.random.default_rng(i), float) for x in row.operands] for i in range(5)]
    zeros = [[np.round(x) for x in point] for point in drawn]
    values = (0.0, 0.5, np.inf, -np.inf, np.nan)
    odd = [[np.full(x.shape, value) for x in drawn[0]] for value in values]
    return [*drawn, *zeros, *odd]


def value_of(row: Row, *operands: Array) -> Any:
    value = row.call(row.function, *operands, **row.options)
    return np.zeros(0) if row.function is np.empty_like else value


def differ(one: Any, other: Any) -> bool:
    try:
        all_same(one, other)
    except AssertionError:
        return True
    return False
