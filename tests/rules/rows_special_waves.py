"""Rows for SciPy's Bessel functions, their integrals, and other parts of wave equations."""

from typing import Any

import numpy as np

from tape_ad.scipy import special as sp
from tape_ad.scipy.special.shared import sp as scipys
from tests.rules.rows_special import OURS
from tests.rules.table import POSITIVE, REAL, Operand, Row, fixed, plain

__all__ = ["ROWS"]

LINE, RIGHT = REAL(3), POSITIVE(3)
INSIDE, OUTSIDE = fixed([-0.4, 0.0, 0.7]), fixed([2.5, 3.0, 4.2])


def ours(name: str, *operands: Operand, **fields: Any) -> Row:
    """Make the row of a function that JAX is not asked about."""
    return Row(getattr(sp, name), list(operands), no_jax=OURS, **fields)


def waves(name: str, *parameters: float, x: Operand) -> Row:
    """Make the row of a wave function, whose parameters are never others, nor in single precision.

    SciPy's crash, or do not return, where a parameter is nan; and so do the spheroidal ones in
    single precision.
    """
    fixed_ones = [np.float64(each) for each in parameters]
    return ours(name, x, call=lambda f, x: f(*fixed_ones, x), nodes=2)


BESSEL = [
    *(ours(name, RIGHT) for name in ("k0e", "k1e")),
    *(ours(name, plain(2), RIGHT) for name in ("kn", "yn")),
    ours("airy", LINE, complex=True, nodes=4),
    *(ours(name, plain(1.5), RIGHT, complex=True) for name in ("hankel1", "hankel2")),
    *(ours(name, plain([0.0, 1.5, -0.7]), RIGHT, complex=True) for name in ("jve", "yve")),
    *(ours(name, plain(1.5), RIGHT, complex=True) for name in ("hankel1e", "hankel2e")),
    ours("airye", RIGHT, complex=True, nodes=4),
    *(ours(name, RIGHT, nodes=2) for name in ("modfresnelp", "modfresnelm")),
]

INTEGRALS = [
    *(ours(name, fixed([0.4, 0.9, 3.5]), nodes=2) for name in ("itj0y0", "iti0k0")),
    *(ours(name, fixed([0.4, 0.9, 3.5]), nodes=2) for name in ("it2j0y0", "it2i0k0")),
    *(ours(name, fixed([-0.4, 0.9, 3.5])) for name in ("itstruve0", "it2struve0", "itmodstruve0")),
    ours("itairy", fixed([-0.1, 0.02, 0.05]), nodes=4),
    ours("besselpoly", RIGHT, plain(1.5), plain([0, 1, 2])),
    *(
        ours(name, plain([-0.3, 0.0, 2.5, 1.0]), fixed([0.4, 0.9, 3.5, -2.0]))
        for name in ("struve", "modstruve")
    ),
    ours("wright_bessel", plain(0.7), plain(1.5), RIGHT),
    ours("log_wright_bessel", plain(0.7), plain(1.5), fixed([0.3, 0.5, 0.9])),  # 1.14 is off at 1
]

WAVES = [
    *(ours(name, fixed([-0.4, 0.9, 3.5])) for name in ("ber", "bei", "berp", "beip")),
    *(ours(name, fixed([0.4, 0.9, 3.5])) for name in ("ker", "kei", "kerp", "keip")),
    ours("kelvin", fixed([0.4, 0.9, 3.5]), nodes=4),
    *(ours(name, plain(1.5), LINE, nodes=2) for name in ("pbdv", "pbvv", "pbwa")),
    *(waves(f"mathieu_{kind}", 2, 1.5, x=fixed([-31.0, 0.0, 130.0])) for kind in ("cem", "sem")),
    *(waves(f"mathieu_mod{kind}", 2, 1.5, x=RIGHT) for kind in ("cem1", "cem2", "sem1", "sem2")),
    *(
        waves(f"{kind}_{name}{given}", 1, 3, 1.4, *constants, x=x)
        for kind, value in (("pro", scipys.pro_cv), ("obl", scipys.obl_cv))
        for given, constants in (("", ()), ("_cv", (value(1, 3, 1.4),)))
        for name, x in (("ang1", INSIDE), ("rad1", OUTSIDE), ("rad2", OUTSIDE))
    ),
]

ROWS: list[Row] = [*BESSEL, *INTEGRALS, *WAVES]
