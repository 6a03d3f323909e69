"""The pages that say of each function what is known of its derivative, and how it is checked."""

import difflib
import importlib
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from attrs import frozen

import tape_ad.scipy.linalg
import tape_ad.scipy.special  # noqa: F401 - they add their rules to the tables
from tape_ad.base.naming import function_name
from tape_ad.rules import RULES, load_lazy_tables
from tape_ad.rules.base import Constant, Derivation, Filled, Refused, Rule
from tests.calls import page as calls
from tests.coverage import kept
from tests.coverage.conventions import CONVENTIONS
from tests.coverage.topics import (
    HANDLES,
    INNER,
    METHODS,
    NEWER,
    OTHERS,
    OURS,
    PACKAGES,
    PAGES,
    SPOKEN,
    TOPICS,
)
from tests.rules.makers import makers_met
from tests.rules.rows import APART, ROWS
from tests.rules.table import Row, kinds
from tests.rules.test_special_accuracy import AGAINST_MPMATH

load_lazy_tables()

__all__ = ["Line", "changes", "documents", "lines"]

OWN = "without a rule of its own"
KINDS = ("rule", "composition", "piecewise constant", "constant", "refused")

COLUMNS = (
    *("function", "kind", "with respect to", "dtypes", "compared with"),
    "where it is not smooth",
)

PUBLISHED = {
    "differentiable": "SciPy's own code",
    "distribution": "distributions",
    "class": "classes",
    "type": "classes",
}
"""What is said of names without a rule of their own, by their type."""

HEAD = """\
# What can be differentiated

<!-- Written by `python -m tests.coverage`; do not edit. -->

Nearly all of NumPy and SciPy. A page for each module lists every function that takes handles; any
other function of NumPy or SciPy raises `NoRuleError` on a handle. What SciPy writes in Python is
its own code under `ta.scipy`, and takes handles as any code does under `ta.differentiable`
([other libraries](other-libraries.md)).

Derivatives are of any order and in both modes, for one seed or a stack of them. The tests check the
second order, and the modes against each other.
"""

COLUMNS_TOLD = """\
## What the columns of the pages say

- **kind**: a *rule* records one node or a few; a *composition* is written in functions that have
  rules, and records theirs; a *piecewise constant* function gives plain data, as does one that is
  not about values; a *constant* is a handle that depends on nothing; a *refused* function raises
  the error that is given. Names without a rule of their own stand below the tables.
- **with respect to**: the operands that have a derivative, counted from the first.
- **dtypes**: what it is checked on. Real numbers are float64 and float32, alone and mixed; a result
  in single precision has a gradient in single precision.
- **compared with**: what else computes the value and the gradient in the tests, besides central
  differences, which every function is compared with. "JAX (3 of 8)" means in 3 of the 8 choices of
  shapes, options and dtypes that the function is checked in, and "JAX" in all.
- **where it is not smooth**: what the derivative is there; see
  [derivative conventions](derivative-conventions.md).
"""

PAGE_HEAD = """\
# {title}

<!-- Written by `python -m tests.coverage`; do not edit. -->

[What the columns say](../coverage.md#what-the-columns-of-the-pages-say), and
[all modules](../coverage.md).
"""


@frozen
class Line:
    """What a page says of one function.

    Attributes
    ----------
    topic : str
    name : str
        As users write it.
    since : str
        The first release that has it, where it is later than the oldest promised: "NumPy 2.1".
    cells : tuple of str
        What stands under the columns after the name.
    """

    topic: str
    name: str
    since: str
    cells: tuple[str, ...]

    def __str__(self) -> str:
        since = f" ({self.since}+)" if self.since else ""
        return table_row(f"`{self.name}`{since}", *self.cells)


def table_row(*texts: str) -> str:
    """Write a line of a table."""
    return f"| {' | '.join(texts)} |"


def public_names() -> dict[Any, str]:
    """Find the names that functions can be imported by."""
    modules = {
        "np": np,
        "np.linalg": np.linalg,
        "np.fft": np.fft,
        "np.emath": np.emath,
        "np.lib.stride_tricks": np.lib.stride_tricks,
        **{name: importlib.import_module(name) for name in PACKAGES},
    }
    names: dict[Any, str] = {}
    for module, holder in modules.items():
        public = getattr(holder, "__all__", dir(holder))
        for function in RULES:
            name = function_name(function)
            if name in public and getattr(holder, name, None) is function:
                names.setdefault(function, f"{module}.{name}")
    return names


def spoken(function: Any, names: dict[Any, str]) -> str:
    """Give the name that users know a function by."""
    if function in names:
        return names[function]
    full = f"{getattr(function, '__module__', None) or 'numpy'}.{function_name(function)}"
    if full in SPOKEN:
        return SPOKEN[full]
    of_ufunc = inspect.isbuiltin(function)
    return f"np.{function_name(function)}" if of_ufunc else function_name(function)


def topic_of(name: str) -> str:
    """Find the topic that a function stands under."""
    for beginning, topic in OURS.items():
        if name.startswith(beginning):
            return topic
    if not name.startswith("np."):
        return HANDLES if name in SPOKEN.values() else INNER
    plain = name.removeprefix("np.").split()[0]
    if "." in plain:
        return METHODS
    return next((topic for topic, names in TOPICS.items() if plain in names.split()), OTHERS)


def ordinals(positions: Iterable[int]) -> str:
    return ", ".join(("1st", "2nd", "3rd", "4th", "5th", "6th")[i] for i in sorted(positions))


def operands(function: Any, entry: Any, rows: list[Row]) -> str:
    """Say which operands have a derivative: all of them, or some."""
    if function in APART:
        return "all"
    if isinstance(entry, Rule):
        used, count = makers_met()[function], max(len(entry.makers), 1)
    else:
        used = {i for row in rows for i in row.differentiable}
        count = max(len(row.operands) for row in rows)
    return "all" if len(used) == count else ordinals(used)


def oracles(function: Any, rows: list[Row]) -> str:
    """List what else the function is compared with, and in how many of its checks."""
    count = sum(len(kinds(row)) for row in rows)
    compared = {
        "JAX": sum(len(row.kinds_in_jax) for row in rows),
        "PyTorch": sum(len(row.kinds_in_torch) for row in rows),
    }
    said = [
        name if number == count else f"{name} ({number} of {count})"
        for name, number in compared.items()
        if number
    ]
    if function in {entry[0] for entry in AGAINST_MPMATH}:
        said.append("mpmath")
    return ", ".join(said)


def cells(function: Any, entry: Any, rows: list[Row], name: str) -> tuple[str, ...]:
    """Write what stands under the columns."""
    convention = CONVENTIONS.get(name, "")
    if isinstance(entry, Refused):
        return ("refused", "", "", "", entry.instead)
    if isinstance(entry, (Constant, Filled)):
        kind = "piecewise constant" if isinstance(entry, Constant) else "constant"
        return (kind, "", "", "", convention)
    return (
        "composition" if isinstance(entry, Derivation) else "rule",
        operands(function, entry, rows),
        "real, complex" if any(row.complex for row in rows) else "real",
        oracles(function, rows),
        convention,
    )


def lines() -> Iterator[Line]:
    """Make the line of every function in the rule tables, and of what packages have besides."""
    names = public_names()
    rows = defaultdict(list)
    for row in ROWS:
        rows[row.function].append(row)
    said = {function: spoken(function, names) for function in RULES}
    count = Counter(said.values())
    for function, entry in RULES.items():
        name = said[function]
        if count[name] > 1:  # helpers of several modules
            name = f"{name} of {function.__module__.removeprefix('tape_ad.rules.')}"
        yield Line(
            topic_of(name),
            name,
            NEWER.get(name, ""),
            cells(function, entry, rows[function], name),
        )
    for name, thing in implied_names(set(said.values())):
        kind = "class" if isinstance(thing, type) else type(thing).__name__.lower()
        yield Line(topic_of(name), name, NEWER.get(name, ""), (kind,))


def implied_names(said: set[str]) -> Iterator[tuple[str, Any]]:
    """Find the functions and classes that the packages for SciPy publish without a rule."""
    known = set(map(id, RULES))
    for package in PACKAGES:
        if package.startswith("tape_ad.") and package != "tape_ad.nn":
            holder = importlib.import_module(package)
            for name in holder.__all__:
                full, thing = f"{package}.{name}", getattr(holder, name)
                if full not in said and id(thing) not in known and callable(thing):
                    yield full, thing


def counted() -> str:
    """Say which releases the checks are counted with."""
    numpy, scipy_version = (release(module) for module in (np, scipy))
    return f"Counted with NumPy {numpy} and SciPy {scipy_version}."


def release(module: Any) -> str:
    """Give the release of a library without its bug fixes: "2.1"."""
    return ".".join(module.__version__.split(".")[:2])


def documents() -> dict[str, str]:
    """Write the pages, by their files' names within docs/."""
    by_topic = defaultdict(list)
    for line in lines():
        by_topic[line.topic].append(line)
    pages = {
        f"coverage/{stem}.md": page(title, {topic: by_topic[topic] for topic in topics}, modules)
        for stem, (title, topics, modules) in PAGES.items()
    }
    return {"coverage.md": overview(by_topic), **pages}


def overview(by_topic: Mapping[str, Sequence[Line]]) -> str:
    """Write the page that leads to the others."""
    parts = [HEAD, f"{counted()}\n", table_row("functions of", "all", *KINDS, OWN)]
    parts.append("|---" * (len(KINDS) + 3) + "|")
    for stem, (title, topics, _) in PAGES.items():
        kinds = Counter(line.cells[0] for topic in topics for line in by_topic[topic])
        if topics:
            counts = (kinds.total(), *(kinds.pop(kind, 0) for kind in KINDS), kinds.total())
            parts.append(table_row(f"[{title}](coverage/{stem}.md)", *map(str, counts)))
    links = {
        module: f"coverage/{stem}.md" for stem, (*_, modules) in PAGES.items() for module in modules
    }
    toctree = ["```{toctree}", ":hidden:", "", *(f"coverage/{stem}" for stem in PAGES), "```", ""]
    return "\n".join([*parts, "", *calls.summary(links), COLUMNS_TOLD, *toctree])


def page(title: str, topics: Mapping[str, Sequence[Line]], modules: Sequence[str]) -> str:
    """Write the page of a module, or of a part of NumPy."""
    header, rule = table_row(*COLUMNS), "|---" * len(COLUMNS) + "|"
    parts = [PAGE_HEAD.format(title=title)]
    for topic, known_lines in topics.items():
        if known_lines:
            ordered = sorted(known_lines, key=lambda line: line.name.lower())
            parts.append(f"## {'Functions' if topic == title else topic}\n")
            body = [str(line) for line in ordered if line.cells[0] in KINDS]
            parts += [header, rule, *body, ""] if body else []
            parts += [*published(line for line in ordered if line.cells[0] not in KINDS)]
    for module in modules:
        parts += [*kept.section(module), *calls.section(module)]
    return "\n".join(parts)


def published(lines_of_topic: Iterable[Line]) -> Iterator[str]:
    """List names that have no rule of their own, by what they are."""
    found = defaultdict(list)
    for line in lines_of_topic:
        what = PUBLISHED.get(line.cells[0], "functions that are written in others")
        found[f"{what} ({line.since}+)" if line.since else what].append(line.name)
    for what, names in sorted(found.items()):
        several = ", ".join(f"`{name.removeprefix('tape_ad.scipy.')}`" for name in names)
        yield f"- {what}, in `ta.scipy`: {several}"
    yield from [""] if found else []


def known(page: str) -> list[str]:
    """Leave out of a page what the installed NumPy and SciPy are too old for."""
    installed = {
        library: tuple(map(int, release(module).split(".")))
        for library, module in (("NumPy", np), ("SciPy", scipy))
    }

    def is_there(line: str) -> bool:
        found = re.search(r"\((NumPy|SciPy) (\d+)\.(\d+)\+\)", line)
        if found is not None and (int(found[2]), int(found[3])) > installed[found[1]]:
            return False
        # Before SciPy 1.16, functions of matrices take no stacks, which PyTorch is compared on
        return installed["SciPy"] >= (1, 16) or "`tape_ad.scipy.linalg." not in line

    return list(filter(is_there, page.splitlines()))


def uncounted(page: str) -> str:
    """Leave out of a page the numbers of checks, which other releases may have more or less of."""
    of_this_release = r" \(\d+ of \d+\)|^Counted with .*$|^- .*, in `ta\.scipy`: .*\n|^\| \[.*\n"
    return re.sub(of_this_release, "", page, flags=re.MULTILINE)


def changes(folder: Path) -> list[str]:
    """List how the pages in a folder differ from what would be written now."""
    found: list[str] = []
    fresh = documents()
    same = counted() in (folder / "coverage.md").read_text(encoding="utf-8")
    for name, text in fresh.items():
        old = (folder / name).read_text(encoding="utf-8")
        before, after = (old, text) if same else (uncounted(old), uncounted(text))
        found += difflib.unified_diff(known(before), known(after), name, f"{name}, written anew")
    for path in sorted(folder.glob("coverage/*.md")):
        if f"coverage/{path.name}" not in fresh:
            found.append(f"coverage/{path.name} is no page any more")
    return found
