"""The rules for `scipy.interpolate`, which `tape_ad.interpolate` imports and publishes."""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.rules.scipy.interpolate.cubics import CUBICS
from tape_ad.rules.scipy.interpolate.fitpack import FITPACK
from tape_ad.rules.scipy.interpolate.further import FURTHER
from tape_ad.rules.scipy.interpolate.grids import GRIDS
from tape_ad.rules.scipy.interpolate.pieces import PIECES
from tape_ad.rules.scipy.interpolate.radial import RADIAL
from tape_ad.rules.scipy.interpolate.rational import RATIONAL
from tape_ad.rules.scipy.interpolate.roots import ROOTS_OF_PIECES
from tape_ad.rules.scipy.interpolate.scattered import SCATTERED
from tape_ad.rules.scipy.interpolate.splines import SPLINES

__all__ = ["INTERPOLATE"]

INTERPOLATE: dict[Any, Entry] = {
    **PIECES,
    **CUBICS,
    **SPLINES,
    **FITPACK,
    **FURTHER,
    **GRIDS,
    **RADIAL,
    **RATIONAL,
    **SCATTERED,
    **ROOTS_OF_PIECES,
}
