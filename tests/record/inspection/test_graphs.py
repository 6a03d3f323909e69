"""The graph as DOT and as SVG."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

from tape_ad.record.inspection.pages.graphs import (
    as_dot,
    as_svg,
    boxes_of,
    edges_of,
    folded,
    operation,
    shortened,
)
from tape_ad.record.inspection.pages.lines import Group, Line

FLOAT = np.dtype(float)
LAYERS = Group((), [Group(("a",), [0, 2]), 1, 3])
SVG = "{http://www.w3.org/2000/svg}"


def lines(name: str = "a/w") -> list[Line]:
    return [
        Line(0, "leaf", f"leaf {name}", (), (3,), FLOAT, 0, name=name),
        Line(1, "leaf", "leaf", (), (3,), FLOAT, 0),
        Line(2, "multiply", "multiply %1, %0", (1, 0), (3,), FLOAT, 48),
        Line(3, "power", "power %2, 2", (2, 2), (3,), FLOAT, 24),
    ]


def test_edges_are_listed_once() -> None:
    assert edges_of(lines()) == [(1, 2), (0, 2), (2, 3)]


def test_a_box_leaves_out_the_nodes_and_keeps_the_shapes_of_constants() -> None:
    line = Line(4, "linear", "linear float64[8,3], %0, %1", (0, 1), (8, 2), FLOAT, 0)
    assert operation(line) == "linear float64[8,3]"


def test_dot_has_layers_as_clusters() -> None:
    text = as_dot(boxes_of(lines()), edges_of(lines()), LAYERS)
    assert "subgraph cluster_c_0 {" in text
    assert 'label="a";' in text
    assert 'n3 [label="power 2\\nfloat64[3]"' in text
    assert text.count(" -> ") == 3


def test_the_picture_has_a_box_a_node_and_a_way_an_edge() -> None:
    root = ET.fromstring(as_svg(boxes_of(lines()), edges_of(lines())))  # noqa: S314 - ours
    assert [each.get("href") for each in root.iter(f"{SVG}a")] == ["#n0", "#n1", "#n2", "#n3"]
    kinds = [each.get("class") for each in root.iter(f"{SVG}a")]
    assert kinds == ["parameter", "leaf", "node", "node"]
    assert sum(each.get("class") == "way" for each in root.iter(f"{SVG}path")) == 3


@pytest.mark.parametrize("name", ['<script>"&\\', "größe/重み", "a\nb\x00", '"]; n9 [label="'])
def test_odd_names_are_only_names(name: str) -> None:
    boxes = boxes_of(lines(name))
    root = ET.fromstring(as_svg(boxes, edges_of(lines())))  # noqa: S314 - ours
    assert len(list(root.iter(f"{SVG}a"))) == 4
    assert boxes[0].title in [each.text for each in root.iter(f"{SVG}text")]


def test_nothing_is_a_picture_too() -> None:
    assert as_svg([], []).startswith("<svg")


def test_long_names_lose_their_middle() -> None:
    assert shortened("x" * 30) == "x" * 30
    assert (
        shortened("decoder.blocks.11.attention.out_proj.weight") == "decoder.blocks…out_proj.weight"
    )


def chain_of_layers() -> tuple[list[Line], list[tuple[str, ...]]]:
    """A leaf, two layers of a weight and two calls each, one after the other, and a last call."""
    made = [Line(0, "leaf", "leaf", (), (3,), FLOAT, 0)]
    for at in (1, 4):
        made += [
            Line(at, "leaf", "leaf", (), (3,), FLOAT, 0, name=f"net/{at}/w"),
            Line(at + 1, "multiply", "multiply", (at - 1, at), (3,), FLOAT, 0),
            Line(at + 2, "tanh", "tanh", (at + 1,), (3,), FLOAT, 0),
        ]
    made.append(Line(7, "sum", "sum %6", (6,), (), FLOAT, 0))
    return made, [(), *[("net", "0")] * 3, *[("net", "1")] * 3, ()]


@pytest.mark.parametrize(
    ("most", "titles", "edges"),
    [
        (4, ["leaf", "net/0", "net/1", "sum"], [(0, 1), (1, 2), (2, 3)]),
        (3, ["leaf", "net", "sum"], [(0, 1), (1, 2)]),
    ],
)
def test_a_graph_is_folded_by_layer_as_far_as_it_has_to_be(
    most: int, titles: list[str], edges: list[tuple[int, int]]
) -> None:
    boxes, found = folded(*chain_of_layers(), most)
    assert [box.title for box in boxes] == titles
    assert found == edges
    assert boxes[1].below == {4: "3 nodes", 3: "6 nodes"}[most]


def test_what_is_of_no_layers_is_not_folded() -> None:
    made, layers = chain_of_layers()
    boxes, edges = folded(made, [()] * len(layers), 3)
    assert len(boxes) == len(made)
    assert edges == edges_of(made)


def test_a_layer_that_is_called_twice_is_two_boxes() -> None:
    made, layers = chain_of_layers()
    again = Line(8, "multiply", "multiply", (7, 1), (), FLOAT, 0)
    boxes, edges = folded([*made, again], [*layers, ("net", "0")], 9)
    assert [box.title for box in boxes] == ["leaf", "net/0", "net/1", "sum", "multiply"]
    assert edges == [(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)]
