"""What the pages on coverage say of calls of other libraries, from the results that are kept."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.calls.counting import OTHERS, WAYS

__all__ = ["RESULTS", "section", "summary", "table"]

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

CALLS = """\
Of {calls:,} calls in the examples of its documentation {right:,} are right
([how they are counted](../coverage.md#calls-of-scipy-and-scikit-learn)).
"""

INTRODUCTION = """\
`python -m tests.calls --write` takes every call that a docstring's examples make of what they
document, and makes it again with a handle in place of each argument that is a real number or array,
one at a time; each of those is one of the *calls* here. In place of an argument that is a function
stands one that closes over a handle: it multiplies its first argument, and its result. The slope of
a random projection of the result, along a random direction, is compared with differences of the
library itself. A call is made in four ways, and each column counts those that are right:

- as it stands: the library's own function is called with a handle;
- with SciPy's flag: the same with `SCIPY_ARRAY_API=1`, all arrays of the call in one namespace
  (scikit-learn's within `config_context(array_api_dispatch=True)`);
- under `ta.differentiable`: by a copy, `ta.differentiable(scipy.signal).lfilter`;
- under `ta.scipy`: by the function of ours, `ta.scipy.signal.lfilter`
  (scikit-learn's in `ta.interop.sklearn`).

A call counts as its worst way if that is wrong, lost or cryptic, and otherwise as its best. An
error is *clear* if it speaks of the handle, and says what to write. Refusing an argument that the
result does not depend on, such as a tolerance, is not counted.
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


def kept_results() -> Mapping[str, Any]:
    """Read what the last count has kept of each module."""
    results: Mapping[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    return results


def summary(links: Mapping[str, str]) -> Iterator[str]:
    """Write the summary: the table, with a link for each module, and how calls are counted."""
    counts = {module: result["counts"] for module, result in kept_results().items()}
    linked = {f"[`{module}`]({links[module]})": each for module, each in counts.items()}
    yield from (TITLE, "", SUMMARY.format(**total_of(counts)), *table(linked), "", INTRODUCTION)


def section(module: str) -> Iterator[str]:
    """Write what becomes of each name of a module, and what goes wrong."""
    result = kept_results()[module]
    yield from (f"## Calls of {module}\n", CALLS.format(**total_of({module: result["counts"]})))
    for sort, told in SORTS.items():
        names = result["names"].get(sort)
        if names:
            several = ", ".join(f"`{name.removeprefix(module + '.')}`" for name in names)
            yield f"- {told}: {several}"
    if result["bad"]:
        yield "\nThese calls go wrong; the step of the example and the argument are named.\n"
        yield from (f"- {text}" for text in result["bad"])
    yield ""


def total_of(counts: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Add the counts of all modules."""
    kinds = ("calls", *WAYS, "right", *OTHERS)
    return {kind: sum(each[kind] for each in counts.values()) for kind in kinds}


def table(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Write the lines of the table."""
    lines = [HEADER, "|---" * (HEADER.count("|") - 1) + "|"]
    total = total_of(counts)
    for module, each in {"all": total, **counts}.items():
        lines.append(f"| {' | '.join(map(str, (module, *(each[kind] for kind in total))))} |")
    return lines
