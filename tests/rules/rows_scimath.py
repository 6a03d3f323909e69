"""Rows for the functions of `numpy.emath`, on numbers inside and outside of the real domains."""

import numpy as np

from tests.rules.table import ABOVE_ONE, INSIDE, POSITIVE, REAL, Domain, Row, signed

__all__ = ["ROWS"]

BEYOND = Domain(signed(1.2, 2.0), signed(0.2, 0.8))
ROOTS = (np.emath.sqrt, np.emath.log, np.emath.log2, np.emath.log10)
ARCS = (np.emath.arcsin, np.emath.arccos, np.emath.arctanh)
NO_JAX = "JAX has no numpy.emath"

ROWS: list[Row] = [
    *(
        Row(function, [domain(*shape)], complex=bool(shape), nodes=2, note=note, no_jax=NO_JAX)
        for functions, within, beyond in ((ROOTS, POSITIVE, REAL), (ARCS, INSIDE, BEYOND))
        for function in functions
        for domain, note in ((within, "emath inside"), (beyond, "emath anywhere"))
        for shape in ((2, 3), ())
    ),
    *(
        Row(function, [one(2, 3), other(3)], complex=True, nodes=5, note=note, no_jax=NO_JAX)
        for function in (np.emath.logn, np.emath.power)
        for one, other, note in (
            (ABOVE_ONE, POSITIVE, "emath inside"),
            (BEYOND, REAL, "emath anywhere"),
        )
    ),
    Row(np.emath.power, [REAL(3)], call=lambda f, x: f(x, 3), nodes=2, note="emath", no_jax=NO_JAX),
]
