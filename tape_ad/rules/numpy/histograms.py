"""Histograms: linear in their weights, and piecewise constant in the sample.

The bins are taken as constant, those that NumPy makes from the sample too. Without weights, and
with weights that are not handles, a histogram is plain data.
"""

from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import TRACERS, overridable, takes_over
from tape_ad.base.errors import DtypeError, UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import Call, Constant, Derivation, Entry, as_array, constants, rule
from tape_ad.rules.maps import Adjoint, Array, Index, LinearMap

__all__ = ["HISTOGRAMS", "binned"]


# Counting whole numbers


def bincount_signature(x: Any, /, weights: Any = None, minlength: int = 0) -> Call:
    """Sort the arguments of `numpy.bincount`."""
    return (x,) if weights is None else (x, weights), {"minlength": minlength}


def bincount_partial(out: Array, x: Array, weights: Array, minlength: int) -> LinearMap:
    """Make the partial of adding up the weights of each number."""
    places = as_array(x).astype(np.intp)
    return Adjoint(Index((places,), out.shape, places.shape, repeats=True))


# Histograms


@overridable
def binned(sample: Any, bins: Any, limits: Any) -> tuple[Any, list[Any]]:
    """Say in which bin of a histogram each point of a sample falls.

    Parameters
    ----------
    sample : array, shape (N, D)
    bins, limits
        The `bins` and the `range` of `numpy.histogramdd`.

    Returns
    -------
    places : array of int, shape (N,)
        Numbers of bins in C order; that of a point outside is the number of bins.
    edges : list of array
        For each dimension.
    """
    _, edges = np.histogramdd(sample, bins, limits)
    lengths = [each.size - 1 for each in edges]
    inside = np.ones(len(sample), bool)
    places = np.zeros(len(sample), np.intp)
    for column, edge, length in zip(np.transpose(sample), edges, lengths, strict=True):
        place = np.searchsorted(edge, column, side="right") - 1
        place[column == edge[-1]] = length - 1  # the last bin has both its edges
        inside &= (place >= 0) & (place < length)
        places = places * length + place
    return np.where(inside, places, int(np.prod(lengths))), list(edges)


@overridable
def binned_along_line(a: Any, bins: Any, limits: Any) -> tuple[Any, Any]:
    """Say the same for the bins of `numpy.histogram`, which takes names of methods too."""
    edges = np.histogram_bin_edges(a, bins, limits)
    return binned(np.reshape(a, (-1, 1)), [edges], None)[0], edges


def refuse_handles(name: str, **arguments: Any) -> None:
    """Refuse handles that say what the bins are.

    Raises
    ------
    UnsupportedArgumentError
        It names the argument.
    """
    for argument, value in arguments.items():
        kinds = set(map(type, value if is_list(value) else [value]))
        if any(map(takes_over, kinds - TRACERS)):
            raise UnsupportedArgumentError(
                f"np.{name}: {argument}= got a handle, and the bins are taken as constant; pass "
                "its .data"
            )


def refuse_complex(name: str, *arrays: Any) -> None:
    """Refuse complex samples, which have no order, and complex weights where NumPy does.

    Raises
    ------
    DtypeError
    """
    for each in arrays:
        if each is not None and as_array(each).dtype.kind == "c":
            raise DtypeError(f"np.{name} takes real numbers here, got {as_array(each).dtype}")


def is_list(value: Any) -> bool:
    """Tell a sequence of arguments from one argument."""
    return isinstance(value, (list, tuple))


def weighed(places: Any, weights: Array, shape: tuple[int, ...]) -> Array:
    """Add up the weights in each bin."""
    size = int(np.prod(shape))
    if weights.dtype.kind == "c":
        return weighed(places, weights.real, shape) + 1j * weighed(places, weights.imag, shape)
    return np.reshape(np.bincount(places, weights, minlength=size + 1)[:size], shape)


def counted(places: Any, shape: tuple[int, ...]) -> Any:
    """Count what falls in each bin."""
    size = int(np.prod(shape))
    return np.reshape(np.bincount(places, minlength=size + 1)[:size], shape)


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - NumPy's name
    density: Any = None,
    weights: Any = None,
) -> tuple[Any, Any]:
    """Count, or add up weights, which may be handles."""
    refuse_handles("histogram", bins=bins, range=range)
    refuse_complex("histogram", a)
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins takes no weights")
    places, edges = binned_along_line(a, bins, range)
    if weights is None:
        sums = counted(places, (edges.size - 1,))
    else:
        weights = as_array(weights)
        if weights.shape != np.shape(a):
            raise ValueError("weights should have the same shape as a.")
        sums = weighed(places, np.ravel(weights), (edges.size - 1,))
        even = np.ndim(bins) == 0  # where they are not, NumPy subtracts, which swaps bytes
        sums = sums.astype(weights.dtype if even else weights.dtype.newbyteorder("="))
    if density:
        sums = sums / np.diff(edges).astype(float) / np.sum(sums)
    return sums, edges


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - NumPy's name
    density: Any = None,
    weights: Any = None,
) -> tuple[Any, list[Any]]:
    """Count, or add up weights, which may be handles, in bins of several dimensions."""
    refuse_handles("histogramdd", bins=bins, range=range)
    points = sample if hasattr(sample, "ndim") else np.stack([as_array(x) for x in sample], axis=-1)
    points = np.reshape(points, (-1, 1)) if points.ndim < 2 else points
    refuse_complex("histogramdd", points, weights)
    places, edges = binned(points, bins, range)
    shape = tuple(each.size - 1 for each in edges)
    if weights is None:
        sums = counted(places, shape).astype(float)
    else:
        sums = weighed(places, as_array(weights), shape).astype(float)
    if density:
        total = np.sum(sums)
        for axis, edge in enumerate(edges):
            sums = sums / np.reshape(np.diff(edge), (-1, *(1,) * (len(shape) - axis - 1)))
        sums = sums / total
    return sums, edges


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - NumPy's name
    density: Any = None,
    weights: Any = None,
) -> tuple[Any, Any, Any]:
    """Count, or add up weights, which may be handles, in bins of two dimensions."""
    refuse_handles("histogram2d", bins=bins, range=range)
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if isinstance(bins, (list, tuple, np.ndarray)) and len(bins) not in {1, 2}:
        bins = [np.asarray(bins)] * 2
    sums, (first, second) = np.histogramdd((x, y), bins, range, density, weights)
    return sums, first, second


HISTOGRAMS: dict[Any, Entry] = {
    np.bincount: rule(
        None, bincount_partial, signature=bincount_signature, facts=facts.SHAPED_BY_VALUES
    ),
    np.histogram: Derivation(histogram, facts=facts.SHAPED_BY_VALUES),  # for a name of a method
    np.histogramdd: Derivation(histogramdd),
    np.histogram2d: Derivation(histogram2d),
    binned: Constant(),
    **constants(np.histogram_bin_edges, binned_along_line, facts=facts.SHAPED_BY_VALUES),
}
