"""Rows for SciPy's rarer distribution functions, and for the inverses that it finds exactly.

Those that it finds by a search, or sums with few digits, have no difference quotients to compare
with: `APART` lists them, and ``tests/scipy/test_special_inverses.py`` compares with others.
"""

from tape_ad.scipy import special as sp
from tape_ad.scipy.special import distributions, noncentral
from tests.rules.rows_special import OURS
from tests.rules.rows_special_distributions import LINE, PART, RIGHT, SHAPE, SHAPES, ours
from tests.rules.table import Row, fixed, plain, uniform

__all__ = ["APART", "CONSTANTS", "ROWS"]

MIDDLE = uniform(0.2, 0.8)(3)

ROWS: list[Row] = [
    ours("stdtr", SHAPE, LINE, note="degrees of freedom"),
    ours("stdtrit", SHAPE, PART, note="degrees of freedom"),
    ours("chndtr", RIGHT, SHAPES(2, 1), RIGHT),
    ours("chndtr", fixed([1.0, 30.0, 0.5]), SHAPE, fixed([0.01, 25.0, 4.0]), note="far"),
    ours("betainccinv", SHAPE, SHAPES(2, 1), PART),
    ours("fdtri", RIGHT, SHAPES(2, 1), PART),
    ours("bdtri", plain([0, 2, 3]), plain(4), MIDDLE),
    ours("nbdtri", plain([0, 2, 4]), plain(3), MIDDLE),
    ours("pdtri", plain([0, 2, 4]), MIDDLE),
    ours("nrdtrimn", MIDDLE, RIGHT, LINE),
    ours("nrdtrisd", MIDDLE, fixed([0.1, 0.3, 0.8]), LINE),
    ours("kolmogorov", fixed([0.01, 0.3, 0.7, 0.9, 2.5])),
    ours("kolmogi", MIDDLE),
    ours("smirnov", plain([1, 2, 5]), fixed([0.3, 0.7, 0.45])),
    ours("smirnovi", plain([1, 2, 5]), fixed([0.3, 0.6, 0.15])),
    ours("tklmbda", fixed([0.4, -1.2, 0.3, 2.0]), fixed([0.7, -0.6, 0.2, 1.5])),
    ours("voigt_profile", LINE, RIGHT, uniform(0.3, 2.0)(2, 1)),
    ours("voigt_profile", fixed([0.4, 20.0, 3.0]), fixed([0.05, 0.5, 0.04]), RIGHT, note="far"),
    Row(
        distributions.voigt_derivative,
        [LINE, RIGHT, RIGHT],
        call=lambda f, x, sigma, gamma: f(x, sigma, gamma, 1, 1),
        no_jax=OURS,
    ),
    Row(noncentral.poisson_weight, [plain([0, 1, 4]), fixed([0.1, 0.2, 2.5])], no_jax=OURS),
    Row(noncentral.student_density, [RIGHT, SHAPE], no_jax=OURS),
]

APART = tuple(
    getattr(sp, name)
    for name in (
        *("bdtrik", "bdtrin", "nbdtrik", "nbdtrin", "pdtrik", "btdtria", "btdtrib"),
        *("gdtria", "gdtrib", "gdtrix", "chdtriv"),
        *("chndtrix", "chndtridf", "chndtrinc", "fdtridfd", "stdtridf"),
        *("ncfdtr", "ncfdtri", "ncfdtridfn", "ncfdtridfd", "ncfdtrinc"),
        *("nctdtr", "nctdtrit", "nctdtridf", "nctdtrinc"),
    )
)

CONSTANTS: list[Row] = [
    Row(noncentral.whole_numbers, [RIGHT, RIGHT]),
    Row(noncentral.student_ends, [SHAPE, LINE, LINE]),
    Row(distributions.smirnov_numbers, [RIGHT, RIGHT]),
]
