"""The rules for `scipy.linalg`, whose functions cannot dispatch, so that ours stand for them.

`tape_ad.linalg` imports this package, publishes the functions and adds the rules to the others;
nothing else does, for importing SciPy takes its time and SciPy may be absent.
"""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.rules.scipy.linalg.banded import BANDED
from tape_ad.rules.scipy.linalg.functions import FUNCTIONS
from tape_ad.rules.scipy.linalg.lu import LU
from tape_ad.rules.scipy.linalg.solvers import SOLVERS
from tape_ad.rules.scipy.linalg.structured import STRUCTURED

__all__ = ["SCIPY_LINALG"]

SCIPY_LINALG: dict[Any, Entry] = {**SOLVERS, **LU, **BANDED, **FUNCTIONS, **STRUCTURED}
