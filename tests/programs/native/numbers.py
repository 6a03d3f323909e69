"""Numbers of all sizes to try loops with, special ones in all pairs, and how far results differ."""

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["SIZE", "drawn", "units_apart"]

Array = Any
SIZE = 4096
"""How many; a multiple of any number of lanes."""
BITS = (7, 8, 15, 16, 31, 32, 53, 63, 64)
PLAIN = (0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0, -2.0, 2.5, -0.5, 3.0, -3.0, 1e-5)


def drawn(dtypes: Sequence[np.dtype[Any]], rng: np.random.Generator) -> list[Array]:
    """Draw operands: all combinations of special numbers first, and then others.

    Parameters
    ----------
    dtypes : sequence of dtype
    rng : Generator
    """
    if any(dtype.kind == "c" for dtype in dtypes):
        return complex_ones(dtypes, rng)
    few = int((SIZE // 2) ** (1 / len(dtypes)))
    special = [specials(dtype, rng, few) for dtype in dtypes]
    together = np.array(list(itertools.product(*(range(len(x)) for x in special))))
    rest = SIZE - len(together)
    return [
        np.concatenate([x[together[:, i]], ordinary(x.dtype, rng, rest)])
        for i, x in enumerate(special)
    ]


def complex_ones(dtypes: Sequence[np.dtype[Any]], rng: np.random.Generator) -> list[Array]:
    """Draw complex operands, of which the parts are special in all pairs."""
    found = []
    for dtype in dtypes:
        if dtype.kind != "c":
            found.append(rng.permutation(drawn([dtype], rng)[0]))
            continue
        parts = drawn([np.dtype(f"f{dtype.itemsize // 2}")] * 2, rng)
        order = rng.permutation(SIZE)
        found.append(np.stack(parts, axis=1)[order].view(dtype)[:, 0])
    return found


def specials(dtype: np.dtype[Any], rng: np.random.Generator, most: int) -> Array:
    """List numbers at which a function may have to take care, the most important ones first."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        one = np.iinfo(dtype)
        numbers = [0, 1, 2, 3, one.max, one.min, one.max - 1, one.min + 1, 7, 8, 9, 63, 64, 65]
        numbers += [-1, -2, -3, -7, -8] if dtype.kind == "i" else []
        return np.array(list(dict.fromkeys(numbers)), dtype)[:most]
    limits = np.finfo(dtype)
    edges = [s * 2.0**p + d for p in BITS for s in (1, -1) for d in (-1, -0.5, 0, 0.5, 1)]
    with np.errstate(over="ignore"):
        large = np.array([limits.max, -limits.max, limits.tiny, -limits.tiny / 3], dtype)
        small = np.array([limits.smallest_subnormal, -limits.smallest_subnormal], dtype)
        return np.concatenate([np.array(PLAIN, dtype), large, small, np.array(edges, dtype)])[:most]


def ordinary(dtype: np.dtype[Any], rng: np.random.Generator, size: int) -> Array:
    """Draw numbers, small and large ones."""
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    if dtype.kind in "iu":
        one = np.iinfo(dtype)
        numbers = rng.integers(one.min, one.max, size, dtype=dtype, endpoint=True)
        small = rng.integers(max(-9, one.min), 10, size).astype(dtype)
        return np.where(rng.random(size) < 0.5, numbers, small)
    scales = rng.integers(-3, 5, size).astype(float)
    scales[::7] = rng.integers(-30, 30, scales[::7].size)
    return (rng.normal(size=size) * 10.0**scales).astype(dtype)


@np.errstate(all="ignore")
def units_apart(got: Array, wanted: Array, scale: Array = None) -> Array:
    """Count units in the last place; inf where one is nan, or zeros have other signs.

    Of complex numbers those of the part that is further off.

    Parameters
    ----------
    got : array
    wanted : array
        Which may be of a wider dtype, so that it is known better.
    scale : array, optional
        A term of the result that is larger than the result may be.
    """
    if got.dtype.kind == "c":
        return np.maximum(units_apart(got.real, wanted.real), units_apart(got.imag, wanted.imag))
    if got.dtype.kind != "f":
        return np.where(got == wanted, 0, np.inf)
    rounded = wanted.astype(got.dtype)
    same = (got == rounded) & (np.signbit(got) == np.signbit(rounded))
    same |= np.isnan(got) & np.isnan(rounded)
    size = np.abs(rounded if scale is None else np.maximum(np.abs(rounded), np.abs(scale)))
    wide = np.result_type(wanted.dtype, np.longdouble)
    units = np.abs(np.subtract(got, wanted, dtype=wide)) / np.spacing(size)
    return np.where(same, 0, np.where(np.isnan(units), np.inf, units))
