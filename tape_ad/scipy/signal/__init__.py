"""Filters, convolution and resampling: functions of `scipy.signal` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.signal`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.base.extras import extra
from tape_ad.record.messages.migration_hints import attributes_of, listed

with extra("scipy", "tape_ad.scipy.signal"):
    import scipy.signal

from tape_ad.rules import add_rules
from tape_ad.scipy.linalg.rules import SCIPY_LINALG
from tape_ad.scipy.signal import windows
from tape_ad.scipy.signal.cascades import (
    sosfilt,
    sosfilt_zi,
    sosfiltfilt,
)
from tape_ad.scipy.signal.convolution import (
    choose_conv_method,
    convolve,
    convolve2d,
    correlate,
    correlate2d,
    fftconvolve,
    oaconvolve,
)
from tape_ad.scipy.signal.design import (
    bessel,
    butter,
    cheby1,
    cheby2,
    ellip,
    firwin,
    iirfilter,
)
from tape_ad.scipy.signal.filters import (
    filtfilt,
    lfilter,
    lfilter_zi,
    lfiltic,
)
from tape_ad.scipy.signal.forms import (
    abcd_normalize,
    cont2discrete,
    normalize,
    ss2tf,
    ss2zpk,
    tf2ss,
    zpk2ss,
)
from tape_ad.scipy.signal.fractions import residue, residuez
from tape_ad.scipy.signal.notches import (
    gammatone,
    iircomb,
    iirnotch,
    iirpeak,
)
from tape_ad.scipy.signal.order import (
    argrelextrema,
    argrelmax,
    argrelmin,
    deconvolve,
    medfilt,
    medfilt2d,
    order_filter,
)
from tape_ad.scipy.signal.peaks import (
    find_peaks,
    find_peaks_cwt,
    peak_prominences,
    peak_widths,
    unique_roots,
)
from tape_ad.scipy.signal.periodic import (
    check_COLA,
    check_NOLA,
    group_delay,
    sawtooth,
    square,
)
from tape_ad.scipy.signal.rates import decimate, resample_poly, upfirdn
from tape_ad.scipy.signal.resampling import hilbert, hilbert2, resample
from tape_ad.scipy.signal.responses import (
    bilinear,
    findfreqs,
    freqs,
    freqs_zpk,
    freqz,
    freqz_zpk,
    sos2tf,
    sosfreqz,
    tf2zpk,
    zpk2tf,
)
from tape_ad.scipy.signal.rules import SIGNAL
from tape_ad.scipy.signal.sections_of_roots import (
    sos2zpk,
    tf2sos,
    zpk2sos,
)
from tape_ad.scipy.signal.short_time import istft, spectrogram, stft
from tape_ad.scipy.signal.simulations import (
    dimpulse,
    dlsim,
    dstep,
    impulse,
    lsim,
    step,
)
from tape_ad.scipy.signal.sliding import (
    ShortTimeFFT,
)
from tape_ad.scipy.signal.smoothing import (
    detrend,
    savgol_coeffs,
    savgol_filter,
    wiener,
)
from tape_ad.scipy.signal.spectra import coherence, csd, periodogram, welch
from tape_ad.scipy.signal.spirals import (
    CZT,
    ZoomFFT,
    czt,
    czt_points,
    zoom_fft,
)
from tape_ad.scipy.signal.spline_filters import (
    cspline1d,
    cspline1d_eval,
    cspline2d,
    gauss_spline,
    qspline1d,
    qspline1d_eval,
    qspline2d,
    sepfir2d,
    spline_filter,
    symiirorder1,
    symiirorder2,
)
from tape_ad.scipy.signal.system_responses import (
    bode,
    dbode,
    dfreqresp,
    freqresp,
)
from tape_ad.scipy.signal.systems import (
    StateSpace,
    TransferFunction,
    ZerosPolesGain,
    dlti,
    lti,
)
from tape_ad.scipy.signal.taps import (
    buttord,
    cheb1ord,
    cheb2ord,
    ellipord,
    firls,
    firwin2,
    iirdesign,
    minimum_phase,
    remez,
)
from tape_ad.scipy.signal.transformations import (
    bilinear_zpk,
    lp2bp_zpk,
    lp2bs_zpk,
    lp2hp_zpk,
    lp2lp_zpk,
)
from tape_ad.scipy.signal.unevenly import (
    lombscargle,
    vectorstrength,
)
from tape_ad.scipy.signal.waveforms import chirp, gausspulse, sweep_poly
from tape_ad.scipy.signal.window_functions import (
    get_window,
)

__all__ = [
    "CZT",
    "ShortTimeFFT",
    "StateSpace",
    "TransferFunction",
    "ZerosPolesGain",
    "ZoomFFT",
    "abcd_normalize",
    "argrelextrema",
    "argrelmax",
    "argrelmin",
    "bessel",
    "bilinear",
    "bilinear_zpk",
    "bode",
    "butter",
    "buttord",
    "cheb1ord",
    "cheb2ord",
    "cheby1",
    "cheby2",
    "check_COLA",
    "check_NOLA",
    "chirp",
    "choose_conv_method",
    "coherence",
    "cont2discrete",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "csd",
    "cspline1d",
    "cspline1d_eval",
    "cspline2d",
    "czt",
    "czt_points",
    "dbode",
    "decimate",
    "deconvolve",
    "detrend",
    "dfreqresp",
    "dimpulse",
    "dlsim",
    "dlti",
    "dstep",
    "ellip",
    "ellipord",
    "fftconvolve",
    "filtfilt",
    "find_peaks",
    "find_peaks_cwt",
    "findfreqs",
    "firls",
    "firwin",
    "firwin2",
    "freqresp",
    "freqs",
    "freqs_zpk",
    "freqz",
    "freqz_zpk",
    "gammatone",
    "gauss_spline",
    "gausspulse",
    "get_window",
    "group_delay",
    "hilbert",
    "hilbert2",
    "iircomb",
    "iirdesign",
    "iirfilter",
    "iirnotch",
    "iirpeak",
    "impulse",
    "istft",
    "lfilter",
    "lfilter_zi",
    "lfiltic",
    "lombscargle",
    "lp2bp_zpk",
    "lp2bs_zpk",
    "lp2hp_zpk",
    "lp2lp_zpk",
    "lsim",
    "lti",
    "medfilt",
    "medfilt2d",
    "minimum_phase",
    "normalize",
    "oaconvolve",
    "order_filter",
    "peak_prominences",
    "peak_widths",
    "periodogram",
    "qspline1d",
    "qspline1d_eval",
    "qspline2d",
    "remez",
    "resample",
    "resample_poly",
    "residue",
    "residuez",
    "savgol_coeffs",
    "savgol_filter",
    "sawtooth",
    "sepfir2d",
    "sos2tf",
    "sos2zpk",
    "sosfilt",
    "sosfilt_zi",
    "sosfiltfilt",
    "sosfreqz",
    "spectrogram",
    "spline_filter",
    "square",
    "ss2tf",
    "ss2zpk",
    "step",
    "stft",
    "sweep_poly",
    "symiirorder1",
    "symiirorder2",
    "tf2sos",
    "tf2ss",
    "tf2zpk",
    "unique_roots",
    "upfirdn",
    "vectorstrength",
    "welch",
    "wiener",
    "windows",
    "zoom_fft",
    "zpk2sos",
    "zpk2ss",
    "zpk2tf",
]

add_rules(SCIPY_LINALG)
add_rules(SIGNAL)

if hasattr(scipy.signal, "freqz_sos"):  # since SciPy 1.15
    from tape_ad.scipy.signal.responses import freqz_sos

    __all__ += ["freqz_sos"]

if hasattr(scipy.signal, "firwin_2d"):  # since SciPy 1.17
    from tape_ad.scipy.signal.taps import firwin_2d

    __all__ += ["firwin_2d"]

__getattr__ = attributes_of(__name__)
__dir__ = listed(__all__)
