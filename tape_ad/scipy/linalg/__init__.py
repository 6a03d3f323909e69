"""Functions of `scipy.linalg` on handles, under SciPy's names and with SciPy's arguments.

SciPy's own functions turn what they get into plain arrays. These call them for plain arrays and
give SciPy's result; for handles they record one node. Write ``import tape_ad.scipy.linalg`` for
them: it needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs. NumPy's `numpy.linalg` and
products with constant `scipy.sparse` matrices need no import.

Examples
--------
>>> import numpy as np
>>> import tape_ad as ta
>>> from tape_ad.scipy import linalg
>>> a = ta.ComputationRecord().tensor(np.zeros((2, 2)))
>>> np.trace(linalg.expm(a)).grad().wrt(a)
array([[1., 0.], [0., 1.]])
"""

from tape_ad.extend.packages import extra, published

with extra("scipy", "tape_ad.scipy.linalg"):
    import scipy.linalg  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.counterparts import WITH_VALUE
from tape_ad.scipy.linalg.banded import *
from tape_ad.scipy.linalg.basics import *
from tape_ad.scipy.linalg.composed_functions import *
from tape_ad.scipy.linalg.functions import *
from tape_ad.scipy.linalg.lu_factors import *
from tape_ad.scipy.linalg.qr_updates import *
from tape_ad.scipy.linalg.riccati import *
from tape_ad.scipy.linalg.solvers import *
from tape_ad.scipy.linalg.spectral import *
from tape_ad.scipy.linalg.structured import *
from tape_ad.scipy.linalg.structured_systems import *
from tape_ad.scipy.linalg.triangular_factors import *
from tape_ad.scipy.linalg.unique_factors import *

add_rules(
    merged(
        SOLVERS,
        LU,
        BANDED,
        FUNCTIONS,
        STRUCTURED,
        BASICS,
        SPECTRAL,
        WITH_VALUE,
        UNIQUE_FACTORS,
        COMPOSED_FUNCTIONS,
        STRUCTURED_SYSTEMS,
        QR_UPDATES,
        RICCATI,
        TRIANGULAR_FACTORS,
    )
)

__getattr__, __dir__ = published(__name__)
