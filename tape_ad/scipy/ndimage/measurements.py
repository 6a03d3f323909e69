"""Statistics of labelled regions, and functions of shapes and labels, which are constant."""

from typing import Any

import numpy as np
from attrs import define, frozen

from tape_ad.extend.arrays import Array, Shape, as_array
from tape_ad.extend.maps import PlainMap
from tape_ad.extend.patterns import Pattern, reads, separable
from tape_ad.extend.rules import Derivation, Entry, constants, overridable, rule
from tape_ad.scipy.counterparts import checked_call, joined, output_dtype, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.ndimage.correlation import MODULE
from tape_ad.scipy.ndimage.filters import root

__all__ = [
    "MEASUREMENTS",
    "center_of_mass",
    "extrema",
    "grouped",
    "histogram",
    "label",
    "labeled_comprehension",
    "maximum",
    "maximum_position",
    "mean",
    "median",
    "minimum",
    "minimum_position",
    "standard_deviation",
    "sum_labels",
    "variance",
]

sum_labels = scipy_function(scipy.ndimage.sum_labels, MODULE, "input")
mean = scipy_function(scipy.ndimage.mean, MODULE, "input")
variance = scipy_function(scipy.ndimage.variance, MODULE, "input")
standard_deviation = scipy_function(scipy.ndimage.standard_deviation, MODULE, "input")
minimum = scipy_function(scipy.ndimage.minimum, MODULE, "input")
maximum = scipy_function(scipy.ndimage.maximum, MODULE, "input")
median = scipy_function(scipy.ndimage.median, MODULE, "input")
extrema = scipy_function(scipy.ndimage.extrema, MODULE, "input")
center_of_mass = scipy_function(scipy.ndimage.center_of_mass, MODULE, "input")
histogram = scipy_function(scipy.ndimage.histogram, MODULE)
label = scipy_function(scipy.ndimage.label, MODULE)
labeled_comprehension = scipy_function(scipy.ndimage.labeled_comprehension, MODULE, "input")
minimum_position = scipy_function(scipy.ndimage.minimum_position, MODULE)
maximum_position = scipy_function(scipy.ndimage.maximum_position, MODULE)


@frozen(eq=False)
class Groups:
    """Indices of the elements with each label.

    Attributes
    ----------
    place : array of int
        The flattened elements that belong to a group.
    group : array of int
        The group of each.
    count : int
        How many groups there are.
    wanted : array of int
        The groups that were asked for, in the shape that the result takes.
    """

    place: Array
    group: Array
    count: int
    wanted: Array


@define(eq=False, repr=False)
class GroupSums(PlainMap):
    """Sums of elements that belong together.

    Parameters
    ----------
    group : array of int, shape (n,)
    count : int
    """

    group: Array
    count: int

    @reads("group")
    def pattern(self, parent: Shape, node: Shape) -> Pattern:
        """Tell which elements depend on which."""
        own = Pattern(self.group, np.arange(len(self.group)))
        return separable(parent, node, {-1: own})

    def forward(self, t: Array) -> Array:
        """Add up."""
        out = np.zeros((*t.shape[:-1], self.count), np.result_type(t, np.float64))
        key: Any = (..., self.group)
        np.add.at(out, key, t)
        return out

    def backward(self, ct: Array) -> Array:
        """Give each element what its group has."""
        return np.take(ct, self.group, axis=-1)


@overridable
def grouped(x: Array, group: Array, count: int) -> Array:
    """Add up elements that belong together, in double precision.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    group : array of int, shape (n,)
    count : int

    Returns
    -------
    array or Tensor, shape (count,)

    Examples
    --------
    >>> grouped(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 0]), 2)
    array([4., 2.])
    """
    return GroupSums(group, count).forward(x)


def groups_of(shape: tuple[int, ...], labels: Any, index: Any) -> Groups | None:
    """Sort elements into groups; None where only one group was asked for.

    A label that no element has makes an empty group.
    """
    if labels is None or index is None or np.isscalar(index):
        return None
    labels = np.broadcast_to(np.asarray(labels), shape).reshape(-1)
    index = np.asarray(index)
    every, wanted = np.unique(index, return_inverse=True)
    group = np.searchsorted(every, labels).clip(0, max(every.size - 1, 0))
    place = np.flatnonzero(every[group] == labels) if every.size else np.zeros(0, int)
    return Groups(place, group[place], every.size, wanted.reshape(index.shape))


def together(image: Array, labels: Any, index: Any) -> Array:
    """Take the elements of the one group that was asked for."""
    if labels is None:
        return image
    labels = np.broadcast_to(np.asarray(labels), image.shape)
    return image[labels > 0 if index is None else labels == index]


def broadcast(image: Array, labels: Any) -> Array:
    """Give an image the shape of its labels."""
    shape = image.shape if labels is None else np.broadcast_shapes(image.shape, np.shape(labels))
    return image if shape == image.shape else np.broadcast_to(image, shape)


def statistics(image: Array, labels: Any, index: Any, *, centred: bool) -> tuple[Any, Array]:
    """Count the elements of each group, and add them up, or the squares of their deviations."""
    image = broadcast(image, labels)
    groups = groups_of(image.shape, labels, index)
    if groups is None:
        values = together(image, labels, index)
        if centred:
            away = values - np.mean(values)
            values = away * np.conjugate(away)
        return values.size, np.sum(values)
    values = image.reshape(-1)[groups.place]
    counts = np.bincount(groups.group, minlength=groups.count)
    sums = grouped(values, groups.group, groups.count)
    if centred:
        away = values - (sums / np.maximum(counts, 1))[groups.group]
        sums = grouped(away * np.conjugate(away), groups.group, groups.count)
    return counts[groups.wanted], sums[groups.wanted]


def sum_of_handle(input: Array, labels: Any, index: Any) -> Array:  # noqa: A002 - SciPy's name
    """Add up."""
    return statistics(input, labels, index, centred=False)[1]


def mean_of_handle(input: Array, labels: Any, index: Any) -> Array:  # noqa: A002 - SciPy's name
    """Divide the sums by the counts."""
    counts, sums = statistics(input, labels, index, centred=False)
    return sums / np.asarray(counts, float)


def variance_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    labels: Any,
    index: Any,
) -> Array:
    """Divide the sums of squares by the counts."""
    counts, sums = statistics(input, labels, index, centred=True)
    return sums / np.asarray(counts, float)


def deviation_of_handle(
    input: Array,  # noqa: A002 - SciPy's name
    labels: Any,
    index: Any,
) -> Array:
    """Take the root of the variance, with the derivative 0 where that is 0."""
    return root(variance_of_handle(input, labels, index))


def center_of_handle(input: Array, labels: Any, index: Any) -> Any:  # noqa: A002 - SciPy's name
    """Weigh the coordinates by the elements."""
    total = sum_of_handle(input, labels, index)
    grids = np.ogrid[tuple(slice(0, n) for n in input.shape)]
    moments = [sum_of_handle(input * g.astype(float), labels, index) / total for g in grids]
    if np.ndim(total) == 0:
        return tuple(moments)
    return [tuple(m[i] for m in moments) for i in range(total.shape[0])]


# Elements that are chosen


def order_of(image: Array, groups: Groups) -> tuple[Array, Array]:
    """Sort the elements of each group; give where each group starts and ends as well."""
    values = image.reshape(-1)[groups.place]
    order = np.lexsort((values, groups.group))
    ends = np.cumsum(np.bincount(groups.group, minlength=groups.count))
    return np.take(groups.place, order), np.stack([np.concatenate([[0], ends[:-1]]), ends - 1])


def extreme(image: Array, labels: Any, index: Any, last: int) -> Array:
    """Choose the smallest or the largest element of each group; one without elements has 0."""
    image = broadcast(image, labels)
    groups = groups_of(image.shape, labels, index)
    if groups is None:
        values = together(image, labels, index)
        return np.max(values) if last else np.min(values)
    order, ends = order_of(image, groups)
    empty = (ends[1] < ends[0])[groups.wanted]
    picked = image.reshape(-1)[order[ends[last][groups.wanted].clip(0)]]
    return np.where(empty, 0, picked) if empty.any() else picked


def minimum_of_handle(input: Array, labels: Any, index: Any) -> Array:  # noqa: A002 - SciPy's name
    """Compute the minimum of the elements with each label."""
    return extreme(input, labels, index, 0)


def maximum_of_handle(input: Array, labels: Any, index: Any) -> Array:  # noqa: A002 - SciPy's name
    """Compute the maximum of the elements with each label."""
    return extreme(input, labels, index, 1)


def median_of_handle(input: Array, labels: Any, index: Any) -> Array:  # noqa: A002 - SciPy's name
    """Choose the one in the middle, or the mean of the two that are there."""
    image = broadcast(input, labels)
    groups = groups_of(image.shape, labels, index)
    if groups is None:
        return np.median(together(image, labels, index))
    order, (low, high) = order_of(image, groups)
    if (high < low)[groups.wanted].any():
        raise ValueError("ndimage.median: a label that no element has, of which SciPy takes any")
    step = (high - low) // 2
    flat = image.reshape(-1)
    first, second = ((low + step)[groups.wanted], (high - step)[groups.wanted])
    return (flat[order[first]] + flat[order[second]]) / 2.0


def extrema_of_handle(input: Array, labels: Any, index: Any) -> Any:  # noqa: A002 - SciPy's name
    """Choose both, and tell where they are."""
    places = minimum_position(input, labels, index), maximum_position(input, labels, index)
    return extreme(input, labels, index, 0), extreme(input, labels, index, 1), *places


def comprehended(
    input: Array,  # noqa: A002 - SciPy's name
    labels: Any,
    index: Any,
    func: Any,
    out_dtype: Any,
    default: Any,
    pass_positions: bool,
) -> Array:
    """Apply a function to the elements of each label, as many times as there are labels."""
    flat, positions = input.reshape(-1), np.arange(input.size)

    def of(chosen: Any) -> Any:
        given = (flat[chosen], positions[chosen])[: 2 if pass_positions else 1]
        return as_array(joined(func(*given)))

    if labels is None:
        if index is not None:
            raise ValueError("index without defined labels")
        return of(slice(None))
    labels = np.broadcast_to(as_array(labels), input.shape).reshape(-1)
    if index is None:
        return of(labels > 0)
    index = as_array(index)
    # In SciPy's order, which is not that of the image
    order = np.flatnonzero((labels >= index.min()) & (labels <= index.max()))
    order = order[labels[order].argsort()]
    chosen = [order[labels[order] == each] for each in index.reshape(-1)]
    out = np.stack([of(each) if each.size else as_array(default) for each in chosen])
    return out.astype(output_dtype(labeled_comprehension, out_dtype)).reshape(index.shape)


MEASUREMENTS: dict[Any, Entry] = {
    grouped: rule(
        lambda out, x, group, count: GroupSums(group, count),
        signature=lambda x, group, count: ((as_array(x),), {"group": group, "count": count}),
    ),
    **{
        public: Derivation(checked_call(public, compute))
        for public, compute in (
            (sum_labels, sum_of_handle),
            (mean, mean_of_handle),
            (variance, variance_of_handle),
            (standard_deviation, deviation_of_handle),
            (minimum, minimum_of_handle),
            (maximum, maximum_of_handle),
            (median, median_of_handle),
            (extrema, extrema_of_handle),
            (center_of_mass, center_of_handle),
            (labeled_comprehension, comprehended),
        )
    },
    **constants(histogram, label, minimum_position, maximum_position),
}
