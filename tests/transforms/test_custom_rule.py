"""Functions that bring their own derivatives."""

import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import (
    ConversionError,
    NoModeError,
    OutputError,
    RecordMismatchError,
    SeedError,
    UnsupportedArgumentError,
)
from tape_ad.rules import RULES
from tape_ad.rules.maps import Scale

X = np.array([0.5, -1.5, 2.0])
Y = np.array([1.0, 2.0, 3.0])


def foreign(*args: Any) -> None:
    """Play a library in another language, which takes plain arrays and floats only."""
    assert all(isinstance(arg, (np.ndarray, np.generic, float)) for arg in args)


def of_pull() -> Any:
    @ta.custom_rule(pull=lambda ct, out, x, y: (ct * y, ct * x))
    def product(x: Any, y: Any) -> Any:
        foreign(x, y)
        return x * y

    return product


def of_push() -> Any:
    @ta.custom_rule(push=lambda ts, out, x, y: ts[0] * y + x * ts[1])
    def product(x: Any, y: Any) -> Any:
        foreign(x, y)
        return x * y

    return product


def of_both() -> Any:
    @ta.custom_rule(
        pull=lambda ct, out, x, y: (ct * y, ct * x),
        push=lambda ts, out, x, y: ts[0] * y + x * ts[1],
        stacked=True,
    )
    def product(x: Any, y: Any) -> Any:
        foreign(x, y)
        return x * y

    return product


def of_maps() -> Any:
    @ta.custom_rule(partials=lambda out, x, y: (Scale(y), Scale(x)))
    def product(x: Any, y: Any) -> Any:
        foreign(x, y)
        return x * y

    return product


def of_arrays() -> Any:
    @ta.custom_rule(partials=lambda out, x, y: (y, x))
    def product(x: Any, y: Any) -> Any:
        foreign(x, y)
        return x * y

    return product


@pytest.mark.parametrize("make", [of_pull, of_both, of_maps, of_arrays])
def test_reverse(make: Callable[[], Any]) -> None:
    product = make()
    by_x, by_y = ta.grad(lambda x, y: np.sum(product(x, y) ** 2), (0, 1))(X, Y)
    np.testing.assert_allclose(by_x, 2 * X * Y**2)
    np.testing.assert_allclose(by_y, 2 * X**2 * Y)
    np.testing.assert_allclose(ta.grad(lambda y: np.sum(product(X, y)))(Y), X)
    np.testing.assert_allclose(ta.jacobian(product, 0, "reverse")(X, Y), np.diag(Y))


@pytest.mark.parametrize("make", [of_push, of_both, of_maps, of_arrays])
def test_forward(make: Callable[[], Any]) -> None:
    product = make()
    np.testing.assert_allclose(ta.jvp(product, (X, Y), (Y, X))[1], Y**2 + X**2)
    np.testing.assert_allclose(ta.jacobian(product, 1, "forward")(X, Y), np.diag(X))


@pytest.mark.parametrize("make", [of_pull, of_both, of_maps, of_arrays])
def test_second_order_differentiates_the_pull(make: Callable[[], Any]) -> None:
    product = make()

    def f(x: Any) -> Any:
        return np.sum(product(x, np.sin(x)))

    expected = np.diag(2 * np.cos(X) - X * np.sin(X))
    reverse = ta.jacobian(ta.grad(f), mode="reverse")(X)
    np.testing.assert_allclose(reverse, expected, atol=1e-15)


@pytest.mark.parametrize("make", [of_push, of_both, of_maps, of_arrays])
def test_second_order_differentiates_the_push(make: Callable[[], Any]) -> None:
    product = make()

    def f(x: Any) -> Any:
        return np.sum(product(x, np.sin(x)))

    expected = np.diag(2 * np.cos(X) - X * np.sin(X))
    forward = ta.jacobian(ta.jacobian(f, mode="forward"), mode="forward")(X)
    np.testing.assert_allclose(forward, expected, atol=1e-15)


def test_a_pull_is_enough_for_hessians_and_their_products() -> None:
    product = of_pull()

    def f(x: Any) -> Any:
        return np.sum(product(x, np.sin(x)))

    expected = 2 * np.cos(X) - X * np.sin(X)
    np.testing.assert_allclose(ta.hessian(f)(X), np.diag(expected), atol=1e-15)
    np.testing.assert_allclose(ta.hvp(f, X, Y), expected * Y)
    np.testing.assert_allclose(ta.hessian_diag(f, X), expected)
    result = ta.scipy.optimize.minimize(lambda x: np.sum(product(x - 3, x - 3)), X, "trust-ncg")
    np.testing.assert_allclose(result.x, 3.0)


def test_plain_arguments_just_run() -> None:
    product = of_pull()
    assert product.__name__ == "product"
    assert type(product(X, Y)) is np.ndarray
    assert product(2.0, 3.0) == 6.0


def test_a_missing_mode_is_an_error() -> None:
    with pytest.raises(NoModeError, match=r"of product has no pull, so .* reverse mode; give"):
        ta.grad(lambda x: np.sum(of_push()(x, Y)))(X)
    with pytest.raises(NoModeError, match=r"of product has no push, so .* forward mode; give"):
        ta.jvp(lambda x: np.sum(of_pull()(x, Y)), (X,), (X,))


def test_what_custom_rule_needs() -> None:
    with pytest.raises(TypeError, match="one of pull=, push= and partials= at least"):
        ta.custom_rule()
    with pytest.raises(TypeError, match="serve both modes, or pull= and push="):
        ta.custom_rule(pull=np.sin, partials=np.sin)


def test_the_node_has_the_functions_name_and_rules_are_not_collected() -> None:
    before = len(RULES)
    product = of_pull()
    rec = ta.ComputationRecord()
    product(rec.tensor(X), Y)
    assert str(rec[1]) == "%1: float64[3] = product %0"
    assert len(RULES) == before
    forgotten = weakref.ref(product)
    del product, rec
    gc.collect()
    assert forgotten() is None


def test_a_cotangent_of_none_and_an_int_argument() -> None:
    @ta.custom_rule(pull=lambda ct, out, x, n, y: (ct * n * x ** (n - 1), None, None))
    def power(x: Any, n: int, y: Any) -> Any:
        assert type(n) is int
        return x**n

    by_x, by_y = ta.grad(lambda x, y: np.sum(power(x, 3, y)), (0, 1))(X, Y)
    np.testing.assert_allclose(by_x, 3 * X**2)
    np.testing.assert_array_equal(by_y, np.zeros(3))


def test_one_argument_may_do_without_a_tuple() -> None:
    @ta.custom_rule(pull=lambda ct, out, x: ct * out, push=lambda ts, out, x: ts[0] * out)
    def exp(x: Any) -> float:
        return math.exp(x)

    assert ta.grad(exp)(0.0) == 1.0
    assert ta.jvp(exp, (0.0,), (2.0,))[1] == 2.0
    np.testing.assert_allclose(ta.grad(ta.grad(exp))(1.0), math.e)
    alone = ta.custom_rule(partials=lambda out, x: Scale(out))(np.exp)
    assert ta.grad(alone)(0.0) == 1.0


@pytest.mark.parametrize("axes", [(), (2,)])
def test_what_a_rule_is_given_is_read_only_as_others_use_it_too(axes: tuple[int, ...]) -> None:
    square = ta.custom_rule(
        pull=lambda ct, out, x: np.multiply(ct, 2 * x, out=ct),
        push=lambda ts, out, x: np.multiply(ts[0], 2 * x, out=ts[0]),
    )(np.square)
    seed = np.ones((*axes, 3))
    x = ta.ComputationRecord().tensor(X)
    y = np.sin(x)
    with pytest.raises(ValueError, match="read-only"):
        (square(x) + y).grad(seed)
    with pytest.raises(ValueError, match="read-only"):
        ta.jvp(square, (X,), (seed,))

    class Writing:
        broadcasts = True

        def push(self, t: Any) -> Any:
            return np.multiply(t, 2, out=t)

        pull = push

    double = ta.custom_rule(partials=lambda out, x: Writing())(lambda x: 2 * x)
    with pytest.raises(ValueError, match="read-only"):
        (double(x) + y).grad(seed)
    with pytest.raises(ValueError, match="read-only"):
        ta.jvp(double, (X,), (seed,))
    np.testing.assert_array_equal(seed, np.ones((*axes, 3)))


def test_keyword_arguments_are_options_for_all() -> None:
    def pull(ct: Any, out: Any, x: Any, y: Any, *, power: int) -> Any:
        return ct * power * x ** (power - 1) * y, ct * x**power

    @ta.custom_rule(pull=pull)
    def f(x: Any, y: Any = 1.0, *, power: int = 2) -> Any:
        foreign(x)
        return x**power * y

    np.testing.assert_allclose(ta.grad(lambda x: f(x, 2.0, power=3))(2.0), 24.0)
    np.testing.assert_allclose(ta.grad(lambda y: f(y=y, x=2.0, power=3))(2.0), 8.0)
    with pytest.raises(UnsupportedArgumentError, match="f got a handle in a keyword-only argument"):
        ta.grad(lambda power: f(2.0, power=power))(3.0)


def test_trees_in_and_out() -> None:
    def pull(ct: Any, out: Any, p: Any, y: Any) -> Any:
        assert out["count"] == 3
        assert ct["count"] is None
        assert ct["parts"][1].shape == ()
        by_w = ct["parts"][0] * y + ct["parts"][1] * np.ones(3)
        return {"w": by_w, "name": None}, ct["parts"][0] * p["w"]

    def push(ts: Any, out: Any, p: Any, y: Any) -> Any:
        assert ts[0]["name"] is None
        parts = (ts[0]["w"] * y + p["w"] * ts[1], np.sum(ts[0]["w"]))
        return {"parts": parts, "count": None}

    @ta.custom_rule(pull=pull, push=push)
    def f(p: Any, y: Any) -> Any:
        foreign(p["w"], y)
        return {"parts": (p["w"] * y, float(np.sum(p["w"]))), "count": 3}

    def plain(p: Any, y: Any) -> Any:
        return {"parts": (p["w"] * y, np.sum(p["w"])), "count": 3}

    p = {"w": X, "name": "p"}
    for mode in ("forward", "reverse"):
        got = ta.jacobian(lambda p, y: f(p, y)["parts"], (0, 1), mode)(p, Y)
        expected = ta.jacobian(lambda p, y: plain(p, y)["parts"], (0, 1), mode)(p, Y)
        for i in range(2):
            np.testing.assert_allclose(got[i][0]["w"], expected[i][0]["w"])
            np.testing.assert_allclose(got[i][1], expected[i][1])
    assert ta.vjp(f, p, Y)[0]["count"] == 3


def test_stacks_are_looped_over_unless_the_rule_takes_them() -> None:
    shapes: list[tuple[int, ...]] = []

    def pull_two(ct: Any, out: Any, x: Any) -> Any:
        shapes.append(ct.shape)
        return ct * 2

    def make(stacked: bool) -> Any:
        return ta.custom_rule(pull=pull_two, stacked=stacked)(lambda x: 2 * x)

    for stacked, expected in ((False, [(3,)] * 4), (True, [(2, 2, 3)])):
        shapes.clear()
        _, pull = ta.vjp(make(stacked), X)
        cts = np.arange(12.0).reshape(2, 2, 3)
        np.testing.assert_array_equal(pull(cts)[0], 2 * cts)
        assert shapes == expected
    assert pull(np.zeros((0, 3)))[0].shape == (0, 3)
    assert ta.vjp(make(False), X)[1](np.zeros((0, 3)))[0].shape == (0, 3)


def test_a_solver_in_foreign_code_with_implicit_derivatives() -> None:
    """Differentiate x = cos(a x), found by bisection with Python floats."""

    def residual(x: Any, a: Any) -> Any:
        return np.cos(a * x) - x

    def pull(ct: Any, x: Any, a: Any) -> Any:
        slope, by_a = ta.grad(residual, (0, 1))(x, a)
        return -ct / slope * by_a

    @ta.custom_rule(pull=pull)
    def solve(a: Any) -> Any:
        low, high, a = 0.0, 1.0, float(a)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if math.cos(a * middle) > middle else (low, middle)
        return low

    def slope(a: float) -> Any:
        x = solve(a)
        return -x * np.sin(a * x) / (1 + a * np.sin(a * x))

    np.testing.assert_allclose(ta.grad(solve)(1.2), slope(1.2), rtol=1e-13)
    curvature = (slope(1.2 + 1e-5) - slope(1.2 - 1e-5)) / 2e-5
    np.testing.assert_allclose(ta.grad(ta.grad(solve))(1.2), curvature, rtol=1e-8)
    rec = ta.ComputationRecord()
    a = rec.tensor(1.2)
    np.testing.assert_allclose(solve(a).grad().wrt(a), slope(1.2), rtol=1e-13)


def test_a_pull_in_foreign_code_has_no_second_order_without_a_rule_of_its_own() -> None:
    exp = ta.custom_rule(pull=lambda ct, out, x: ct * np.array(np.asarray(out)))(np.exp)
    assert ta.grad(exp)(0.0) == 1.0
    with pytest.raises(ConversionError, match=r"would drop its gradient"):
        ta.grad(ta.grad(exp))(0.0)


def test_a_handle_that_is_closed_over() -> None:
    rec = ta.ComputationRecord()
    x, w = rec.tensor(X), rec.tensor(Y)
    f = ta.custom_rule(pull=lambda ct, out, x: ct)(lambda x: x * w)
    with pytest.raises(RecordMismatchError, match="must not close over handles"):
        f(x)


@pytest.mark.parametrize(
    ("pull", "error", "message"),
    [
        (lambda ct, out, x, y: ct, OutputError, r"gave an array of shape \(3,\) for 2 arguments"),
        (lambda ct, out, x, y: [ct, ct], OutputError, "gave a list of 2 for .*; return a tuple of"),
        (lambda ct, out, x, y: (ct,), OutputError, "gave a tuple of 1 for 2 arguments; return a"),
        (lambda ct, out, x, y: (ct, ct, ct), OutputError, "gave a tuple of 3 for 2 arguments"),
        (lambda ct, out, x, y: None, OutputError, "gave None for 2 arguments"),
        (
            lambda ct, x, y: (ct, ct),
            OutputError,
            r"pull of product is called with \(ct, out, argument 0, argument 1\), but takes "
            r"\(ct, x, y\): too many",
        ),
        (lambda ct, out, x, y: ct + len(3), TypeError, "has no len"),  # type: ignore[arg-type]  # of its own
        (
            lambda ct, out, x, y: (ct, ct[:2]),
            SeedError,
            r"pull of product gave for argument 1 has shape \(2,\); it must be \(3,\)",
        ),
        (lambda ct, out, x, y: ([ct], ct), SeedError, "argument 0 of product have another"),
        (lambda ct, out, x, y: (ct * 1j, ct), SeedError, "has dtype complex128, which does not"),
    ],
)
def test_a_pull_that_does_not_fit(pull: Any, error: type[Exception], message: str) -> None:
    @ta.custom_rule(pull=pull)
    def product(x: Any, y: Any) -> Any:
        return x * y

    with pytest.raises(error, match=message):
        ta.grad(lambda x, y: np.sum(product(x, y)), (0, 1))(X, Y)


def test_a_pull_that_does_not_fit_the_one_argument() -> None:
    f = ta.custom_rule(pull=lambda ct, out, x: (ct, ct))(lambda x: x * 2)
    with pytest.raises(OutputError, match="for 1 argument; return its cotangent, or a tuple of 1"):
        ta.grad(f)(1.0)


def test_the_way_in_which_a_derivative_is_called_is_told() -> None:
    f = ta.custom_rule(push=lambda t, x: t)(lambda x: x * 2)
    with pytest.raises(OutputError, match=r"push of .* with \(tangents, out, argument 0\), but"):
        ta.jvp(f, (X,), (X,))
    g = ta.custom_rule(partials=lambda x: 2.0)(lambda x, *, n: x * n)
    with pytest.raises(OutputError, match=r"partials of .* with \(out, argument 0, n=\), but"):
        ta.grad(lambda x: np.sum(g(x, n=2)))(X)


def test_a_push_that_does_not_fit() -> None:
    f = ta.custom_rule(push=lambda ts, out, x: ts[0][:2])(lambda x: x * 2)
    with pytest.raises(SeedError, match=r"push of <lambda> gave for the output has shape \(2,\)"):
        ta.jvp(f, (X,), (X,))


@pytest.mark.parametrize("shape", [(3, 3), (2,), (1, 3)])
def test_an_array_that_is_no_derivative_element_by_element(shape: tuple[int, ...]) -> None:
    f = ta.custom_rule(partials=lambda out, x: np.ones(shape))(lambda x: x * 2)
    with pytest.raises(OutputError, match=r"an array of shape .* broadcast to the output's \(3,\)"):
        ta.grad(lambda x: np.sum(f(x)))(X)


def test_partials_that_do_not_fit() -> None:
    f = ta.custom_rule(partials=lambda out, x, y: Scale(y))(lambda x, y: x * y)
    with pytest.raises(OutputError, match="are one Scale for 2 arguments; there has to be one map"):
        ta.grad(lambda x: np.sum(f(x, Y)))(X)
    g = ta.custom_rule(partials=lambda out, x, y: (Scale(2.0), None))(lambda x, y: 2 * x)
    by_x, by_y = ta.grad(lambda x, y: np.sum(g(x, y)), (0, 1))(X, Y)
    np.testing.assert_array_equal(by_x, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(by_y, np.zeros(3))
    np.testing.assert_array_equal(ta.jacobian(g, 1, "forward")(X, Y), np.zeros((3, 3)))


# Keys in another order


@ta.custom_rule(
    pull=lambda ct, out, p: {"b": 3 * ct["v"], "a": 2 * ct["u"]},
    push=lambda ts, out, p: {"v": 3 * ts[0]["b"], "u": 2 * ts[0]["a"]},
)
def doubled_and_tripled(p: Any) -> Any:
    return {"u": 2 * p["a"], "v": 3 * p["b"]}


def test_what_a_rule_gives_is_paired_by_key() -> None:
    out, pull = ta.vjp(doubled_and_tripled, {"a": 1.0, "b": 1.0})
    assert out == {"u": 2.0, "v": 3.0}
    assert pull({"v": 100.0, "u": 10.0}) == ({"a": 20.0, "b": 300.0},)
    tangent = ta.jvp(doubled_and_tripled, ({"a": 1.0, "b": 1.0},), ({"b": 100.0, "a": 10.0},))[1]
    assert tangent == {"u": 20.0, "v": 300.0}


def test_a_bare_decorator_says_that_it_is_called() -> None:
    with pytest.raises(TypeError, match=r"write @ta\.custom_rule\(pull=\.\.\.\)"):
        ta.custom_rule(np.exp)  # type: ignore[arg-type]  # what is refused


# Arrays that are written to, by the function, by its derivative or by a later call


@ta.custom_rule(pull=lambda ct, out, x: 2 * ct)
def doubled_in_place(x: Any) -> Any:
    x *= 2
    return x


def test_a_function_that_writes_to_its_argument_is_refused() -> None:
    with pytest.raises(ta.errors.InPlaceError, match="doubled_in_place writes to an argument"):
        ta.grad(lambda x: np.sum(doubled_in_place(x * 1.0) * x))(X.copy())
    np.testing.assert_array_equal(doubled_in_place(X.copy()), 2 * X)


def of_a_copy(x: Any) -> Any:
    y = x * 1.5
    return np.sum((y + 1) * y * doubled_in_place(y.copy()))


def of_what_is_read_later(x: Any) -> Any:
    y = x * 1.5
    before = y + 1
    doubled_in_place(y)
    return np.sum(before * y)


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("f", [of_a_copy, of_what_is_read_later])
def test_a_replay_sees_what_a_function_writes_to_its_argument(engine: Any, f: Any) -> None:
    fast = ta.compile(f, engine=engine, check_every=0)
    for step in range(4):
        np.testing.assert_allclose(fast(X + step), f(X + step), rtol=1e-14)


@pytest.mark.parametrize("size", [3, 5_000])
def test_a_buffer_that_a_later_call_fills_is_not_swept_with(size: int) -> None:
    buffer = np.zeros(size)

    @ta.custom_rule(pull=lambda ct, out, x: ct * out)
    def exp(x: Any) -> Any:
        return np.exp(x, out=buffer)

    x = np.linspace(0.1, 0.9, size)
    np.testing.assert_array_equal(ta.grad(lambda x: np.sum(exp(x)))(x), np.exp(x))
    with pytest.raises(ta.errors.MutatedInputError, match="let a function with a rule of its own"):
        ta.grad(lambda x: np.sum(exp(x) * 3) + np.sum(exp(2 * x)))(x)


def to_the_output(ct: Any, out: Any, x: Any) -> Any:
    out *= 2 * ct
    return out


def to_the_argument(ct: Any, out: Any, x: Any) -> Any:
    x *= 2 * ct
    return x


@pytest.mark.parametrize("pull", [to_the_output, to_the_argument])
def test_a_derivative_that_writes_to_what_it_is_given_is_refused(pull: Any) -> None:
    square = ta.custom_rule(pull=pull)(lambda x: x * x)
    with pytest.raises(ta.errors.MutatedInputError, match="its derivative write to none"):
        ta.grad(lambda x: np.sum(square(3 * x)))(X.copy())
