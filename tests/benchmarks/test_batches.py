"""The programs that batches are timed with give the same, batched and written by hand."""

import numpy as np
import pytest

import tape_ad as ta

pytest.importorskip("jax")

from benchmarks.batches import OURS, PROGRAMS, leaves


@pytest.mark.parametrize("name", PROGRAMS)
def test_batched_and_by_hand_they_give_the_same(name: str) -> None:
    program = PROGRAMS[name]
    batched = ta.batched(program.one(OURS), program.in_axes)

    found, by_hand = batched(*program.arguments), program.every(*program.arguments)

    assert not batched.looped
    for one, other in zip(leaves(found), leaves(by_hand), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)
