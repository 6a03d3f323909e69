"""Rows for SciPy's distribution functions, orthogonal polynomials and further special functions."""

from typing import Any

from tape_ad.scipy import special as sp
from tape_ad.scipy.special.shared import ufuncs
from tests.rules.rows_special import OURS
from tests.rules.table import POSITIVE, REAL, Operand, Row, fixed, plain, uniform

__all__ = ["ROWS"]

UNIT = uniform(0.1, 0.9)
SHAPES = uniform(1.2, 4.0)
LINE, RIGHT, PART, SHAPE = REAL(3), POSITIVE(3), UNIT(3), SHAPES(3)


def ours(name: str, *operands: Operand, **fields: Any) -> Row:
    """Make the row of a function that JAX is not asked about."""
    return Row(getattr(sp, name), list(operands), no_jax=OURS, **fields)


DISTRIBUTIONS = [
    *(ours(name, SHAPE, RIGHT) for name in ("chdtr", "chdtrc")),
    *(ours(name, SHAPE, PART) for name in ("chdtri", "gammaincinv", "gammainccinv")),
    *(ours(name, SHAPES(3), SHAPES(2, 1), PART) for name in ("betaincinv", "betaincc")),
    *(ours(name, RIGHT, SHAPES(2, 1), POSITIVE(3)) for name in ("gdtr", "gdtrc")),
    *(ours(name, SHAPE, SHAPES(2, 1), RIGHT) for name in ("fdtr", "fdtrc")),
    ours("stdtr", plain([1.0, 2.5, 30.0]), fixed([-1.3, 0.0, 2.0])),
    ours("stdtrit", plain([1.0, 2.5, 30.0]), PART),
    *(ours(name, plain([0.0, 1.5, 4.0]), RIGHT) for name in ("pdtr", "pdtrc")),
    *(ours(name, plain([0, 2, 4]), plain(4), PART) for name in ("bdtr", "bdtrc")),
    *(ours(name, plain([0, 2, 4]), plain(3), PART) for name in ("nbdtr", "nbdtrc")),
    ours("ndtri_exp", fixed([-5.0, -1.0, -0.2])),
]

DEGREES = plain([0, 1, 2, 5])

POLYNOMIALS = [
    *(
        ours(f"eval_{name}", DEGREES, UNIT(4))
        for name in (
            *("legendre", "chebyt", "chebyu", "chebyc", "chebys", "hermite", "hermitenorm"),
            *("laguerre", "sh_legendre", "sh_chebyt", "sh_chebyu"),
        )
    ),
    *(ours(f"eval_{name}", DEGREES, UNIT(4), UNIT(4)) for name in ("gegenbauer", "genlaguerre")),
    ours("eval_jacobi", DEGREES, UNIT(4), UNIT(4), UNIT(4)),
    ours("eval_sh_jacobi", DEGREES, plain(2.7), plain(1.3), UNIT(4)),
    ours("eval_legendre", plain(1.5), UNIT(3), note="between degrees"),
    ours("eval_legendre", DEGREES, fixed([-1.0, 1.0, 1.0, -1.0]), note="at the ends"),
]

HYPERGEOMETRIC = [
    *(ours(name, LINE) for name in ("sindg", "cosdg", "tandg", "cotdg", "cosm1", "exprel")),
    *(ours(name, LINE, complex=True) for name in ("erfi", "wrightomega")),
    ours("agm", RIGHT, POSITIVE(2, 1)),
    ours("agm", fixed([1.0, -2.0]), fixed([1.0, -2.0]), note="equal"),
    ours("exprel", fixed([-60.0, -21.0, 0.0, 21.0]), note="far"),
    ours("hyp0f1", plain(1.5), LINE, complex=True),
    ours("hyperu", plain(0.7), plain(1.5), RIGHT),
]

OF_TRIALS = [
    Row(function, [plain([0.0, 2.0, 5.0]), plain(5.0), UNIT(3)], no_jax=OURS)
    for function in (ufuncs._binom_cdf, ufuncs._binom_sf, ufuncs._binom_pmf)
    if function  # since SciPy 1.15
]

ROWS: list[Row] = [*OF_TRIALS, *DISTRIBUTIONS, *POLYNOMIALS, *HYPERGEOMETRIC]
