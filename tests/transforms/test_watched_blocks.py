"""`check_inputs=True` sees what checkpoints and custom rules rely on besides their operands."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import MutatedInputError

scaled = ta.custom_rule(
    pull=lambda ct, out, x, p, *, by: (ct * p["w"] * by[0], None),
)(lambda x, p, *, by: x * p["w"] * by[0])
by_partials = ta.custom_rule(partials=lambda out, x, w: (w, x))(lambda x, w: x * w)


def checkpointed(x: Any, p: Any, by: Any) -> Any:
    return ta.checkpoint(lambda x, p, by: x * p["w"] * by[0])(x, p, by=by)


def sequential(x: Any, p: Any, by: Any) -> Any:
    return ta.checkpoint_sequential(lambda x, p, by: x * p["w"] * by[0], 3, x, p, by, slots=2)


def among_the_state(x: Any, p: Any, by: Any) -> Any:
    def step(state: Any) -> Any:
        return {"x": state["x"] * state["p"]["w"] * state["by"][0], **{k: state[k] for k in KEPT}}

    return ta.checkpoint_sequential(step, 3, {"x": x, "p": p, "by": by}, slots=2)["x"]


KEPT = ("p", "by")

CALLS = {
    "checkpoint": checkpointed,
    "checkpoint_sequential": sequential,
    "state": among_the_state,
    "custom_rule": lambda x, p, by: scaled(x, p, by=by),
    "partials": lambda x, p, by: by_partials(x, p["w"]) * by_partials(x, by[0]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("written", ["w", "by", "neither"])
def test_a_constant_that_is_written_to_is_found(call: Any, written: str) -> None:
    p, by = {"w": np.array([2.0, 3.0])}, (np.array([5.0, 7.0]),)
    rec = ta.ComputationRecord(check_inputs=True)
    x = rec.tensor(np.ones(2))
    y = np.sum(call(x, p, by))
    first = y.grad().wrt(x)
    if written == "neither":
        np.testing.assert_array_equal(y.grad().wrt(x), first)
        return
    (p["w"] if written == "w" else by[0])[0] = 11.0
    with pytest.raises(MutatedInputError, match=r"an array of shape \(2,\) was written to after"):
        y.grad()


def test_the_error_names_the_block() -> None:
    w = np.ones(2)
    rec = ta.ComputationRecord(check_inputs=True)
    y = checkpointed(rec.tensor(np.ones(2)), {"w": w}, [w])
    w[:] = 2.0
    with pytest.raises(MutatedInputError, match=r"after node %1 \(<lambda>\), made at .* used it"):
        y.grad(seed=np.ones(2))


def test_a_kept_output_that_is_written_to_is_found() -> None:
    buffer = np.zeros(2)

    @ta.custom_rule(pull=lambda ct, out, x: ct[0] * out[0] + ct[1])
    def exp_and_self(x: Any) -> Any:
        return np.exp(x, out=buffer), x + 0

    rec = ta.ComputationRecord(check_inputs=True)
    x = rec.tensor(np.ones(2))
    y, z = exp_and_self(x)
    np.testing.assert_array_equal(np.sum(y + z).grad().wrt(x), np.exp([1.0, 1.0]) + 1)
    exp_and_self(rec.tensor(np.zeros(2)))  # which uses the buffer again
    with pytest.raises(MutatedInputError, match="exp_and_self"):
        np.sum(y + z).grad()
