"""Frequency responses, and the forms in which filters are given."""

import warnings
from typing import Any

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.rules import TYPED_BY_VALUES, Constant, Entry, add_facts, takes_over
from tape_ad.scipy.counterparts import is_handle, scipy_composition, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.cascades import sections_of
from tape_ad.scipy.signal.convolution import convolve
from tape_ad.scipy.signal.filters import coefficients
from tape_ad.scipy.signal.simple_roots import roots_of_filter

__all__ = [
    "RESPONSES",
    "bilinear",
    "findfreqs",
    "freqs",
    "freqs_zpk",
    "freqz",
    "freqz_zpk",
    "sos2tf",
    "sosfreqz",
    "tf2zpk",
    "zpk2tf",
]

findfreqs = scipy_function(scipy.signal.findfreqs, "tape_ad.scipy.signal")

RESPONSES: dict[Any, Entry] = {findfreqs: Constant()}


@scipy_composition(RESPONSES, scipy.signal.freqz, "b a worN")
def freqz(
    b: Array,
    a: Any = 1,
    worN: Any = 512,  # noqa: N803 - SciPy's name
    whole: bool = False,
    plot: Any = None,
    fs: float = 2 * np.pi,
    include_nyquist: bool = False,
) -> tuple[Array, Array]:
    """Compute the frequency response of a digital filter, as `scipy.signal.freqz` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    worN : int, array or Tensor
        The number of frequencies, or the frequencies in units of `fs`.
    whole, include_nyquist : bool
    plot : callable, optional
        Called with both results.
    fs : float

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the response.
    """
    options = {"whole": whole, "fs": fs, "include_nyquist": include_nyquist}
    like = [like_ones(c) for c in (b, a)]
    w, dtype = grid(scipy.signal.freqz, *like, worN=worN, **options)
    b, a = coefficients("freqz", b), coefficients("freqz", a)
    delays = np.exp((-2j * np.pi / fs) * w)
    h = (polynomial(b, delays) / polynomial(a, delays)).astype(dtype)
    if plot is not None:
        plot(w, h)
    return w, h


@scipy_composition(RESPONSES, scipy.signal.sosfreqz, "sos worN")
def sosfreqz(
    sos: Array,
    worN: Any = 512,  # noqa: N803 - SciPy's name
    whole: bool = False,
    fs: float = 2 * np.pi,
) -> tuple[Array, Array]:
    """Compute the frequency response of second-order sections, as `scipy.signal.sosfreqz` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)
    worN, whole, fs
        As for `freqz`.

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the response.
    """
    sos = sections_of("sosfreqz", sos)
    w, dtype = grid(scipy.signal.sosfreqz, like_ones(sos), worN=worN, whole=whole, fs=fs)
    delays = np.exp((-2j * np.pi / fs) * w)
    h: Any = 1.0
    for section in sos:
        h = h * (polynomial(section[:3], delays) / polynomial(section[3:], delays))
    return w, h.astype(dtype)


if scipy.signal.freqz_sos:  # its newer name

    @scipy_composition(RESPONSES, scipy.signal.freqz_sos, "sos worN")
    def freqz_sos(
        sos: Array,
        worN: Any = 512,  # noqa: N803 - SciPy's name
        whole: bool = False,
        fs: float = 2 * np.pi,
    ) -> tuple[Array, Array]:
        """Compute the frequency response of second-order sections, as `freqz_sos` does."""
        return sosfreqz(sos, worN, whole, fs)

    __all__ += ["freqz_sos"]


@scipy_composition(RESPONSES, scipy.signal.freqz_zpk, "z p k worN")
def freqz_zpk(
    z: Array,
    p: Array,
    k: Any,
    worN: Any = 512,  # noqa: N803 - SciPy's name
    whole: bool = False,
    fs: float = 2 * np.pi,
) -> tuple[Array, Array]:
    """Compute the frequency response of zeros, poles and a gain, as SciPy's `freqz_zpk` does.

    Parameters
    ----------
    z, p : array or Tensor, shapes (m,) and (n,)
    k : number or Tensor
    worN, whole, fs
        As for `freqz`.

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the response.
    """
    like = [like_ones(x) for x in (z, p, k)]
    w, dtype = grid(scipy.signal.freqz_zpk, *like, worN=worN, whole=whole, fs=fs)
    z, p, k = as_array(z), as_array(p), as_array(k)
    around = np.exp((2j * np.pi / fs) * w)[..., None]
    h = k * np.prod(around - z, axis=-1) / np.prod(around - p, axis=-1)
    return w, h.astype(dtype)


@scipy_composition(RESPONSES, scipy.signal.freqs, "b a worN")
def freqs(
    b: Array,
    a: Array,
    worN: Any = 200,  # noqa: N803 - SciPy's name
    plot: Any = None,
) -> tuple[Array, Array]:
    """Compute the frequency response of an analog filter, as `scipy.signal.freqs` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    worN : int, array or Tensor
        The number of frequencies, or the angular frequencies. Those that are chosen are whole
        powers of ten and what is between, which do not move with the coefficients.
    plot : callable, optional
        Called with both results.

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the response.

    """
    b, a = coefficients("freqs", b), coefficients("freqs", a)
    w = angular(b, a, worN, "ba")
    h = polynomial(b[::-1], 1j * w) / polynomial(a[::-1], 1j * w)
    if plot is not None:
        plot(w, h)
    return w, h


@scipy_composition(RESPONSES, scipy.signal.freqs_zpk, "z p k worN")
def freqs_zpk(
    z: Array,
    p: Array,
    k: Any,
    worN: Any = 200,  # noqa: N803 - SciPy's name
) -> tuple[Array, Array]:
    """Compute the frequency response of analog zeros and poles, as `scipy.signal.freqs_zpk` does.

    Parameters
    ----------
    z, p : array or Tensor, shapes (m,) and (n,)
    k : number or Tensor
    worN : int, array or Tensor
        As for `freqs`.

    Returns
    -------
    tuple of array or Tensor
        The frequencies and the response.
    """
    z, p, k = as_array(z), as_array(p), as_array(k)
    w = angular(z, p, worN, "zp")
    _, like = scipy.signal.freqs_zpk(*map(like_ones, (z, p, k)), worN=like_ones(w))
    along = 1j * w[..., None]
    h = k * np.prod(along - z, axis=-1) / np.prod(along - p, axis=-1)
    return w, h.astype(like.dtype)


def angular(num: Array, den: Array, given: Any, kind: str) -> Array:
    """Take the frequencies that are given, or choose so many."""
    if given is None or isinstance(given, (int, np.integer)):
        return findfreqs(num, den, 200 if given is None else int(given), kind)
    w = as_array(given)
    return w.reshape((1,)) if w.ndim == 0 else w


def grid(
    function: Any,
    *like: Any,
    worN: Any,  # noqa: N803 - SciPy's name
    **options: Any,
) -> tuple[Array, Any]:
    """Make the frequencies of a response, and tell its dtype, as SciPy does in this release.

    Parameters
    ----------
    function : callable
        SciPy's.
    like : array
        Numbers in the place of coefficients, of their shapes and dtypes.
    worN, options
        The other arguments.
    """
    given = takes_over(type(worN))
    with np.errstate(all="ignore"):  # there may be a root where there is a frequency
        w, h = function(*like, worN=like_ones(worN) if given else worN, **options)
    if given:
        w = (worN.reshape((1,)) if worN.ndim == 0 else worN).astype(w.dtype)
    return w, h.dtype


def like_ones(c: Any) -> Any:
    """Make plain ones of a shape and dtype; a number of Python's stays one."""
    if isinstance(c, (int, float, complex)):
        return 1.0
    return np.ones(c.shape, c.dtype) if hasattr(c, "dtype") else np.ones(np.shape(c))


def polynomial(c: Array, x: Array) -> Array:
    """Evaluate a polynomial with its lowest coefficient first."""
    out = c[-1] + 0 * x
    for i in range(2, c.shape[0] + 1):
        out = out * x + c[-i]
    return out


# Forms


@scipy_composition(RESPONSES, scipy.signal.zpk2tf, "z p k")
def zpk2tf(z: Array, p: Array, k: Any) -> tuple[Array, Array]:
    """Make coefficients of zeros, poles and a gain, as `scipy.signal.zpk2tf` does.

    Parameters
    ----------
    z, p : array or Tensor, shapes (m,) and (n,)
    k : number or Tensor

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator, real where the roots come in conjugate pairs.
    """
    z, p = as_array(z), as_array(p)
    b, a = scipy.signal.zpk2tf(like_ones(z), like_ones(p), like_ones(k))
    return in_precision(k * expanded(z), b), in_precision(expanded(p), a)


def in_precision(x: Array, like: Array) -> Array:
    """Take a real or complex array to the precision that SciPy gives in this release."""
    real = like.real.dtype
    return x.astype(np.result_type(real, np.complex64) if x.dtype.kind == "c" else real)


def conjugate_pairs(roots: Array) -> bool:
    """Tell whether the conjugates of roots are the same roots."""
    return bool((np.sort(roots) == np.sort(np.conjugate(roots))).all())


def expanded(roots: Array) -> Array:
    """Multiply a polynomial out, with its highest coefficient first."""
    roots = roots.reshape((1,)) if roots.ndim == 0 else roots
    out = np.ones(1, np.result_type(roots, np.float32))
    for root in roots:
        out = np.concatenate((out, np.zeros(1, out.dtype))) - root * np.concatenate(
            (np.zeros(1, out.dtype), out)
        )
    if out.dtype.kind == "c" and conjugate_pairs(primal(roots)):
        return out.real
    return out


@scipy_composition(RESPONSES, scipy.signal.tf2zpk, "b a")
def tf2zpk(b: Array, a: Array) -> tuple[Array, Array, Array]:
    """Find zeros, poles and the gain of coefficients, as `scipy.signal.tf2zpk` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain. A derivative of those among which a root is not simple
        is an error.
    """
    b, a = coefficients("tf2zpk", b), coefficients("tf2zpk", a)
    like = scipy.signal.tf2zpk(like_ones(b), like_ones(a))
    given = b
    b, a = simplified(b, a)
    given = given[given.shape[0] - b.shape[0] :]  # whose roots do not depend on the denominator
    z, p = roots_of_filter("tf2zpk", given / given[0]), roots_of_filter("tf2zpk", a)
    return in_precision(z, like[0]), in_precision(p, like[1]), b[0]


@scipy_composition(RESPONSES, scipy.signal.sos2tf, "sos")
def sos2tf(sos: Array) -> tuple[Array, Array]:
    """Multiply sections out, as `scipy.signal.sos2tf` does.

    Parameters
    ----------
    sos : array or Tensor, shape (sections, 6)

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    sos = as_array(sos)
    b = a = np.ones(1, sos.dtype)
    for section in sos:
        b = convolve(b, section[:3], method="direct")
        a = convolve(a, section[3:], method="direct")
    return (
        b[sum(zeros_in_front(section[:3]) for section in sos) :],
        a[sum(zeros_in_front(section[3:]) for section in sos) :],
    )


def zeros_in_front(c: Array) -> int:
    """Count the zeros that a polynomial begins with; the last coefficient is none of them."""
    values = primal(c)
    count = 0
    while count < values.shape[0] - 1 and values[count] == 0:
        count += 1
    return count


def without_zeros(c: Array) -> Array:
    """Drop zeros in front of a denominator, as SciPy does.

    Raises
    ------
    UnsupportedArgumentError
        For handles, as poles move by a coefficient that is dropped.
    """
    count = zeros_in_front(c)
    if count and is_handle(c):
        raise UnsupportedArgumentError(
            "a denominator of handles begins with a coefficient that is exactly 0, which has a "
            "slope that would be lost; leave it out, a[1:]"
        )
    return c[count:]


@scipy_composition(RESPONSES, scipy.signal.bilinear, "b a fs")
def bilinear(b: Array, a: Array, fs: Any = 1.0) -> tuple[Array, Array]:
    """Make a digital filter of an analog one, as `scipy.signal.bilinear` does.

    Parameters
    ----------
    b, a : array or Tensor, shapes (k,) and (l,)
    fs : number or Tensor
        The sampling frequency.

    Returns
    -------
    tuple of array or Tensor
        The numerator and the denominator.
    """
    b, a = coefficients("bilinear", b), coefficients("bilinear", a)
    order = max(b.shape[0], a.shape[0]) - 1
    # Row q is (z + 1)^(order - q) (z - 1)^q, the highest power first
    rows = np.stack(
        [np.atleast_1d(np.poly([-1] * (order - q) + [1] * q)) for q in range(order + 1)]
    )
    factors = (2 * as_array(fs)) ** (np.arange(order + 1) - order / 2)
    both = [
        (c[::-1] * factors[: c.shape[0]]) @ rows[: c.shape[0]].astype(np.float64) for c in (b, a)
    ]
    return simplified(*both)


def simplified(b: Array, a: Array) -> tuple[Array, Array]:
    """Drop zeros in front and divide by the first coefficient, as `scipy.signal.normalize` does."""
    a = without_zeros(a)
    b, a = b / a[0], a / a[0]
    if abs(b[0]) <= 1e-14 and b.shape[0] > 1:
        warnings.warn(
            "Badly conditioned filter coefficients (numerator): the results may be meaningless",
            scipy.signal.BadCoefficients,
            stacklevel=5,
        )
        while b.shape[0] > 1 and abs(b[0]) <= 1e-14:
            b = b[1:]
    return b, a


TYPED_BY_VALUES.update((tf2zpk, zpk2tf))

add_facts(RESPONSES, (tf2zpk, bilinear, sos2tf), shape_by_values=True)
