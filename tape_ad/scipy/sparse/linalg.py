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

import scipy.sparse.linalg

from tape_ad.record.messages.migration_hints import attributes_of, listed
from tape_ad.rules import add_rules
from tape_ad.rules.base import merged
from tape_ad.scipy.sparse.factors import SPARSE_FACTORS, factorized, spilu, splu
from tape_ad.scipy.sparse.functions import (
    SPARSE_FUNCTIONS,
    expm,
    inv,
    matrix_power,
    norm,
    onenormest,
)
from tape_ad.scipy.sparse.iterations import (
    ITERATIONS,
    bicg,
    bicgstab,
    cg,
    cgs,
    expm_multiply,
    gcrotmk,
    gmres,
    lgmres,
    minres,
    qmr,
    tfqmr,
)
from tape_ad.scipy.sparse.operators import (
    LaplacianNd,
    LinearOperator,
    aslinearoperator,
)
from tape_ad.scipy.sparse.systems import SPARSE_SYSTEMS, spsolve, spsolve_triangular

__all__ = [
    "LaplacianNd",
    "LinearOperator",
    "aslinearoperator",
    "bicg",
    "bicgstab",
    "cg",
    "cgs",
    "expm",
    "expm_multiply",
    "factorized",
    "gcrotmk",
    "gmres",
    "inv",
    "lgmres",
    "matrix_power",
    "minres",
    "norm",
    "onenormest",
    "qmr",
    "spilu",
    "splu",
    "spsolve",
    "spsolve_triangular",
    "tfqmr",
]

add_rules(merged(SPARSE_FUNCTIONS, SPARSE_SYSTEMS, SPARSE_FACTORS, ITERATIONS))

if hasattr(scipy.sparse.linalg, "funm_multiply_krylov"):  # in SciPy 1.15
    from tape_ad.scipy.sparse.functions import funm_multiply_krylov

    __all__ += ["funm_multiply_krylov"]

__getattr__ = attributes_of(__name__)
__dir__ = listed(__all__)
