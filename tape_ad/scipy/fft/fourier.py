"""Fourier transforms, which have the maps of NumPy's, and discrete cosine and sine transforms."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array, axes_of
from tape_ad.extend.facts import Facts
from tape_ad.extend.maps import SAME, Chain, Conjugate, LinearMap
from tape_ad.extend.patterns import along
from tape_ad.extend.rules import Entry, arguments_of, rule
from tape_ad.rules.numpy.fft import DUAL, SEVERAL, chained, fitted
from tape_ad.rules.numpy.fft import FFT as OF_NUMPY
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.installed import scipy

__all__ = ["FOURIER", "TRANSFORMS", "TRIGONOMETRIC", "dct", "dctn", "dst", "dstn", "fftfreq"]
__all__ += ["idct", "idctn", "idst", "idstn", "rfftfreq"]


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


# Discrete cosine and sine transforms of the types 1 to 4
#
# As matrices, and up to one factor, those of types 1 and 4 are symmetric and that of type 3 is the
# transpose of that of type 2, but for the frequency or the sample at an edge that counts half:
# SciPy says so by its argument `orthogonalize`. An inverse is a transform of the transposed type
# with the other norm. See Strang 1999, "The discrete cosine transform".


TRIGONOMETRIC: dict[Any, Entry] = {}

TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type of the transpose, which is that of the inverse as well."""


@define(eq=False, repr=False)
class Trigonometric:
    """A transform of one axis, which already has the length that it takes.

    Parameters
    ----------
    function : callable
        `dct` or `dst`.
    type, n, axis : int
        `axis` is negative.
    norm : str or None
    orthogonal : bool
        Whether what is at the edges is scaled so that the matrix is orthogonal up to a factor.
    """

    pattern = along("axis")
    function: Any
    type: int
    n: int
    axis: int
    norm: str | None
    orthogonal: bool

    def push(self, t: Array) -> Array:
        return self.function(
            t, self.type, axis=self.axis, norm=self.norm, orthogonalize=self.orthogonal
        )

    def pull(self, ct: Array) -> Array:
        before, after = self._weights(ct)
        out = self.function(
            ct if before is None else ct * before,
            TRANSPOSED[self.type],
            axis=self.axis,
            norm=self.norm,
            orthogonalize=self.orthogonal,
        )
        return out if after is None else out * after

    def _weights(self, ct: Array) -> tuple[Any, Any]:
        """Make what the transpose multiplies with before and after, or None for nothing."""
        cosine = self.function is dct
        if self.orthogonal or self.type == 4 or (self.type == 1 and not cosine):
            return None, None
        weights = np.ones(self.n, np.finfo(ct.dtype).dtype)
        edge = 0 if cosine else -1
        before: Any = None
        after: Any = None
        if self.type == 1:
            weights[1:-1] = 2
            before, after = 1 / weights, weights
        elif self.type == 2:
            weights[edge] = 2
            before = weights
        else:
            weights[edge] = 0.5
            after = weights
        shape = (-1,) + (1,) * (-1 - self.axis)
        first, second = (w if w is None else w.reshape(shape) for w in (before, after))
        return first, second


def along_one(name: str) -> Any:
    """Make the function that stands for a transform of one axis."""

    def partial(out: Array, x: Array, n: int | None, axis: int, **options: Any) -> LinearMap:
        return along_all(name, x, None if n is None else (n,), (axis,), **options)

    return of_one_operand(
        TRIGONOMETRIC, name, partial, "type n axis norm orthogonalize", facts.along()
    )


def along_several(name: str) -> Any:
    """Make the function that stands for a transform of several axes."""

    def partial(out: Array, x: Array, s: Any, axes: Any, **options: Any) -> LinearMap:
        lengths = None if s is None else np.atleast_1d(s).tolist()
        if axes is None:
            axes = range(-x.ndim if lengths is None else -len(lengths), 0)
        return along_all(name[:-1], x, lengths, axes, **options)

    return of_one_operand(TRIGONOMETRIC, name, partial, "type s axes norm orthogonalize", SEVERAL)


def along_all(
    name: str,
    x: Array,
    lengths: Sequence[int] | None,
    axes: Any,
    type: int,
    norm: str | None,
    orthogonalize: bool | None,
) -> LinearMap:
    """Make the maps that transform one axis after another."""
    places = axes_of(x.ndim, axes if isinstance(axes, int) else tuple(axes))
    # SciPy forgets what it was told where it transforms a real and an imaginary part
    told = orthogonalize is not None and x.dtype.kind != "c"
    orthogonal = bool(orthogonalize) if told else norm == "ortho"
    if name.startswith("i"):
        type, norm = TRANSPOSED[type], DUAL[norm]  # noqa: A001 - SciPy's name
    function = dct if name.endswith("dct") else dst
    maps: list[LinearMap] = []
    shape = list(x.shape)
    for i, axis in enumerate(places):
        n = shape[axis] if lengths is None or lengths[i] == -1 else int(lengths[i])
        maps += fitted(shape, axis, n)
        maps.append(Trigonometric(function, type, n, axis, norm, orthogonal))
        shape[axis] = n
    return chained(maps) if maps else SAME


dct, idct, dst, idst = map(along_one, ("dct", "idct", "dst", "idst"))
dctn, idctn, dstn, idstn = map(along_several, ("dctn", "idctn", "dstn", "idstn"))
