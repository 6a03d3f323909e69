"""The page that says of each function what is known of its derivative, and how it is checked."""

import difflib
import importlib
import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy
from attrs import frozen

import tape_ad.scipy.linalg
import tape_ad.scipy.special  # noqa: F401 - they add their rules to the tables
from tape_ad.base.naming import function_name
from tape_ad.rules import RULES, load_lazy_tables
from tape_ad.rules.base import Constant, Derivation, Filled, Refused, Rule
from tests.calls.page import section
from tests.coverage import kept
from tests.coverage.conventions import CONVENTIONS
from tests.coverage.topics import NEWER, OURS, PACKAGES, SPOKEN, TOPICS
from tests.rules.makers import makers_met
from tests.rules.rows import APART, ROWS
from tests.rules.table import Row, kinds
from tests.rules.test_special_accuracy import AGAINST_MPMATH

load_lazy_tables()

__all__ = ["Line", "changes", "document", "lines"]

INNER = "Functions that others are made of"
METHODS = "Methods of ufuncs"
HANDLES = "Handles"
OTHERS = "Further functions of NumPy"
COLUMNS = (
    *("function", "kind", "with respect to", "orders", "modes", "dtypes", "compared with"),
    "where it is not smooth",
)

HEAD = """\
# What can be differentiated

<!-- Written by `python -m tests.coverage`; do not edit. -->

Every function that handles answer to, grouped as in NumPy's reference. A function of NumPy or
SciPy that is not listed here raises `NoRuleError` on a handle. `ta.scipy.stats` and its like have
more functions, under SciPy's names: what SciPy writes in Python is its own code there, and takes
handles as any code does under `ta.differentiable` ([other-libraries.md](other-libraries.md)). The
tests check those that they have rows for in the same manner.

- **kind**: a *rule* records one node or a few; a *composition* is written in functions that have
  rules, and records theirs; a *piecewise constant* function gives plain data, and so does one that
  is not about values; a *constant* is a handle that depends on nothing; a *refused* function raises
  an error, which is given.
- **with respect to**: the operands that a derivative is there for, counted from the first. For each
  of them the tests have made the partial and checked it.
- **orders**: *any*, since partials are written in functions of this page. It is checked at the
  second.
- **modes**: *both*, reverse and forward, of one or of a whole stack of seeds or tangents. They come
  from the same partials, and are checked against each other.
- **dtypes**: what it is checked on. Where real numbers stand, these are float64 and float32, alone
  and mixed; a result in single precision has a gradient in single precision.
- **compared with**: what else computes the value and the gradient in the tests, besides central
  differences, which every function is compared with. "JAX (3 of 8)" means that it is compared in 3
  of the 8 choices of shapes, options and dtypes that the function is checked in, and "JAX" in all.

Where a derivative is not unique or does not exist, the last column says what it is here;
[derivative-conventions.md](derivative-conventions.md) has the whole story.
"""


@frozen
class Line:
    """What the page says of one function.

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
    return ", ".join(said) or "central differences only"


def cells(function: Any, entry: Any, rows: list[Row], name: str) -> tuple[str, ...]:
    """Write what stands under the columns."""
    convention = CONVENTIONS.get(name, "")
    if isinstance(entry, Refused):
        return ("refused", "", "", "", "", "", entry.instead)
    if isinstance(entry, (Constant, Filled)):
        kind = "piecewise constant" if isinstance(entry, Constant) else "constant"
        return (kind, "", "", "", "", "", convention)
    return (
        "composition" if isinstance(entry, Derivation) else "rule",
        operands(function, entry, rows),
        "any",
        "both",
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
        yield Line(
            topic_of(name), name, NEWER.get(name, ""), (kind, *[""] * 5, "its docstring says")
        )


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


def document() -> str:
    """Write the page."""
    by_topic = defaultdict(list)
    for line in lines():
        by_topic[line.topic].append(line)
    order = [*TOPICS, METHODS, OTHERS, *OURS.values(), HANDLES, INNER]
    parts = [HEAD, f"{counted()}\n", *section(), *kept.section()]
    header, rule = table_row(*COLUMNS), "|---" * len(COLUMNS) + "|"
    for topic in filter(by_topic.__contains__, order):
        body = map(str, sorted(by_topic[topic], key=lambda line: line.name.lower()))
        parts += [f"## {topic}\n", header, rule, *body, ""]
    return "\n".join(parts)


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
    of_this_release = r" \(\d+ of \d+\)|^Counted with .*$|^\| `[^|]*\| differentiable \|.*\n"
    return re.sub(of_this_release, "", page, flags=re.MULTILINE)


def changes(page: str) -> list[str]:
    """List how a page differs from what would be written now."""
    fresh = document()
    if counted() not in page:
        page, fresh = uncounted(page), uncounted(fresh)
    return list(difflib.unified_diff(known(page), known(fresh), "as it is", "as it should be"))
