"""Rows for functions of samples: quantiles, frequencies, comparisons."""

import inspect

import numpy as np
import scipy.stats

from tests.rules.rows_samples import FUNCTIONS, MANY, NO_JAX, SPREAD, composed
from tests.rules.table import DISTINCT, POSITIVE, REAL, Row, fixed, plain, uniform

__all__ = ["ROWS"]

SHARES = uniform(0.1, 0.4)
CHANCES = plain([0.13, 0.52, 0.88])
TABLE = fixed([[5.0, 7.5, 9.0], [6.0, 3.0, 8.0]])

ROWS: list[Row] = [
    composed("alexandergovern", [REAL(3), REAL(4), DISTINCT(3)]),
    composed("pointbiserialr", [REAL(4), REAL(4)]),
    composed("levene", [DISTINCT(6), SPREAD], center="trimmed", proportiontocut=0.2),
    composed("chi2_contingency", [TABLE]),
    composed("chi2_contingency", [fixed([[5.0, 7.5], [6.0, 3.0]])]),
    *(
        composed("combine_pvalues", [SHARES(3)], method=method)
        for method in ("fisher", "pearson", "tippett", "mudholkar_george")
    ),
    composed("combine_pvalues", [SHARES(3)], method="stouffer", weights=[1.0, 2.0, 0.5]),
    composed("false_discovery_control", [fixed([0.22, 0.5, 0.03])], method="by"),
    composed("kstatvar", [fixed([-1.5, 0.7, 1.1, -0.3, 0.9, -0.8])]),
    composed("expectile", [DISTINCT(4), fixed(0.3)]),
    composed("sigmaclip", [SPREAD, fixed(1.2), fixed(1.3)]),
    composed("scoreatpercentile", [DISTINCT(4), fixed([40.0, 71.0])]),
    composed("trimboth", [DISTINCT(5)], proportiontocut=0.2),
    composed("trim1", [DISTINCT(2, 4)], proportiontocut=0.3, tail="left", axis=1),
    composed("tmin", [DISTINCT(4)], lowerlimit=-0.25),
    composed("tmax", [DISTINCT(4)]),
    composed("cramervonmises", [DISTINCT(3)], cdf="norm"),
    composed("ks_1samp", [DISTINCT(3)], cdf=scipy.stats.norm.cdf, method="asymp"),
    composed("kstest", [DISTINCT(3)], cdf="norm", alternative="less"),
    composed("shapiro", [SPREAD]),
    composed("directional_stats", [REAL(3, 2)]),
    composed("wasserstein_distance_nd", [REAL(3, 2), REAL(2, 2), POSITIVE(3), POSITIVE(2)]),
    composed("epps_singleton_2samp", [DISTINCT(6), SPREAD]),
    composed("theilslopes", [DISTINCT(4), DISTINCT(4)]),
    composed("siegelslopes", [DISTINCT(4), DISTINCT(4)], method="separate"),
    composed("median_test", [DISTINCT(4), SPREAD]),
    composed("cumfreq", [DISTINCT(4)], numbins=3),
    composed("relfreq", [DISTINCT(4)], numbins=3, weights=[1.0, 2.0, 0.5, 0.3]),
    composed("binned_statistic", [plain([0.1, 0.3, 0.7, 0.9]), DISTINCT(4)], bins=2),
    composed("binned_statistic_2d", [DISTINCT(4), REAL(4), REAL(4)], statistic="std", bins=1),
    Row(
        FUNCTIONS["binned_statistic_dd"],
        [plain([[0.1], [0.3], [0.7], [0.9]]), DISTINCT(4)],
        options={"statistic": "median", "bins": 2},
        call=lambda f, sample, values, **options: (
            f(np.asarray(sample), values, **options).statistic  # of lists it is the other way
        ),
        nodes=MANY,
        no_jax=NO_JAX,
    ),
]

if hasattr(scipy.stats, "quantile"):  # which SciPy 1.15 brought
    ROWS += [
        composed("lmoment", [fixed([0.125, 0.5, 0.25, 1.75, 0.375])]),
        composed("lmoment", [DISTINCT(4, 2)], order=3, standardize=False),
        composed("quantile", [DISTINCT(4), SHARES(2)]),
        composed("quantile", [DISTINCT(4), CHANCES], method="harrell-davis"),
        composed("quantile", [POSITIVE(4), CHANCES], method="round_nearest"),
    ]

if "equal_var" in inspect.signature(scipy.stats.f_oneway).parameters:  # since SciPy 1.16
    ROWS.append(composed("f_oneway", [REAL(3), REAL(4), DISTINCT(3)], equal_var=False))
