"""Averages, covariances, histograms, and reductions that pass nan over.

Averages, covariances and correlations are compositions that are recorded. A histogram is linear in
its weights, and piecewise constant in the sample; the edges that NumPy puts between the ends of the
sample move with them, and so do densities.
What passes nan over is the plain function where nan is not, and nan gets no gradient.
"""

import warnings
from typing import Any

import numpy as np

from tape_ad.base.arrays.overridable import certainly, is_differentiated, overridable
from tape_ad.base.errors import DtypeError, UnsupportedArgumentError
from tape_ad.rules import facts
from tape_ad.rules.base import (
    Call,
    Constant,
    Derivation,
    Entry,
    Maker,
    add_facts,
    as_array,
    constants,
    quiet,
    rule,
    stated,
)
from tape_ad.rules.maps import Adjoint, Array, Index, LinearMap
from tape_ad.rules.numpy.bodies import own
from tape_ad.rules.numpy.continued import within
from tape_ad.rules.numpy.reductions import (
    extremum_partial,
    extremum_signature,
    mean_partial,
    product_partial,
    sum_partial,
    sum_signature,
)
from tape_ad.rules.numpy.spreads import spread_rule, std_weights, var_weights

Axis = int | tuple[int, ...] | None


ROW_STAYS = np.lib.NumpyVersion(np.__version__) < "2.2.0"
"""Whether `numpy.cov` takes a matrix of one row for one variable, even with ``rowvar=False``."""


def cov(
    m: Array,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Estimate a covariance matrix; the data and `aweights` may be handles."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = as_array(m)
    y = None if y is None else as_array(y)
    if dtype is None:
        dtype = np.result_type(m.dtype, np.float64, *([] if y is None else [y.dtype]))
    one = m.ndim < 2 or (ROW_STAYS and m.shape[0] == 1)
    x = variables(m, dtype, transposed=not rowvar and not one)
    if x.shape[0] == 0:
        return np.zeros((0, 0))
    if np.dtype(dtype).kind not in "fc":
        raise TypeError(f"np.cov: dtype= got {np.dtype(dtype)}, which cannot hold deviations")
    if y is not None:
        more = variables(y, dtype, transposed=False)
        if not rowvar and more.shape[0] != 1:
            more = np.swapaxes(more, 0, 1)
        x = np.concatenate((x, more), axis=0)
    if ddof is None:
        ddof = 0 if bias else 1
    if aweights is not None:
        aweights = as_array(aweights)
        aweights = aweights if aweights.dtype == np.float64 else aweights.astype(np.float64)
    weights = observation_weights(x.shape[1], fweights, aweights)
    mean, total = np.average(x, axis=1, weights=weights, returned=True)
    x = x - mean[:, None]
    freedom = degrees_of_freedom(x.shape[1], total[0], weights, aweights, ddof)
    products = np.matmul(x if weights is None else x * weights, np.swapaxes(x, 0, 1).conjugate())
    with np.errstate(all="ignore"):
        found = np.squeeze(products * np.true_divide(1, freedom))
    return found if found.dtype == products.dtype else found.astype(products.dtype)


def variables(m: Array, dtype: Any, *, transposed: bool) -> Array:
    """Bring samples to a matrix of one variable a row."""
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if m.dtype != dtype:
        m = m.astype(dtype)
    if m.ndim < 2:
        m = np.reshape(m, (1, -1))
    return np.swapaxes(m, 0, 1) if transposed else m


def observation_weights(n: int, fweights: Any, aweights: Any) -> Any:
    """Multiply the weights by how often, and by how much, each observation counts."""
    weights = None
    if fweights is not None:
        weights = np.asarray(fweights, dtype=float)
        if not np.all(weights == np.around(weights)):
            raise TypeError("fweights must be integer")
    for name, each in (("fweights", weights), ("aweights", aweights)):
        if each is not None and np.ndim(each) > 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if each is not None and np.shape(each) != (n,):
            raise RuntimeError(f"incompatible numbers of samples and {name}")
        if each is not None and certainly(np.any(np.less(each, 0))):
            raise ValueError(f"{name} cannot be negative")
    if aweights is None:
        return weights
    return aweights if weights is None else weights * aweights


def degrees_of_freedom(n: int, total: Any, weights: Any, aweights: Any, ddof: int) -> Any:
    """Count what the sums of products are divided by."""
    if weights is None:
        freedom: Any = n - ddof
    elif ddof == 0:
        freedom = total
    elif aweights is None:
        freedom = total - ddof
    else:
        freedom = total - ddof * np.sum(weights * aweights) / total
    if freedom <= 0:
        # The frames between this and the caller are those of the dispatch.
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        return 0.0
    return freedom


def corrcoef(
    x: Array,
    y: Any = None,
    rowvar: bool = True,
    bias: Any = None,
    ddof: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Compute correlation coefficients; 1 with itself, whatever the variable.

    Older releases of NumPy take `bias` and `ddof`, and do nothing with them.
    """
    covariances = np.cov(x, y, rowvar, dtype=dtype)
    if covariances.ndim == 0:
        return covariances / covariances
    places = np.arange(covariances.shape[0])
    deviations = np.sqrt(np.real(covariances[places, places]))
    c = covariances / deviations[:, None] / deviations
    if c.dtype.kind == "c":
        return within(c.real, -1, 1) + 1j * within(c.imag, -1, 1)
    return within(c, -1, 1)


STATISTICS: dict[Any, Entry] = {
    **own(np.average, any=lambda condition: certainly(np.any(condition))),
    np.cov: Derivation(cov),
    np.corrcoef: Derivation(corrcoef),
}


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


def moving(edges: Any, a: Any, bins: Any, limits: Any) -> Any:
    """Give edges that move with the ends of a sample, if NumPy puts them between these."""
    if limits is not None or np.ndim(bins) or not is_differentiated(a) or not a.size:
        return edges
    low, high = np.min(a), np.max(a)
    half = np.equal(low, high) * np.array(0.5, edges.dtype)
    return np.linspace(low - half, high + half, edges.size)


def check_weights(weights: Any, a: Any, bins: Any) -> None:
    """Refuse weights of another shape than the sample, and any beside the name of a method."""
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins takes no weights")
    if weights is not None and np.shape(weights) != np.shape(a):
        raise ValueError("weights should have the same shape as a.")


def histogram_bin_edges(
    a: Any,
    bins: Any = 10,
    range: Any = None,  # noqa: A002 - NumPy's name
    weights: Any = None,
) -> Any:
    """List the edges of bins, which move with the ends of the sample, or are given."""
    refuse_handles("histogram_bin_edges", bins=bins, range=range)
    refuse_complex("histogram_bin_edges", a)
    check_weights(weights, a, bins)
    return moving(binned_along_line(a, bins, range)[1], as_array(a), bins, range)


def refuse_handles(name: str, **arguments: Any) -> None:
    """Refuse handles that say what the bins are.

    Raises
    ------
    UnsupportedArgumentError
        It names the argument.
    """
    for argument, value in arguments.items():
        if any(map(is_differentiated, value if is_list(value) else [value])):
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
    check_weights(weights, a, bins)
    places, edges = binned_along_line(a, bins, range)
    edges = moving(edges, as_array(a), bins, range)
    if weights is None:
        sums = counted(places, (edges.size - 1,))
    else:
        weights = as_array(weights)
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
    numbers = bins if hasattr(bins, "__len__") else [bins] * len(shape)
    limits = [None] * len(shape) if range is None else range
    edges = [moving(*each) for each in zip(edges, points.T, numbers, limits, strict=True)]
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


HISTOGRAMS: dict[Any, Entry] = {
    np.bincount: rule(
        None, bincount_partial, signature=bincount_signature, facts=facts.SHAPED_BY_VALUES
    ),
    np.histogram: Derivation(histogram, facts=facts.SHAPED_BY_VALUES),  # for a name of a method
    np.histogramdd: Derivation(histogramdd),
    **own(np.histogram2d),
    binned: Constant(),
    np.histogram_bin_edges: Derivation(histogram_bin_edges, facts=facts.SHAPED_BY_VALUES),
    **constants(binned_along_line, facts=facts.SHAPED_BY_VALUES),
}

add_facts(HISTOGRAMS, (np.bincount, np.histogram), may_raise=True)


def without_nan(maker: Maker) -> Maker:
    """Make the maker of a reduction that passes nan over."""

    def partial(out: Array, a: Array, *operands: Array, where: Any = True, **options: Any) -> Any:
        return maker(out, a, *operands, where=~np.isnan(a) & where, **options)

    return quiet(partial)


NAN_REDUCTIONS: dict[Any, Entry] = stated(
    facts.along(none="all", beside=("where", "mean")),
    {
        np.nansum: rule(without_nan(sum_partial), signature=sum_signature("nansum")),
        np.nanprod: rule(without_nan(product_partial), signature=sum_signature("nanprod")),
        np.nanmean: rule(without_nan(mean_partial), signature=sum_signature("nanmean")),
        np.nanmax: rule(without_nan(extremum_partial), signature=extremum_signature("nanmax")),
        np.nanmin: rule(without_nan(extremum_partial), signature=extremum_signature("nanmin")),
        np.nanvar: spread_rule(np.nanvar, var_weights, without_nan),
        np.nanstd: spread_rule(np.nanstd, std_weights, without_nan),
    },
)
