"""Try the calls of one package through `ta.differentiable`, and print what comes of each.

python -m tests.calls.libraries.worker fluids
python -m tests.calls.libraries.worker fluids own       as they stand, without it
"""

import contextlib
import copy
import json
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from tape_ad.record.primals import primal
from tests.calls.arguments import Place, places_of
from tests.calls.examples import OPERATORS, Step, TooSlow, in_time, replayed
from tests.calls.libraries.listening import Call, calls_of_library
from tests.calls.libraries.packages import LIBRARIES
from tests.calls.outcomes import numbers_of, slopes_of, told
from tests.calls.worker import judged

__all__ = ["tried_calls"]

SECONDS = 20


@frozen
class Copied:
    """What `ta.differentiable` makes of a function, a class, or a method of an object."""

    thing: Any

    def replay(self, steps: tuple[Step, ...]) -> Any:
        """Do the steps of a call, each through `ta.differentiable`."""
        thing = self.thing
        for step in steps:
            if step.what.startswith("."):
                thing = getattr(thing, step.what[1:])
                continue
            kind = step.what.removeprefix("reflected ")
            if kind in OPERATORS:
                pair = (thing, *step.args) if kind == step.what else (*step.args, thing)
                thing = ta.differentiable(OPERATORS[kind])(*pair)
                continue
            function = getattr(thing, step.what) if step.what else thing
            result = ta.differentiable(function)(*step.args, **step.kwargs)
            thing = thing if result is None else result
        return thing


def tried_calls(package: str, *, copies: bool = True) -> Iterator[dict[str, Any]]:
    """Try each argument of each call."""
    for call in calls_of_library(LIBRARIES[package]):
        if copies:
            yield {"name": call.unit.name, "plain": plain_result(call)}
        for place, value in places_of(call.unit):
            yield from tried(call, place, value, Copied(call.thing) if copies else call.thing)


def tried(call: Call, place: Place, value: Any, thing: Any) -> Iterator[dict[str, Any]]:
    """Compare the slope of a handle in one place with differences of the original."""
    measured = slopes_of(call.thing, call.unit, place, value)
    if measured is None:
        return
    outcome = judged(thing, call.thing, call.unit, place, value, measured)
    smooth = "constant" if measured.constant else "unclear" if measured.unclear else "smooth"
    yield {
        "name": call.unit.name,
        "place": str(place),
        "smooth": smooth,
        "kind": outcome.kind,
        "story": outcome.story,
    }


def plain_result(call: Call) -> str:
    """Say whether plain arrays through the copy give what the original gives, to the last bit."""
    original, again = outcome(call, call.thing), outcome(call, call.thing)
    if original != again or not isinstance(original, dict):
        return "unsettled"
    copied = outcome(call, Copied(call.thing))
    if original == copied:
        return "same"
    return f"{call.unit.name} {call.unit.number}: {str(original)[:200]} / {str(copied)[:200]}"


def outcome(call: Call, thing: Any) -> Any:
    """Give the bits of the numbers in a result, or the error."""
    np.random.seed(0)  # noqa: NPY002 - what examples draw from
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            with in_time(SECONDS):
                steps = copy.deepcopy(call.unit.steps)
                numbers = numbers_of(replayed(thing, steps))
        except TooSlow:
            return "slow"
        except Exception as error:
            return told(error) if thing is not call.thing else type(error).__name__
    return {key: bits(primal(number)) for key, number in numbers.items()}


def bits(number: Any) -> Any:
    """Give a dtype, a shape and the bytes of a number or an array."""
    array = np.asarray(number)
    return array.dtype.str, array.shape, array.tobytes().hex()[:400]


def main() -> None:
    os.environ["MPLBACKEND"] = "Agg"
    output = sys.stdout
    counts: Counter[str] = Counter()
    with contextlib.redirect_stdout(sys.stderr):
        for result in tried_calls(sys.argv[1], copies="own" not in sys.argv[2:]):
            print(json.dumps(result), file=output, flush=True)
            counts[result.get("kind", "")] += 1
    sys.stderr.write(f"{dict(counts)}\n")


if __name__ == "__main__":
    main()
