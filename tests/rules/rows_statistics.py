"""Rows for differences, integrals, weighted averages, covariances and histograms."""

from typing import Any

import numpy as np

from tape_ad.rules.numpy.statistics import binned, binned_along_line
from tests.rules.table import ABOVE_ONE, INSIDE, POSITIVE, REAL, Row, fixed, plain

__all__ = ["CONSTANTS", "ROWS"]

NO_SPACING = "JAX's gradient takes no handles, coordinates or edge order"
NO_JAX = "JAX has no such function"


def joined(function: Any, a: Any, before: Any, after: Any, **options: Any) -> Any:
    """Call `numpy.diff` with what is put before and after."""
    return function(a, prepend=before, append=after, **options)


DIFFERENCES = [
    *(
        Row(np.diff, [REAL(3, 5)], options=options, complex=True, nodes=3 * options.get("n", 1))
        for options in ({}, {"n": 2}, {"axis": 0}, {"axis": -2, "n": 2}, {"n": 0})
    ),
    Row(np.diff, [REAL(1)], nodes=3),
    Row(np.diff, [REAL()], options={"n": 0}, no_jax="JAX takes no array without axes"),
    Row(np.diff, [REAL(0, 3)], options={"axis": 1}, nodes=3),
    Row(np.diff, [REAL(2)], options={"n": 4}, nodes=12),
    *(
        Row(np.diff, [REAL(3, 4), before, after], options=options, call=joined, nodes=8)
        for before, after, options in (
            (REAL(3, 2), REAL(3, 1), {"n": 2}),
            (REAL(1, 4), REAL(), {"axis": 0}),
        )
    ),
    Row(np.diff, [REAL(3, 4), REAL(), REAL()], call=joined, nodes=6),
    Row(np.ediff1d, [REAL(2, 3)], nodes=4, complex=True),
    Row(np.ediff1d, [REAL(4), REAL(2), REAL(2, 1)], nodes=7),
    Row(np.ediff1d, [REAL(4), REAL(), REAL()], nodes=8),
    *(
        Row(np.gradient, [REAL(4, 5)], options=options, nodes=44, complex=True, no_jax=no_jax)
        for options, no_jax in (
            ({}, ""),
            ({"axis": 0}, ""),
            ({"axis": (1, 0)}, ""),
            ({"edge_order": 2}, NO_SPACING),
            ({"edge_order": 2, "axis": -1}, NO_SPACING),
        )
    ),
    *(
        Row(
            np.gradient,
            [REAL(4, 5), *spacing],
            options=options,
            nodes=140,
            no_jax=NO_SPACING,
        )
        for edge_order in (1, 2)
        for spacing, options in (
            ([POSITIVE()], {"edge_order": edge_order}),
            ([POSITIVE(), POSITIVE()], {"edge_order": edge_order}),
            (
                [fixed([0.1, 0.4, 0.9, 1.1]), fixed([2.0, 1.5, 0.4, 0.1, -0.4])],
                {"edge_order": edge_order},
            ),
            ([fixed([0.0, 1.0, 2.0, 3.0, 4.0])], {"edge_order": edge_order, "axis": 1}),
        )
    ),
    Row(
        np.gradient,
        [REAL(4, 3), plain([0.5, 1.5, 2.0, 4.0]), plain([1.0, 1.5, 2.0])],
        nodes=60,
        no_jax=NO_SPACING,
        note="constant",
    ),
    *(
        Row(np.trapezoid, [REAL(3, 4)], options=options, nodes=6, complex=True)
        for options in ({}, {"axis": 0}, {"axis": -2, "dx": 0.5})
    ),
    *(
        Row(np.trapezoid, [REAL(3, 4), REAL(*shape)], options=options, nodes=10)
        for shape, options in (
            ((4,), {}),
            ((3,), {"axis": 0}),
            ((3, 4), {"axis": 0}),
            ((3, 4), {"axis": -1}),
        )
    ),
]


def weighted(function: Any, a: Any, weights: Any, **options: Any) -> Any:
    """Call with the weights as the keyword that they are."""
    return function(a, weights=weights, **options)


AVERAGES = [
    *(
        Row(np.average, [REAL(2, 3)], options=options, complex=True)
        for options in ({}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}, {"returned": True})
    ),
    Row(np.average, [REAL(2, 3)], options={"axis": 1, "returned": True, "keepdims": True}),
    *(
        Row(
            np.average,
            [REAL(2, 3, 4), POSITIVE(*shape)],
            options=options,
            call=weighted,
            nodes=8,
            no_jax=no_jax,
        )
        for shape, options, no_jax in (
            ((2, 3, 4), {}, ""),
            ((2, 3, 4), {"axis": 1, "keepdims": True}, ""),
            ((3,), {"axis": 1, "returned": True}, ""),
            ((4,), {"axis": -1}, ""),
            ((2, 4), {"axis": (0, 2)}, "JAX takes weights along one axis"),
            ((4, 2), {"axis": (2, 0), "returned": True}, "JAX takes weights along one axis"),
        )
    ),
    Row(np.average, [REAL(3), REAL(3)], call=weighted, nodes=6, complex=True, note="complex"),
]


def observed(function: Any, x: Any, aweights: Any, **options: Any) -> Any:
    """Call `numpy.cov` with weights of observations."""
    return function(x, aweights=aweights, **options)


TIMES = [1, 2, 0, 3, 1]

COVARIANCES = [
    *(
        Row(np.cov, [REAL(*shape)], options=options, nodes=12, complex=True)
        for shape, options in (
            ((3, 5), {}),
            ((5,), {}),
            ((3, 5), {"rowvar": False}),
            ((1, 3), {"rowvar": False, "bias": True}),
            ((3, 5), {"bias": True}),
            ((3, 5), {"ddof": 0}),
        )
    ),
    Row(np.cov, [REAL(3, 5), REAL(2, 5)], nodes=14, complex=True),
    Row(np.cov, [REAL(5), REAL(5)], nodes=14),
    Row(np.cov, [REAL(5, 3), REAL(5, 1)], options={"rowvar": False}, nodes=16),
    Row(
        np.cov,
        [REAL(3, 5)],
        options={"fweights": TIMES},
        nodes=16,
        no_jax="JAX wants an array",
        torch=lambda torch: lambda m, fweights: torch.cov(m, fweights=torch.tensor(fweights)),
    ),
    *(
        Row(
            np.cov,
            [REAL(3, 5), POSITIVE(5)],
            options=options,
            call=observed,
            nodes=30,
            no_jax="JAX wants arrays" if "fweights" in options else "",
        )
        for options in ({}, {"ddof": 0}, {"fweights": TIMES}, {"fweights": TIMES, "ddof": 0})
    ),
    *(
        Row(np.corrcoef, [REAL(*shape)], options=options, nodes=30, single=1e-4)
        for shape, options in (((3, 5), {}), ((3, 5), {"rowvar": False}))
    ),
    Row(np.corrcoef, [REAL(5), REAL(5)], nodes=30),
    Row(np.corrcoef, [REAL(3, 5)], nodes=40, complex=True, note="complex"),
]

POINTS = [0.1, 0.4, 0.4, 0.9, 1.0, -0.3, 0.75, 0.0]
PLACES = np.array([[0.1, 0.5], [0.7, 0.2], [0.9, 1.0], [0.3, 0.2], [2.0, 0.1], [1.0, 0.0]])


def histogram(function: Any, a: Any, weights: Any, **options: Any) -> Any:
    """Call a histogram of one dimension and give the heights."""
    return function(a, weights=weights, **options)[0]


def edges(function: Any, *sample: Any, **options: Any) -> Any:
    """Call a histogram of one dimension or two, and give where the bins begin and end."""
    return np.concatenate(function(*sample, **options)[1:])


def edges_of_points(function: Any, sample: Any, **options: Any) -> Any:
    """Call a histogram of several dimensions, and give where the bins begin and end."""
    return np.concatenate(function(sample, **options)[1])


def histogramdd(function: Any, weights: Any, **options: Any) -> Any:
    """Call a histogram of several dimensions and give the heights."""
    return function(PLACES, weights=weights, **options)[0]


def histogram2d(function: Any, weights: Any, **options: Any) -> Any:
    """Call a histogram of two dimensions and give the heights."""
    return function(*PLACES.T, weights=weights, **options)[0]


def bincount(jax: Any) -> Any:
    """Tell JAX how long the result is, which it cannot see while it traces."""
    return lambda x, weights, minlength=4: jax.numpy.bincount(x, weights, length=minlength)


NAMED, NUMPYS = "JAX traces the number of bins", "the call joins arrays of NumPy"

HISTOGRAMS = [
    Row(np.bincount, [plain([3, 0, 1, 1, 3]), REAL(5)], jax=bincount),
    Row(np.bincount, [plain([2, 0]), REAL(2)], options={"minlength": 5}, jax=bincount),
    *(
        Row(
            np.histogram,
            [plain(POINTS), POSITIVE(8)],
            options=options,
            call=histogram,
            nodes=8,
            note=f"{len(options)}",
            no_jax=no_jax,
        )
        for options, no_jax in (
            ({"bins": 4}, ""),
            ({"bins": 4, "range": (0, 1)}, ""),
            ({"bins": [0.0, 0.4, 0.5, 1.0]}, "JAX wants an array"),
            ({"bins": 3, "density": True, "range": None}, ""),
            (
                {"bins": [0.0, 0.4, 0.5, 1.0], "density": True, "range": None},
                "JAX wants an array",
            ),
        )
    ),
    Row(np.histogram_bin_edges, [INSIDE(7)], options={"bins": 3}, nodes=8),
    Row(np.histogram_bin_edges, [ABOVE_ONE(7)], options={"bins": "sqrt"}, nodes=8, no_jax=NAMED),
    Row(np.histogram, [INSIDE(7)], call=edges, nodes=8, note="edges", no_jax=NUMPYS),
    Row(np.histogram2d, [INSIDE(7), ABOVE_ONE(7)], call=edges, nodes=16, no_jax=NUMPYS),
    Row(np.histogramdd, [INSIDE(7, 2)], call=edges_of_points, nodes=16, no_jax=NUMPYS),
    Row(
        np.histogram,
        [plain(POINTS), REAL(8)],
        options={"bins": 3},
        call=histogram,
        nodes=12,
        complex=True,
        note="complex",
        no_complex_jax="JAX drops the imaginary part",
    ),
    *(
        Row(
            function,
            [POSITIVE(6)],
            options={"density": density, **options},
            call=call,
            nodes=12,
            no_jax="JAX's bins are another's",
        )
        for function, call in ((np.histogramdd, histogramdd), (np.histogram2d, histogram2d))
        for density in (False, True)
        for options in (
            {"bins": 3},
            {"bins": (2, 3), "range": [(0, 1), (0, 2)]},
            {"bins": [[0.0, 0.3, 1.0], [0.0, 0.5, 1.0]]},
        )
    ),
]

ROWS: list[Row] = [*DIFFERENCES, *AVERAGES, *COVARIANCES, *HISTOGRAMS]

CONSTANTS: list[Row] = [
    Row(binned, [INSIDE(7, 2)], call=lambda function, x: function(x, 3, None)),
    Row(binned_along_line, [INSIDE(7)], call=lambda function, x: function(x, 3, None)),
]
