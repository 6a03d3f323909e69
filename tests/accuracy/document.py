"""The page that says how far native code and NumPy are from the true numbers."""

import platform
from collections.abc import Iterator, Sequence
from typing import Any

import mpmath
import numpy as np

from tape_ad.programs.engines.native.codegen.vectors import library
from tests.accuracy.computing import WAYS
from tests.accuracy.functions import COMPOSED, HARDEST, ROWS, Row
from tests.accuracy.points import RANGES, points
from tests.accuracy.sums import COUNTS, DRAWS, errors
from tests.accuracy.units import DIGITS, worst

__all__ = ["MOST", "document"]

MOST = 4
"""By how many units in the last place a function may be off."""
COUNT = 2000
"""How many numbers of each range a function is computed at."""
DTYPES = (np.dtype(np.float64), np.dtype(np.float32))

HEAD = """\
# How accurate native code is

<!-- Written by `python -m tests.accuracy`; do not edit. -->

What `ta.compile(..., engine="native")` computes with its own code is correct to {most} units in the
last place, for every function and every number, large, tiny and denormal ones included; nan,
infinities and the signs of zeros are NumPy's. Arithmetic, comparisons, roundings, square roots and
integers have NumPy's own bits, and so has everything that the engine leaves to NumPy or SciPy.

The tables have the largest errors that were found, in units in the last place, against mpmath with
{digits} digits. What is correctly rounded is off by at most 0.5. Each cell has three errors:

- of **arrays**, whose elements are computed several at once: with {library};
- of single **numbers**, with the C library;
- of **NumPy** itself.

The ranges, of each of which {count} numbers were drawn for each function:

{ranges}

A dash is where a function has no such numbers. Measured on {machine} with NumPy {numpy}.
"""

HARDEST_OF_ALL = """\
There is one exception, which NumPy shares. A handful of doubles come so close to a multiple of π/2
that the C library's reduction has too few digits for their `sin`, `cos` or `tan` next to a zero.
The closest of all is {at!r}, and the errors of its cosine, {true:.3g}, are:
{errors}.
"""


COMPOSITIONS = """\
## Functions of several operations

These are written as NumPy, SciPy or our own code writes them, as several operations, each of which
is as accurate as the tables above say. Their results are off by more where a step magnifies the
error of the one before, or where large terms cancel, and so are NumPy's and SciPy's.
"""

SUMS = """\
## Sums

Native code adds up several sums at once, and these in pairs, so that errors grow no faster than in
NumPy's pairwise sum. Here is the largest error of native code / NumPy, divided by eps times the sum
of the absolute values.
"""


def document(sample: int = COUNT) -> str:
    """Write the page; with less than a full sample, to see what it looks like."""
    parts = [head(), *tables(ROWS, sample), hardest(), COMPOSITIONS, *tables(COMPOSED, sample, "#")]
    parts += [SUMS, *sums()]
    return "\n".join(parts)


def head() -> str:
    found = library()
    vectors = f"glibc's libmvec ({found.registers[0].bits} bits)" if found.registers else "nothing"
    return HEAD.format(
        most=MOST,
        digits=DIGITS,
        library=vectors,
        count=COUNT,
        ranges="\n".join(f"- **{name}**: {meaning}" for name, meaning in RANGES.items()),
        machine=f"{platform.machine()}, {' '.join(platform.libc_ver())},",
        numpy=np.__version__,
    )


def tables(rows: Sequence[Row], sample: int, deeper: str = "") -> Iterator[str]:
    """Write a table for each precision."""
    for dtype in DTYPES:
        yield f"{deeper}## {dtype}: {' / '.join(WAYS)}\n"
        yield f"| function | {' | '.join(RANGES)} |"
        yield f"|---|{'---|' * len(RANGES)}"
        for row in rows:
            yield f"| `{row}` | {' | '.join(cells(row, dtype, sample))} |"
        yield ""


def cells(row: Row, dtype: np.dtype[Any], sample: int) -> Iterator[str]:
    """Write the errors of a function, for each range."""
    drawn = points(row, dtype, sample)
    for name in RANGES:
        operands = drawn.get(name)
        if operands is None:
            yield "-"
            continue
        found = [
            worst(way(row.function, operands).tolist(), row.reference, operands, dtype)[0]
            for way in WAYS.values()
        ]
        yield " / ".join(f"{error:.2f}" for error in found)


def sums() -> Iterator[str]:
    """Write the table of sums."""
    yield f"| numbers | dtype | {' | '.join(f'{count:,}' for count in COUNTS)} |"
    yield f"|---|---|{'---|' * len(COUNTS)}"
    for draw in DRAWS:
        for dtype in DTYPES:
            found = [errors(draw, dtype, count) for count in COUNTS]
            written = [f"{ours:.2f} / {theirs:.2f}" for ours, theirs in found]
            yield f"| {draw} | {dtype} | {' | '.join(written)} |"
    yield ""


def hardest() -> str:
    """Say what is found where no library has enough digits."""
    operands = [np.array([HARDEST])]
    found = [
        f"{name} {worst(way(np.cos, operands).tolist(), mpmath.cos, operands, DTYPES[0])[0]:.1f}"
        for name, way in WAYS.items()
    ]
    with mpmath.workdps(DIGITS):
        true = float(mpmath.cos(mpmath.mpf(HARDEST)))
    return HARDEST_OF_ALL.format(at=HARDEST, true=true, errors=" / ".join(found))
