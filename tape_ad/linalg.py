"""Functions of `scipy.linalg` on handles, under SciPy's names and with SciPy's arguments.

SciPy's own functions turn what they get into plain arrays. These call them for plain arrays and
give SciPy's result; for handles they record one node. Write ``import tape_ad.linalg`` for them:
it needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs. NumPy's `numpy.linalg` and
products with constant `scipy.sparse` matrices need no import.

Examples
--------
>>> import numpy as np
>>> import tape_ad as ta
>>> from tape_ad import linalg
>>> a = ta.ComputationRecord().tensor(np.zeros((2, 2)))
>>> np.trace(linalg.expm(a)).grad().wrt(a)
array([[1., 0.], [0., 1.]])
"""

from tape_ad.extras import extra

with extra("scipy", "tape_ad.linalg"):
    import scipy.linalg  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.rules import add_rules
from tape_ad.rules.scipy.linalg import SCIPY_LINALG
from tape_ad.rules.scipy.linalg.banded import solve_banded
from tape_ad.rules.scipy.linalg.functions import expm, logm, solve_sylvester, sqrtm
from tape_ad.rules.scipy.linalg.lu import lu_factor, lu_solve
from tape_ad.rules.scipy.linalg.solvers import cho_factor, cho_solve, solve_triangular
from tape_ad.rules.scipy.linalg.structured import block_diag, toeplitz

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "expm",
    "logm",
    "lu_factor",
    "lu_solve",
    "solve_banded",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "toeplitz",
]

add_rules(SCIPY_LINALG)
