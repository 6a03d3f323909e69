"""Fourier transforms, which have the maps of NumPy's; see `tape_ad.rules.numpy.fft`."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.facts import Facts
from tape_ad.extend.maps import Chain, Conjugate, LinearMap
from tape_ad.extend.rules import Entry, arguments_of, rule
from tape_ad.rules.numpy.fft import DUAL
from tape_ad.rules.numpy.fft import FFT as OF_NUMPY
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.installed import scipy

__all__ = ["FOURIER", "TRANSFORMS", "fftfreq", "rfftfreq"]

MODULE = "tape_ad.scipy.fft"

FOURIER: dict[Any, Entry] = {}


def of_one_operand(
    table: dict[Any, Entry], name: str, maker: Any, options: str, known: Facts
) -> Any:
    """Make the function that stands for one of SciPy's, and its rule.

    Parameters
    ----------
    table : dict
        Of rules, to which it is added.
    name : str
    maker : callable
        Makes its partial.
    options : str
        What the maker takes besides, apart by spaces. How to compute it is no matter to a handle,
        which is never overwritten.
    """
    public = scipy_function(getattr(scipy.fft, name), MODULE, "x")
    several = options.split() if "s" in options.split() else ()
    sort = arguments_of(public, "x", options, ignored="overwrite_x workers plan")

    def signature(*args: Any, **kwargs: Any) -> Any:
        (x,), taken = sort(*args, **kwargs)
        for option in ("s", "axes"):  # SciPy takes a number for a tuple of one
            if taken.get(option) is not None and np.ndim(taken[option]) == 0 and option in several:
                taken[option] = (taken[option],)
        return (as_array(x),), taken

    table[public] = rule(maker, signature=signature, facts=known)
    return public


def transform(name: str) -> Any:
    """Make the function that stands for a transform that NumPy has too."""
    entry: Any = OF_NUMPY[getattr(np.fft, name)]
    options = "axes" if "shift" in name else "s axes norm" if name[-1] in "2n" else "n axis norm"
    return of_one_operand(FOURIER, name, entry.makers[0], options, entry.facts)


def hermitian(name: str, real: str, conjugate: str) -> Any:
    """Make the function that stands for a Hermitian transform of several axes.

    It is a real one the other way with the other norm.

    Parameters
    ----------
    name, real : str
        It, and that one.
    conjugate : str
        What is conjugated: the "input" of that, or its "output".
    """
    entry: Any = OF_NUMPY[getattr(np.fft, real)]
    maker: Callable[..., LinearMap] = entry.makers[0]

    def partial(out: Array, x: Array, s: Any, axes: Any, norm: str | None) -> LinearMap:
        linear = maker(out, x, s, axes, DUAL[norm])
        return Chain((Conjugate(), linear) if conjugate == "input" else (linear, Conjugate()))

    return of_one_operand(FOURIER, name, partial, "s axes norm", entry.facts)


OF_NUMPY_TOO = (
    "fft ifft rfft irfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn hfft ihfft fftshift "
    "ifftshift"
)

TRANSFORMS: dict[str, Any] = {
    **{name: transform(name) for name in OF_NUMPY_TOO.split()},
    **{name: hermitian(name, f"ir{name[1:]}", "input") for name in ("hfft2", "hfftn")},
    **{name: hermitian(name, f"r{name[2:]}", "output") for name in ("ihfft2", "ihfftn")},
}


@counterpart(FOURIER, scipy.fft.fftfreq, "d")
def fftfreq(n: int, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Array:
    """List the frequencies of `fft`, as `scipy.fft.fftfreq` does.

    Parameters
    ----------
    n : int
    d : number or Tensor
        The spacing of the samples.
    xp, device
        As in SciPy.

    Returns
    -------
    array or Tensor, shape (n,)
    """
    return scipy.fft.fftfreq(n, xp=xp, device=device) / as_array(d)


@counterpart(FOURIER, scipy.fft.rfftfreq, "d")
def rfftfreq(n: int, d: Any = 1.0, *, xp: Any = None, device: Any = None) -> Array:
    """List the frequencies of `rfft`, as `scipy.fft.rfftfreq` does.

    Parameters
    ----------
    n, d, xp, device
        As for `fftfreq`.

    Returns
    -------
    array or Tensor, shape (n // 2 + 1,)
    """
    return scipy.fft.rfftfreq(n, xp=xp, device=device) / as_array(d)
