"""Rows for the functions of samples in `tape_ad.scipy.stats`: moments, tests, distances, powers."""

from typing import Any

import numpy as np

from tape_ad.scipy import stats
from tape_ad.scipy.stats.hypotheses import compared_by_scipy
from tape_ad.scipy.stats.ranks import RANKS
from tests.rules.table import DISTINCT, POSITIVE, REAL, Row, fixed, plain, uniform

__all__ = ["CONSTANTS", "ROWS"]

FUNCTIONS = {name: getattr(stats, name) for name in stats.__all__}

OF_RANKS = {function.__name__: function for function in RANKS}

NO_JAX = "JAX has no such function"

MANY = 299
"""More nodes than any of these compositions records."""


SHOWN: dict[str, Any] = {
    "describe": slice(2, 6),
    **dict.fromkeys(("ttest_1samp", "ttest_ind", "ttest_rel", "pearsonr"), slice(2)),
    "chi2_contingency": slice(0, 4, 3),
    "median_test": slice(2, 3),
    **dict.fromkeys(("cumfreq", "relfreq"), slice(3)),
    **dict.fromkeys(("binned_statistic", "binned_statistic_dd"), slice(1)),
    "binned_statistic_2d": slice(3),
    **dict.fromkeys(("alexandergovern", "cramervonmises"), ("statistic", "pvalue")),
    "directional_stats": ("mean_direction", "mean_resultant_length"),
    **dict.fromkeys(("ks_1samp", "kstest"), ("statistic", "pvalue", "statistic_location")),
}
"""Which parts of a result are compared, where others are counts, and tuples of arrays."""


def shown(name: str, result: Any) -> Any:
    """Give the parts of a result that are compared."""
    parts = SHOWN.get(name)
    if parts is None:  # SciPy's own may be numbers of Python
        if isinstance(result, tuple):
            return tuple(np.float64(x) if type(x) is float else x for x in result)
        return np.float64(result) if type(result) is float else result
    if isinstance(parts, slice):
        return tuple(result)[parts]
    return tuple(getattr(result, part) for part in parts)


def composed(name: str, operands: list[Any], **options: Any) -> Row:
    """Make the row of a function that is a composition."""

    def call(function: Any, *arguments: Any, **options: Any) -> Any:
        return shown(name, function(*arguments, **options))

    jax = {"jax": "scipy.stats.sem"} if name == "sem" else {"no_jax": NO_JAX}
    fields: dict[str, Any] = {"call": call, "nodes": MANY, **jax}
    return Row(FUNCTIONS[name], operands, options=options, **fields)


SPREAD = fixed([0.3, 2.1, -1.2, 0.8, 3.3, -0.4, 1.7, 0.1])
LONG = fixed(
    [
        *(0.3, 2.1, -1.2, 0.8, 3.3, -0.4, 1.7, 0.1, 0.6, -2.0),
        *(1.1, 0.45, -0.7, 2.6, 1.35, -0.15, 0.95, 4.1, -1.6, 0.7),
    ]
)
COUNTS, EXPECTED = fixed([5.0, 7.0, 9.0, 4.0]), fixed([6.0, 6.5, 7.5, 5.0])

ROWS: list[Row] = [
    *(
        composed(name, [POSITIVE(4, 2)])
        for name in ("skew", "kurtosis", "variation", "sem", "gstd", "gmean", "hmean", "circvar")
    ),
    composed("moment", [POSITIVE(2, 4)], order=3, axis=1, keepdims=True),
    composed("moment", [POSITIVE(5)], order=2, center=0.5),
    composed("skew", [POSITIVE(2, 3)], bias=False, axis=None),
    composed("kurtosis", [POSITIVE(5)], bias=False, fisher=False),
    composed("pmean", [POSITIVE(4)], p=2.5),
    composed("trim_mean", [DISTINCT(6)], proportiontocut=0.2),
    *(composed(name, [REAL(5)]) for name in ("tmean", "tvar", "tstd", "tsem")),
    composed("tvar", [fixed([-0.5, 0.4, 1.1, 2.5])], limits=(-0.7, 2.0)),
    composed("iqr", [DISTINCT(7)]),
    composed("iqr", [DISTINCT(5)], rng=(10, 70), scale="normal"),
    composed("median_abs_deviation", [SPREAD]),
    composed("circmean", [POSITIVE(4)]),
    composed("circstd", [POSITIVE(4)]),
    composed("kstat", [REAL(6)], n=3),
    composed("kstat", [fixed([-1.5, 0.7, 1.1, -0.3, 0.9, -0.8])], n=4),
    composed("entropy", [POSITIVE(4)]),
    composed("entropy", [POSITIVE(4), POSITIVE(4)], base=2),
    composed("describe", [DISTINCT(5)]),
    composed("ttest_1samp", [REAL(4, 2), uniform(-0.3, 0.3)(1)]),
    composed("ttest_1samp", [REAL(5), uniform(0.1, 0.3)(1)], alternative="less"),
    composed("ttest_ind", [REAL(5), REAL(4)]),
    composed("ttest_ind", [REAL(5), REAL(4)], equal_var=False),
    composed("ttest_ind", [DISTINCT(5), SPREAD], trim=0.2),
    composed("ttest_ind", [DISTINCT(5), SPREAD], trim=0.2, equal_var=False),
    composed("ttest_rel", [REAL(5, 1), REAL(5, 2)], alternative="greater"),
    composed(
        "ttest_ind_from_stats",
        [*(fixed(value) for value in (1.0, 2.0, 5.0, 1.5, 1.2, 7.0))],
        equal_var=False,
    ),
    composed("pearsonr", [REAL(5), REAL(5)]),
    composed("linregress", [REAL(6), REAL(6)]),
    composed("f_oneway", [REAL(4), REAL(5), REAL(3)]),
    composed("bartlett", [REAL(4), REAL(5)]),
    composed("levene", [DISTINCT(5), SPREAD]),
    composed("skewtest", [SPREAD]),
    *(composed(name, [LONG]) for name in ("kurtosistest", "normaltest", "jarque_bera")),
    composed("chisquare", [COUNTS], ddof=1),
    *(
        composed("power_divergence", [COUNTS], lambda_=power)
        for power in ("log-likelihood", "cressie-read", -1)
    ),
    composed("zscore", [REAL(4, 2)]),
    composed("zscore", [REAL(2, 3)], axis=None, ddof=1),
    composed("gzscore", [POSITIVE(4)]),
    composed("zmap", [REAL(3), REAL(4)]),
    composed("boxcox", [POSITIVE(4), uniform(0.3, 0.8)()]),
    composed("yeojohnson", [REAL(4)], lmbda=0.4),
    Row(
        FUNCTIONS["boxcox_llf"],
        [POSITIVE(4)],
        call=lambda f, data: f(0.4, data),
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    Row(
        FUNCTIONS["yeojohnson_llf"],
        [SPREAD],
        call=lambda f, data: f(0.4, data),
        nodes=MANY,
        no_jax=NO_JAX,
    ),
    composed("wasserstein_distance", [DISTINCT(4), SPREAD]),
    composed("energy_distance", [DISTINCT(4), SPREAD]),
    composed("wasserstein_distance", [DISTINCT(4), SPREAD, POSITIVE(4)]),
    *(
        composed("differential_entropy", [SPREAD], method=method)
        for method in ("van es", "ebrahimi", "vasicek", "correa")
    ),
]


def constant(name: str, *operands: Any) -> list[Row]:
    """Make the row of a function of ranks, which an older SciPy may not have."""
    return [Row(OF_RANKS[name], list(operands))] if name in OF_RANKS else []


CONSTANTS: list[Row] = [
    *constant("rankdata", SPREAD),
    *constant("tiecorrect", SPREAD),
    Row(compared_by_scipy, [fixed([-1.2, 0.1, 0.8, 2.1]), plain(np.zeros(2)), plain(0.0)]),
    *constant("percentileofscore", SPREAD, fixed(0.5)),
    *(
        row
        for name in (
            *("kendalltau", "spearmanr", "spearmanrho", "fligner"),
            *("mannwhitneyu", "ranksums", "kruskal", "brunnermunzel", "mood", "ks_2samp"),
            *("cramervonmises_2samp", "chatterjeexi", "bws_test", "ansari"),
            *("wilcoxon", "somersd"),
        )
        for row in constant(name, SPREAD, fixed([0.9, -1.1, 2.2, 0.2, 1.4, 3.1, -0.6, 0.55]))
    ),
    *constant(
        "friedmanchisquare",
        *map(fixed, ([0.1, 0.9, 0.4], [0.5, 0.2, 1.3], [0.8, 0.7, 0.6])),
    ),
    *constant("page_trend_test", fixed([[0.1, 0.4, 0.9], [0.3, 0.2, 1.1]])),
]
