"""Colours tell apart what they have to, and are few."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import tape_ad as ta
from benchmarks.sparse import brusselator
from tape_ad.sparse_derivatives.colouring import (
    by_incidence,
    column_colors,
    column_orders,
    greedy,
    row_colors,
    split_colors,
    star_colors,
)

Array = Any
SEEDS = range(60)


def random_pattern(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12, 2)
    return csr_array(rng.random(tuple(shape)) < rng.uniform(0, 0.5))


def random_graph(seed: int, most: int = 12) -> Any:
    rng = np.random.default_rng(seed)
    n = rng.integers(1, most)
    half = rng.random((n, n)) < rng.uniform(0, 0.5)
    return csr_array(half | half.T)


def fewest_by_force(pattern: Array, right: Any) -> int:
    """Try all colourings with one colour, with two, and so on."""
    n = len(pattern)
    for count in range(1, n + 1):
        for colors in itertools.product(range(count), repeat=n):
            if right(pattern, np.array(colors)):
                return count
    return 0


def are_apart(pattern: Array, colors: Array) -> bool:
    """Tell whether no row has two entries in columns of one colour."""
    kinds = range(colors.max(initial=-1) + 1)
    return all((pattern[:, colors == kind].sum(1) <= 1).all() for kind in kinds)


def is_star(graph: Array, colors: Array) -> bool:
    """Tell whether neighbours differ, and every path of four vertices has three colours."""
    edges = graph & ~np.eye(len(graph), dtype=bool)
    pairs = [(int(a), int(b)) for a, b in np.argwhere(edges)]
    if any(colors[a] == colors[b] for a, b in pairs):
        return False
    return not any(
        len({colors[a], colors[b], colors[c], colors[d]}) < 3
        for (a, b), (c, d) in itertools.product(pairs, pairs)
        if edges[b, c] and len({a, b, c, d}) == 4
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_columns_of_one_colour_have_no_row_in_common(seed: int) -> None:
    pattern = random_pattern(seed)
    assert are_apart(pattern.toarray(), column_colors(pattern))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_one_colour_have_no_column_in_common(seed: int) -> None:
    pattern = random_pattern(seed)
    assert are_apart(pattern.toarray().T, row_colors(pattern))


@pytest.mark.parametrize("seed", SEEDS)
def test_each_entry_is_told_apart_on_one_of_two_sides(seed: int) -> None:
    pattern = random_pattern(seed)
    split = split_colors(pattern)
    rows, columns = pattern.tocoo().coords
    pulled = csr_array((split.pulled, (rows, columns)), pattern.shape).toarray().astype(bool)
    whole = pattern.toarray()
    for row, column in zip(rows, columns, strict=True):
        if pulled[row, column]:
            alike = split.row_colors == split.row_colors[row]
            assert split.row_colors[row] >= 0
            assert whole[alike, column].sum() == 1
        else:
            alike = split.column_colors == split.column_colors[column]
            assert split.column_colors[column] >= 0
            assert whole[row, alike].sum() == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_no_path_of_four_has_two_colours(seed: int) -> None:
    graph = random_graph(seed)
    assert is_star(graph.toarray(), star_colors(graph))


@pytest.mark.parametrize("seed", range(20))
def test_colours_are_nearly_as_few_as_can_be(seed: int) -> None:
    graph = random_graph(seed, 6)
    whole = graph.toarray()
    assert column_colors(graph).max(initial=-1) + 1 <= fewest_by_force(whole, are_apart) + 1
    assert star_colors(graph).max(initial=-1) + 1 <= fewest_by_force(whole, is_star) + 1


def test_a_full_row_and_column_take_three_colours_on_both_sides() -> None:
    arrow = np.eye(50, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    assert split_colors(csr_array(arrow)).count == 3
    assert column_colors(csr_array(arrow)).max() + 1 == 50


@pytest.mark.parametrize("width", [1, 3, 5])
def test_a_band_takes_as_many_colours_as_it_is_wide(width: int) -> None:
    i, j = np.indices((40, 40))
    band = csr_array(abs(i - j) <= width // 2)
    assert column_colors(band).max() + 1 == width


def test_a_chain_takes_three_star_colours() -> None:
    i, j = np.indices((40, 40))
    assert star_colors(csr_array(abs(i - j) <= 1)).max() + 1 == 3


def test_an_order_by_incidence_takes_two_colours_for_two_sides() -> None:
    rng = np.random.default_rng(0)
    pairs = rng.random((30, 30)) < 0.1
    zeros = np.zeros_like(pairs)
    edges = np.block([[zeros, pairs], [pairs.T, zeros]])
    shuffled = rng.permutation(60)
    edges = edges[shuffled][:, shuffled]
    neighbours = [np.flatnonzero(row).tolist() for row in edges]
    order = by_incidence(neighbours)
    assert sorted(order) == list(range(60))
    colors = np.full(60, -1)
    for vertex in order:
        taken = set(colors[neighbours[vertex]])
        colors[vertex] = next(color for color in range(60) if color not in taken)
    assert colors.max() == 1


@pytest.mark.parametrize("seed", range(4))
def test_of_several_orders_the_one_with_the_fewest_colours_is_taken(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = csr_array(rng.random((300, 300)) < 0.02)
    counts = [greedy(pattern.tocsc(), order).max() for order in column_orders(pattern.tocsc())]
    assert column_colors(pattern).max() == min(counts)
    assert max(counts[1:]) < counts[0]


def test_a_brusselator_takes_as_many_colours_as_is_published() -> None:
    # maximum(colorvec) = 12 for N = 32, https://tutorials.sciml.ai/html/advanced/
    # 02-advanced_ODE_solving.html, "Color Differentiation"
    jacobian = ta.sparse_jacobian(brusselator, mode="forward")
    jacobian(np.ones((2, 32, 32)))
    assert jacobian.colors is not None
    assert jacobian.colors <= 12


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (3, 3)])
def test_what_has_no_entries_takes_one_colour_or_none(shape: tuple[int, int]) -> None:
    empty = csr_array(shape, dtype=bool)
    assert column_colors(empty).shape == (shape[1],)
    assert split_colors(empty).count <= 1
    assert star_colors(csr_array((shape[0], shape[0]), dtype=bool)).max(initial=0) == 0
