"""The rules for SciPy's special functions.

They are loaded when somebody has imported `scipy.special` and calls a function of it on a handle;
its ufuncs record themselves, through NEP 13, so users go on calling SciPy. What SciPy writes in
Python cannot do that, and `tape_ad.scipy.special` has it under the same names.

The modules follow the chapters of the *NIST Digital Library of Mathematical Functions* (DLMF).
"""

from typing import Any

from tape_ad.extend.rules import Entry, constants, merged
from tape_ad.scipy.special.bessel import BESSEL
from tape_ad.scipy.special.distributions import DISTRIBUTIONS
from tape_ad.scipy.special.elementary import ELEMENTARY
from tape_ad.scipy.special.elliptic import ELLIPTIC
from tape_ad.scipy.special.error import ERROR
from tape_ad.scipy.special.gamma_functions import GAMMA
from tape_ad.scipy.special.incomplete import INCOMPLETE
from tape_ad.scipy.special.noncentral import NONCENTRAL, STUDENT
from tape_ad.scipy.special.polynomials import POLYNOMIALS
from tape_ad.scipy.special.shared import HOME, sp, special_rules

SPECIAL: dict[Any, Entry] = special_rules(
    merged(
        *(GAMMA, INCOMPLETE, STUDENT, NONCENTRAL, DISTRIBUTIONS, ERROR, ELEMENTARY, BESSEL),
        *(ELLIPTIC, POLYNOMIALS, constants(sp.gammasgn, sp.round)),
    )
)

COUNTERPARTS: dict[str, Any] = {
    function.__name__: function
    for function in SPECIAL
    if getattr(function, "__module__", None) == HOME
}
"""Functions that stand for those which SciPy writes in Python, by their names, new and old."""

for old, name in (
    *(("j_roots", "roots_jacobi"), ("cg_roots", "roots_gegenbauer")),
    *(("la_roots", "roots_genlaguerre"), ("js_roots", "roots_sh_jacobi")),
):
    COUNTERPARTS[old] = COUNTERPARTS[name]
