"""Every row of the table, checked in every way."""

import functools
import inspect
import math
import operator
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import pytest
import scipy

import tape_ad as ta
from tape_ad.base.naming import called, function_name
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.rules import RULES
from tape_ad.rules.base import Constant, Derivation, Filled, Refused, Rule
from tests.rules.checks import (
    Run,
    central_difference,
    close,
    gradients,
    like,
    magnitude,
    pairing,
    recorded,
)
from tests.rules.grouping import for_each, package
from tests.rules.makers import makers_met, makers_of
from tests.rules.rows import APART, CONSTANTS, FILLED, REFUSED, ROWS
from tests.rules.table import Case, Row, cases, in_single_precision, listed
from tests.sampling import some

Array = Any

CASES = cases(ROWS)

every_third_case = for_each(some(CASES, 3))  # and the others in runs with other shares


@functools.cache
def usual(case: Case) -> Run:
    """Record the plain call of a case, once for all checks: nothing may change a record."""
    return recorded(case.row, case.primals())


@every_third_case
def test_pull_is_the_adjoint_of_push(case: Case) -> None:
    run = usual(case)
    tangents, cotangents = case.tangents(), case.cotangents(run.outputs)
    pushed, pulled = run.push(tangents), run.pull(cotangents)
    difference = pairing(cotangents, pushed) - pairing(pulled, tangents)
    scale = magnitude(cotangents, pushed) + magnitude(pulled, tangents)
    assert abs(difference) <= 1e-13 * scale


@every_third_case
def test_push_is_the_derivative(case: Case) -> None:
    tangents = case.tangents()
    pushed = usual(case).push(tangents)
    close(pushed, central_difference(case.apply, case.leaves(), tangents), 1e-9)


@every_third_case
def test_second_order(case: Case) -> None:
    outer = ta.ComputationRecord()
    handles = [outer.tensor(v) for v in case.leaves()]
    run = recorded(case.row, case.filled(handles), within=outer)
    tangents, cotangents = case.tangents(2), case.cotangents(run.outputs, 2)
    by_pull = gradients(pairing(run.pull(cotangents), tangents), handles)
    by_push = gradients(pairing(cotangents, run.push(tangents)), handles)

    def first_order(values: list[Array]) -> list[Array]:
        return [pairing(recorded(case.row, case.filled(values)).pull(cotangents), tangents)]

    along = case.tangents(purpose="along")
    expected = central_difference(first_order, case.leaves(), along)
    close([pairing(by_pull, along)], expected, 1e-8)
    close(by_push, by_pull, 1e-11)


@every_third_case
def test_stacks_are_loops(case: Case) -> None:
    # A stack may be added up in another order, and rounding grows with the number of terms
    tolerance = 1e-15 * max(10.0, math.sqrt(max(v.size for v in case.primals())))
    run = usual(case)
    tangents, cotangents = case.tangents(2, 2), case.cotangents(run.outputs, 2, 2)
    pushed, pulled = run.push(tangents), run.pull(cotangents)
    for i in ((0, 1), (1, 0), 1):  # two single ones that show a mixture of the axes, and a stack
        close([p[i] for p in pushed], run.push([t[i] for t in tangents]), tolerance)
        close([p[i] for p in pulled], run.pull([ct[i] for ct in cotangents]), tolerance)


@every_third_case
def test_the_value_is_numpys(case: Case) -> None:
    expected = case.row.apply(case.primals())
    run = usual(case)
    assert all(isinstance(value, (np.ndarray, np.generic)) for value in expected)
    assert [value.dtype for value in run.values] == [value.dtype for value in expected]
    if str(getattr(case.row.function, "__module__", "")).startswith("numpy"):
        numbers = [isinstance(value, np.generic) for value in expected]
        assert [isinstance(value, np.generic) for value in run.values] == numbers
    close(run.values, expected, 1e-15)
    assert len(run.record) - len(run.leaves) <= case.row.nodes


SEVERAL = [case for case in CASES if len(case.row.operands) > 1]


@for_each(some(SEVERAL, 3))
def test_each_operand_alone_gets_the_same_gradient(case: Case) -> None:
    run = usual(case)
    cotangents = case.cotangents(run.outputs)
    together = run.pull(cotangents)
    for position, gradient in zip(case.row.differentiable, together, strict=True):
        active = [position, *case.row.beside(position)]
        alone = recorded(case.row, case.primals(), active=active)
        close(alone.pull(cotangents)[:1], [gradient], 1e-14)
        among = listed(case.primals(), position)
        if not is_copy(case.row) or takes_lists(case, among):
            among_lists = recorded(case.row, among, active=active)
            close(among_lists.pull(cotangents)[:1], [gradient], 1e-14)


def takes_lists(case: Case, operands: list[Any]) -> bool:
    """Tell whether SciPy itself takes lists where it is not given arrays."""
    try:
        case.row.apply(operands)
    except (AttributeError, TypeError, ValueError):
        return False
    return True


PAIRS = [
    case
    for case in CASES
    if case.kind in {"real", "complex"} and len({v.shape for v in case.leaves()[:2]}) == 1
    if len(case.leaves()) > 1
]


@for_each(some(PAIRS, 3))
def test_a_handle_used_twice_gets_both_contributions(case: Case) -> None:
    first, _, *others = case.leaves()
    apart = recorded(case.row, case.filled([first, first, *others]))
    record = ta.ComputationRecord()
    handle = record.tensor(first)
    both = Run(record, [handle], case.apply([handle, handle, *others]))
    cotangents = case.cotangents(both.outputs)
    one, other = apart.pull(cotangents)[:2]
    close(both.pull(cotangents), [one + other], 1e-14)


OTHERWISE = frozenset(
    {"alexandergovern", "chirp", "entropy", "f_oneway"}
    if np.lib.NumpyVersion(scipy.__version__) < "1.15.0"
    else ()
)
"""Functions that give single precision in other cases in an older SciPy, whose numbers are weak."""


@every_third_case
def test_dtypes_are_numpys(case: Case) -> None:
    tangents = case.tangents()
    double = usual(case)
    cotangents = case.cotangents(double.outputs)
    pushed_double, pulled_double = double.push(tangents), double.pull(cotangents)
    for values in in_single_precision(case):
        run = recorded(case.row, values)
        if function_name(case.row.function) not in OTHERWISE:
            assert [v.dtype for v in run.values] == [v.dtype for v in case.row.apply(values)]
        pushed, pulled = (
            run.push(like(tangents, run.leaves)),
            run.pull(like(cotangents, run.values)),
        )
        assert [p.dtype for p in pushed] == [v.dtype for v in run.values]
        assert [p.dtype for p in pulled] == [leaf.dtype for leaf in run.leaves]
        close(run.values, double.values, case.row.single)
        close(pushed, pushed_double, case.row.single)
        close(pulled, pulled_double, case.row.single)


BESIDE_NUMBERS = [case for case in CASES if {0} < {v.ndim for v in case.leaves()}]


@for_each(BESIDE_NUMBERS, package)
def test_python_numbers_do_not_promote(case: Case) -> None:
    values = [v.item() if v.ndim == 0 else v for v in in_single_precision(case)[0]]
    chosen = [i for i in case.row.differentiable if np.ndim(values[i])]
    run = recorded(case.row, values, active=chosen)
    pulled = run.pull(case.cotangents(run.outputs))
    assert [out.dtype for out in run.outputs] == [v.dtype for v in case.row.apply(values)]
    assert [p.dtype for p in pulled] == [leaf.dtype for leaf in run.leaves]


WITHOUT_AXES = [case for case in CASES if any(v.ndim == 0 for v in case.leaves())]


@for_each(WITHOUT_AXES, package)
def test_a_scalar_of_numpy_is_as_good_as_an_array_without_axes(case: Case) -> None:
    record = ta.ComputationRecord()
    leaves = [record.tensor(v) for v in case.leaves()]
    of_scalars = Run(record, leaves, case.apply([leaf * 1 for leaf in leaves]))
    of_arrays = usual(case)
    cotangents = case.cotangents(of_arrays.outputs)
    assert [v.dtype for v in of_scalars.values] == [v.dtype for v in of_arrays.values]
    close(of_scalars.values, of_arrays.values, 1e-15)
    close(of_scalars.pull(cotangents), of_arrays.pull(cotangents), 1e-15)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # NumPy 2.5
@for_each(CONSTANTS, package)
def test_piecewise_constant_functions_give_plain_data(row: Row) -> None:
    values = Case(row, "real").primals()
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    handles = [inner.tensor(outer.tensor(v)) for v in values]
    results, expected = row.apply(handles), row.apply(values)
    assert [type(result) for result in results] == [type(value) for value in expected]
    for result, value in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, value, strict=True)
    assert is_copy(row) or len(inner) == len(outer) == len(handles)


@for_each(FILLED)
def test_functions_that_make_an_array_give_a_constant(row: Row) -> None:
    values = Case(row, "real").primals()
    run = recorded(row, values)
    (expected,) = row.apply(values)
    np.testing.assert_array_equal(run.values[0], expected, strict=True)
    assert isinstance(run.outputs[0], ta.Tensor)
    assert run.record[-1].parents == ()


@pytest.mark.parametrize(("row", "says"), REFUSED.items(), ids=list(map(str, REFUSED)))
def test_functions_that_are_refused_say_what_to_write_instead(row: Row, says: str) -> None:
    message = f"{called(row.function)}: {says}"
    with pytest.raises(UnsupportedArgumentError, match=f"^{re.escape(message)}$"):
        recorded(row, Case(row, "real").primals())


# The table itself


class CalledError(Exception):
    """Raised by a `Spy` to say which function met it."""


class Spy:
    """An operand that tells by NEP 13 and NEP 18 which function is called with it."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Any, **kwargs: Any) -> NoReturn:
        raise CalledError(ufunc if method == "__call__" else getattr(ufunc, method))

    def __array_function__(self, function: Any, *args: Any) -> NoReturn:
        raise CalledError(function)

    def __getitem__(self, key: Any) -> NoReturn:
        raise CalledError(operator.getitem)

    def __iter__(self) -> Iterator["Spy"]:
        return iter([self])


TABLES: list[tuple[Any, list[Row]]] = [
    ((Rule, Derivation), ROWS),
    (Constant, CONSTANTS),
    (Filled, FILLED),
    (Refused, list(REFUSED)),
]


def is_copy(row: Row) -> bool:
    """Tell whether a row is of a copy of SciPy's own code, or of a function that calls copies."""
    module = str(getattr(inspect.unwrap(row.function), "__module__", ""))
    copied = getattr(row.function, "made_by", "") == "differentiable"
    return row.function not in RULES and (copied or module.startswith("scipy."))


EVERY_ROW = [row for _, rows in TABLES for row in rows]


@for_each([row for row in EVERY_ROW if not is_copy(row)], package)
def test_a_row_calls_its_function(row: Row) -> None:
    spies = [Spy() if operand.differentiable else operand for operand in row.operands]
    with pytest.raises(CalledError) as caught:
        row.call(row.function, *spies, **row.options)
    assert caught.value.args == (row.function,)


def test_no_two_rows_have_one_name() -> None:
    counts = Counter(map(str, EVERY_ROW))
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize(("kind", "rows"), TABLES, ids=["ROWS", "CONSTANTS", "FILLED", "REFUSED"])
def test_every_function_has_a_row(kind: Any, rows: list[Row]) -> None:
    in_rules = {function for function, entry in RULES.items() if isinstance(entry, kind)}
    in_rows = {row.function for row in rows if not is_copy(row)}
    assert sorted(map(function_name, in_rules - in_rows - APART)) == []
    assert sorted(map(function_name, in_rows - in_rules)) == []


def test_every_maker_gives_a_partial_in_a_row_or_refuses() -> None:
    rules = {function: entry for function, entry in RULES.items() if isinstance(entry, Rule)}
    idle = {function: makers_of(rule) - makers_met()[function] for function, rule in rules.items()}
    assert any(makers_met().values())
    for function, positions in idle.items():
        for position in positions if function not in APART else ():
            with pytest.raises(UnsupportedArgumentError):
                rules[function].makers[position]()
