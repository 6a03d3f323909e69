"""Discrete cosine and sine transforms of the types 1 to 4.

As matrices, and up to one factor, those of types 1 and 4 are symmetric and that of type 3 is the
transpose of that of type 2, but for the frequency or the sample at an edge that counts half: SciPy
says so by its argument `orthogonalize`. An inverse is a transform of the transposed type with the
other norm. See Strang 1999, "The discrete cosine transform".
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import define

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, axes_of
from tape_ad.extend.maps import SAME, LinearMap
from tape_ad.extend.patterns import along
from tape_ad.extend.rules import Entry
from tape_ad.rules.numpy.fft import DUAL, SEVERAL, chained, fitted
from tape_ad.scipy.fft.fourier import of_one_operand

__all__ = ["TRIGONOMETRIC", "dct", "dctn", "dst", "dstn", "idct", "idctn", "idst", "idstn"]

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

    def partial(
        out: Array,
        x: Array,
        type: int,  # noqa: A002 - SciPy's name
        n: int | None,
        axis: int,
        norm: str | None,
        orthogonalize: bool | None,
    ) -> LinearMap:
        lengths = None if n is None else (n,)
        return along_all(name, x, type, lengths, (axis,), norm, orthogonalize)

    return of_one_operand(
        TRIGONOMETRIC, name, partial, "type n axis norm orthogonalize", facts.along()
    )


def along_several(name: str) -> Any:
    """Make the function that stands for a transform of several axes."""

    def partial(
        out: Array,
        x: Array,
        type: int,  # noqa: A002 - SciPy's name
        s: Any,
        axes: Any,
        norm: str | None,
        orthogonalize: bool | None,
    ) -> LinearMap:
        lengths = None if s is None else np.atleast_1d(s).tolist()
        if axes is None:
            axes = range(-x.ndim if lengths is None else -len(lengths), 0)
        return along_all(name[:-1], x, type, lengths, axes, norm, orthogonalize)

    return of_one_operand(TRIGONOMETRIC, name, partial, "type s axes norm orthogonalize", SEVERAL)


def along_all(
    name: str,
    x: Array,
    kind: int,
    lengths: Sequence[int] | None,
    axes: Any,
    norm: str | None,
    orthogonalize: bool | None,
) -> LinearMap:
    """Make the maps that transform one axis after another."""
    places = axes_of(x.ndim, axes if isinstance(axes, int) else tuple(axes))
    # SciPy forgets what it was told where it transforms a real and an imaginary part
    told = orthogonalize is not None and x.dtype.kind != "c"
    orthogonal = bool(orthogonalize) if told else norm == "ortho"
    if name.startswith("i"):
        kind, norm = TRANSPOSED[kind], DUAL[norm]
    function = dct if name.endswith("dct") else dst
    maps: list[LinearMap] = []
    shape = list(x.shape)
    for i, axis in enumerate(places):
        n = shape[axis] if lengths is None or lengths[i] == -1 else int(lengths[i])
        maps += fitted(shape, axis, n)
        maps.append(Trigonometric(function, kind, n, axis, norm, orthogonal))
        shape[axis] = n
    return chained(maps) if maps else SAME


dct, idct, dst, idst = map(along_one, ("dct", "idct", "dst", "idst"))
dctn, idctn, dstn, idstn = map(along_several, ("dctn", "idctn", "dstn", "idstn"))
