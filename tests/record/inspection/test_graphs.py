"""The graph as DOT and as SVG."""

import shutil
import subprocess
from xml.etree import ElementTree as ET

import pytest

from tape_ad.record.inspection.pages.graphs import (
    as_dot,
    as_svg,
    boxes_of,
    edges_of,
    laid_out,
    operation,
    shortened,
)
from tape_ad.record.inspection.pages.lines import Group, Line

LAYERS = Group((), [Group(("a",), [0, 2]), 1, 3])
SVG = "{http://www.w3.org/2000/svg}"


def lines(name: str = "a/w") -> list[Line]:
    return [
        Line(0, "leaf", f"leaf {name}", (), (3,), "float64", 0, name=name),
        Line(1, "leaf", "leaf", (), (3,), "float64", 0),
        Line(2, "multiply", "multiply %1, %0", (1, 0), (3,), "float64", 48),
        Line(3, "power", "power %2, 2", (2, 2), (3,), "float64", 24),
    ]


@pytest.fixture(params=["dot", None])
def graphviz(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param is None:
        monkeypatch.setattr(shutil, "which", lambda program: None)
    elif shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")


def test_edges_are_listed_once() -> None:
    assert edges_of(lines()) == [(1, 2), (0, 2), (2, 3)]


def test_a_box_leaves_out_the_nodes_and_keeps_the_shapes_of_constants() -> None:
    line = Line(4, "linear", "linear float64[8,3], %0, %1", (0, 1), (8, 2), "float64", 0)
    assert operation(line) == "linear float64[8,3]"


def test_dot_has_layers_as_clusters() -> None:
    text = as_dot(boxes_of(lines()), edges_of(lines()), LAYERS)
    assert "subgraph cluster_c_0 {" in text
    assert 'label="a";' in text
    assert 'n3 [label="power 2\\nfloat64[3]"' in text
    assert text.count(" -> ") == 3


@pytest.mark.usefixtures("graphviz")
def test_the_picture_has_a_box_a_node_and_a_way_an_edge() -> None:
    root = ET.fromstring(as_svg(boxes_of(lines()), edges_of(lines()), LAYERS))  # noqa: S314 - ours
    assert [each.get("href") for each in root.iter(f"{SVG}a")] == ["#n0", "#n1", "#n2", "#n3"]
    kinds = [each.get("class") for each in root.iter(f"{SVG}a")]
    assert kinds == ["parameter", "leaf", "node", "node"]
    assert sum(each.get("class") == "way" for each in root.iter(f"{SVG}path")) == 3


@pytest.mark.usefixtures("graphviz")
@pytest.mark.parametrize("name", ['<script>"&\\', "größe/重み", "a\nb\x00", '"]; n9 [label="'])
def test_odd_names_are_only_names(name: str) -> None:
    boxes = boxes_of(lines(name))
    root = ET.fromstring(as_svg(boxes, edges_of(lines()), LAYERS))  # noqa: S314 - ours
    assert len(list(root.iter(f"{SVG}a"))) == 4
    assert boxes[0].title in [each.text for each in root.iter(f"{SVG}text")]


@pytest.mark.usefixtures("graphviz")
def test_nothing_is_a_picture_too() -> None:
    assert as_svg([], [], Group(())).startswith("<svg")


@pytest.mark.parametrize("failing", [OSError, subprocess.TimeoutExpired("dot", 1), ValueError])
def test_a_graphviz_that_fails_is_as_good_as_none(
    monkeypatch: pytest.MonkeyPatch, failing: BaseException
) -> None:
    def run(*args: object, **options: object) -> None:
        raise failing

    monkeypatch.setattr(shutil, "which", lambda program: "/usr/bin/dot")
    monkeypatch.setattr(subprocess, "run", run)
    assert laid_out(boxes_of(lines()), edges_of(lines()), LAYERS).frames == []


def test_long_names_lose_their_middle() -> None:
    assert shortened("x" * 30) == "x" * 30
    assert (
        shortened("decoder.blocks.11.attention.out_proj.weight") == "decoder.blocks…out_proj.weight"
    )
