"""The rules for SciPy's special functions.

They are loaded when somebody has imported `scipy.special` and calls a function of it on a handle;
its ufuncs record themselves, through NEP 13, so users go on calling SciPy. What SciPy writes in
Python cannot do that, and `tape_ad.scipy.special` has it under the same names.

The modules follow the chapters of the *NIST Digital Library of Mathematical Functions* (DLMF).
"""

import functools
from typing import Any

import numpy as np
from attrs import evolve

from tape_ad.extend.rules import Entry, Maker, Rule, constants, merged
from tape_ad.scipy.special.bessel import BESSEL, BESSEL_INTEGRALS
from tape_ad.scipy.special.densities import DENSITIES
from tape_ad.scipy.special.distributions import DISTRIBUTIONS
from tape_ad.scipy.special.ellipsoidal import ELLIPSOIDAL, ELLIPSOIDAL_FUNCTIONS
from tape_ad.scipy.special.elliptic import ELLIPTIC, INTEGRALS
from tape_ad.scipy.special.error import ERROR, PENALTIES
from tape_ad.scipy.special.gamma_functions import GAMMA
from tape_ad.scipy.special.hypergeometric import HYPERGEOMETRIC, diric
from tape_ad.scipy.special.incomplete import INCOMPLETE
from tape_ad.scipy.special.inverses import INVERSES
from tape_ad.scipy.special.legendre_functions import LEGENDRE, LEGENDRE_FUNCTIONS
from tape_ad.scipy.special.logarithms import LOGARITHMS
from tape_ad.scipy.special.nodes import NODES, NODES_FUNCTIONS
from tape_ad.scipy.special.noncentral import NONCENTRAL
from tape_ad.scipy.special.polynomials import POLYNOMIALS
from tape_ad.scipy.special.shared import sp
from tape_ad.scipy.special.spherical import SPHERICAL, SPHERICAL_FUNCTIONS
from tape_ad.scipy.special.statistics import STATISTICS
from tape_ad.scipy.special.student import STUDENT
from tape_ad.scipy.special.waves import WAVES
from tape_ad.scipy.special.zeta_functions import ZETA

__all__ = ["COUNTERPARTS", "SPECIAL"]


def of_floats(entry: Entry) -> Entry:
    """Let the makers of a rule compute with floats, as the function itself does.

    With whole numbers as they are, ``n - 1`` turns unsigned zeros into large numbers, and ``log``
    of small integers and of truth values is in half precision.
    """
    if type(entry) is not Rule or entry.multiple or entry.saves:
        return entry
    return evolve(entry, makers=tuple(maker and taking_floats(maker) for maker in entry.makers))


def taking_floats(maker: Maker) -> Maker:
    """Cast integers and truth values among the operands of a maker."""

    @functools.wraps(maker)
    def cast(*arguments: Any, **options: Any) -> Any:
        return maker(*map(as_float, arguments), **options)

    return cast


def as_float(x: Any) -> Any:
    """Cast an array of integers or truth values; anything else is given as it is."""
    return x.astype(np.float64) if hasattr(x, "dtype") and x.dtype.kind in "biu" else x


COUNTERPARTS: dict[str, Any] = {
    "diric": diric,
    **SPHERICAL_FUNCTIONS,
    **NODES_FUNCTIONS,
    **LEGENDRE_FUNCTIONS,
    **ELLIPSOIDAL_FUNCTIONS,
}
"""Functions that stand for those which SciPy writes in Python, by their names."""

SPECIAL: dict[Any, Entry] = {
    function: of_floats(entry)
    for function, entry in merged(
        GAMMA,
        DENSITIES,
        INCOMPLETE,
        ERROR,
        BESSEL,
        BESSEL_INTEGRALS,
        ELLIPTIC,
        LOGARITHMS,
        INTEGRALS,
        WAVES,
        ZETA,
        DISTRIBUTIONS,
        STATISTICS,
        STUDENT,
        NONCENTRAL,
        INVERSES,
        PENALTIES,
        POLYNOMIALS,
        LEGENDRE,
        ELLIPSOIDAL,
        SPHERICAL,
        NODES,
        HYPERGEOMETRIC,
        constants(sp.gammasgn, sp.round),
    ).items()
}
