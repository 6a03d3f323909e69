"""The section of docs/coverage.md on calls of other libraries, from the results that are kept."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.calls.counting import KINDS

__all__ = ["RESULTS", "section", "table"]

RESULTS = Path(__file__).with_name("results.json")

HEADER = (
    "| module | calls | right under the library's name | right under ours | clear error "
    "| cryptic error | gradient lost | wrong | right |"
)

TITLE = "## Calls of SciPy and scikit-learn"

INTRODUCTION = """\
The examples of SciPy's and scikit-learn's own documentation, as a list of calls that nobody here
has chosen. `python -m tests.calls --write` takes every call that a docstring's examples make of
what they document, and makes it again with a handle in place of each argument that is a real number
or array, one at a time; each of those is one of the *calls* here, and so is each argument that is a
function, in whose place one stands that closes over a handle: it multiplies what it is given first,
and what it gives. The slope of a random projection
of the result, along a random direction, is compared with differences of the library itself. A call
is made under the library's own name, without and with `SCIPY_ARRAY_API=1` (scikit-learn's within
`config_context(array_api_dispatch=True)`, and all arrays of it in one namespace), and under the
name of ours: `tape_ad.scipy.signal` stands for `scipy.signal`. It counts as what the worst of these
gives if that is wrong, lost or cryptic, and else as the best. An error is
*clear* if it speaks of the handle, and says what to write. A refusal of an argument that the result
does not depend on, such as a tolerance, is not counted.
"""

SORTS = {
    "the library's name": "right under the library's own name",
    "ours": "right under our name, if not under the library's",
    "an error for some arguments": "right for some arguments, an error for others",
    "an error": "an error",
    "no real argument in the examples": "not counted, for its examples show no real argument that "
    "the result is smooth in",
}


def section() -> list[str]:
    """Write the section: the table, what goes wrong, and each name of each module."""
    results: Mapping[str, Any] = json.loads(RESULTS.read_text("utf-8"))
    lines = [TITLE, "", INTRODUCTION]
    lines += table({module: result["counts"] for module, result in results.items()})
    bad = [text for result in results.values() for text in result["bad"]]
    if bad:
        lines += ["", "Of these calls, with the step and the argument that was the handle:", ""]
        lines += [f"- {text}" for text in bad]
    for module, result in results.items():
        lines += ["", f"### {module}", ""]
        for sort, told in SORTS.items():
            names = result["names"].get(sort)
            if names:
                several = ", ".join(f"`{name.removeprefix(module + '.')}`" for name in names)
                lines.append(f"- {told}: {several}")
    return [*lines, ""]


def table(counts: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Write the lines of the table."""
    total = {kind: sum(each[kind] for each in counts.values()) for kind in KINDS}
    lines = [HEADER, "|---" * (HEADER.count("|") - 1) + "|"]
    for module, each in {**{f"`{m}`": c for m, c in counts.items()}, "all": total}.items():
        number = sum(each.values())
        right = each["right"] + each["right under ours"]
        share = f"{100 * right / number:.0f} %" if number else ""
        cells = (module, number, *(each[kind] for kind in KINDS), share)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines
