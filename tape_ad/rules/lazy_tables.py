"""The rule tables that are loaded when a function is met that no other table has."""

from tape_ad.rules.base import merged
from tape_ad.rules.linalg.decompositions import DECOMPOSITIONS, SINGULAR_VALUES
from tape_ad.rules.linalg.norms import DETERMINANTS, NORMS
from tape_ad.rules.linalg.spectra import SPECTRA
from tape_ad.rules.linalg.systems import LINALG
from tape_ad.rules.nn.attention import ATTENTION
from tape_ad.rules.nn.images import IMAGES
from tape_ad.rules.nn.normalization import NORMALIZATION
from tape_ad.rules.nn.pooling import POOLING
from tape_ad.rules.nn.rectifiers import NORMAL, RECTIFIERS
from tape_ad.rules.nn.recurrent import RECURRENT
from tape_ad.rules.numpy.differences import DIFFERENCES
from tape_ad.rules.numpy.fft import FFT
from tape_ad.rules.numpy.interpolation import INTERPOLATION
from tape_ad.rules.numpy.matrices import MATRICES
from tape_ad.rules.numpy.order_statistics import ORDER_STATISTICS
from tape_ad.rules.numpy.padding import PADDING
from tape_ad.rules.numpy.parts import PARTS
from tape_ad.rules.numpy.polynomials import CONVOLUTION, POLYNOMIALS
from tape_ad.rules.numpy.rearranging import FLIPPING, REPEATING, SPLITTING
from tape_ad.rules.numpy.sets import SETS
from tape_ad.rules.numpy.sorting import SELECTING
from tape_ad.rules.numpy.special_functions import SCIMATH, SPECIALS_NUMPY
from tape_ad.rules.numpy.statistics import HISTOGRAMS, NAN_REDUCTIONS, STATISTICS
from tape_ad.rules.numpy.ufunc_methods import UFUNC_METHODS

LAZY_TABLES = merged(
    *(SCIMATH, PARTS, SPECIALS_NUMPY, NAN_REDUCTIONS, UFUNC_METHODS, DIFFERENCES, STATISTICS),
    *(ORDER_STATISTICS, HISTOGRAMS, FLIPPING, REPEATING, PADDING, SPLITTING, INTERPOLATION, SETS),
    *(SELECTING, CONVOLUTION, POLYNOMIALS, FFT, MATRICES),
    *(LINALG, DETERMINANTS, SPECTRA, SINGULAR_VALUES, DECOMPOSITIONS, NORMS),
    *(RECTIFIERS, NORMAL, RECURRENT, ATTENTION, IMAGES, POOLING, NORMALIZATION),
)
