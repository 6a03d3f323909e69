"""The first nan or inf, and what is said of it."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import NonFiniteError


@pytest.fixture(autouse=True)
def _without_numpys_warnings() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def loss(params: Any) -> Any:
    hidden = np.log(np.ones((4, 3)) @ params["w"] + params["b"])
    return np.sum(hidden**2)


BAD = {"w": -np.ones((3, 2)), "b": np.ones(2)}
AT_ZERO = np.array([0.0, 1.0])


def message(function: Any, *args: Any) -> str:
    """Give the text of the error that a function raises."""
    with ta.debug_nans(), pytest.raises(NonFiniteError) as caught:
        function(*args)
    return str(caught.value)


def test_a_value_is_told_with_its_line_its_operands_and_the_way_there() -> None:
    lines = message(ta.grad(loss), BAD).splitlines()
    assert lines[0].startswith("log gives nan, forward, at node %4, made at test_nonfinite.py:")
    assert lines[0].endswith(" in loss")
    assert lines[1:3] == ["  it gives float64[4,2]: 8 of 8 are nan", "  of %3, float64[4,2]: -2"]
    assert lines[3] == "  the way there:"
    assert [line.partition("  #")[0] for line in lines[4:]] == [
        "    %1: leaf b",
        "    %3: add %2, %1",
        "    %4: log %3",
    ]


def test_the_error_says_which_node_and_line_as_data() -> None:
    rec: Any = ta.ComputationRecord(debug_nans=True)
    with pytest.raises(NonFiniteError) as caught:
        np.log(rec.tensor(-1.0))
    assert caught.value.node == 1
    assert caught.value.source is not None
    file, line, function = caught.value.source
    assert (file, function) == (__file__, "test_the_error_says_which_node_and_line_as_data")
    assert isinstance(line, int)
    assert isinstance(caught.value, FloatingPointError)


def test_a_leaf_is_named() -> None:
    text = message(ta.grad(loss), {"w": np.full((3, 2), np.nan), "b": np.ones(2)})
    assert text.startswith("the leaf w (%0) holds nan")
    assert text.endswith("6 of 6 are nan")
    rec: Any = ta.ComputationRecord(debug_nans=True)
    with pytest.raises(NonFiniteError, match=r"the leaf %0 holds inf"):
        rec.tensor([1.0, np.inf])


def test_a_cotangent_is_told_with_the_way_that_it_came() -> None:
    text = message(ta.grad(lambda x: np.sum(2 * np.sqrt(x))), AT_ZERO)
    assert text.startswith("the derivative of sqrt gives inf, backward, at node %1, made at ")
    assert "the cotangent of %0 from there is float64[2]: 1, 1 of 2 is inf" in text
    assert "the one that came to %1 is float64[2]: 2" in text
    assert "the partial holds float64[2]: 0.5, 1 of 2 is inf" in text
    way = text.partition("the cotangent's way:\n")[2].splitlines()[:3]
    assert [line.split()[0] for line in way] == ["%3:", "%2:", "%1:"]


def test_what_was_not_chosen_is_no_nan_of_the_sweep() -> None:
    def chosen(x: Any) -> Any:
        return np.sum(np.where(x > 0, np.sqrt(x), 0))

    with ta.debug_nans():
        assert np.array_equal(ta.grad(chosen)(AT_ZERO), [0, 0.5])


@pytest.mark.parametrize(
    "derivative",
    [
        lambda f: ta.jvp(f, (AT_ZERO,), (np.ones(2),)),
        lambda f: ta.jacobian(f, mode="reverse")(AT_ZERO),
        lambda f: ta.jacobian(f, mode="forward")(AT_ZERO),
        lambda f: ta.hessian(lambda x: np.sum(f(x)))(AT_ZERO),
        lambda f: ta.vjp(f, AT_ZERO)[1](np.ones(2)),
        lambda f: ta.grad(lambda x: np.sum(ta.checkpoint(f)(x)))(AT_ZERO),
        lambda f: ta.compile(ta.grad(lambda x: np.sum(f(x))))(AT_ZERO),
    ],
    ids=["jvp", "reverse", "forward", "hessian", "vjp", "checkpoint", "compile"],
)
def test_every_transform_is_looked_at(derivative: Any) -> None:
    derivative(np.sqrt)  # nobody looks
    text = message(derivative, np.sqrt)
    assert "inf" in text.splitlines()[0]
    assert "test_nonfinite.py" in text


def test_a_compiled_function_is_not_replayed_while_nans_are_looked_for() -> None:
    compiled = ta.compile(ta.grad(lambda x: np.sum(np.sqrt(x))))
    for _ in range(4):
        compiled(AT_ZERO)
    assert len(compiled.programs) == 1
    assert "backward" in message(compiled, AT_ZERO)
    assert np.array_equal(compiled(AT_ZERO), [np.inf, 0.5])


def test_a_custom_rule_is_looked_at() -> None:
    @ta.custom_rule(pull=lambda ct, out, x: ct * np.nan)
    def twice(x: Any) -> Any:
        return 2 * x

    assert "the derivative of twice gives nan, backward" in message(ta.grad(twice), 3.0)


def test_an_assignment_is_looked_at_and_leaves_the_array() -> None:
    rec: Any = ta.ComputationRecord(debug_nans=True)
    y = rec.tensor(np.ones(3)) * 2
    with pytest.raises(NonFiniteError, match="updated gives nan, forward"):
        y[1] = np.nan
    assert np.array_equal(y.data, [2, 2, 2])


def test_constants_to_be_filled_may_hold_anything() -> None:
    rec: Any = ta.ComputationRecord(debug_nans=True)
    filled = rec.constant(np.full(2, np.nan))
    filled[:] = rec.tensor(np.ones(2))
    assert np.array_equal(np.sum(filled * np.arange(2)).data, 1)


def test_infs_may_be_meant() -> None:
    def masked(x: Any) -> Any:
        return np.sum(ta.nn.softmax(np.where(np.array([True, False]), x, -np.inf)))

    with ta.debug_nans(infs=False):
        ta.grad(masked)(AT_ZERO)
    assert "where gives inf, forward" in message(ta.grad(masked), AT_ZERO)


def test_a_seed_is_looked_at() -> None:
    rec: Any = ta.ComputationRecord(debug_nans=True)
    x = rec.tensor(np.ones(2))
    with pytest.raises(
        NonFiniteError, match=r"the seed of the sweep holds nan: float64\[2\]: 1, 1"
    ):
        (x * 2).grad(np.array([1, np.nan]))


def test_gradients_are_the_same_when_all_is_finite() -> None:
    rng = np.random.default_rng(0)
    params = {"w": rng.random((3, 2)), "b": np.ones(2)}
    plain = ta.grad(loss)(params)
    with ta.debug_nans():
        looked_at = ta.grad(loss)(params)
    for name, gradient in plain.items():
        np.testing.assert_allclose(looked_at[name], gradient, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
def test_all_dtypes_are_looked_at(dtype: str) -> None:
    rec: Any = ta.ComputationRecord(debug_nans=True)
    x = rec.tensor(np.zeros(2, dtype))
    with pytest.raises(NonFiniteError, match="divide gives"):
        x / 0


def test_release_frees_the_partials_here_too() -> None:
    rec: Any = ta.ComputationRecord(debug_nans=True)
    x = rec.tensor(2.0)
    y = x * x
    y.grad(release=True)
    with pytest.raises(ta.errors.ReleasedError, match=r"%1 \(multiply\) were freed"):
        y.grad()


def test_it_nests_and_ends() -> None:
    with ta.debug_nans():
        with ta.debug_nans(infs=False):
            np.log(ta.ComputationRecord().tensor(0.0))
        with pytest.raises(NonFiniteError):
            np.log(ta.ComputationRecord().tensor(0.0))
    assert ta.ComputationRecord().observer is None
    np.log(ta.ComputationRecord().tensor(0.0))


def test_it_ends_with_an_error_and_is_a_decorator() -> None:
    decorated = ta.debug_nans()(ta.grad(loss))
    for _ in range(2):
        with pytest.raises(NonFiniteError):
            decorated(BAD)
    assert ta.ComputationRecord().observer is None


def test_another_thread_is_left_alone() -> None:
    found = []
    with ta.debug_nans():
        thread = threading.Thread(target=lambda: found.append(ta.grad(np.sqrt)(0.0)))
        thread.start()
        thread.join()
    assert found == [np.inf]


def test_a_record_within_one_that_is_looked_at() -> None:
    outer: Any = ta.ComputationRecord(debug_nans=True)
    rec: Any = ta.ComputationRecord(within=outer)
    x = rec.tensor(outer.tensor(-1.0))
    with pytest.raises(NonFiniteError, match="sqrt gives nan"):
        np.sqrt(x)


def test_a_long_way_is_cut_short() -> None:
    def far(x: Any) -> Any:
        for _ in range(2000):
            x = x + 1
        return np.log(-x)

    text = message(ta.grad(far), 1.0)
    assert "... 1991 more nodes ..." in text
    assert len(text.splitlines()) == 17
