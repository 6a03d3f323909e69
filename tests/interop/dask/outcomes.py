"""What comes of each row of the table of rules on Dask arrays, and the page that lists it.

    python -m tests.interop.dask.outcomes --write     # docs/dask-arrays.md, below its marker

A row is right where value and gradient are NumPy's and nothing is computed before it is asked for,
and refused where an error says what Dask does not do.
"""

import argparse
import re
import textwrap
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np

import tape_ad as ta
from tape_ad.base.naming import called
from tape_ad.errors import TapeError
from tests.rules.rows import ROWS
from tests.rules.table import Case, cases

__all__ = ["LISTED", "PAGE", "SOME", "listed", "never", "outcome", "public_name"]

Array = Any

PAGE = Path(__file__).parents[3] / "docs" / "dask-arrays.md"
MARKER = "<!-- The lists below: python -m tests.interop.dask.outcomes --write -->\n"
LISTED = "All calls in the table of tests are right"
SOME = "Some are, and the others are refused"
FAILING_LATER = {"nanmedian-0x3-axis=1-real"}
"""What Dask takes, and NumPy then refuses to compute in its chunks."""

PACKAGES = ("np.", "tape_ad.nn.", "tape_ad.scipy.special.")


def never(*_: Any, **__: Any) -> Any:
    """Stand for a scheduler: nothing may be computed."""
    raise AssertionError("something was computed before it was asked for")


def in_chunks(leaf: Array) -> Any:
    """Cut each axis in two."""
    return da.from_array(leaf, tuple(max(-(-length // 2), 1) for length in leaf.shape))


def value_and_gradient(case: Case, leaves: list[Any]) -> tuple[list[Any], list[Any]]:
    """Call the row on handles, and sweep back from all its real outputs."""
    record = ta.ComputationRecord()
    handles = [record.tensor(leaf) for leaf in leaves]
    found = case.apply(handles)
    outs = [out for each in found for out in (each if isinstance(each, list) else [each])]
    real = [np.real(out) for out in outs if getattr(out, "dtype", np.dtype("O")).kind in "fc"]
    total: Any = sum(np.sum(x * np.cos(np.arange(x.size)).reshape(x.shape)) for x in real)
    values = [out.data if isinstance(out, ta.Tensor) else out for out in outs]
    return values, total.grad().wrt(handles)


def outcome(case: Case) -> str:
    """Try a row: "right", "refused", or "none" where it has nothing to differentiate.

    Raises
    ------
    AssertionError
        When values, dtypes or gradients are not NumPy's, or something was computed too early.
    """
    if repr(case) in FAILING_LATER:
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what NumPy computes as well
        try:
            expected = value_and_gradient(case, case.leaves())
        except (AttributeError, TapeError, ValueError):
            return "none"
        try:
            with dask.config.set(scheduler=never):
                found = value_and_gradient(case, [in_chunks(leaf) for leaf in case.leaves()])
        except (TapeError, np.exceptions.AxisError):  # as Dask has no cumsum of a number
            return "refused"
        computed = dask.base.compute(*found, scheduler="synchronous")
    for ours, numpys in zip(computed, expected, strict=True):
        for one, other in zip(ours, numpys, strict=True):
            assert np.shape(one) == np.shape(other)
            assert np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    return "right"


def public_name(function: Any) -> str | None:
    """Give the name that users write, if they write one."""
    name = called(function)
    module = str(getattr(function, "__module__", None))
    if module == "numpy.lib.scimath" and not name.startswith("np.lib."):
        name = f"np.lib.scimath.{name.removeprefix('np.')}"
    if module.startswith("tape_ad.rules.nn."):
        name = f"tape_ad.nn.{name}"
    elif isinstance(function, np.ufunc) and not name.startswith("np."):
        name = f"tape_ad.scipy.special.{name}"
    package, _, last = name.rpartition(".")
    known = package != "tape_ad.nn" or hasattr(ta.nn, last)
    known = known and (package != "tape_ad.scipy.special" or hasattr(ta.scipy.special, last))
    return name if name.startswith(PACKAGES) and known else None


def by_function() -> dict[str, set[str]]:
    """Try all rows of the functions that the page lists."""
    found = defaultdict(set)
    for case in cases(ROWS):
        name = public_name(case.row.function)
        if name is not None:
            found[name].add(outcome(case))
    return found


def listed(title: str) -> set[str]:
    """Read the names below a title of the page."""
    text = PAGE.read_text(encoding="utf-8").split(MARKER)[1]
    section = text.split(f"{title}:\n", 1)[1].split("\n\n")[0].lstrip()
    packages = re.findall(r"- `([\w.]+)`: ([^`]*?)(?=\n- |\Z)", section, re.DOTALL)
    return {f"{package}.{name.strip()}" for package, names in packages for name in names.split(",")}


def write() -> None:
    """Write the lists."""
    found = by_function()
    whole = sorted(
        name for name, kinds in found.items() if "right" in kinds and "refused" not in kinds
    )
    some = sorted(name for name, kinds in found.items() if kinds >= {"right", "refused"})
    text = PAGE.read_text(encoding="utf-8").split(MARKER)[0]
    parts = [f"\n{LISTED}:\n\n{by_prefix(whole)}\n", f"\n{SOME}:\n\n{by_prefix(some)}\n"]
    PAGE.write_text(text + MARKER + "".join(parts), encoding="utf-8")


def by_prefix(names: list[str]) -> str:
    """Write names as a list with an item for each package."""
    items = []
    for package in PACKAGES:
        inside = ", ".join(name.removeprefix(package) for name in names if name.startswith(package))
        if inside:
            item = f"- `{package.rstrip('.')}`: {inside}"
            items.append(textwrap.fill(item, 100, subsequent_indent="  ", break_on_hyphens=False))
    return "\n".join(items)


def main() -> None:
    parser = argparse.ArgumentParser(description="Try all rows on Dask arrays.")
    parser.add_argument("--write", action="store_true", help="write the lists of the page")
    if parser.parse_args().write:
        write()


if __name__ == "__main__":
    main()
