"""Matrices that are put together of many parts at the same place, as finite elements are."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import tape_ad as ta
from tape_ad.scipy import sparse
from tape_ad.testing import check_grads

Array = Any

SUMMING = [
    f"{form}_{kind}" for form in ("csr", "csc", "bsr", "coo") for kind in ("array", "matrix")
]
ROWS = np.array([0, 0, 1, 2, 2, 0, 0])
COLUMNS = np.array([0, 0, 1, 0, 0, 2, 0])
DATA = np.array([1.0, 2.0, -3.0, 0.5, 4.0, 1.5, 0.25])

every_form = pytest.mark.parametrize("form", SUMMING)


@every_form
@pytest.mark.parametrize("shape", [None, (3, 3), (4, 6)])
def test_what_is_at_the_same_place_is_added_up_as_in_scipy(form: str, shape: Any) -> None:
    given = getattr(sparse, form)((DATA, (ROWS, COLUMNS)), shape=shape)
    data = ta.ComputationRecord().tensor(DATA)
    found = getattr(sparse, form)((data, (ROWS, COLUMNS)), shape=shape)
    assert type(found).__name__ == type(given).__name__ == form
    np.testing.assert_array_equal(found.toarray().data, given.toarray())
    weights = np.cos(np.arange(given.shape[0] * given.shape[1])).reshape(given.shape)
    gradient = np.sum(found.toarray() * weights).grad().wrt(data)
    np.testing.assert_array_equal(gradient, weights[ROWS, COLUMNS])


@pytest.mark.parametrize("form", SUMMING[:6])
def test_elements_of_a_sum_lie_as_in_scipy(form: str) -> None:
    data = ta.ComputationRecord().tensor(DATA)
    found = getattr(sparse, form)((data, (ROWS, COLUMNS)))
    given = getattr(scipy.sparse, form)((DATA, (ROWS, COLUMNS)))
    np.testing.assert_array_equal(found.data.data, given.data)
    np.testing.assert_array_equal(found.indices, given.indices)
    np.testing.assert_array_equal(found.indptr, given.indptr)


def test_blocks_with_places_that_are_not_filled() -> None:
    data = ta.ComputationRecord().tensor(DATA)
    blocks = sparse.bsr_array((data, (ROWS, COLUMNS)), shape=(4, 6), blocksize=(2, 2))
    given = scipy.sparse.bsr_array((DATA, (ROWS, COLUMNS)), shape=(4, 6), blocksize=(2, 2))
    np.testing.assert_array_equal(
        blocks.reshape(8, 3).toarray().data, given.toarray().reshape(8, 3)
    )
    joined = sparse.hstack([blocks, blocks], format="bsr").toarray()
    np.testing.assert_array_equal(joined.data, np.hstack([given.toarray()] * 2))


@pytest.mark.parametrize("form", ["coo_array", "coo_matrix"])
def test_constants_with_parts_at_the_same_place(form: str) -> None:
    matrix = getattr(scipy.sparse, form)((DATA, (ROWS, COLUMNS)), shape=(3, 3))
    scale = ta.ComputationRecord().tensor(2.0)
    np.testing.assert_array_equal((scale * matrix).toarray().data, 2 * matrix.toarray())
    both = sparse.vstack([matrix, scale * matrix]).toarray()
    np.testing.assert_array_equal(both.data, np.vstack([matrix.toarray(), 2 * matrix.toarray()]))


# Heat in a square of triangles, each with a conductivity of its own

SIDE = 4
CORNERS = np.stack(np.meshgrid(np.linspace(0, 1, SIDE), np.linspace(0, 1, SIDE)), -1).reshape(-1, 2)
LOWER = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)[:-1, :-1].reshape(-1, 1)
TRIANGLES = np.concatenate([LOWER + np.array(each) for each in ([0, 1, SIDE], [1, SIDE + 1, SIDE])])
INSIDE = np.flatnonzero(np.all((CORNERS > 0) & (CORNERS < 1), axis=1))
CONDUCTIVITY = np.random.default_rng(7).uniform(0.5, 2.0, len(TRIANGLES))


def stiffness_of_each() -> Array:
    """Integrate the products of the gradients of the three hats on each triangle."""
    corners = np.concatenate([np.ones((len(TRIANGLES), 3, 1)), CORNERS[TRIANGLES]], axis=2)
    slopes = np.linalg.inv(corners)[:, 1:]
    area = np.abs(np.linalg.det(corners)) / 2
    return area[:, None, None] * np.matrix_transpose(slopes) @ slopes


STIFFNESS = stiffness_of_each()
HEAT = np.ones(len(INSIDE)) / len(CORNERS)


def assembled(form: str, conductivity: Array) -> Any:
    data = (conductivity[:, None, None] * STIFFNESS).reshape(-1)
    rows = np.repeat(TRIANGLES, 3, axis=1).reshape(-1)
    columns = np.tile(TRIANGLES, 3).reshape(-1)
    return getattr(sparse, form)((data, (rows, columns)))


def assembled_densely(conductivity: Array) -> Array:
    places = np.eye(len(CORNERS))[TRIANGLES]
    return np.einsum("e,eij,eia,ejb->ab", conductivity, STIFFNESS, places, places)


def mean_temperature(form: str, conductivity: Array) -> Array:
    matrix = assembled(form, conductivity).tocsc()[INSIDE][:, INSIDE]
    return np.mean(sparse.linalg.spsolve(matrix, HEAT))


def mean_temperature_densely(conductivity: Array) -> Array:
    matrix = assembled_densely(conductivity)[np.ix_(INSIDE, INSIDE)]
    return np.mean(np.linalg.solve(matrix, HEAT))


@every_form
def test_an_assembly_of_finite_elements_is_the_dense_one(form: str) -> None:
    k = ta.ComputationRecord().tensor(CONDUCTIVITY)
    np.testing.assert_allclose(
        assembled(form, k).toarray().data, assembled_densely(CONDUCTIVITY), atol=1e-14
    )
    found, densely = mean_temperature(form, k), mean_temperature_densely(k)
    np.testing.assert_allclose(found.data, densely.data, rtol=1e-12)
    np.testing.assert_allclose(found.grad().wrt(k), densely.grad().wrt(k), rtol=1e-10)


@pytest.mark.parametrize("form", ["csr_array", "csc_array", "bsr_matrix"])
def test_second_derivatives_of_an_assembly_are_those_of_the_dense_one(form: str) -> None:
    direction = np.cos(np.arange(len(TRIANGLES)))
    found = ta.hvp(lambda k: mean_temperature(form, k), CONDUCTIVITY, direction)
    densely = ta.hvp(mean_temperature_densely, CONDUCTIVITY, direction)
    np.testing.assert_allclose(found, densely, rtol=1e-9)
    check_grads(lambda k: mean_temperature(form, k), (CONDUCTIVITY,), order=2)
