"""Rows for functions that build arrays."""

from typing import Any

import numpy as np

from tape_ad.rules.numpy.building import filled_like, geomspace, linspace
from tests.rules.table import POSITIVE, REAL, Row

__all__ = ["FILLED", "ROWS"]

OURS = "the function is one of tape_ad's own"
INTO_ARRAY: Any = {"call": lambda f, a, v=0.0, **options: f(a, v, **options)}
SPACED: list[tuple[Any, ...]] = [
    ((), (), {}),
    ((), (), {"num": 1}),
    ((), (), {"num": 0}),
    ((), (), {"num": 4, "endpoint": False}),
    ((3,), (3,), {"num": 4}),
    ((3,), (), {"num": 4, "axis": -1}),
    ((3, 1), (2,), {"num": 4, "axis": 1}),
    ((2,), (3, 2), {"num": 3, "axis": 0, "endpoint": False}),
    ((0,), (1,), {"num": 3}),
]

ROWS: list[Row] = [
    *(
        Row(
            function,
            [REAL(*shape)],
            options={"k": k},
            complex=k == 0,
            no_jax="JAX wants two axes" if len(shape) == 1 else "",
        )
        for function in (np.tril, np.triu)
        for shape, k in (((3, 4), 0), ((3, 4), 1), ((2, 3, 3), -1), ((3,), 0), ((0, 2), 0))
    ),
    *(
        Row(np.diag, [REAL(*shape)], options={"k": k}, complex=k == 0)
        for shape in ((3,), (3, 4), (4, 2))
        for k in (0, 1, -2)
    ),
    Row(np.diag, [REAL(0)]),
    Row(np.diag, [REAL(3, 4)], options={"k": 7}),
    *(
        Row(np.diagflat, [REAL(*shape)], options={"k": k}, complex=True)
        for shape, k in (((3,), 0), ((2, 2), 1), ((2, 1), -2), ((), 0))
    ),
    *(
        Row(np.vander, [REAL(3)], options={"N": n, "increasing": up}, complex=n == 4)
        for n in (None, 4, 2, 1, 0)
        for up in (False, True)
    ),
    Row(np.vander, [REAL(0)], options={"N": 2}),
    *(
        Row(np.linspace, [REAL(*start), REAL(*stop)], options=options, complex=start == ())
        for start, stop, options in SPACED
    ),
    Row(np.linspace, [REAL(), REAL()], options={"num": 3, "dtype": "float64"}),
    *(
        Row(
            np.linspace,
            [REAL(*start), REAL(*stop)],
            options={"retstep": True, "num": 5, "endpoint": endpoint},
            complex=True,
            nodes=3,
        )
        for start, stop in (((), ()), ((3,), (2, 1)))
        for endpoint in (True, False)
    ),
    Row(linspace, [REAL(), REAL(3)], options={"num": 4}, note="ours", complex=True, no_jax=OURS),
    *(
        Row(np.logspace, [REAL(*start), REAL(*stop)], options=options, complex=start == (), nodes=2)
        for start, stop, options in SPACED
    ),
    *(
        Row(
            np.logspace,
            [REAL(*start), REAL(*stop), POSITIVE(*base)],
            call=lambda f, x, y, b, **options: f(x, y, 4, base=b, **options),
            options=options,
            complex=start == base == (),
            nodes=6,
            no_jax=no_jax,
        )
        for start, stop, base, options, no_jax in (
            ((), (), (), {}, ""),
            ((3,), (), (), {"axis": -1, "dtype": "float64"}, ""),
            ((3,), (), (2, 1), {}, "JAX broadcasts an array of bases in another way"),
            ((), (2,), (2,), {"axis": 1}, "JAX broadcasts an array of bases in another way"),
        )
    ),
    *(
        Row(np.geomspace, [POSITIVE(*start), POSITIVE(*stop)], options=options, complex=start == ())
        for start, stop, options in SPACED
    ),
    Row(geomspace, [POSITIVE(), POSITIVE(3)], options={"num": 4}, note="ours", no_jax=OURS),
    Row(
        np.geomspace,
        [POSITIVE(2, 3)],
        call=lambda f, x, y=1.0, **options: f(x, y, **options),
        prepare=lambda x: [-x[0], -x[1]],
        options={"num": 4},
        note="negative",
        nodes=5,
    ),
    *(
        Row(
            np.full_like,
            [REAL(3)],
            prepare=lambda x, key=key: [x, x[key]],
            options=options,
            note=note,
            complex=True,
            nodes=4,
            **INTO_ARRAY,
        )
        for key, options, note in (
            (0, {}, "number"),
            (slice(None, None, -1), {"shape": (2, 3)}, "array"),
            (slice(1), {"dtype": "complex128"}, "cast"),
        )
    ),
]

FILLED: list[Row] = [
    Row(filled_like, [REAL(2, 3)], **INTO_ARRAY),
    Row(filled_like, [REAL(2, 3)], options={"shape": 2, "dtype": "float32"}, **INTO_ARRAY),
]
