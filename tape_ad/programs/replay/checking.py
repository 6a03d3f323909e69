"""Whether a replay gives what the function gives."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.errors import ProgramMismatchError
from tape_ad.base.trees import paired

__all__ = ["check_alike", "differ", "difference_of", "same_bits", "same_numbers"]


def check_alike(name: str, ours: Any, theirs: Any, exactly: bool = True) -> None:
    """Compare what a replay gives with what the function gives.

    Parameters
    ----------
    name : str
        The function's.
    ours, theirs : tree
        The replay's result first.
    exactly : bool
        To the bit; else up to what rounding may have done, half of the digits of an array's
        largest number.

    Raises
    ------
    ProgramMismatchError
    """
    try:
        pairs = paired(theirs, ours)
    except ValueError as error:
        raise ProgramMismatchError(
            f"a replay of {name} gives another structure than the function: {error}"
        ) from None
    for path, wanted, got in pairs:
        difference = difference_of(got, wanted, same_bits if exactly else same_numbers)
        if difference:
            where = f" at {path}" if path else ""
            raise ProgramMismatchError(
                f"a replay of {name} gives other numbers than the function{where}: {difference}"
            )


def differ(one: Any, other: Any) -> bool:
    """Tell whether two results are not the same bits."""
    try:
        check_alike("", one, other)
    except ProgramMismatchError:
        return True
    return False


def difference_of(got: Any, wanted: Any, same: Callable[[Any, Any], Any]) -> str:
    """Say in what two leaves differ; nothing where they do not."""
    if type(got) is not type(wanted):
        return f"a {type(got).__name__} in place of a {type(wanted).__name__}"
    if not isinstance(wanted, (np.ndarray, np.generic, float, complex, int)):
        return "" if got == wanted else f"{got!r} in place of {wanted!r}"
    one, two = np.asarray(got), np.asarray(wanted)
    if (one.shape, one.dtype) != (two.shape, two.dtype):
        return f"{one.dtype}{list(one.shape)} in place of {two.dtype}{list(two.shape)}"
    differs = ~same(one, two)
    if not differs.any():
        return ""
    place = most_different(one, two, differs)
    at = f" at {list(map(int, place))}" if place else ""
    return (
        f"{np.count_nonzero(differs)} of {differs.size}; the largest difference{at} is "
        f"{one[place]!r} in place of {two[place]!r}"
    )


def same_bits(one: Any, two: Any) -> Any:
    """Tell for each element whether it is the same: nan is like nan, and -0.0 unlike 0.0."""
    if one.dtype.kind not in "fc":
        return np.asarray(one == two)
    same = np.asarray((one == two) | (np.isnan(one) & np.isnan(two)))
    for part in (np.real, np.imag) if one.dtype.kind == "c" else (np.real,):
        zero = (part(one) == 0) & (part(two) == 0)
        same &= ~zero | (np.signbit(part(one)) == np.signbit(part(two)))
    return same


def same_numbers(one: Any, two: Any) -> Any:
    """Tell for each element whether rounding may have made the difference, signs of 0 included."""
    same = np.asarray(one == two)
    if one.dtype.kind not in "fc":
        return same
    same |= np.isnan(one) & np.isnan(two)
    size = np.abs(two)
    largest = np.max(size, initial=0, where=np.isfinite(size))
    return same | (np.abs(gaps(one, two)) <= np.sqrt(np.finfo(one.dtype).eps) * largest)


def gaps(one: Any, two: Any) -> Any:
    """Subtract in the widest dtype that there is; nan for what is no number, or inf in both."""
    wide = np.complex128 if one.dtype.kind == "c" else np.longdouble
    with np.errstate(all="ignore"):
        return np.asarray(one.astype(wide) - two.astype(wide))


def most_different(one: Any, two: Any, differs: Any) -> tuple[Any, ...]:
    """Find where two arrays differ most; a nan on one side only is the most that there is."""
    sizes = np.abs(gaps(one, two))
    sizes = np.where(differs, np.where(np.isnan(sizes), np.inf, sizes), -1.0)
    return tuple(np.unravel_index(int(np.argmax(sizes)), sizes.shape))
