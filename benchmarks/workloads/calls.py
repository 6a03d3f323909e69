"""What a call costs: joining many arrays, a rule of the user's own, a transform."""

import functools
from typing import Any

import numpy as np

from benchmarks.libraries import TORCH
from benchmarks.libraries.plain import Data
from benchmarks.workloads.base import COMPILES_LONG, Array, Workload, seeded

__all__ = ["WORKLOADS"]


def stacked(library: Any, p: Data, data: Data) -> Array:
    return library.xp.sum(library.xp.stack(list(p.values())) * data["weights"])


def stacked_inputs(count: int) -> tuple[Data, Data]:
    rows, weights = seeded((count, 8), (count, 8))
    return {f"row {i}": row for i, row in enumerate(rows)}, {"weights": weights}


def squares(library: Any, p: Data, data: Data) -> Array:
    y = p["x"]
    for _ in range(10):
        y = library.own_square(y)
    return library.xp.sum(y)


def product(library: Any, p: Data, data: Data) -> Array:
    return p["x"] * p["x"]


OTHERS = dict.fromkeys(
    ("hips_autograd", "my_grad", "jax_eager", "jax_jit"), "many leaves are beside PyTorch's"
)
NO_RULES = dict.fromkeys(
    ("my_grad", "jax_eager", "jax_jit"), "such rules are beside HIPS' and PyTorch's"
)

WORKLOADS = [
    *(
        Workload(
            f"stack of {count:,}",
            f"{count:,} leaves of 8 elements each, stacked to a matrix, and a weighted sum of it",
            stacked,
            functools.partial(stacked_inputs, count),
            cannot=OTHERS | (COMPILES_LONG if count > 100 else {}),
            targets={TORCH: 1.0},
        )
        for count in (100, 1_000, 10_000)
    ),
    Workload(
        "rule of one's own, 10 calls",
        "10 calls of x * x with a derivative by the user (custom_rule, primitive, Function)",
        squares,
        lambda: ({"x": np.linspace(0.999, 1.001, 100)}, {}),
        cannot=NO_RULES,
        targets={"hips_autograd": 1.0, TORCH: 1.0},
    ),
    Workload(
        "grad of x * x",
        "the derivative of x * x at a number, by the library's transform (PyTorch: a fresh leaf)",
        product,
        lambda: ({"x": np.array(3.0)}, {}),
        kind="derivative",
        native=0.5,
    ),
]
