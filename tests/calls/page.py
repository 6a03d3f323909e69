"""The section of docs/coverage.md on calls of other libraries, from the results that are kept."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.calls.counting import OTHERS, WAYS

__all__ = ["RESULTS", "section", "table"]

RESULTS = Path(__file__).with_name("results.json")

HEADER = (
    f"| module | calls | {' | '.join(WAYS.values())} | in any way "
    "| clear error | cryptic error | gradient lost | wrong |"
)

TITLE = "## Calls of SciPy and scikit-learn"

SUMMARY = """\
Of {calls:,} calls in the examples of their own documentation {right:,} are right: {own:,} as they
stand, {flag:,} with SciPy's flag, {copy:,} under `ta.differentiable` and {ours:,} under `ta.scipy`.
The others are errors that say what to write ({clear:,}), errors of the libraries that do not
({cryptic:,}), or results that have lost the gradient ({detached:,}) or have another ({wrong:,}).
"""

INTRODUCTION = """\
The examples are a list of calls that nobody here has chosen. `python -m tests.calls --write` takes
every call that a docstring's examples make of
what they document, and makes it again with a handle in place of each argument that is a real number
or array, one at a time; each of those is one of the *calls* here, and so is each argument that is a
function, in whose place one stands that closes over a handle: it multiplies what it is given first,
and what it gives. The slope of a random projection
of the result, along a random direction, is compared with differences of the library itself. A call
is made in four ways, and each column counts those that are right:

- as it stands: the library's own function is called with a handle;
- with SciPy's flag: the same with `SCIPY_ARRAY_API=1`, all arrays of the call in one namespace
  (scikit-learn's within `config_context(array_api_dispatch=True)`);
- under `ta.differentiable`: by a copy, `ta.differentiable(scipy.signal).lfilter`;
- under `ta.scipy`: by the function of ours, `ta.scipy.signal.lfilter`
  (scikit-learn's in `ta.interop.sklearn`).

It counts as what the worst of these
gives if that is wrong, lost or cryptic, and else as the best. An error is
*clear* if it speaks of the handle, and says what to write. A refusal of an argument that the result
does not depend on, such as a tolerance, is not counted.
"""

SORTS = {
    **{way: f"right {told}" for way, told in WAYS.items()},
    "several": "right in one way or another",
    "an error for some arguments": "right for some arguments, an error for others",
    "an error": "an error",
    "no real argument in the examples": "not counted, for its examples show no real argument that "
    "the result is smooth in",
}
"""What comes of a name's calls; of the ways that are right for all of them, the first."""


def section() -> list[str]:
    """Write the section: the table, what goes wrong, and each name of each module."""
    results: Mapping[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    counts = {module: result["counts"] for module, result in results.items()}
    lines = [TITLE, "", SUMMARY.format(**total_of(counts)), *table(counts), "", INTRODUCTION]
    bad = [text for result in results.values() for text in result["bad"]]
    if bad:
        lines += ["Of these calls, with the step and the argument that was the handle:", ""]
        lines += [f"- {text}" for text in bad]
    for module, result in results.items():
        lines += ["", f"### {module}", ""]
        for sort, told in SORTS.items():
            names = result["names"].get(sort)
            if names:
                several = ", ".join(f"`{name.removeprefix(module + '.')}`" for name in names)
                lines.append(f"- {told}: {several}")
    return [*lines, ""]


def total_of(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Add the counts of all modules."""
    kinds = ("calls", *WAYS, "right", *OTHERS)
    return {kind: sum(each[kind] for each in counts.values()) for kind in kinds}


def table(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Write the lines of the table."""
    lines = [HEADER, "|---" * (HEADER.count("|") - 1) + "|"]
    total = total_of(counts)
    for module, each in {"all": total, **{f"`{m}`": c for m, c in counts.items()}}.items():
        lines.append(f"| {' | '.join(map(str, (module, *(each[kind] for kind in total))))} |")
    return lines
