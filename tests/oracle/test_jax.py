"""Values and gradients of every row against JAX's function of the same name.

JAX is an optional extra: without it this file is skipped, unless the environment variable
TAPE_AD_ORACLES says ``required``.
"""

import importlib
import operator
import os
from typing import Any

import numpy as np
import pytest

from tape_ad.arena import function_name
from tests.rules.checks import close, recorded
from tests.rules.rows import ROWS
from tests.rules.table import Case, Row

REQUIRED = os.environ.get("TAPE_AD_ORACLES") == "required"

jax: Any = (
    importlib.import_module("jax")
    if REQUIRED
    else pytest.importorskip("jax", reason="JAX is in the extra: pip install 'tape-ad[oracle]'")
)
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling is where the time goes

CASES = [
    Case(row, kind)
    for row in ROWS
    if not row.no_jax
    for kind in ("real", "complex")[: 2 if row.complex and not row.no_complex_jax else 1]
]


def counterpart(row: Row) -> Any:
    if callable(row.jax):
        return row.jax(jax)
    return operator.attrgetter(row.jax or f"numpy.{function_name(row.function)}")(jax)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_value_and_gradient_are_those_of_jax(case: Case) -> None:
    function = counterpart(case.row)

    @jax.jit
    def value_and_pulled(handles: list[Any], cotangents: list[Any]) -> Any:
        call = lambda *hs: case.row.apply(case.filled(hs), function)
        values, pull = jax.vjp(call, *handles)
        return values, pull(cotangents)

    run = recorded(case.row, case.primals())
    cotangents = case.cotangents(run.outputs)
    values, pulled = value_and_pulled(case.handles(), [ct.conj() for ct in cotangents])
    close(run.values, list(map(np.asarray, values)), 1e-13)
    close(run.pull(cotangents), [np.asarray(p).conj() for p in pulled], 1e-12)
