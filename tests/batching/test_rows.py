"""Each row of the table of rules gives under `tape_ad.batched` what it gives one by one."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.batching.loops import VALUES, outputs, several, total
from tests.rules.grouping import for_each
from tests.rules.rows import ROWS
from tests.rules.table import Case, cases
from tests.sampling import some

Array = Any

pytestmark = pytest.mark.filterwarnings("ignore")  # of what is computed one by one as well


def same(found: Any, each: list[Any]) -> None:
    """Compare results for all with those one by one."""
    for leaf, parts in zip(found, zip(*each, strict=True), strict=True):
        if isinstance(leaf, str):  # choose_conv_method says "direct", which has no axis for a batch
            assert parts == (leaf,) * len(parts)
            continue
        expected = np.stack([np.asarray(part) for part in parts])
        assert np.shape(leaf) == expected.shape
        assert np.asarray(leaf).dtype == expected.dtype
        np.testing.assert_allclose(leaf, expected, rtol=1e-7, atol=1e-9)


@for_each(some(VALUES, 12))
def test_a_batch_gives_the_values_of_one_after_the_other(case: Case) -> None:
    operands = several(case)
    try:
        expected = [outputs(case, leaves) for leaves in operands]
        stacks = [np.stack(leaves) for leaves in zip(*operands, strict=True)]
    except ValueError:
        return  # the row takes no other numbers

    same(ta.batched(lambda *leaves: outputs(case, leaves))(*stacks), expected)


@for_each(some(cases(ROWS), 12))
def test_a_batch_gives_the_gradients_of_one_after_the_other(case: Case) -> None:
    operands = several(case)
    stacks = [np.stack(leaves) for leaves in zip(*operands, strict=True)]
    slopes = ta.grad(lambda *leaves: total(case, leaves), tuple(range(len(stacks))))
    batched = ta.batched(lambda *leaves: total(case, leaves))
    try:
        expected = [slopes(*leaves) for leaves in operands]
    except (ta.errors.OutputError, ValueError):
        return  # the row has nothing to differentiate there

    same(ta.batched(slopes)(*stacks), expected)
    same(ta.grad(lambda *x: np.sum(batched(*x)), tuple(range(len(stacks))))(*stacks), expected)
