"""How much of the table of rules is not computed for a whole batch at once may only become less."""

import numpy as np
import pytest
import scipy

from tape_ad.batching.tables import HANDLERS
from tests.batching.loops import VALUES, count
from tests.sampling import EVERY_ROW, some

ENTRIES = 40
OLD = np.lib.NumpyVersion(scipy.__version__) < "1.16.0"
LOOPS = 415 if OLD else 160
"""The number of cases with a loop in value, gradient or second order, of all in the table.

An older SciPy takes stacks of matrices in fewer places, and the newest has more cases.
"""


def test_handlers_of_batching_become_fewer() -> None:
    assert len(HANDLERS) <= ENTRIES


@pytest.mark.skipif(not EVERY_ROW, reason="TAPE_AD_EVERY_ROW=1 counts them")
def test_loops_in_a_batch_become_fewer() -> None:
    assert len(count(VALUES).found) <= LOOPS


def test_a_share_of_the_rows_has_no_more_loops_than_it_should() -> None:
    loops = count(some(VALUES, 12), second=False)
    assert len(loops.found) / loops.tried <= 1.25 * LOOPS / len(VALUES)
