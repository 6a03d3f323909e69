"""At poles, jumps and the ends of domains a derivative is inf or nan, without a warning."""

import contextlib
import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.rules import (
    rows_activations,
    rows_elementwise,
    rows_norms,
    rows_parts,
    rows_rectifiers,
    rows_scimath,
    rows_special,
    rows_special_gamma,
    rows_specials_numpy,
)
from tests.rules.table import Case, Row

POINTS = {
    1: (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -3.0, np.inf, -np.inf, np.nan),
    2: (0.0, 1.0, -1.0, 2.0, np.inf, np.nan),
    3: (0.0, 1.0, 2.0),
}
"""Where to differentiate, by the number of operands."""

ROWS = {
    row.function: row
    for rows in (
        *(rows_elementwise, rows_parts, rows_scimath, rows_special, rows_special_gamma),
        *(rows_specials_numpy, rows_activations, rows_rectifiers, rows_norms),
    )
    for row in reversed(rows.ROWS)
    if 0 < len(row.differentiable) <= 3
    and row.function is not np.linalg.cond  # whose derivative is an error at infinity
}
OF_SCIPY = {row.function for row in (*rows_special.ROWS, *rows_special_gamma.ROWS)}


OUTSIDE = (ValueError, TypeError, np.linalg.LinAlgError)
"""Of arguments outside of the domain; the TypeError is of how SciPy 1.14 words a ValueError."""


def places(row: Row) -> list[list[Any]]:
    """Give a row's operands, filled with every combination of the points."""
    case = Case(row, "real")
    found = []
    count = len(row.differentiable)
    points = [p for p in POINTS[count] if np.isfinite(p) or row.function not in OF_SCIPY]
    for values in itertools.product(points, repeat=count):  # some of SciPy's take forever at inf
        leaves = zip(case.leaves(), values, strict=True)
        filled = case.filled([np.full_like(leaf, value) for leaf, value in leaves])
        with np.errstate(all="ignore"), contextlib.suppress(*OUTSIDE):
            row.apply(filled)
            found.append(filled)
    return found


def warned(call: Any) -> tuple[set[str], Any]:
    """Call a function, and give the kinds of floating-point errors that were warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return {str(warning.message).split(" encountered")[0] for warning in caught}, result


def on_handles(row: Row, values: list[Any]) -> list[Any]:
    record = ta.ComputationRecord()
    return row.apply(
        [
            record.tensor(value) if i in row.differentiable else value
            for i, value in enumerate(values)
        ]
    )


@pytest.mark.parametrize("row", ROWS.values(), ids=str)
def test_recording_warns_of_no_more_than_the_value(row: Row) -> None:
    for values in places(row):
        numpys, _ = warned(lambda values=values: row.apply(values))
        ours, _ = warned(lambda values=values: on_handles(row, values))
        assert ours <= numpys, values


@pytest.mark.parametrize("row", ROWS.values(), ids=str)
def test_the_sweeps_are_silent(row: Row) -> None:
    for values in places(row):
        leaves = [values[i] for i in row.differentiable]
        with np.errstate(all="ignore"):
            outs = [out for out in on_handles(row, values) if isinstance(out, ta.Tensor)]
            _, push = ta.linearize(
                lambda *leaves, v=values: row.apply(filled(row, v, leaves)), *leaves
            )
        with np.errstate(all="raise", under="ignore"):
            for out in outs:
                out.grad(seed=np.ones(out.shape, out.dtype))
            push(*map(np.ones_like, leaves))


def filled(row: Row, values: list[Any], leaves: Any) -> list[Any]:
    values = list(values)
    for position, leaf in zip(row.differentiable, leaves, strict=True):
        values[position] = leaf
    return values


def test_what_multiplies_a_pole_is_silent_too() -> None:
    x = ta.ComputationRecord().tensor(np.array([0.0, 1.0]))
    with np.errstate(all="ignore"):
        y = np.log(x) * np.array([0.0, 1e300]) * 1e300
    with np.errstate(all="raise"):
        gradient = np.sum(y).grad().wrt(x)
    np.testing.assert_array_equal(gradient, [np.nan, np.inf])


@ta.custom_rule(pull=lambda ct, out, x: ct / (x - x), push=lambda ts, out, x: ts[0] / (x - x))
def own(x: Any) -> Any:
    return x + 0


@pytest.mark.parametrize(
    "derive",
    [
        lambda: ta.grad(own)(1.0),
        lambda: ta.jvp(own, (1.0,), (1.0,)),
        lambda: ta.grad(ta.custom_rule(partials=lambda out, x: 1 / (x - x))(lambda x: x + 0))(1.0),
        lambda: ta.vjp(own, np.ones(2))[1](np.ones((3, 2))),
    ],
)
def test_warnings_of_ones_own_derivative_are_seen(derive: Any) -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        derive()
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        derive()
    with np.errstate(all="ignore"):
        derive()


def test_warnings_by_hand_are_seen() -> None:
    def pull(ct: Any, out: Any, x: Any) -> Any:
        warnings.warn("rough", UserWarning, stacklevel=2)
        return ct

    with pytest.warns(UserWarning, match="rough"):
        ta.grad(ta.custom_rule(pull=pull)(lambda x: x + 0))(1.0)


def test_a_slope_that_underflows_is_no_error_where_the_value_does_not() -> None:
    with np.errstate(all="raise"):
        assert ta.grad(np.expm1)(-800.0) == 0.0
