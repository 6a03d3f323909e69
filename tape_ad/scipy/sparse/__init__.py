"""Sparse arrays whose elements may be a handle, under the names of `scipy.sparse`.

SciPy's own arrays take plain elements. These are SciPy's where nothing is a handle, and have its
formats, constructors and most methods where one is. What is solved with them is in
`tape_ad.scipy.sparse.linalg`. ``import tape_ad.scipy.sparse`` needs SciPy, which ``pip install
'tape-ad[scipy]'`` installs.

Examples
--------
>>> import numpy as np
>>> import tape_ad as ta
>>> d = ta.ComputationRecord().tensor(np.array([2.0, 3.0]))
>>> a = ta.scipy.sparse.diags_array([d, d[:1]], offsets=[0, 1])
>>> a.toarray().data
array([[2., 2.],
       [0., 3.]])
>>> np.sum(a @ np.array([1.0, 10.0])).grad().wrt(d)
array([11., 10.])
"""

from tape_ad.extend.packages import extra, published

with extra("scipy", "tape_ad.scipy.sparse"):
    import scipy.sparse  # noqa: F401 - asked for first, so that its absence has one message

import tape_ad.scipy.linalg  # noqa: F401 - which adds the rules
from tape_ad.scipy.sparse import linalg as linalg
from tape_ad.scipy.sparse.arrays import FORMATS
from tape_ad.scipy.sparse.construction import *

__getattr__, __dir__ = published(__name__, FORMATS, REARRANGED, packages=["linalg"])
