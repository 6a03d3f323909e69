"""Plain arrays through copies of SciPy's functions give the bits that the originals give."""

import copy
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable import (
    copying,
    decorator,  # noqa: F401 - which fills the tables
)
from tests.calls.examples import TooSlow, calls_of, in_time, replayed
from tests.calls.names import things_of
from tests.sampling import some

SECONDS = 20

MODULES = ["scipy.ndimage", "scipy.linalg", "scipy.spatial.distance", "scipy.signal.windows"]


def bits(value: Any) -> Any:
    """Give what has to agree of a result."""
    value = primal(value)
    if isinstance(value, np.ndarray):
        return (
            value.dtype.str,
            value.shape,
            value.tolist() if value.dtype.hasobject else value.tobytes(),
        )
    if isinstance(value, (tuple, list)):
        return [bits(each) for each in value]
    return repr(value) if isinstance(value, (np.generic, int, float, complex, str)) else None


def outcome(function: Any, steps: Any) -> Any:
    """Give the bits of a result, or the type of the error."""
    np.random.seed(0)  # noqa: NPY002 - what the examples of SciPy draw from
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with in_time(SECONDS):
                return bits(replayed(function, copy.deepcopy(steps)))
        except TooSlow:
            return TooSlow
        except Exception as error:
            return type(error)


@pytest.fixture(autouse=True)
def printing_as_before() -> Iterator[None]:
    """Bring back how arrays are printed, which some examples change."""
    with np.printoptions():
        yield


@pytest.mark.parametrize("module", some(MODULES, 2))
def test_plain_arrays_give_the_originals_bits(module: str) -> None:
    functions = [pair for pair in things_of(module) if isinstance(pair[1], types.FunctionType)]
    units = [(thing, unit) for name, thing in functions for unit in calls_of(name, thing)]
    outcomes = [
        (unit.name, unit.number, outcome(thing, unit.steps), outcome(copied, unit.steps))
        for thing, unit in units
        for copied in (copying.copied_function(thing),)
    ]
    settled = [each for each in outcomes if TooSlow not in each[2:]]

    assert len(settled) > 10
    assert [each[:2] for each in settled if each[2] != each[3]] == []


def test_code_that_takes_gradients_by_autograd_gives_the_same_on_plain_arrays() -> None:
    autograd = pytest.importorskip("autograd")
    anp = pytest.importorskip("autograd.numpy")

    class Fitted:
        def hazard(self, t: Any) -> Any:
            return anp.exp(-t) * anp.log1p(t)

        def fit(self) -> Any:
            left = np.zeros(2)
            left[:] = autograd.elementwise_grad(self.hazard)(np.linspace(1.0, 2.0, 2))
            return left

    made = ta.differentiable(Fitted)
    np.testing.assert_array_equal(np.asarray(made().fit()), Fitted().fit())
    slope = ta.grad(lambda x: np.sum(made().hazard(x)))(np.ones(2))
    np.testing.assert_allclose(slope, autograd.elementwise_grad(Fitted().hazard)(np.ones(2)))
