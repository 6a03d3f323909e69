"""Try the calls of modules or of single functions, in a process of its own; print what comes.

python -m tests.calls.worker scipy.signal
python -m tests.calls.worker scipy.signal.lfilter scipy.linalg.expm
"""

import contextlib
import importlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import scipy.datasets

from tests.calls.arguments import Place, places_of
from tests.calls.examples import Unit, calls_of
from tests.calls.names import MODULES, copied, named, ours, things_of
from tests.calls.outcomes import FLAGGED, Outcome, Slopes, outcome_of, slopes_of

__all__ = ["tried"]


def prepare() -> None:
    """Let the examples run without a screen, and without downloads."""
    os.environ["MPLBACKEND"] = "Agg"
    rows, columns = np.mgrid[:24, :32]
    picture = np.rint(128 + 100 * np.sin(rows / 3) * np.cos(columns / 5)).astype(np.uint8)
    colours = np.stack([picture, picture.T[:24, :24].repeat(2, 1)[:, :32], 255 - picture], -1)
    scipy.datasets.ascent = lambda: picture
    scipy.datasets.face = lambda gray=False: picture if gray else colours
    scipy.datasets.electrocardiogram = lambda: np.sin(np.arange(2160) / 20) ** 9


def tried(name: str, thing: Any) -> Iterator[dict[str, Any]]:
    """Try every argument of every call that the examples of one thing make."""
    seen: Counter[tuple[int, Place]] = Counter()
    for unit in calls_of(name, thing):
        for place, value in places_of(unit):
            key = id(unit.steps[place.step]), place
            if seen[key] < 2:
                result = of_argument(thing, unit, place, value)
                if result is not None:
                    seen[key] += 1
                    yield {
                        "name": name,
                        "call": unit.number,
                        "place": str(place),
                        "what": ".".join(s.what or "()" for s in unit.steps),
                        **result,
                    }


def of_argument(thing: Any, unit: Unit, place: Place, value: Any) -> dict[str, Any] | None:
    """Try one argument under the library's name, under that of a copy, and under ours."""
    measured = slopes_of(thing, unit, place, value)
    if measured is None:
        return None
    found: dict[str, Any] = {
        "smooth": "constant" if measured.constant else "unclear" if measured.unclear else "smooth"
    }
    with dispatching():
        found["own"] = told(judged(thing, thing, unit, place, value, measured))
    if not FLAGGED:
        for way, other in (("copy", copied(unit.name)), ("ours", ours(unit.name))):
            if other is not None:
                found[way] = told(judged(other, thing, unit, place, value, measured))
    return found


def judged(
    tried: Any, thing: Any, unit: Unit, place: Place, value: Any, measured: Slopes
) -> Outcome:
    """Judge by the slopes at the place, or beside it where those at the place tell nothing.

    Examples like round numbers, at which ties and kinks are, and jumps: differences are across
    them. Among
    many samples they lie so close that only shorter steps stay between them.
    """
    outcome = outcome_of(tried, unit, place, value, measured)
    moves = np.random.default_rng(1).normal(size=value.shape)
    typical = np.where(value == 0, np.sqrt(np.mean(value**2)) or 1.0, value)
    for scale, finer in ((value, 1.0), (typical, 1.0), (value, 0.01)):
        if outcome.kind not in ("wrong", "detached"):
            break
        beside = value + 3e-3 * moves * scale
        again = slopes_of(thing, unit, place, beside, as_given=False, finer=finer)
        if again is not None:
            outcome = outcome_of(tried, unit, place, beside, again)
    return outcome


def told(outcome: Outcome) -> list[str]:
    return [outcome.kind, outcome.story]


def dispatching() -> Any:
    """Let scikit-learn take other arrays than NumPy's, where SciPy does."""
    if not FLAGGED or "sklearn" not in sys.modules:
        return contextlib.nullcontext()
    return importlib.import_module("sklearn").config_context(array_api_dispatch=True)


def main() -> None:
    prepare()
    things = chain.from_iterable(
        things_of(each) if each in MODULES else [(each, named(each))] for each in sys.argv[1:]
    )
    for name, thing in things:
        start = time.perf_counter()
        for result in tried(name, thing):
            print(json.dumps(result), flush=True)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")
        print(f"{time.perf_counter() - start:7.2f} s  {name}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
