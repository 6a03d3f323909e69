"""Rows for `numpy.fft`: even and odd lengths, cropped and filled up, every norm, any axes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.naming import function_name
from tests.rules.table import REAL, Row, Shape

__all__ = ["ROWS"]

NORMS = ("backward", "ortho", "forward")

ONE_AXIS = (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)
ONE_AXIS_OF_REALS = (np.fft.rfft, np.fft.ihfft)
TWO_AXES = (np.fft.fft2, np.fft.ifft2, np.fft.irfft2)
TWO_AXES_OF_REALS = (np.fft.rfft2,)
SEVERAL_AXES = (np.fft.fftn, np.fft.ifftn, np.fft.irfftn)
SEVERAL_AXES_OF_REALS = (np.fft.rfftn,)
REALS = {*ONE_AXIS_OF_REALS, *TWO_AXES_OF_REALS, *SEVERAL_AXES_OF_REALS}

# Shapes and options; a complex to real transform has 2 * (length - 1) points where n is not given
OF_ONE_AXIS: tuple[tuple[Shape, dict[str, Any]], ...] = (
    ((4,), {}),
    ((5,), {}),
    ((2, 3), {}),
    *(((2, 4), {"norm": norm}) for norm in NORMS),
    *(((5,), {"n": n, "norm": norm}) for n in (4, 7) for norm in NORMS),
    *(((2, 4), {"n": n}) for n in (1, 2, 3, 5, 6, 7, 8)),
    ((4, 2), {"axis": 0}),
    ((2, 4, 3), {"n": 5, "axis": 1, "norm": "ortho"}),
    ((2, 4, 3), {"n": 3, "axis": -2}),
    ((0, 3), {}),
)
OF_TWO_AXES: tuple[tuple[Shape, dict[str, Any]], ...] = (
    ((3, 4), {}),
    ((2, 3, 5), {}),
    ((3, 4), {"s": (4, 3)}),
    ((4, 3), {"s": (3, 5), "norm": "ortho"}),
    ((4, 2, 3), {"axes": (0, -1), "norm": "forward"}),
    ((4, 2, 3), {"s": (5, 4), "axes": (2, 0)}),
)
OF_SEVERAL_AXES: tuple[tuple[Shape, dict[str, Any]], ...] = (
    ((4,), {}),
    ((2, 3, 4), {}),
    *(((2, 3, 4), {"norm": norm, "axes": (2, 1)}) for norm in NORMS),
    ((2, 3, 4), {"axes": (1,)}),
    ((2, 3, 4), {"s": (3, 2), "axes": (0, 2)}),
    ((2, 3, 4), {"s": (2, 4, 5), "axes": (0, 1, 2)}),
    ((0, 3, 2), {"axes": (1, 2)}),
)
# What JAX does not take
STRANGE: tuple[tuple[Shape, dict[str, Any]], ...] = (
    ((2, 4), {"s": (-1, 5), "axes": (0, 1)}),
    ((4, 3), {"s": (2, -1), "axes": (0, 1)}),
    ((3, 4), {"axes": (1, 0, 1)}),
)


def transform(
    function: Callable[..., Any], shape: Shape, options: dict[str, Any], **fields: Any
) -> Row:
    """Make the row of a transform."""
    return Row(
        function,
        [REAL(*shape)],
        options=options,
        complex=function not in REALS,
        jax=f"numpy.fft.{function_name(function)}",
        **fields,
    )


def by_torch(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Get PyTorch's transform, where it takes such lengths and axes and means the same by them."""
    name = function_name(function)
    if len(options["axes"]) > 2 or (function is np.fft.irfftn and options["s"][-1] == -1):
        return ""
    return lambda torch: lambda a, s, axes: getattr(torch.fft, name)(a, s, dim=axes)


ROWS: list[Row] = [
    *(
        transform(function, shape, options)
        for functions, shapes in (
            ((*ONE_AXIS, *ONE_AXIS_OF_REALS), OF_ONE_AXIS),
            ((*TWO_AXES, *TWO_AXES_OF_REALS), OF_TWO_AXES),
            ((*SEVERAL_AXES, *SEVERAL_AXES_OF_REALS), OF_SEVERAL_AXES),
        )
        for function in functions
        for shape, options in shapes
    ),
    *(
        transform(
            function,
            shape,
            options,
            no_jax="JAX refuses such lengths or axes",
            torch=by_torch(function, options),
        )
        for function in (*SEVERAL_AXES, *SEVERAL_AXES_OF_REALS)
        for shape, options in STRANGE
        if len(options["axes"]) == 2 or function in (np.fft.fftn, np.fft.ifftn)
    ),
    *(
        Row(
            function,
            [REAL(*shape)],
            options=options,
            complex=True,
            jax=f"numpy.fft.{function_name(function)}",
        )
        for function in (np.fft.fftshift, np.fft.ifftshift)
        for shape, options in (
            ((4,), {}),
            ((5, 2), {}),
            ((5, 3), {"axes": 0}),
            ((2, 5, 3), {"axes": (1, -1)}),
            ((0,), {}),
        )
    ),
]
