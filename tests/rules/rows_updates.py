"""Rows for assignment to part of an array or of its views, as functions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.updates import updated, viewed
from tests.rules.table import REAL, Row

__all__ = ["ROWS"]

ALL = slice(None)


def update(name: str, key: Any, *value: int, no_jax: str = "") -> Row:
    """Make the row of ``x[key] = value`` for an x of shape (3, 4), given the value's shape."""
    return Row(
        updated,
        [REAL(3, 4), REAL(*value)],
        call=lambda updated, a, v: updated(a, v, key),
        note=name,
        jax=lambda jax: lambda a, v, key: jax.numpy.asarray(a).at[key].set(v),
        no_jax=no_jax,
        complex=True,
        mixed=False,
    )


def window(a: Any, pick: Callable[[Any], Any]) -> Window:
    """Find where a view lies in the memory of a 3 by 4 array of the dtype of `a`."""
    array = np.zeros((3, 4), a.dtype if hasattr(a, "dtype") else np.asarray(a).dtype)
    return Window.of(array, pick(array))


def through(name: str, pick: Callable[[Any], Any], *value: int, complex: bool = True) -> Row:  # noqa: A002 - the row's name
    """Make the row of ``pick(x)[:] = value`` for an x of shape (3, 4)."""
    return Row(
        updated,
        [REAL(3, 4), REAL(*value)],
        call=lambda updated, a, v: updated(a, v, slice(None), window(a, pick)),
        note=f"through {name}",
        no_jax="JAX's arrays have no views",
        complex=complex,
        mixed=False,
    )


def view(name: str, pick: Callable[[Any], Any], *, complex: bool = True) -> Row:  # noqa: A002 - the row's name
    """Make the row of a view of an x of shape (3, 4)."""
    return Row(
        viewed,
        [REAL(3, 4)],
        call=lambda viewed, a: viewed(a, window(a, pick)),
        note=name,
        no_jax="JAX's arrays have no views",
        complex=complex,
    )


HALF = np.sqrt(0.5)


def on_halves(function: Any, pick: Callable[[Any], Any], name: str, *value: int) -> Row:
    """Make a row in which a real view of a complex array is seen or assigned to."""
    return Row(
        function,
        [REAL(3, 4), *([REAL(*value)] if value else [])],
        prepare=lambda a, *v: [np.multiply(a, HALF + HALF * 1j), *v],
        call=(
            (lambda f, a, v: f(a, v, slice(None), window(a, pick)))
            if value
            else (lambda f, a: f(a, window(a, pick)))
        ),
        note=name,
        no_jax="JAX's arrays have no views",
        nodes=2,
    )


ROWS: list[Row] = [
    view("row", lambda a: a[1]),
    view("turned", lambda a: a.T[1:, ::-2]),
    view("repeated", lambda a: np.broadcast_to(a[0], (2, 4))),
    on_halves(viewed, lambda a: a.real[1:], "real part"),
    on_halves(viewed, lambda a: a.imag.T, "imaginary part"),
    on_halves(updated, lambda a: a.real[1:], "through the real part", 2, 4),
    on_halves(updated, lambda a: a.imag.T, "through the imaginary part", 4, 1),
    through("a row", lambda a: a[1], 4),
    through("a turned part", lambda a: a.T[1:, ::-2], 3, 2),
    through("the diagonal", lambda a: a.reshape(-1)[::5], 3),
    update("0", 0, 4),
    update("0", 0),
    update("0", 0, 1),
    update("...", ..., 3, 1),
    update(":,::-2", (ALL, slice(None, None, -2)), 3, 2),
    update("2,3", (2, 3)),
    update("0:0", slice(0, 0), 4),
    update("None,1", (None, 1), 1, 4),
    update("[0,2],[3,1]", (np.array([0, 2]), np.array([3, 1])), 2),
    update(":,[2,0]", (ALL, np.array([2, 0])), 3, 2),
    update("[1,0],None,1", (np.array([1, 0]), None, 1), 2, 1),
    update("None,[1,0],...,[2,3]", (None, [1, 0], ..., [2, 3]), 2, 1),
    update("mask", np.eye(3, 4, dtype=bool), 3),
    update("mask", np.eye(3, 4, dtype=bool)),
    update("[0,0,2]", np.array([0, 0, 2]), 3, 4, no_jax="JAX does not say which one is kept"),
    update("[1,-2]", np.array([1, -2]), 2, 1, no_jax="JAX does not say which one is kept"),
]
