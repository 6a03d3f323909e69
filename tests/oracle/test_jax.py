"""Values and gradients of every row against JAX's function of the same name."""

import functools
from typing import Any

import numpy as np

from tests.oracle.oracles import counterpart, oracle
from tests.rules.checks import close, recorded
from tests.rules.grouping import for_each
from tests.rules.rows import ROWS
from tests.rules.table import Case

jax: Any = oracle("jax")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling is where the time goes

CASES = [Case(row, kind) for row in ROWS for kind in row.kinds_in_jax]


@functools.cache
def by_jax(function: Any) -> dict[Case, Any]:
    """Compute values and gradients for all rows of a function, compiled together to save time."""
    chosen = [case for case in CASES if case.row.function == function]
    # JAX's cotangents belong to the pairing sum(ct * t), so they go in and come out conjugated.
    given = [(case.leaves(), [np.conj(ct) for ct in cotangents(case)]) for case in chosen]
    results = jax.jit(lambda given: list(map(value_and_pulled, chosen, given)))(given)
    return dict(zip(chosen, results, strict=True))


def value_and_pulled(case: Case, given: Any) -> Any:
    leaves, cotangents = given
    function = counterpart(case.row, jax)
    try:
        values, pull = jax.vjp(lambda *xs: case.row.apply(case.filled(xs), function), *leaves)
        return values, pull(cotangents)
    except Exception as error:
        error.add_note(f"This was met in the row {case}.")
        raise


def cotangents(case: Case) -> list[Any]:
    return case.cotangents(recorded(case.row, case.primals()).outputs)


@for_each(CASES)
def test_values_and_gradients_are_those_of_jax(case: Case) -> None:
    run = recorded(case.row, case.primals())
    values, pulled = by_jax(case.row.function)[case]
    close(run.values, [np.asarray(value) for value in values], 1e-13)
    close(run.pull(cotangents(case)), [np.conj(p) for p in pulled], 1e-12)
