"""Functions inlined: the calls that their own lines make stand in place of them."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.programs.engines.plans import INLINED, Plan
from tape_ad.programs.passes.inlining import NotInlined, body_of, traced_body
from tape_ad.programs.program import Call, Program, Value, interpret
from tape_ad.rules.nn.affine import linear, two_linear
from tape_ad.rules.nn.rectifiers import gelu

SPECIAL = [
    0.0,
    -0.0,
    1.5,
    -1.5,
    1e-30,
    -1e-30,
    30.0,
    -30.0,
    90.0,
    -90.0,
    np.inf,
    -np.inf,
    np.nan,
    7.0,
]
ACTIVATIONS = sorted(INLINED - {linear, two_linear}, key=lambda function: function.__name__)


def call_of(function: Any, *arrays: Any, **options: Any) -> Call:
    out = function(*arrays, **options)
    return Call(function, tuple(map(Value.like, arrays)), options, (Value.like(out),))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4"])
@pytest.mark.parametrize("function", ACTIVATIONS)
def test_inlined_activations_have_the_same_bits(function: Any, dtype: str) -> None:
    with np.errstate(invalid="ignore"):
        x = np.array(SPECIAL).astype(dtype)
    fast = ta.compile(function, engine="numpy")
    for _ in range(4):
        assert fast(x).tobytes() == function(x).tobytes()
    assert fast(x).dtype == function(x).dtype


@pytest.mark.parametrize("shape", [(4, 6), (300, 300), (6,)])
def test_inlined_products_have_the_same_bits(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, w, b = rng.normal(size=shape), rng.normal(size=(shape[-1], 3)), rng.normal(size=3)
    for function, args in ((linear, (x, w, b)), (two_linear, (x, w, x, w, b))):
        fast = ta.compile(function, engine="numpy")
        for _ in range(4):
            assert fast(*args).tobytes() == function(*args).tobytes()


def test_a_plan_has_the_calls_of_a_body() -> None:
    call = call_of(nn.silu, np.ones(8))
    program = Program("silu", tuple(call.operands), (), (call,), call.outputs[0])
    plan = Plan.of(program)
    names = [step.function for step in plan.program.calls]
    assert names == [np.minimum, np.exp, np.add, np.divide, np.multiply]
    assert plan.program.calls[-1].outputs == call.outputs


def test_few_calls_on_a_large_array_stay_one() -> None:
    call = call_of(nn.silu, np.ones(2**16))
    program = Program("silu", tuple(call.operands), (), (call,), call.outputs[0])
    assert Plan.of(program).program is program


def branching(x: Any) -> Any:
    return x if x > 0 else -x


def converting(x: Any) -> Any:
    return np.asarray(x) + 1


def in_place(x: Any) -> Any:
    x += 1
    return x


def with_out(x: Any) -> Any:
    return np.add(x, 1, out=np.empty(3))


def copying(x: Any) -> Any:
    return np.reshape(np.transpose(np.reshape(x, (3, 1)) * np.ones((3, 2))), (3, 2))


def counting(x: Any) -> Any:
    return np.bincount(x)


@pytest.mark.parametrize("body", [branching, converting, in_place, with_out, counting])
def test_a_body_that_asks_for_values_is_not_traced(body: Any) -> None:
    with pytest.raises(NotInlined):
        traced_body(body, (Value.like(np.ones(3)),), {})


def test_a_body_may_copy_where_numpy_does() -> None:
    x, value = np.arange(3.0), Value.like(np.ones(3))
    calls, result = traced_body(copying, (value,), {})
    program = Program("copying", (value,), (), tuple(calls), result[0])
    np.testing.assert_array_equal(interpret(program, [x]), copying(x))


def test_what_a_body_has_made_itself_may_be_changed_in_place() -> None:
    def doubled_and_one(x: Any) -> Any:
        y = z = x * 2
        y += 1
        return z

    calls, results = traced_body(doubled_and_one, (Value.like(np.ones(3)),), {})
    assert [call.function for call in calls] == [np.multiply, np.add]
    assert results == list(calls[-1].outputs)


def test_an_error_of_a_body_says_why_it_stays_a_call() -> None:
    body: Any = body_of(gelu)
    with pytest.raises(NotInlined, match="ValueError: gelu: approximate must be"):
        traced_body(body, (Value.like(np.ones(3)), "tan"), {})


def test_a_body_computes_in_the_errstate_that_it_asks_for() -> None:
    def quiet(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            y = np.log(x)
        return y + 1

    (log, add), _ = traced_body(quiet, (Value.like(np.ones(3)),), {})
    assert log.errors is not None
    assert log.errors["divide"] == "ignore"
    assert add.errors is None


def test_results_have_the_shapes_and_dtypes_that_numpy_gives() -> None:
    def body(x: Any, y: Any) -> Any:
        total = np.add.reduce(x, axis=(0, 1), keepdims=True)
        return (
            np.where(x > 0, x, 1),
            np.clip(x, 0, 1),
            total,
            np.mean(y, axis=-1),
            np.squeeze(total, axis=0)[..., 0],
            x[:, None, ::-1] * y,
            np.sum(y, axis=0)[1:].astype("f8"),
            np.isfinite(np.max(x)),
            np.max(x, axis=-1, initial=0),
        )

    x, y = np.ones((2, 3), "f4"), np.ones((2, 3), "i2")
    _, results = traced_body(body, (Value.like(x), Value.like(y)), {})
    for found, expected in zip(results, body(x, y), strict=True):
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
