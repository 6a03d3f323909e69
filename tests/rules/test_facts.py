"""The facts beside rules are true of the functions themselves, called with plain arrays."""

import functools
import inspect
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import tape_ad as ta
from tape_ad.base.naming import called
from tape_ad.rules import call_signature, known_facts
from tape_ad.rules.facts import ELEMENTWISE, Facts, along, cores
from tape_ad.transforms.tracing import Transformed
from tests.rules.grouping import for_each, package
from tests.rules.rows import CONSTANTS, ROWS
from tests.rules.table import Case, cases
from tests.sampling import some

Array = Any
Function = Callable[..., Any]

pytestmark = pytest.mark.filterwarnings("ignore")  # of what NumPy computes there

METHODS = {"reduce": ("axis",), "accumulate": ("axis",), "reduceat": ("indices", "axis")}
"""The parameters of the methods of ufuncs, which tell nobody, up to the axis."""

REFUSED = (TypeError, ValueError, IndexError, AttributeError, NotImplementedError)

MEMBERS = range(3)


def facts_of(case: Case) -> Facts:
    """Give what is said of the function of a case; of ufuncs NumPy says it, of copies nobody."""
    function = case.row.function
    return Facts() if isinstance(function, np.ufunc) else known_facts(function)


def is_stated(facts: Facts) -> bool:
    """Tell whether something is said of what stays apart."""
    return bool(facts.axis or facts.signature or facts.by)


MOVERS = (np.pad,)
"""Of these it depends on the call whether they move elements, and nothing else is said."""

STATED = [
    case
    for case in cases(ROWS + CONSTANTS)
    if is_stated(facts_of(case)) and case.row.function not in MOVERS
]


def calls_of(case: Case) -> list[dict[str, Any]]:
    """List the arguments of the calls of the function that a row makes, by name."""
    calls: list[dict[str, Any]] = []
    names = names_of(case.row.function)

    def noted(*args: Any, **kwargs: Any) -> Any:
        further = (f"*{i}" for i in range(len(args)))
        if len(args) <= len(names) or takes_any_number(case.row.function):
            calls.append(dict(zip((*names, *further), args, strict=False)) | kwargs)
        return case.row.function(*args, **kwargs)

    case.row.apply(case.primals(), noted)
    return calls


def takes_any_number(function: Function) -> bool:
    """Tell whether a function takes any number of arguments, which get names with a star."""
    if function.__name__ in METHODS:
        return False
    kinds = [each.kind for each in call_signature(function).parameters.values()]
    return inspect.Parameter.VAR_POSITIONAL in kinds


def names_of(function: Function) -> tuple[str, ...]:
    """List the names of the parameters; up to the ones behind a star, if there is any."""
    if function.__name__ in METHODS:
        return ("array", *METHODS[function.__name__])
    every = call_signature(function).parameters
    if not takes_any_number(function):
        return tuple(every)
    return tuple(itertools.takewhile(lambda n: every[n].kind != every[n].VAR_POSITIONAL, every))


def by_name(function: Function, given: dict[str, Any]) -> Any:
    """Call a function with arguments by name, as far as it takes them so."""
    if function.__name__ in METHODS:
        named = dict(given)
        first = [named.pop(name) for name in names_of(function)[:-1]]
        return function(*first, **named)
    parameters = call_signature(function).parameters.values()
    first = [each.name for each in parameters if each.kind is each.POSITIONAL_ONLY]
    if takes_any_number(function):
        first = [*names_of(function), *(name for name in given if name.startswith("*"))]
    args = [given[name] for name in first if name in given]
    return function(*args, **{name: x for name, x in given.items() if name not in first})


def near(x: Any, member: int) -> Any:
    """Give an operand of one of several, near to those of the others."""
    inexact = isinstance(x, np.ndarray) and x.dtype.kind in "fc"
    return x * (1 + 1e-3 * member) if inexact else x


def alike(found: Any, expected: Any) -> None:
    """Compare what a function gives for one with what it gives for it in a stack."""
    if isinstance(expected, (tuple, list)):
        for one, other in zip(found, expected, strict=True):
            alike(one, other)
        return
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def picked(out: Any, member: int) -> Any:
    """Take the result of one out of those of a stack."""
    return [each[member] for each in out] if isinstance(out, (tuple, list)) else out[member]


@functools.cache
def scipy_takes_stacks() -> bool:
    """Tell whether this release of SciPy takes stacks of matrices, as releases from 1.16 on do."""
    try:
        scipy.linalg.solve_triangular(np.ones((2, 1, 1)), np.ones((2, 1, 1)))
    except ValueError:
        return False
    return True


def stays_apart(function: Function, members: list[dict[str, Any]], all_: dict[str, Any]) -> bool:
    """Check that a call of a stack gives what one of each member does; tell if there are any."""
    try:
        expected = [by_name(function, member) for member in members]
    except REFUSED:
        return False
    try:
        out = by_name(function, all_)
    except ValueError:
        if scipy_takes_stacks() or not called(function).startswith("tape_ad.scipy.linalg."):
            raise
        return True  # in a batch it is called for one after the other there
    for i, one in enumerate(expected):
        alike(picked(out, i), one)
    return True


def checks_of_last_axes(function: Function, facts: Facts, given: dict[str, Any]) -> int:
    """Check a function that mixes elements over the last axes of its operands; count the calls."""
    names = facts.operands or names_of(function)[: len(facts.inputs)]
    if facts.is_elementwise:
        names = tuple(n for n in facts.operands or given if isinstance(given.get(n), np.ndarray))
    terms = facts.inputs * (len(names) if facts.is_elementwise else 1)
    pairs = {n: core for n, core in zip(names, terms, strict=True) if given.get(n) is not None}
    many = {name for name, core in pairs.items() if not core.single}
    ndims = {name: np.ndim(given[name]) - pairs[name].ndim for name in many}
    if not pairs or min(ndims.values()) < 0:  # a vector for a matrix
        return 0

    def of(member: int) -> dict[str, Any]:
        return {name: near(x, member) if name in many else x for name, x in given.items()}

    def stack(name: str) -> Array:
        members = np.stack([near(np.asarray(given[name]), i) for i in MEMBERS])
        missing = max(ndims.values()) - ndims[name]
        return members.reshape((3, *(1,) * missing, *members.shape[1:]))

    stacked = {name: stack(name) if name in many else x for name, x in given.items()}
    return int(stays_apart(function, [of(i) for i in MEMBERS], stacked))


def checks_of_elements(function: Function, facts: Facts, given: dict[str, Any]) -> int:
    """Check a function of elements, of arrays in place of its numbers too; count the calls."""
    names = facts.operands or given
    listed_ones = {n: np.asarray(x) for n, x in given.items() if n in names and type(x) is list}
    given = {**given, **listed_ones}
    arrays = {n: x for n, x in given.items() if n in names and isinstance(x, np.ndarray)}
    full = dict(zip(arrays, np.broadcast_arrays(*arrays.values()), strict=True))
    shape = next(iter(full.values())).shape
    numbers = {n: np.full(shape, x) for n, x in given.items() if type(x) in (int, float)}
    tried = [given, *({**given, name: x} for name, x in numbers.items() if name in names)]
    count = sum(checks_of_last_axes(function, facts, each) for each in tried)
    expected = by_name(function, given)
    found = by_name(function, {**given, **{n: x.ravel()[::-1] for n, x in full.items()}})
    for one, other in zip(listed(found), listed(expected), strict=True):
        alike(one[::-1].reshape(shape), other)
    return count


def listed(out: Any) -> list[Any]:
    """List the results."""
    return list(out) if isinstance(out, (tuple, list)) else [out]


def checks_of_axes(function: Function, facts: Facts, given: dict[str, Any]) -> int:
    """Check a function that is told its axes, along each that there is; count the calls."""
    first = names_of(function)[0]
    x = given[first]
    if not isinstance(x, np.ndarray):
        return 0
    every: list[Any] = [*range(-x.ndim, x.ndim)]
    every += [(0,), (0, -1)][: x.ndim]
    if facts.none == "all" or not given.get("keepdims"):
        every.append(None)
    if facts.axis in given and within(given[facts.axis], x.ndim):
        every.append(given[facts.axis])
    stack = np.stack([near(x, i) for i in MEMBERS])
    count = 0
    for axis in every:
        data: Array = stack
        if axis is None:
            data = stack if facts.none == "all" else stack.reshape(3, -1)
            last = np.size(given.get(facts.lengths) or x.shape)
            moved: Any = tuple(range(-last, 0)) if facts.none == "all" else 1
        else:
            moved = tuple(a + (a >= 0) for a in np.atleast_1d(axis).tolist())
            moved = moved if isinstance(axis, (tuple, list)) else moved[0]
        members = [{**given, first: near(x, i), facts.axis: axis} for i in MEMBERS]
        count += stays_apart(function, members, {**given, first: data, facts.axis: moved})
    return count


def within(axis: Any, ndim: int) -> bool:
    """Tell whether there are such axes; NumPy's reductions of numbers take some that are not."""
    return axis is not None and all(-ndim <= a < ndim for a in np.atleast_1d(axis))


def check(function: Function, facts: Facts, given: dict[str, Any]) -> int:
    """Check what is said of a function on one call of it, and on some like it."""
    if facts.by is not None:
        signature = call_signature(function)
        by_place = given.keys() - signature.parameters or any(
            each.kind is each.POSITIONAL_ONLY for each in signature.parameters.values()
        )
        bound = signature.bind(*given.values()) if by_place else signature.bind(**given)
        bound.apply_defaults()
        facts = facts.by(bound.arguments)
    if facts.axis:
        return checks_of_axes(function, facts, given)
    if facts.is_elementwise:
        return checks_of_elements(function, facts, given)
    return checks_of_last_axes(function, facts, given)


@for_each(some(STATED, 3), package)
def test_what_is_stacked_stays_apart(case: Case) -> None:
    for given in calls_of(case):
        check(case.row.function, facts_of(case), given)


def test_each_function_has_rows_that_its_facts_are_tried_on() -> None:
    tried = {c.row.function: 0 for c in STATED}
    for case in STATED:
        if tried[case.row.function] == 0:
            for given in calls_of(case):
                tried[case.row.function] += check(case.row.function, facts_of(case), given)
    assert [called(function) for function, count in tried.items() if count == 0] == []


X = np.arange(1.0, 13.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("function", "facts", "given"),
    [
        (np.cumsum, ELEMENTWISE, {"a": X}),
        (np.sort, ELEMENTWISE, {"a": -X}),
        (np.max, ELEMENTWISE, {"a": X}),
        (np.linalg.norm, cores("(n)->()"), {"x": X}),
        (np.flip, along(none="flat"), {"m": X}),
        (np.cumsum, along(none="all"), {"a": X}),
        (np.transpose, cores("(m,n)->(n,m)"), {"a": X}),
        (np.trace, cores("(m,n)->()"), {"a": X}),
    ],
)
def test_a_wrong_fact_is_found(function: Function, facts: Facts, given: dict[str, Any]) -> None:
    with pytest.raises((AssertionError, *REFUSED)):
        check(function, facts, given)


# Shapes, and what is written to

OTHER_VALUES: list[Callable[[Array], Array]] = [
    np.zeros_like,
    lambda x: np.full_like(x, x.flat[0]) if x.size else x,
    lambda x: np.where(np.arange(x.size).reshape(x.shape) == 0, -x, x).astype(x.dtype),
]


def shapes_of(out: Any) -> Any:
    """Give the shapes of results, nested as they are."""
    return list(map(shapes_of, out)) if isinstance(out, (tuple, list)) else np.shape(out)


def changes_of_shape(function: Function, given: dict[str, Any]) -> int:
    """Count the other values of the arrays of a call for which there is a result of other shape."""
    count = 0
    for change in OTHER_VALUES:
        inexact = {
            n for n, x in given.items() if isinstance(x, np.ndarray) and x.dtype.kind in "fc"
        }
        others = {name: change(x) if name in inexact else x for name, x in given.items()}
        try:
            shapes = [shapes_of(by_name(function, each)) for each in (given, others)]
        except (*REFUSED, ArithmeticError, RuntimeError):  # which other values may be met with
            continue
        count += shapes[0] != shapes[1]
    return count


@for_each(some(cases(ROWS + CONSTANTS), 3), package)
@np.errstate(all="ignore")
def test_a_shape_depends_on_values_where_facts_say_so_alone(case: Case) -> None:
    function = case.row.function
    if isinstance(function, np.ufunc) or facts_of(case).shape_by_values:
        return
    if isinstance(getattr(function, "__wrapped__", None), Transformed) or isinstance(
        function, Transformed
    ):  # a copy, of whose steps each has facts of its own
        return
    for given in calls_of(case):
        assert changes_of_shape(function, given) == 0


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (np.unique, {"ar": X}),
        (np.nonzero, {"a": X}),
        (np.roots, {"p": X[0]}),
        (np.trim_zeros, {"filt": X[0]}),
        (np.setdiff1d, {"ar1": X, "ar2": np.ones(2)}),
        (np.compress, {"condition": X[0], "a": X[0]}),
    ],
)
def test_a_shape_that_depends_on_values_is_found(function: Function, given: Any) -> None:
    assert known_facts(function).shape_by_values
    assert changes_of_shape(function, given)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.copyto, (0.0,)),
        (np.fill_diagonal, (0.0,)),
        (np.place, (X > 2, [0.0])),
        (np.put, ([0, 1], [0.0])),
        (np.put_along_axis, (np.zeros((3, 1), int), 0.0, 1)),
        (np.putmask, (X > 2, 0.0)),
    ],
)
def test_a_function_that_is_said_to_write_does(function: Function, args: tuple[Any, ...]) -> None:
    assert known_facts(function).writes
    written = X.copy()
    function(written, *args)
    assert not np.array_equal(written, X)


# Views, questions about shapes, reductions, and dtypes by values

VIEWED = [case for case in cases(ROWS) if facts_of(case).view]


def shows(function: Function, given: dict[str, Any]) -> bool:
    """Tell whether the result of a call shows the memory of the first operand."""
    return np.may_share_memory(by_name(function, given), next(iter(given.values())))


@pytest.mark.parametrize(
    "function", sorted({c.row.function for c in VIEWED}, key=called), ids=called
)
def test_a_function_that_is_said_to_show_its_operand_does(function: Function) -> None:
    mine = [case for case in VIEWED if case.row.function is function]
    assert any(shows(function, given) for case in mine for given in calls_of(case))


@for_each(some([c for c in cases(CONSTANTS) if facts_of(c).about_shapes], 3))
def test_a_question_about_shapes_has_one_answer_whatever_the_values_are(case: Case) -> None:
    function = case.row.function
    for given in calls_of(case):
        arrays = {name for name, x in given.items() if isinstance(x, np.ndarray)}
        others = {name: np.zeros_like(x) if name in arrays else x for name, x in given.items()}
        assert repr(by_name(function, given)) == repr(by_name(function, others))


@pytest.mark.parametrize("function", [np.sum, np.prod, np.max, np.min, np.any, np.all])
def test_a_function_that_is_said_to_reduce_by_a_ufunc_gives_what_that_does(
    function: Function,
) -> None:
    ufunc: Any = known_facts(function).reduces
    for axis in (None, 0, (0, 1)):
        np.testing.assert_array_equal(function(X, axis=axis), ufunc.reduce(X, axis=axis))


@pytest.mark.parametrize(
    ("function", "args", "others"),
    [
        (np.emath.sqrt, (X,), (-X,)),
        (np.real_if_close, (X + 0j,), (X + 1j,)),
        (np.roots, ([1.0, 0.0, -1.0],), ([1.0, 0.0, 1.0],)),
        (scipy.linalg.sqrtm, (np.eye(2),), (-np.eye(2),)),
    ],
)
def test_a_dtype_that_depends_on_values_does(
    function: Function, args: tuple[Any, ...], others: tuple[Any, ...]
) -> None:
    public = getattr(ta.scipy.linalg, function.__name__, function)
    assert known_facts(public).dtype_by_values
    assert function(*args).dtype != function(*others).dtype


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (np.take, (X, [100])),
        (np.take_along_axis, (X, np.full((1, 4), 100), 0)),
        (np.choose, ([100], [X[0]])),
        (np.insert, (X[0], [100], 0.0)),
        (np.repeat, (X[0], -1)),
        (np.quantile, (X, 2.0)),
        (np.roots, ([np.nan, 1.0],)),
        (np.digitize, (X[0], [1.0, 3.0, 2.0])),
    ],
)
def test_a_function_that_is_said_to_raise_for_some_values_does(
    function: Function, args: tuple[Any, ...]
) -> None:
    assert known_facts(function).may_raise
    with pytest.raises((*REFUSED, np.linalg.LinAlgError)):
        function(*args)


# Functions that move elements


def moving(case: Case) -> Facts:
    """Give what is said of a case that moves elements, in some of its calls at least."""
    facts = facts_of(case)
    return facts.also(moves=("?",)) if case.row.function in MOVERS else facts


def facts_of_call(function: Function, facts: Facts, given: dict[str, Any]) -> Facts:
    """Give what is said of one call."""
    if facts.by is None:
        return facts
    known = {n: x for n, x in given.items() if n in call_signature(function).parameters}
    return facts.by({"mode": "constant", "kwargs": given} | known)


def check_moves(function: Function, moved: tuple[str, ...], given: dict[str, Any]) -> None:
    """Check that numbers of the elements are moved to where these are."""
    names = [name for name in given if name in moved or (moved == ("*",) and name.startswith("*"))]
    arrays = {name: np.asarray(given[name]) for name in names if given[name] is not None}
    starts = np.cumsum([1, *(x.size for x in arrays.values())])
    numbers = {
        name: np.arange(start, start + x.size).reshape(x.shape)
        for start, (name, x) in zip(starts, arrays.items(), strict=False)
    }
    zeros = {name: np.zeros_like(x) for name, x in arrays.items()}
    expected, places, fill = (by_name(function, {**given, **x}) for x in (arrays, numbers, zeros))
    elements = np.concatenate([[0], *(x.ravel() for x in arrays.values())])
    found = np.where(places > 0, elements[places].astype(fill.dtype), fill)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


MOVING = [case for case in cases(ROWS) if moving(case).moves]


@for_each(some(MOVING, 3), package)
def test_elements_are_moved_to_where_numbers_of_them_are(case: Case) -> None:
    function = case.row.function
    for given in calls_of(case):
        if moved := facts_of_call(function, facts_of(case), given).moves:
            check_moves(function, moved, given)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (np.sort, {"a": -X}),
        (np.cumsum, {"a": X}),
        (np.cumprod, {"a": X}),
    ],
)
def test_a_function_that_does_not_move_elements_is_found(function: Function, given: Any) -> None:
    with pytest.raises((AssertionError, IndexError, KeyError)):
        check_moves(function, ("a",), given)
