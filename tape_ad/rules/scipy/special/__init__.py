"""The rules for SciPy's special functions.

They are loaded when somebody has imported `scipy.special` and calls a function of it on a handle;
its ufuncs record themselves, through NEP 13, so users go on calling SciPy. What SciPy writes in
Python cannot do that, and `tape_ad.special` has it under the same names.

The rooms follow the chapters of the *NIST Digital Library of Mathematical Functions* (DLMF).
"""

from typing import Any

from tape_ad.rules.base import Entry, constants, merged
from tape_ad.rules.scipy.special.bessel import BESSEL
from tape_ad.rules.scipy.special.densities import DENSITIES
from tape_ad.rules.scipy.special.error import ERROR
from tape_ad.rules.scipy.special.functions import sp
from tape_ad.rules.scipy.special.gamma import GAMMA
from tape_ad.rules.scipy.special.incomplete import INCOMPLETE
from tape_ad.rules.scipy.special.integrals import INTEGRALS
from tape_ad.rules.scipy.special.logarithms import LOGARITHMS
from tape_ad.rules.scipy.special.zeta import ZETA

__all__ = ["SPECIAL"]

SPECIAL: dict[Any, Entry] = merged(
    GAMMA,
    DENSITIES,
    INCOMPLETE,
    ERROR,
    BESSEL,
    LOGARITHMS,
    INTEGRALS,
    ZETA,
    constants(sp.gammasgn, sp.round),
)
