"""Rows for `tape_ad.scipy.fft`."""

from typing import Any

from tape_ad.scipy import fft
from tests.rules.table import POSITIVE, REAL, Row, Shape, fixed

__all__ = ["ROWS"]

ONE_AXIS = (fft.fft, fft.ifft, fft.irfft, fft.hfft)
ONE_AXIS_OF_REALS = (fft.rfft, fft.ihfft)
SEVERAL_AXES = (fft.fft2, fft.ifft2, fft.irfft2, fft.fftn, fft.ifftn, fft.irfftn)
SEVERAL_AXES_OF_REALS = (fft.rfft2, fft.rfftn)
HERMITIAN = (fft.hfft2, fft.hfftn)
HERMITIAN_OF_REALS = (fft.ihfft2, fft.ihfftn)

NONE = "JAX has no such function"
NOTE = "of SciPy"

OF_SEVERAL_AXES: tuple[tuple[Shape, dict[str, Any]], ...] = (
    ((3, 4), {}),
    ((2, 3, 3), {"s": (3, 4), "axes": (0, 2), "norm": "ortho"}),
)

TRIGONOMETRIC: tuple[tuple[Shape, dict[str, Any]], ...] = (
    *(((4,), {"type": kind, "norm": norm}) for kind in (1, 2, 3, 4) for norm in (None, "ortho")),
    *(((5,), {"type": kind, "norm": "forward"}) for kind in (1, 2, 3, 4)),
    *(((3, 2), {"type": kind, "axis": 0, "orthogonalize": True}) for kind in (1, 2, 3, 4)),
    *(((3,), {"type": kind, "norm": "ortho", "orthogonalize": False}) for kind in (1, 2, 3)),
    ((4,), {"n": 3}),
    ((2, 3), {"n": 5, "type": 3}),
)

ROWS: list[Row] = [
    *(
        Row(
            function,
            [REAL(*shape)],
            options=options,
            note=NOTE,
            complex=function not in ONE_AXIS_OF_REALS,
            jax=f"numpy.fft.{function.__name__}",
        )
        for function in (*ONE_AXIS, *ONE_AXIS_OF_REALS)
        for shape, options in (
            ((5,), {}),
            ((2, 4), {"n": 6, "norm": "forward"}),
            ((4, 2), {"n": 3, "axis": 0, "norm": "ortho"}),
        )
    ),
    *(
        Row(
            function,
            [REAL(*shape)],
            options=options,
            note=NOTE,
            complex=function not in SEVERAL_AXES_OF_REALS,
            jax=f"numpy.fft.{function.__name__}",
        )
        for function in (*SEVERAL_AXES, *SEVERAL_AXES_OF_REALS)
        for shape, options in OF_SEVERAL_AXES
    ),
    *(
        Row(
            function,
            [REAL(*shape)],
            options=options,
            complex=function in HERMITIAN,
            no_jax=NONE,
        )
        for function in (*HERMITIAN, *HERMITIAN_OF_REALS)
        for shape, options in OF_SEVERAL_AXES
    ),
    *(
        Row(
            function,
            [REAL(3, 4)],
            options={"axes": axes},
            note=NOTE,
            complex=True,
            jax=f"numpy.fft.{function.__name__}",
        )
        for function in (fft.fftshift, fft.ifftshift)
        for axes in (None, 1)
    ),
    *(
        Row(
            function,
            [POSITIVE()],
            call=lambda f, d: f(5, d),
            nodes=1,
            no_jax="the number is static",
        )
        for function in (fft.fftfreq, fft.rfftfreq)
    ),
    *(
        Row(function, [REAL(*shape)], options=options, complex=True, no_jax="JAX has type 2 alone")
        for function in (fft.dct, fft.idct, fft.dst, fft.idst)
        for shape, options in TRIGONOMETRIC
    ),
    *(
        Row(
            function,
            [REAL(4, 3)],
            note="as in JAX",
            options={"norm": "ortho"},
            jax=f"scipy.fft.{function.__name__}",
        )
        for function in (fft.dct, fft.idct, fft.dctn, fft.idctn)
    ),
    *(
        Row(function, [REAL(*shape)], options=options, complex=True, no_jax="JAX has type 2 alone")
        for function in (fft.dctn, fft.idctn, fft.dstn, fft.idstn)
        for shape, options in (
            ((3, 4), {}),
            ((2, 3, 2), {"type": 3, "axes": (0, 1), "norm": "forward"}),
            ((3, 4), {"s": (4, 3), "type": 1}),
            ((3, 2), {"type": 4, "s": 5, "axes": 0}),
        )
    ),
    *(
        Row(
            function,
            [REAL(*shape), POSITIVE(), POSITIVE(), REAL(), fixed(0.2)],
            nodes=100,
            no_jax=NONE,
        )
        for function in (fft.fht, fft.ifht)
        for shape in ((4,), (2, 5))
    ),
    Row(fft.fhtoffset, [POSITIVE(), POSITIVE(), REAL(), POSITIVE()], nodes=40, no_jax=NONE),
]
