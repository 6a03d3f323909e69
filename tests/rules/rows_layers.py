"""Rows for the functions that layers are made of."""

from typing import Any

import numpy as np

from tape_ad.rules.layers import affine, images, normalization, pooling, recurrent
from tape_ad.rules.layers.images import Windows
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


ONE = Windows((6,), (3,), (2,), ((1, 0),), (1,))
TWO = Windows((5, 4), (2, 3), (2, 1), ((1, 1), (0, 1)), (1, 1), 2)
WIDE = Windows((5, 5), (2, 2), (1, 2), ((0, 0), (2, 2)), (2, 3))

CONVOLUTIONS = [
    (windows, n, channels, out)
    for windows, n, channels, out in (
        (ONE, 2, 3, 2),
        (TWO, 2, 4, 2),
        (WIDE, 1, 2, 3),
        (ONE, 0, 1, 1),
    )
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
        )
        for windows, n, channels, out in CONVOLUTIONS
    ),
    *(
        Row(
            images.image_adjoint,
            [REAL(n, out, *windows.out), REAL(out, channels // windows.groups, *windows.kernel)],
            options={"windows": windows},
            no_jax="an adjoint, which the gradient of correlate_images is compared with",
        )
        for windows, n, channels, out in CONVOLUTIONS
    ),
    *(
        Row(
            images.kernel_adjoint,
            [REAL(n, channels, *windows.size), REAL(n, out, *windows.out)],
            options={"windows": windows},
            no_jax="an adjoint, which the gradient of correlate_images is compared with",
        )
        for windows, n, channels, out in CONVOLUTIONS
    ),
    Row(
        images.correlate_images,
        [REAL(2, 1, 3, 6), REAL(2, 3, 3)],
        options={"windows": ONE},
        no_jax="JAX does not broadcast leading axes",
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
]

CONSTANTS: list[Row] = [
    Row(
        pooling.largest_places,
        [DISTINCT(2, 3, *windows.size)],
        options={"windows": windows},
    )
    for windows in (ONE, Windows((5, 4), (2, 2), (2, 1), ((1, 1), (0, 0)), (1, 2)))
]
