"""The rules for `scipy.linalg`, whose functions cannot dispatch, so that ours stand for them.

`tape_ad.scipy.linalg` imports this package, publishes the functions and adds the rules to the
others; nothing else does, for importing SciPy takes its time and SciPy may be absent.
"""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.scipy.anchored import ANCHORED
from tape_ad.scipy.linalg.banded import BANDED
from tape_ad.scipy.linalg.basics import BASICS
from tape_ad.scipy.linalg.functions import FUNCTIONS
from tape_ad.scipy.linalg.further_factors import FURTHER_FACTORS
from tape_ad.scipy.linalg.further_functions import FURTHER_FUNCTIONS
from tape_ad.scipy.linalg.further_structured import FURTHER_STRUCTURED
from tape_ad.scipy.linalg.lu_factors import LU
from tape_ad.scipy.linalg.qr_updates import QR_UPDATES
from tape_ad.scipy.linalg.riccati import RICCATI
from tape_ad.scipy.linalg.solvers import SOLVERS
from tape_ad.scipy.linalg.spectral import SPECTRAL
from tape_ad.scipy.linalg.structured import STRUCTURED
from tape_ad.scipy.linalg.triangular_factors import TRIANGULAR_FACTORS

__all__ = ["SCIPY_LINALG"]

SCIPY_LINALG: dict[Any, Entry] = {
    **SOLVERS,
    **LU,
    **BANDED,
    **FUNCTIONS,
    **STRUCTURED,
    **BASICS,
    **SPECTRAL,
    **ANCHORED,
    **FURTHER_FACTORS,
    **FURTHER_FUNCTIONS,
    **FURTHER_STRUCTURED,
    **QR_UPDATES,
    **RICCATI,
    **TRIANGULAR_FACTORS,
}
