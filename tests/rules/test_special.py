"""SciPy's special functions at special points, what they refuse, and how they are loaded."""

import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import scipy.special as sp

import tape_ad as ta
from tape_ad.errors import ConversionError, InPlaceError, UnsupportedArgumentError
from tape_ad.rules import FAST_RULES, RULES, load_lazy_tables, load_scipy_rules
from tape_ad.scipy import special
from tests.sampling import one_share_in_three

Point = tuple[float, ...]


def slopes(function: Callable[..., Any], *values: Any) -> list[Any]:
    """Give the gradient of the sum, with respect to each value."""
    record = ta.ComputationRecord()
    handles = [record.tensor(value) for value in values]
    return list(np.sum(function(*handles)).grad().wrt(handles))


# Second derivatives where a formula changes, or divides by what may be 0


def curvature(function: Callable[..., Any], x: float) -> float:
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    at = outer.tensor(x)
    handle = inner.tensor(at)
    return float(function(handle).grad().wrt(handle).grad().wrt(at))


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (np.sinc, 0.0, -(np.pi**2) / 3),
        (np.i0, 0.0, 0.5),
        (special.i0, 0.0, 0.5),
        (special.ellipk, 0.0, 9 * np.pi / 64),
        (special.ellipe, 0.0, -3 * np.pi / 64),
        (special.spence, 1.0, 0.5),
        (lambda x: special.sici(x)[0], 0.0, 0.0),
        (lambda x: special.shichi(x)[0], 0.0, 0.0),
        (lambda x: special.boxcox(math.e, x), 0.0, 1 / 3),
        (lambda x: special.inv_boxcox(1.0, x), 0.0, math.e * (2 / 3 + 1 / 4)),
        (special.erfcx, 1e4, 2 / np.sqrt(np.pi) * 1e-12),
        (special.rgamma, 0.0, 2 * np.euler_gamma),
        (lambda z: special.poch(z, 2.0), -2.0, 2.0),
        (lambda z: special.poch(z, 3.0), -3.0, -12.0),
        (lambda x: special.lambertw(x).real, 0.0, -2.0),
    ],
)
def test_second_derivatives(function: Any, x: float, expected: float) -> None:
    assert curvature(function, x) == pytest.approx(expected, rel=1e-7, abs=1e-14)


# Edges of the domains


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (special.xlogy, (0.0, 2.0), [np.log(2.0), 0.0]),
        (special.xlogy, (0.0, 0.0), [0.0, 0.0]),
        (special.xlogy, (2.0, 0.0), [-np.inf, np.inf]),
        (special.xlog1py, (0.0, -1.0), [0.0, 0.0]),
        (special.entr, (0.0,), [np.inf]),
        (special.entr, (1.0,), [-1.0]),
        (special.rel_entr, (0.0, 2.0), [-np.inf, 0.0]),
        (special.rel_entr, (0.0, 0.0), [0.0, 0.0]),
        (special.kl_div, (0.0, 2.0), [-np.inf, 1.0]),
        (special.kl_div, (0.0, 0.0), [0.0, 1.0]),
        (special.kl_div, (2.0, 2.0), [0.0, 0.0]),
        (special.gammainc, (1.0, 0.0), [0.0, 1.0]),
        (special.gammainc, (0.5, 0.0), [0.0, np.inf]),
        (special.gammainc, (2.0, 0.0), [0.0, 0.0]),
        (special.gammainc, (2.0, np.inf), [0.0, 0.0]),
        (special.betainc, (1.0, 3.0, 0.0), [0.0, 0.0, 3.0]),
        (special.betainc, (3.0, 1.0, 1.0), [0.0, 0.0, 3.0]),
        (special.erfinv, (1.0,), [np.inf]),
        (special.erfcinv, (0.0,), [-np.inf]),
        (special.ndtri, (0.0,), [np.inf]),
        (special.logit, (0.0,), [np.inf]),
        (special.i0e, (0.0,), [0.0]),
        (lambda z: special.poch(z, 2.0), (0.0,), [1.0]),
        (lambda z: special.poch(z, 2.0), (-2.0,), [-3.0]),
        (special.ellipk, (1.0,), [np.inf]),
        (lambda x: special.expn(2, x), (0.0,), [-np.inf]),
    ],
)
def test_edges(function: Any, point: Point, expected: list[float]) -> None:
    np.testing.assert_allclose(slopes(function, *point), expected, rtol=1e-15)


def test_the_power_of_a_box_cox_transform_of_0() -> None:
    _, by_lmbda = slopes(special.boxcox, np.zeros(2), np.array([2.0, -2.0]))
    np.testing.assert_array_equal(by_lmbda, [0.25, np.inf])  # -1 / lmbda, and beyond a pole
    _, by_lmbda = slopes(special.boxcox1p, -np.ones(2), np.array([2.0, -2.0]))
    np.testing.assert_array_equal(by_lmbda, [0.25, np.inf])


def test_a_weight_of_zero_sends_no_nan() -> None:
    counts, p = np.array([0.0, 2.0]), np.array([0.0, 0.5])
    (gradient,) = slopes(lambda p: -special.xlogy(counts, p), p)
    np.testing.assert_array_equal(gradient, [0.0, -4.0])


@pytest.mark.parametrize("function", [special.gammainc, special.gammaincc])
def test_an_incomplete_gamma_outside_of_its_domain_is_nan(function: Any) -> None:
    assert np.isnan(slopes(function, -1.0, 2.0)).all()
    assert np.isnan(slopes(function, 1.0, -2.0)).all()


def test_the_incomplete_gamma_at_a_equal_to_0() -> None:
    by_a, by_x = slopes(special.gammainc, 0.0, [0.5, 2.0])
    np.testing.assert_allclose(by_a, -np.sum(special.exp1([0.5, 2.0])), rtol=1e-13)
    np.testing.assert_array_equal(by_x, [0.0, 0.0])


@pytest.mark.parametrize("n", [1e4, 1e6, 1e8, 1e10])
def test_incomplete_functions_of_large_parameters(n: float) -> None:
    by_a, by_b, _ = slopes(special.betainc, n, n, 0.5)
    assert by_a == pytest.approx(-by_b, rel=1e-15 * np.sqrt(n))
    # The leading terms of the asymptotic series in n, by the central limit theorem
    assert by_a == pytest.approx(-1 / np.sqrt(4 * np.pi * n), rel=1 / n)
    by_a, _ = slopes(special.gammainc, n, n)
    assert by_a == pytest.approx(-1 / np.sqrt(2 * np.pi * n), rel=1 / n)


def test_many_integrals_are_done_by_blocks() -> None:
    rng = np.random.default_rng(0)
    a, x = rng.uniform(0.5, 5.0, (3, 700)), rng.uniform(0.5, 5.0, 700)
    whole = slopes(special.gammainc, a, x)[0]
    part = slopes(special.gammainc, a[1, :5], x[:5])[0]
    np.testing.assert_array_equal(whole[1, :5], part)


# Operands and functions that cannot be differentiated


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: special.jv(t, 1.0), "scipy.special.jv .* with respect to v; pass v.data"),
        (lambda t: special.yv(t, t), "scipy.special.yv .* to v"),
        (lambda t: special.iv(t, 1.0), "scipy.special.iv .* to v"),
        (lambda t: special.ive(t, 1.0), "scipy.special.ive .* to v"),
        (lambda t: special.kv(t, 1.0), "scipy.special.kv .* to v"),
        (lambda t: special.kve(t, 1.0), "scipy.special.kve .* to v"),
        (lambda t: special.expn(t, 1.0), "scipy.special.expn .* to n"),
        (lambda t: special.hyp1f1(t, 1.0, 0.5), "scipy.special.hyp1f1 .* to a"),
        (lambda t: special.hyp1f1(1.0, t, 0.5), "scipy.special.hyp1f1 .* to b"),
        (lambda t: special.hyp2f1(t, 1.0, 2.0, 0.5), "scipy.special.hyp2f1 .* to a"),
        (lambda t: special.hyp2f1(1.0, t, 2.0, 0.5), "scipy.special.hyp2f1 .* to b"),
        (lambda t: special.hyp2f1(1.0, 2.0, t, 0.5), "scipy.special.hyp2f1 .* to c"),
        (lambda t: special.lambertw(1.0, 0, t), "scipy.special.lambertw .* to tol"),
        (lambda t: special.polygamma(t, 1.0), "scipy.special.polygamma .* to n"),
        (lambda t: special.comb(t, 2, exact=True), "exact=False"),
        (lambda t: special.comb(5, t, exact=True), "exact=False"),
        (lambda t: special.logsumexp(t * 1j, return_sign=True), "complex handles"),
    ],
)
def test_what_cannot_be_differentiated_is_an_error(call: Any, text: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=text):
        call(ta.ComputationRecord().tensor(2.0))


def test_zeta_of_complex_numbers_is_an_error() -> None:
    t = ta.ComputationRecord().tensor(2 + 1j)
    with pytest.raises(TypeError, match=r"complex x|not supported"):  # by SciPy itself before 1.15
        special.zeta(t)


def test_an_order_of_an_enclosing_record_is_an_error_too() -> None:
    outer = ta.ComputationRecord()
    inner = ta.ComputationRecord(within=outer)
    with pytest.raises(UnsupportedArgumentError, match="with respect to v"):
        special.jv(outer.tensor(1.0), inner.tensor(2.0))


@pytest.mark.parametrize("call", [special.gammaln, special.xlogy, special.fresnel])
def test_an_output_array_is_an_error(call: Any) -> None:
    t = ta.ComputationRecord().tensor(np.ones(2))
    with pytest.raises(InPlaceError, match="out="):
        call(*[t] * call.nin, out=(np.zeros(2),) * call.nout)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("logsumexp", lambda t: (t,)),
        ("softmax", lambda t: (t,)),
        ("log_softmax", lambda t: (t,)),
        ("multigammaln", lambda t: (t, 2)),
        ("polygamma", lambda t: (1, t)),
        ("comb", lambda t: (t, 2)),
    ],
)
def test_what_scipy_writes_in_python_drops_no_gradient(name: str, args: Any) -> None:
    t = ta.ComputationRecord().tensor(np.ones(2) * 3)
    try:
        value = getattr(sp, name)(*args(t))
    except ConversionError as error:
        assert str(error).startswith(f"{name} of scipy.special ")  # noqa: PT017 - of one of two outcomes
    else:
        assert os.environ.get("SCIPY_ARRAY_API") == "1"
        ours = getattr(special, name)(*args(t))
        np.testing.assert_allclose(np.sum(value).grad().wrt(t), np.sum(ours).grad().wrt(t), 1e-12)


# tape_ad.scipy.special

VALUES = np.array([[0.3, -1.0, 2.0], [1.5, 0.0, -0.7]])
WEIGHTS = np.array([1.0, -0.2, 0.5])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("logsumexp", lambda f, x: f(x)),
        ("logsumexp", lambda f, x: f(x, axis=1, keepdims=True)),
        ("logsumexp", lambda f, x: f(x, b=WEIGHTS, axis=(0, 1))),
        ("logsumexp", lambda f, x: f(x, 0, b=-WEIGHTS, return_sign=True)[0]),
        ("logsumexp", lambda f, x: f(x * 1j, 0)),
        ("softmax", lambda f, x: f(x)),
        ("softmax", lambda f, x: f(x, axis=1)),
        ("log_softmax", lambda f, x: f(x)),
        ("log_softmax", lambda f, x: f(x, axis=(0, 1))),
        ("multigammaln", lambda f, x: f(x + 3, 2)),
        ("polygamma", lambda f, x: f(2, x + 3)),
        ("comb", lambda f, x: f(x + 5, 2)),
        ("comb", lambda f, x: f(5, x + 2, repetition=True)),
        ("comb", lambda f, x: f(x, 1)),
    ],
)
def test_values_are_those_of_scipy(name: str, call: Any) -> None:
    expected = call(getattr(sp, name), VALUES)
    ours = getattr(special, name)
    handle = call(ours, ta.ComputationRecord().tensor(VALUES))
    np.testing.assert_allclose(handle.data, expected, rtol=1e-14)
    np.testing.assert_allclose(call(ours, VALUES), expected, rtol=1e-14)
    assert isinstance(handle, ta.Tensor)
    assert isinstance(call(ours, VALUES), np.ndarray | np.generic)


def test_a_slope_of_logsumexp_needs_no_further_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: Any = Mock(wraps=sp.logsumexp)
    t = ta.ComputationRecord().tensor(VALUES)
    monkeypatch.setattr("tape_ad.scipy.special.elementary.sp.logsumexp", counted)
    grads = special.logsumexp(t, axis=1).grad(seed=np.ones(len(VALUES)))
    assert np.allclose(grads.wrt(t), sp.softmax(VALUES, axis=1))
    assert counted.call_count == 1


def test_logsumexp_is_differentiated_in_its_weights() -> None:
    a, b = np.array([[0.0], [1.0]]), np.array([1.0, -2.0, 3.0])
    by_a, by_b = slopes(lambda a, b: special.logsumexp(a, b=b), a, b)
    total = np.sum(b * np.exp(a))
    np.testing.assert_allclose(by_a[:, 0], np.exp(a)[:, 0] * 2 / total, rtol=1e-14)
    np.testing.assert_allclose(by_b, np.full(3, np.sum(np.exp(a)) / total), rtol=1e-14)


def test_the_sign_of_a_sum_is_plain() -> None:
    t = ta.ComputationRecord().tensor(np.array([1.0, 2.0]))
    log, sign = special.logsumexp(t, b=[1.0, -1.0], return_sign=True)
    assert isinstance(log, ta.Tensor)
    assert sign == -1.0
    assert type(sign) is np.float64


def test_logsumexp_of_a_number_and_of_nothing() -> None:
    np.testing.assert_array_equal(slopes(special.logsumexp, 3.0), [1.0])
    np.testing.assert_array_equal(slopes(special.logsumexp, np.full(2, -np.inf)), [[0.0, 0.0]])


def test_comb_outside_of_the_triangle_is_constant() -> None:
    by_n, by_k = slopes(special.comb, np.array([2.0, -1.0, 4.0]), np.array([3.0, 1.0, -2.0]))
    np.testing.assert_array_equal([by_n, by_k], np.zeros((2, 3)))


def test_float32_is_kept() -> None:
    t = ta.ComputationRecord().tensor(np.full(2, 3, np.float32))
    for out in (special.polygamma(1, t), special.multigammaln(t, 2), special.softmax(t)):
        assert out.dtype == np.float32


# Loading


def python(program: str, array_api: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - the program is written below
        [sys.executable, "-c", program],
        env=os.environ | {"SCIPY_ARRAY_API": array_api},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )


def test_rules_are_loaded_only_when_they_are_needed() -> None:
    program = """
import sys
import numpy as np
import tape_ad as ta
t = ta.ComputationRecord().tensor(2.0)
np.sinc(t)
assert "scipy" not in sys.modules
import scipy.special as sp
assert "tape_ad.scipy.special.rules" not in sys.modules
print(float(sp.gammaln(t).grad().wrt(t)))
"""
    result = python(program)
    assert result.stderr == ""
    assert float(result.stdout) == special.digamma(2.0)


def test_rules_that_are_imported_first_are_loaded_too() -> None:
    program = """
import tape_ad.scipy.special.rules
import scipy.special as sp
import tape_ad as ta
t = ta.ComputationRecord().tensor(2.0)
print(float(sp.gammaln(t).grad().wrt(t)))
"""
    result = python(program)
    assert result.stderr == ""
    assert float(result.stdout) == special.digamma(2.0)


def test_loading_again_changes_nothing() -> None:
    load_lazy_tables()
    load_scipy_rules()
    before, straight = dict(RULES), dict(FAST_RULES)
    load_lazy_tables()
    load_scipy_rules()
    assert before == RULES
    assert straight == FAST_RULES


def test_without_scipy_the_message_names_the_extra() -> None:
    program = """
import sys
sys.modules["scipy"] = None
import tape_ad
import tape_ad.scipy.special
"""
    result = python(program)
    assert result.stderr.strip().endswith("pip install 'tape-ad[scipy]'")
    assert "ImportError" in result.stderr


# SCIPY_ARRAY_API

BEHIND_WRAPPERS = """
import scipy.special
from tape_ad.scipy import special
names = ["gammaln", "xlogy", "zeta", "digamma", "betainc", "i0", "ndtr", "lambertw"]
print(*(getattr(special, name) is getattr(scipy.special, name) for name in names))
"""


def test_without_scipys_array_api_the_functions_are_scipys_own() -> None:
    result = python(BEHIND_WRAPPERS)
    assert result.stderr == ""
    assert set(result.stdout.split()) == {"True"}


def test_with_scipys_array_api_the_functions_are_those_behind_its_wrappers() -> None:
    result = python(BEHIND_WRAPPERS, array_api="1")
    assert result.stderr == ""
    assert "False" in result.stdout


outside = pytest.mark.skipif(
    bool(os.environ.get("SCIPY_ARRAY_API")), reason="these run the others with it set"
)


def test_a_function_without_a_rule_is_not_in_the_module() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'geterr'; scipy\.special\.geterr"):
        special.geterr  # noqa: B018 - looking it up is what fails
    assert {"gammaln", "logsumexp"} <= set(dir(special))


@outside
@one_share_in_three(1)
def test_everything_in_this_file_holds_with_scipys_array_api_too() -> None:
    result = python("import pytest; pytest.main(['-q', 'tests/rules/test_special.py'])", "1")
    assert " passed" in result.stdout
    assert "failed" not in result.stdout, result.stdout


@outside
@one_share_in_three(2)
def test_every_row_holds_with_scipys_array_api_too() -> None:
    program = """
import numpy as np
from tests.rules import rows_special, rows_special_gamma, test_rules
from tests.rules.table import cases

checked = 0
with np.errstate(all="ignore"):
    for case in cases([*rows_special.ROWS, *rows_special_gamma.ROWS]):
        test_rules.test_the_value_is_numpys([case])
        test_rules.test_second_order([case])
        checked += 1
print(checked)
"""
    result = python(program, "1")
    assert result.stderr == ""
    assert int(result.stdout) > 300
