"""Layered drawings: no box on another, every edge downwards, few crossings."""

from itertools import pairwise

import numpy as np
import pytest

from tape_ad.record.inspection.pages.graphs import (
    Layout,
    crossings,
    layered,
    ranks_of,
    untangle,
    woven,
)

BOX = (60.0, 40.0)


def random_edges(size: int, seed: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    pairs = {(int(rng.integers(max(0, i - 9), i)), i) for i in range(1, size) for _ in range(2)}
    return sorted(pairs)


def no_box_is_on_another(layout: Layout, sizes: list[tuple[float, float]]) -> bool:
    centres, lengths = np.array(layout.centres), np.array(sizes)
    apart = np.abs(centres[:, None] - centres) >= (lengths[:, None] + lengths) / 2
    return bool((apart.any(-1) | np.eye(len(sizes), dtype=bool)).all())


@pytest.mark.parametrize("seed", range(5))
def test_random_graphs(seed: int) -> None:
    edges = random_edges(60, seed)
    sizes = [(30.0 + 7 * (i % 11), 40.0) for i in range(60)]
    layout = layered(sizes, edges)
    assert no_box_is_on_another(layout, sizes)
    for (one, other), way in zip(edges, layout.ways, strict=True):
        assert way[0] == (layout.centres[one][0], layout.centres[one][1] + 20)
        assert way[-1] == (layout.centres[other][0], layout.centres[other][1] - 20)
        assert all(below[1] >= above[1] for above, below in pairwise(way))
        assert len(way) % 3 == 1
    points = np.array([point for way in layout.ways for point in way])
    assert (points >= 0).all()
    assert (points <= (layout.width, layout.height)).all()


def test_a_chain_is_straight() -> None:
    layout = layered([BOX, (90.0, 40.0), BOX], [(0, 1), (1, 2)])
    assert len({x for x, _ in layout.centres}) == 1


def test_a_leaf_stands_just_above_its_first_user() -> None:
    assert ranks_of(5, [(0, 2), (2, 3), (3, 4), (1, 4)]) == [0, 2, 1, 2, 3]


def test_what_is_joined_with_nothing_has_a_place() -> None:
    assert no_box_is_on_another(layered([BOX] * 3, []), [BOX] * 3)


def test_an_empty_graph() -> None:
    assert layered([], []).centres == []


def test_edges_that_need_not_cross_do_not() -> None:
    edges = [(0, 5), (1, 4), (2, 3)]
    web = woven([BOX] * 6, edges, ranks_of(6, edges))
    assert crossings(web) == 3
    untangle(web)
    assert crossings(web) == 0
