"""Nests whose innermost axis is short: one loop goes over the rows by itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.programs.engines.native.schedule import bytecode

Array = Any
FUNCTIONS: dict[str, Callable[[Array], Any]] = {
    "rows beside columns": lambda x: x * x[..., :1] + x[:1],
    "of parts": lambda x: np.tanh(x[:, 1:]) - x[:, :-1],
    "sums of rows": lambda x: (x * x[:1]).sum(axis=-1),
    "largest of rows": lambda x: np.max(x - x[:, :1], axis=-1),
    "sums of columns": lambda x: (x * x[:1]).sum(axis=0),
    "sums of outer and inner": lambda x: (x[1:, ..., 1:] * x[:1, ..., :1]).sum(axis=(0, -1)),
    "sum and truth": lambda x: np.sum(x[:, 1:] + np.any(x[1:, :1] > 0)) + np.sum(x * x[:1], axis=0),
    "of float32": lambda x: np.sum(x[::-1, 1:].astype(np.float32), dtype=float),
    "sum of a part": lambda x: np.sum(x[:, 1:]),
    "largest of a part": lambda x: np.max(x[:, 1:]),
    "turned": lambda x: np.exp(x[::-1, ::-1] * x.T.T),
    "complex": lambda x: (x[:, 1:] * 1j).sum(axis=1) * x[:, 0],
    "truth": lambda x: np.any(x[:, 1:] > x[:, :1], axis=-1),
    "gradient": ta.grad(lambda x: np.sum(np.log(np.sum(np.exp(x - x[:1]), axis=-1)))),
}
SHAPES = [(7, 5), (300, 3), (40, 17), (3, 256), (2, 300), (11, 9, 4), (8, 1600, 9), (12_503, 9)]


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_short_rows_are_as_numpy_has_them(function: Callable[[Array], Any]) -> None:
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        x = rng.normal(size=shape)
        compiled = ta.compile(function, engine="native")
        among = ta.compile(function, engine="native", threads=3)
        for _ in range(3):
            given, together = compiled(x), among(x)
        expected = function(x)
        size = np.abs(expected).max()
        np.testing.assert_allclose(given, expected, rtol=1e-12, atol=1e-13 * size)
        np.testing.assert_array_equal(together, given)


def test_one_loop_goes_over_short_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Any] = []
    in_rows = bytecode.Bytecode.in_rows

    def noting(table: Any, dims: Any, bodies: Any, large: bool) -> Any:
        found = in_rows(table, dims, bodies, large)
        rows.append(found[1][0].data)
        return found

    monkeypatch.setattr(bytecode.Bytecode, "in_rows", noting)
    for threads in (1, 2):
        compiled = ta.compile(lambda x: x * x[:, :1], engine="native", threads=threads)
        for _ in range(3):
            compiled(np.ones((300, 9)))
            compiled(np.ones((20_000, 9)))
    left = 20_000 // bytecode.FEW  # where there are threads to share them
    assert [each[0] for each in rows] == [300, 20_000, 300, left]
