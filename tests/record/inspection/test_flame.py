"""Flame graphs."""

import xml.etree.ElementTree as ET

from tape_ad.record.inspection.profiling import WIDTH, collapsed, flame_graph

SVG = "{http://www.w3.org/2000/svg}"
STACKS = {("main (a.py:1)", "f (a.py:2)", "exp"): 3.0, ("main (a.py:1)", "<b>;&"): 1.0}


def boxes() -> dict[str, tuple[float, float, float]]:
    """Read the frames of a picture: where each is, and how wide."""
    found = {}
    for group in ET.fromstring(flame_graph(STACKS)):  # noqa: S314 - it is our own
        title, rect = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None
        assert rect is not None
        name = str(title.text).rpartition(":")[0]
        found[name] = tuple(float(rect.attrib[key]) for key in ("x", "y", "width"))
    return found  # type: ignore[return-value]  # three numbers each


def test_frames_are_as_wide_as_their_share_and_stand_on_their_callers() -> None:
    found = boxes()
    assert set(found) == {"all", "main (a.py:1)", "f (a.py:2)", "exp", "<b>;&"}
    assert found["all"][2] == WIDTH - 0.5
    assert found["exp"][2] == WIDTH * 3 / 4 - 0.5
    assert found["<b>;&"] == (WIDTH * 3 / 4, found["f (a.py:2)"][1], WIDTH / 4 - 0.5)
    assert found["exp"][1] < found["f (a.py:2)"][1] < found["main (a.py:1)"][1] < found["all"][1]


def test_a_thousand_frames_one_above_the_other() -> None:
    stack = tuple(f"f{i}" for i in range(1000))
    assert flame_graph({stack: 1.0}).count("<rect") == 1001


def test_stacks_as_text() -> None:
    assert collapsed(STACKS).splitlines() == [
        "main (a.py:1);<b>,& 1000000",
        "main (a.py:1);f (a.py:2);exp 3000000",
    ]
    assert collapsed({("quick",): 1e-9}) == ""
