"""Functions of `scipy.sparse.linalg` on handles, under SciPy's names and with SciPy's arguments.

Examples
--------
>>> import numpy as np
>>> import tape_ad as ta
>>> data = ta.ComputationRecord().tensor(np.array([2.0, 4.0]))
>>> x = ta.scipy.sparse.linalg.spsolve(
...     ta.scipy.sparse.diags_array(data, format="csc"), np.array([2.0, 2.0])
... )
>>> np.sum(x).grad().wrt(data)
array([-0.5  , -0.125])
"""

import scipy.sparse.linalg  # noqa: F401 - whose names are published

from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.faces import face
from tape_ad.scipy.sparse.functions import *
from tape_ad.scipy.sparse.iterations import *
from tape_ad.scipy.sparse.systems import *

add_rules(merged(SPARSE_FUNCTIONS, SPARSE_SYSTEMS, SPARSE_FACTORS, ITERATIONS))

__getattr__, __dir__ = face(__name__, SOLVERS)
