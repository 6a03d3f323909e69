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

from tape_ad.base.extras import extra
from tape_ad.record.messages.migration_hints import attributes_of, listed

with extra("scipy", "tape_ad.scipy.linalg"):
    import scipy.linalg  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.rules import add_rules
from tape_ad.scipy.linalg.banded import solve_banded
from tape_ad.scipy.linalg.basics import (
    cholesky,
    det,
    inv,
    lstsq,
    norm,
    orthogonal_procrustes,
    pinv,
    pinvh,
    polar,
    qr,
    rq,
    solve,
)
from tape_ad.scipy.linalg.functions import expm, logm, solve_sylvester, sqrtm
from tape_ad.scipy.linalg.further_factors import (
    hessenberg,
    ldl,
    matrix_balance,
    null_space,
    orth,
    qr_multiply,
    rsf2csf,
)
from tape_ad.scipy.linalg.further_functions import (
    coshm,
    cosm,
    expm_cond,
    expm_frechet,
    fractional_matrix_power,
    funm,
    ordqz,
    qz,
    schur,
    signm,
    sinhm,
    sinm,
    tanhm,
    tanm,
)
from tape_ad.scipy.linalg.further_structured import (
    cho_solve_banded,
    cholesky_banded,
    circulant,
    companion,
    convolution_matrix,
    eig_banded,
    eigh_tridiagonal,
    eigvals_banded,
    eigvalsh_tridiagonal,
    fiedler,
    fiedler_companion,
    hankel,
    khatri_rao,
    leslie,
    matmul_toeplitz,
    solve_circulant,
    solve_toeplitz,
    solveh_banded,
)
from tape_ad.scipy.linalg.lu_factors import lu_factor, lu_solve
from tape_ad.scipy.linalg.qr_updates import qr_delete, qr_insert, qr_update
from tape_ad.scipy.linalg.riccati import (
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
    solve_lyapunov,
)
from tape_ad.scipy.linalg.rules import SCIPY_LINALG
from tape_ad.scipy.linalg.solvers import cho_factor, cho_solve, solve_triangular
from tape_ad.scipy.linalg.spectral import (
    eig,
    eigh,
    eigvals,
    eigvalsh,
    subspace_angles,
    svd,
    svdvals,
)
from tape_ad.scipy.linalg.structured import block_diag, toeplitz
from tape_ad.scipy.linalg.triangular_factors import lu

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cho_solve_banded",
    "cholesky",
    "cholesky_banded",
    "circulant",
    "companion",
    "convolution_matrix",
    "coshm",
    "cosm",
    "det",
    "eig",
    "eig_banded",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvals_banded",
    "eigvalsh",
    "eigvalsh_tridiagonal",
    "expm",
    "expm_cond",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "fractional_matrix_power",
    "funm",
    "hankel",
    "hessenberg",
    "inv",
    "khatri_rao",
    "ldl",
    "leslie",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul_toeplitz",
    "matrix_balance",
    "norm",
    "null_space",
    "ordqz",
    "orth",
    "orthogonal_procrustes",
    "pinv",
    "pinvh",
    "polar",
    "qr",
    "qr_delete",
    "qr_insert",
    "qr_multiply",
    "qr_update",
    "qz",
    "rq",
    "rsf2csf",
    "schur",
    "signm",
    "sinhm",
    "sinm",
    "solve",
    "solve_banded",
    "solve_circulant",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_lyapunov",
    "solve_sylvester",
    "solve_toeplitz",
    "solve_triangular",
    "solveh_banded",
    "sqrtm",
    "subspace_angles",
    "svd",
    "svdvals",
    "tanhm",
    "tanm",
    "toeplitz",
]

add_rules(SCIPY_LINALG)

__getattr__ = attributes_of(__name__)
__dir__ = listed(__all__)
