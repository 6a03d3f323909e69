"""Rows for the functions that layers are made of."""

from typing import Any

import numpy as np

from tape_ad.rules.nn import affine, attention, images, normalization, pooling, recurrent
from tape_ad.rules.nn.images import Windows
from tests.rules.table import DISTINCT, REAL, Row

__all__ = ["CONSTANTS", "ROWS"]

NO_JAX = "JAX has no function for it; it is compared with PyTorch's layer"


def convolution(jax: Any) -> Any:
    """Write the windows as JAX's arguments."""

    def of_two(x: Any, w: Any, windows: Windows) -> Any:
        return jax.lax.conv_general_dilated(
            x,
            w,
            windows.stride,
            windows.padding,
            rhs_dilation=windows.dilation,
            feature_group_count=windows.groups,
        )

    return of_two


def standardized(jax: Any) -> Any:
    """Give JAX's function our names of its arguments."""
    return lambda x, axes, eps=1e-5: jax.nn.standardize(x, axis=axes, epsilon=eps)


def with_bias(jax: Any) -> Any:
    """Add the bias to JAX's convolution."""
    plain = convolution(jax)
    return lambda x, w, bias, windows: (
        plain(x, w, windows) + bias.reshape((-1,) + (1,) * len(windows.size))
    )


def normalized(jax: Any) -> Any:
    """Scale and shift what JAX has standardized."""
    standard = standardized(jax)
    return lambda x, weight, bias, axes, eps=1e-5: standard(x, axes, eps) * weight + bias


def attending(jax: Any) -> Any:
    """Write attention out in JAX."""

    def of_stack(qkv: Any, mask: Any, scale: float) -> Any:
        query, key, value = qkv
        scores = query @ key.mT * scale
        if mask is not None and mask.dtype == bool:
            scores = jax.numpy.where(mask, scores, -jax.numpy.inf)
        elif mask is not None:
            scores = scores + mask
        return jax.nn.softmax(scores) @ value

    return of_stack


ONE = Windows((6,), (3,), (2,), ((1, 0),), (1,))
TWO = Windows((5, 4), (2, 3), (2, 1), ((1, 1), (0, 1)), (1, 1), 2)
WIDE = Windows((5, 5), (2, 2), (1, 2), ((0, 0), (2, 2)), (2, 3))

UNIT = Windows((4, 3), (3, 2), (1, 1), ((1, 0), (0, 0)), (1, 2))
APART = Windows((4,), (2,), (1,), ((1, 1),), (2,), 3)
POOL = Windows((5, 4), (2, 2), (2, 1), ((1, 1), (0, 0)), (1, 2))
POINTS = Windows((3, 2), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1))

CONVOLUTIONS = [
    (ONE, 2, 3, 2),
    (TWO, 2, 4, 2),
    (WIDE, 1, 2, 3),
    (ONE, 0, 1, 1),
    (UNIT, 2, 2, 2),  # a stride of 1, where contributions to images are added up in another way
    (UNIT, 2, 1, 7),  # as many kernels as make that not worth it
    (APART, 2, 3, 3),
    (POINTS, 2, 3, 2),
]
"""Windows, the number of images, and how many channels go in and out."""

ROWS: list[Row] = [
    Row(affine.linear, [REAL(2, 3), REAL(3, 4), REAL(4)], no_jax=NO_JAX),
    Row(affine.linear, [REAL(3), REAL(3, 4), REAL(4)], no_jax=NO_JAX),
    Row(affine.linear, [REAL(2, 0, 3), REAL(3, 4), REAL(4)], no_jax=NO_JAX),
    *(
        Row(
            affine.two_linear,
            [REAL(*batch, 2), REAL(2, 4), REAL(*batch, 3), REAL(3, 4), REAL(4)],
            no_jax=NO_JAX,
        )
        for batch in ((2,), ())
    ),
    *(
        Row(
            attention.attend,
            [REAL(3, *shape)],
            options={"mask": mask, "scale": 0.5},
            jax=attending,
        )
        for shape, mask in (
            ((4, 3), None),
            ((2, 1, 4, 2), np.tri(4, dtype=bool)),
            ((2, 3, 2), np.array([[[0.0, 1.0, -1.0]], [[0.5, 0.0, 0.0]]])),
            ((2, 2, 3, 2), np.array([[[[True, False, True]]], [[[False, True, True]]]])),
        )
    ),
    *(Row(recurrent.lstm_gates, [REAL(*batch, 8)], no_jax=NO_JAX) for batch in ((3,), (), (0,))),
    *(
        Row(function, [REAL(*batch, 8), REAL(*batch, 2)], no_jax=NO_JAX)
        for function in (recurrent.lstm_cell, recurrent.lstm_hidden)
        for batch in ((3,), (), (2, 3))
    ),
    *(
        Row(recurrent.gru_gates, [REAL(*batch, 6), REAL(*batch, 6)], no_jax=NO_JAX)
        for batch in ((3,), (), (2, 3))
    ),
    *(
        Row(recurrent.gru_hidden, [REAL(*batch, 6), REAL(*batch, 2)], no_jax=NO_JAX)
        for batch in ((3,), (), (2, 3))
    ),
    *(
        Row(
            images.correlate_images,
            [
                REAL(n, channels, *windows.size),
                REAL(out, channels // windows.groups, *windows.kernel),
            ],
            options={"windows": windows},
            jax=convolution,
            complex=True,
        )
        for windows, n, channels, out in CONVOLUTIONS
    ),
    *(
        Row(
            images.convolve_images,
            [
                REAL(n, channels, *windows.size),
                REAL(out, channels // windows.groups, *windows.kernel),
                REAL(out),
            ],
            options={"windows": windows},
            jax=with_bias,
            complex=True,
        )
        for windows, n, channels, out in CONVOLUTIONS
    ),
    *(
        Row(
            images.image_adjoint,
            [REAL(n, out, *windows.out), REAL(out, channels // windows.groups, *windows.kernel)],
            options={"windows": windows},
            no_jax="an adjoint, which the gradient of correlate_images is compared with",
            complex=True,
        )
        for windows, n, channels, out in CONVOLUTIONS
    ),
    *(
        Row(
            images.kernel_adjoint,
            [REAL(n, channels, *windows.size), REAL(n, out, *windows.out)],
            options={"windows": windows},
            no_jax="an adjoint, which the gradient of correlate_images is compared with",
            complex=True,
        )
        for windows, n, channels, out in CONVOLUTIONS
    ),
    *(
        Row(
            images.correlate_images,
            [REAL(*x, windows.groups, *windows.size), REAL(*w, 1, *windows.kernel)],
            options={"windows": windows},
            no_jax="JAX does not broadcast leading axes",
            complex=True,
        )
        for windows, x, w in (
            (ONE, (2, 1), (2,)),
            (ONE, (1,), (2, 2)),
            (APART, (2, 2), (2, 3)),
            (APART, (2, 1, 2), (3, 3)),
        )
    ),
    Row(
        images.convolve_images,
        [REAL(2, 1, 3, 6), REAL(2, 3, 3), REAL(2)],
        options={"windows": ONE},
        no_jax="JAX does not broadcast leading axes",
    ),
    *(
        Row(
            function,
            [REAL(*first), REAL(*second)],
            options={"windows": APART},
            no_jax="an adjoint, which the gradient of correlate_images is compared with",
            complex=True,
        )
        for function, first, second in (
            (images.image_adjoint, (2, 2, 3, 4), (3, 1, 2)),
            (images.image_adjoint, (2, 3, 4), (2, 3, 1, 2)),
            (images.kernel_adjoint, (2, 2, 3, 4), (2, 3, 4)),
            (images.kernel_adjoint, (2, 3, 4), (2, 2, 3, 4)),
        )
    ),
    *(
        Row(
            pooling.largest,
            [DISTINCT(*lead, *windows.size)],
            options={"windows": windows},
            no_jax=NO_JAX,
        )
        for windows, lead in (
            (ONE, (2, 3)),
            (ONE, ()),
            (ONE, (0,)),
            (POOL, (2, 3)),
            (Windows((5, 4), (2, 2), (2, 2), ((0, 0), (1, 0)), (1, 1)), (2,)),
        )
    ),
    *(
        Row(
            pooling.sum_of_windows,
            [REAL(*lead, *windows.size)],
            options={"windows": windows},
            no_jax=NO_JAX,
            complex=True,
        )
        for windows, lead in (
            (ONE, (2, 3)),
            (ONE, ()),
            (ONE, (0,)),
            (POOL, (2, 3)),
            (WIDE, (2,)),
            (POINTS, (2,)),
        )
    ),
    *(
        Row(
            pooling.pick,
            [REAL(2, 3)],
            options={"places": places, "repeats": repeats},
            no_jax=NO_JAX,
        )
        for places, repeats in ((np.array([[5, 1], [0, 2]]), False), (np.array([3, 3, 0]), True))
    ),
    *(
        Row(normalization.standardize, [REAL(*shape)], options=options, jax=standardized)
        for shape, options in (
            ((2, 4), {"axes": (-1,)}),
            ((3, 2, 4), {"axes": (-3, -1)}),
            ((2, 4), {"axes": (-2, -1), "eps": 0.5}),
            ((0, 4), {"axes": (-1,)}),
        )
    ),
    *(
        Row(
            normalization.normalize,
            [REAL(*shape) for shape in shapes],
            options=options,
            jax=normalized,
        )
        for shapes, options in (
            (((2, 4), (4,), (4,)), {"axes": (-1,)}),
            (((3, 2, 4), (2, 1), (2, 1)), {"axes": (-3, -1)}),
            (((2, 4), (2, 4), ()), {"axes": (-2, -1), "eps": 0.5}),
            (((0, 4), (4,), (4,)), {"axes": (-1,)}),
        )
    ),
]

CONSTANTS: list[Row] = [
    Row(
        pooling.largest_places,
        [DISTINCT(2, 3, *windows.size)],
        options={"windows": windows},
    )
    for windows in (ONE, POOL)
]
