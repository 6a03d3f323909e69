"""Random programs over the table against JAX: values and gradients."""

from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tape_ad as ta
from tests.oracle.oracles import counterpart, oracle
from tests.rules.checks import close
from tests.rules.programs import Step, programs, run
from tests.rules.table import Row, normal

jax: Any = oracle("jax")
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # compiling is where the time goes


def by_jax(row: Row) -> Any:
    return counterpart(row, jax)


@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    programs(lambda row: row.kinds_in_jax, 3),
    st.lists(
        st.tuples(st.sampled_from([(), (3,), (2, 3)]), st.sampled_from(["f8", "c16"])),
        min_size=1,
        max_size=2,
    ),
    st.integers(0, 2**16),
)
def test_values_and_gradients_are_those_of_jax(
    program: list[Step], kinds: list[tuple[Any, str]], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    values = [normal(rng, shape, dtype) for shape, dtype in kinds]
    record: Any = ta.ComputationRecord()
    leaves = record.bind(values)
    out = run(program, leaves)
    expected, pull = jax.vjp(lambda *xs: run(program, xs, by_jax), *values)
    close([out.data], [expected], 1e-12)
    pulled = pull(np.ones_like(expected))
    close(out.grad().wrt(leaves), [np.conj(p) for p in pulled], 1e-11)
