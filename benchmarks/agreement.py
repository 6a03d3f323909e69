"""Whether all libraries compute the same, which comes before any time."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.libraries.plain import Outcome

__all__ = ["TOLERANCE", "disagreements", "distance"]

TOLERANCE = 1e-6
"""By how much values and derivatives may differ, relative to the largest element, in float64."""


def disagreements(ours: Sequence[Outcome], others: Mapping[str, Sequence[Outcome]]) -> list[str]:
    """Say where the values and derivatives of other libraries differ from ours.

    Parameters
    ----------
    ours : sequence of (value, dict of derivatives)
        Call by call: a training step has to leave the same parameters behind.
    others : dict of str to such sequences
        By library. One without derivatives gives values alone.
    """
    found = []
    for library, outcomes in others.items():
        for call, (mine, theirs) in enumerate(zip(ours, outcomes, strict=True)):
            pairs = {"value": (mine[0], theirs[0])} if theirs[0] is not None else {}
            if theirs[1] and mine[1].keys() != theirs[1].keys():
                found.append(f"{library}: derivatives by {list(theirs[1])}, not {list(mine[1])}")
                continue
            pairs |= {f"derivative by {name}": (mine[1][name], d) for name, d in theirs[1].items()}
            for what, (one, other) in pairs.items():
                off = distance(one, other)
                if not off <= TOLERANCE:
                    found.append(f"{library}: {what} in call {call} is {off:.1e} off")
    return found


def distance(a: Any, b: Any) -> float:
    """The largest difference, relative to the largest element; inf where the shapes differ."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return np.inf
    largest = max(float(np.max(np.abs(a))), float(np.max(np.abs(b))))
    return float(np.max(np.abs(a - b))) / largest if largest else 0.0
