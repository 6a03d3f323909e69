"""The tables that a program may well do without, in one."""

from tape_ad.rules.base import merged
from tape_ad.rules.convolution import CONVOLUTION
from tape_ad.rules.decompositions import DECOMPOSITIONS
from tape_ad.rules.determinants import DETERMINANTS
from tape_ad.rules.differences import DIFFERENCES
from tape_ad.rules.embedding import EMBEDDING
from tape_ad.rules.fft import FFT
from tape_ad.rules.flipping import FLIPPING
from tape_ad.rules.histograms import HISTOGRAMS
from tape_ad.rules.images import IMAGES
from tape_ad.rules.interpolation import INTERPOLATION
from tape_ad.rules.linalg import LINALG
from tape_ad.rules.matrices import MATRICES
from tape_ad.rules.nan_reductions import NAN_REDUCTIONS
from tape_ad.rules.normalization import NORMALIZATION
from tape_ad.rules.norms import NORMS
from tape_ad.rules.order_statistics import ORDER_STATISTICS
from tape_ad.rules.padding import PADDING
from tape_ad.rules.parts import PARTS
from tape_ad.rules.polynomials import POLYNOMIALS
from tape_ad.rules.pooling import POOLING
from tape_ad.rules.rectifiers import RECTIFIERS
from tape_ad.rules.recurrent import RECURRENT
from tape_ad.rules.repeating import REPEATING
from tape_ad.rules.scimath import SCIMATH
from tape_ad.rules.selecting import SELECTING
from tape_ad.rules.sets import SETS
from tape_ad.rules.singular_values import SINGULAR_VALUES
from tape_ad.rules.specials_numpy import SPECIALS_NUMPY
from tape_ad.rules.spectra import SPECTRA
from tape_ad.rules.splitting import SPLITTING
from tape_ad.rules.statistics import STATISTICS
from tape_ad.rules.ufunc_methods import UFUNC_METHODS

__all__ = ["FURTHER"]

FURTHER = merged(
    SCIMATH,
    PARTS,
    SPECIALS_NUMPY,
    NAN_REDUCTIONS,
    UFUNC_METHODS,
    DIFFERENCES,
    STATISTICS,
    ORDER_STATISTICS,
    HISTOGRAMS,
    FLIPPING,
    REPEATING,
    PADDING,
    SPLITTING,
    INTERPOLATION,
    SETS,
    SELECTING,
    CONVOLUTION,
    POLYNOMIALS,
    FFT,
    MATRICES,
    LINALG,
    DETERMINANTS,
    SPECTRA,
    SINGULAR_VALUES,
    DECOMPOSITIONS,
    NORMS,
    RECTIFIERS,
    RECURRENT,
    IMAGES,
    POOLING,
    EMBEDDING,
    NORMALIZATION,
)
