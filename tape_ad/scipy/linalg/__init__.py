"""Functions of `scipy.linalg` on handles, under SciPy's names and with SciPy's arguments.

SciPy's own functions turn what they get into plain arrays. These call them for plain arrays and
give SciPy's result; for handles they record one node. Write ``import tape_ad.scipy.linalg`` for
them: it needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs. NumPy's `numpy.linalg` and
products with constant `scipy.sparse` matrices need no import. What has no rule here is a copy of
SciPy's own code.

Examples
--------
>>> import numpy as np
>>> import tape_ad as ta
>>> from tape_ad.scipy import linalg
>>> a = ta.ComputationRecord().tensor(np.zeros((2, 2)))
>>> np.trace(linalg.expm(a)).grad().wrt(a)
array([[1., 0.], [0., 1.]])
"""

from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.linalg"):
    import scipy.linalg  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.counterparts import WITH_VALUE
from tape_ad.scipy.faces import face, with_rules
from tape_ad.scipy.linalg.basics import BASICS
from tape_ad.scipy.linalg.factors import FACTORS
from tape_ad.scipy.linalg.functions import FUNCTIONS, RICCATI
from tape_ad.scipy.linalg.functions import solve_lyapunov as solve_lyapunov
from tape_ad.scipy.linalg.spectral import SPECTRAL
from tape_ad.scipy.linalg.structured import STRUCTURED
from tape_ad.scipy.linalg.systems import SYSTEMS
from tape_ad.scipy.linalg.systems import cho_solve as cho_solve
from tape_ad.scipy.linalg.systems import lu_solve as lu_solve

RULES = merged(SYSTEMS, FUNCTIONS, STRUCTURED, BASICS, SPECTRAL, WITH_VALUE, FACTORS, RICCATI)

add_rules(RULES)

__getattr__, __dir__ = face(__name__, with_rules(__name__, RULES))
