"""The rule tables: which NumPy function has which partials."""

import importlib
import sys
from collections.abc import Callable
from typing import Any

from tape_ad.rules.activations import ACTIVATIONS
from tape_ad.rules.affine import AFFINE
from tape_ad.rules.base import Entry, Maker, Rule
from tape_ad.rules.building import BUILDING
from tape_ad.rules.convolution import CONVOLUTION
from tape_ad.rules.decompositions import DECOMPOSITIONS
from tape_ad.rules.determinants import DETERMINANTS
from tape_ad.rules.differences import DIFFERENCES
from tape_ad.rules.einsum import EINSUM
from tape_ad.rules.elementwise import ELEMENTWISE
from tape_ad.rules.embedding import EMBEDDING
from tape_ad.rules.fft import FFT
from tape_ad.rules.flipping import FLIPPING
from tape_ad.rules.histograms import HISTOGRAMS
from tape_ad.rules.images import IMAGES
from tape_ad.rules.indexing import INDEXING
from tape_ad.rules.interpolation import INTERPOLATION
from tape_ad.rules.joining import JOINING
from tape_ad.rules.linalg import LINALG
from tape_ad.rules.matrices import MATRICES
from tape_ad.rules.nan_reductions import NAN_REDUCTIONS
from tape_ad.rules.normalization import NORMALIZATION
from tape_ad.rules.norms import NORMS
from tape_ad.rules.order_statistics import ORDER_STATISTICS
from tape_ad.rules.padding import PADDING
from tape_ad.rules.parts import PARTS
from tape_ad.rules.plain_maps import PLAIN_MAPS
from tape_ad.rules.polynomials import POLYNOMIALS
from tape_ad.rules.pooling import POOLING
from tape_ad.rules.products import PRODUCTS
from tape_ad.rules.rectifiers import RECTIFIERS
from tape_ad.rules.recurrent import RECURRENT
from tape_ad.rules.reductions import REDUCTIONS
from tape_ad.rules.repeating import REPEATING
from tape_ad.rules.scans import SCANS
from tape_ad.rules.scimath import SCIMATH
from tape_ad.rules.selecting import SELECTING
from tape_ad.rules.sets import SETS
from tape_ad.rules.shaping import SHAPING
from tape_ad.rules.singular_values import SINGULAR_VALUES
from tape_ad.rules.sorting import SORTING
from tape_ad.rules.sparse import SPARSE
from tape_ad.rules.specials_numpy import SPECIALS_NUMPY
from tape_ad.rules.spectra import SPECTRA
from tape_ad.rules.splitting import SPLITTING
from tape_ad.rules.spreads import SPREADS
from tape_ad.rules.statistics import STATISTICS
from tape_ad.rules.ufunc_methods import UFUNC_METHODS
from tape_ad.rules.updates import UPDATES

__all__ = ["RULES", "STRAIGHT", "load_scipy_rules", "merged"]


def merged(*tables: dict[Callable[..., Any], Entry]) -> dict[Callable[..., Any], Entry]:
    """Merge rule tables into one.

    Raises
    ------
    ValueError
        When a function stands in two tables.
    """
    together: dict[Callable[..., Any], Entry] = {}
    for table in tables:
        for function, entry in table.items():
            if function in together:
                raise ValueError(f"{function!r} has two rules")
            together[function] = entry
    return together


def straight(
    table: dict[Callable[..., Any], Entry],
) -> dict[Callable[..., Any], tuple[Maker, ...]]:
    """Pick the makers of those functions that the dispatch records in straight lines."""
    return {
        function: entry.makers
        for function, entry in table.items()
        if isinstance(entry, Rule) and entry.straight
    }


def load_scipy_rules() -> bool:
    """Add the rules for SciPy's functions, once somebody has imported SciPy's module.

    Importing SciPy takes several times as long as importing this library, so nobody pays for it
    who does not use it: the table is loaded when a function of an imported `scipy.special` is
    first met. Loading it again, from another thread too, changes nothing.

    Returns
    -------
    bool
        Whether the rules for SciPy's functions are there.

    Raises
    ------
    ValueError
        When a function stands in two tables.
    """
    if "scipy.special" not in sys.modules:
        return False
    special = importlib.import_module("tape_ad.rules.special")
    for function, entry in special.SPECIAL.items():
        if RULES.setdefault(function, entry) is not entry:
            raise ValueError(f"{function!r} has two rules")
    STRAIGHT.update(straight(special.SPECIAL))
    return True


RULES = merged(
    ELEMENTWISE,
    SCIMATH,
    PARTS,
    SPECIALS_NUMPY,
    REDUCTIONS,
    SPREADS,
    NAN_REDUCTIONS,
    SCANS,
    UFUNC_METHODS,
    DIFFERENCES,
    STATISTICS,
    ORDER_STATISTICS,
    HISTOGRAMS,
    SHAPING,
    FLIPPING,
    REPEATING,
    PADDING,
    SPLITTING,
    BUILDING,
    PLAIN_MAPS,
    INDEXING,
    INTERPOLATION,
    SETS,
    SORTING,
    SELECTING,
    JOINING,
    PRODUCTS,
    EINSUM,
    CONVOLUTION,
    POLYNOMIALS,
    FFT,
    SPARSE,
    MATRICES,
    LINALG,
    DETERMINANTS,
    SPECTRA,
    SINGULAR_VALUES,
    DECOMPOSITIONS,
    NORMS,
    ACTIVATIONS,
    RECTIFIERS,
    AFFINE,
    RECURRENT,
    IMAGES,
    POOLING,
    EMBEDDING,
    NORMALIZATION,
    UPDATES,
)

STRAIGHT = straight(RULES)
