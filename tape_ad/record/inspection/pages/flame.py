"""A flame graph: time by the lines of a program, each above the one that called it, as SVG."""

import zlib
from collections.abc import Mapping

from attrs import define, field

from tape_ad.record.inspection.pages.markup import Markup, tag

__all__ = ["collapsed", "flame_graph"]

WIDTH = 1200
ROW = 18
LETTER = 6.6
"""The width of a letter of a monospaced font of 11 px."""

THINNEST = 0.4
"""A frame that is thinner than so many pixels is left out."""

Stacks = Mapping[tuple[str, ...], float]
"""Seconds by the frames that they were spent in, the outermost first."""


@define
class Frame:
    """A frame with all time that was spent in it and above it."""

    seconds: float = 0.0
    above: dict[str, "Frame"] = field(factory=dict)


def collapsed(stacks: Stacks) -> str:
    """Write stacks as other tools for flame graphs read them: frames, and microseconds.

    Examples
    --------
    >>> print(collapsed({("main (a.py:3)", "exp"): 2e-6}))
    main (a.py:3);exp 2
    """
    lines = (
        f"{';'.join(frame.replace(';', ',') for frame in stack)} {round(seconds * 1e6)}"
        for stack, seconds in stacks.items()
    )
    return "\n".join(sorted(line for line in lines if not line.endswith(" 0")))


def flame_graph(stacks: Stacks) -> Markup:
    """Draw stacks: the outermost frame at the bottom, each as wide as its share of the time.

    Parameters
    ----------
    stacks : mapping of tuple of str to float

    Returns
    -------
    Markup
        SVG, which needs no style sheet. A frame's whole name and time show when it is pointed at.
    """
    root = Frame()
    for stack, seconds in stacks.items():
        root.seconds += seconds
        frame = root
        for name in stack:
            frame = frame.above.setdefault(name, Frame())
            frame.seconds += seconds
    boxes: list[tuple[int, float, str, Frame]] = []
    waiting = [(0, 0.0, "all", root)]
    scale = WIDTH / root.seconds if root.seconds else 0.0
    while waiting:  # no recursion, as stacks may be deep
        depth, left, name, frame = waiting.pop()
        if frame.seconds * scale < THINNEST:
            continue
        boxes.append((depth, left, name, frame))
        for name_above, above in frame.above.items():
            waiting.append((depth + 1, left, name_above, above))
            left += above.seconds * scale
    height = (max((depth for depth, *_ in boxes), default=0) + 1) * ROW
    drawn = [
        box_of(name, frame, left, height - (depth + 1) * ROW, scale, root.seconds)
        for depth, left, name, frame in boxes
    ]
    return tag(
        "svg",
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width="100%",
        role="img",
        aria_label="time by source line",
        font_family="ui-monospace, monospace",
        font_size=11,
    )


def box_of(name: str, frame: Frame, left: float, top: int, scale: float, whole: float) -> Markup:
    """Draw a frame."""
    width = frame.seconds * scale
    fits = int((width - 6) / LETTER)
    shown = name if len(name) <= fits else name[: fits - 1] + "…" if fits > 3 else ""
    told = f"{name}: {frame.seconds * 1e3:.3f} ms, {frame.seconds / whole:.1%}"
    hue, light = zlib.crc32(name.encode()) % 45 + 10, 62 + zlib.crc32(name.encode()) // 45 % 12
    return tag(
        "g",
        tag("title", told),
        tag(
            "rect",
            x=f"{left:.2f}",
            y=top,
            width=f"{max(width - 0.5, 0.2):.2f}",
            height=ROW - 1,
            rx=2,
            fill=f"hsl({hue} 80% {light}%)",
        ),
        tag("text", shown, x=f"{left + 3:.2f}", y=top + 13, fill="#222") if shown else Markup(""),
    )
