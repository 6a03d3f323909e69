"""Random calls of every function, compared with NumPy's value and with differences.

python -m tests.fuzz.calls --seconds 3600 --seed 0     look for calls that go wrong
python -m tests.fuzz.calls --seed 0 --number 123       try one call again
python -m tests.fuzz.calls --module tape_ad.scipy.signal       of functions that stand for SciPy's
python -m tests.fuzz.calls --refusals                  list what NumPy computes and we refuse
"""

import argparse
import time
import warnings
from collections import Counter

import numpy as np

from tape_ad.base.trees import flatten
from tests.fuzz.drawing import Call, draw_call
from tests.fuzz.known import is_known
from tests.fuzz.problems import Attempt, Problem, in_time, is_inexact, problems_of

__all__ = ["tried"]


def tried(seed: int, number: int, module: str = "") -> tuple[Call, Problem | None]:
    """Draw a call and look for a problem with it; the same for the same numbers."""
    rng = np.random.default_rng([seed, number])
    call = draw_call(rng, module)
    leaves = flatten((call.args, call.kwargs))
    can = [i for i, leaf in enumerate(leaves) if type(leaf) is np.ndarray and is_inexact(leaf)]
    if not can:
        return call, None
    chosen = [i for i in can if rng.random() < 0.7] or can[:1]
    attempt = Attempt(call, leaves, tuple(chosen))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return call, in_time(lambda: next(problems_of(attempt, rng), None))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.calls", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, help="try one call alone")
    parser.add_argument("--module", default="", help="tape_ad. is all that stand for SciPy's")
    parser.add_argument("--refusals", action="store_true", help="show what we refuse, too")
    chosen = parser.parse_args()
    end, seen = time.monotonic() + chosen.seconds, Counter[tuple[str, str]]()
    number, refusals = chosen.number or 0, 0
    while time.monotonic() < end:
        call, problem = tried(chosen.seed, number, chosen.module)
        refused = problem is not None and problem.kind == "refused"
        refusals += refused
        if problem is not None and not is_known(call, problem) and chosen.refusals >= refused:
            key = (call.name.partition(" ")[0], problem.kind)
            seen[key] += 1
            if seen[key] == 1:
                print(f"--seed {chosen.seed} --number {number}: {problem.kind}", flush=True)
                print(f"    {call}\n    {problem.story}"[:1500], flush=True)
        if chosen.number is not None:
            break
        number += 1
    found = sum(seen.values())
    print(f"{number} calls, {refusals} refused, {found} problems of {len(seen)} kinds")


if __name__ == "__main__":
    main()
