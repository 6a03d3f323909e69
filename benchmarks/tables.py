"""How numbers and tables are written."""

from collections.abc import Iterable, Sequence

__all__ = ["duration", "megabytes", "microseconds", "table"]


def duration(seconds: float, digits: int = 3) -> str:
    """Write a time with a few digits."""
    scale, unit = (1e6, "us") if seconds < 1e-3 else (1e3, "ms") if seconds < 1 else (1, "s")
    return f"{rounded(seconds * scale, digits)} {unit}"


def rounded(value: float, digits: int) -> str:
    """Write a number with a few digits, and never with a power of ten."""
    return f"{float(f'{value:.{digits}g}'):g}"


def microseconds(seconds: float) -> str:
    """Write a time in microseconds, without the unit."""
    return f"{seconds * 1e6:.1f}" if seconds < 1e-4 else f"{seconds * 1e6:.0f}"


def megabytes(size: float) -> str:
    """Write a size in bytes with three digits."""
    return f"{size / 1e6:.3g} MB" if size < 1e9 else f"{size / 1e9:.3g} GB"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lay out a table in Markdown; the first column is text, the others are numbers."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return ["| " + " | ".join(row) + " |" for row in (head, rule, *rows)]
