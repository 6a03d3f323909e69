"""Calls with ``dtype=``, ``signature=`` and ``casting=``, which compute with other numbers."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import DtypeError

Array = Any
Z = np.array([1.0 + 2.0j, 3.0 - 1.0j, 0.5 + 0.1j])
R = np.array([0.5, 1.5, 2.0])
ONE = (np.exp, np.sin, np.square, np.log, np.conjugate, np.reciprocal)
TWO = (np.multiply, np.divide, np.power, np.arctan2, np.maximum, np.hypot)

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


@pytest.mark.parametrize(
    "options", [{"dtype": float}, {"dtype": "f8"}, {"signature": "d->d"}], ids=str
)
@pytest.mark.parametrize("function", ONE, ids=lambda f: f.__name__)
def test_a_function_of_real_parts_has_a_real_gradient(function: Any, options: Any) -> None:
    found = ta.grad(lambda z: np.sum(function(z, casting="unsafe", **options)))(Z)
    wanted = ta.grad(lambda x: np.sum(function(x)))(Z.real.copy())
    np.testing.assert_allclose(found, wanted.astype(complex), rtol=1e-14)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("function", TWO, ids=lambda f: f.__name__)
def test_and_so_has_one_of_two_operands(function: Any, place: int) -> None:
    def of(x: Array, /, **options: Any) -> Array:
        return np.sum(function(*((x, R) if place == 0 else (R, x)), **options))

    found = ta.grad(lambda z: of(z, casting="unsafe", dtype=float))(Z)
    np.testing.assert_allclose(found, ta.grad(of)(Z.real.copy()).astype(complex), rtol=1e-14)


def test_what_a_loop_takes_as_it_is_stays_complex() -> None:
    found = ta.grad(lambda z: np.sum(np.absolute(z, dtype=float, casting="unsafe")))(Z)
    wanted = ta.grad(lambda z: np.sum(np.absolute(z)))(Z)
    np.testing.assert_array_equal(found, wanted)


def test_einsum_of_real_parts_has_a_real_gradient() -> None:
    def of(z: Array, /, **options: Any) -> Array:
        return np.sum(np.einsum("...,...->...", z, z, **options) * np.arange(1.0, 1 + z.size))

    found = ta.grad(lambda z: of(z, casting="unsafe", dtype=float))(Z)
    np.testing.assert_allclose(found, ta.grad(of)(Z.real.copy()).astype(complex), rtol=1e-14)
    _, pushed = ta.jvp(
        lambda z: of(z, casting="unsafe", dtype=float), (Z,), (1j * np.ones(Z.shape),)
    )
    assert pushed == 0


@pytest.mark.parametrize("function", [np.sum, np.prod, np.cumsum, np.mean, np.add.reduce])
def test_objects_are_refused(function: Any) -> None:
    handle = ta.ComputationRecord().tensor(R)
    with pytest.raises(DtypeError, match="dtype=object computes with Python's objects"):
        function(handle, dtype=object)


SUMMING = {
    **{f.__name__: f for f in (np.sum, np.prod, np.mean, np.cumsum, np.cumprod)},
    **{f.__name__: f for f in (np.nansum, np.nanprod, np.nanmean, np.nancumsum, np.nancumprod)},
    **{f.__name__: f for f in (np.var, np.std, np.ptp, np.nanvar, np.nanstd)},
    "add.reduce": np.add.reduce,
    "multiply.accumulate": np.multiply.accumulate,
    "add.reduceat": lambda x, **options: np.add.reduceat(x, [0, 3], **options),
    "x.sum": lambda x, **options: x.sum(**options),
    "einsum": lambda x, axis, **options: np.einsum("ij,ij->j", x, x, **options),
}


@pytest.mark.parametrize("function", SUMMING.values(), ids=SUMMING.keys())
@pytest.mark.parametrize(
    ("own", "wide"), [("f4", "f8"), ("f2", "f4"), ("c8", "c16"), ("f4", "c16")]
)
def test_what_is_written_into_a_wider_array_is_computed_in_its_dtype(
    function: Any, own: str, wide: str
) -> None:
    x = np.random.default_rng(0).standard_normal((7, 5)).astype(own)
    expected = np.zeros(function(x, axis=0).shape, wide)
    function(x, axis=0, out=expected)

    rec: Any = ta.ComputationRecord()
    found = rec.tensor(np.zeros_like(expected)) * 1
    function(rec.tensor(x), axis=0, out=found)
    np.testing.assert_array_equal(found.data, expected)

    def into(each: Any) -> Any:
        out = np.zeros_like(function(each, axis=0), dtype=wide)
        function(each, axis=0, out=out)
        return out

    np.testing.assert_allclose(ta.batched(into)(x[None])[0], expected, rtol=1e-14, strict=True)
