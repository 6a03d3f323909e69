"""What stands in place of SciPy's own Python, and why: where ours was measured to be better."""

from collections.abc import Iterator, Mapping

__all__ = ["section"]

KEPT: Mapping[str, Mapping[str, str]] = {
    "scipy.stats": {
        "`entropy`": "a share of 0 gives all others their slopes, which are nan in SciPy's steps",
        "`power_divergence`": (
            "at a power of 1 SciPy computes Pearson's statistic, in which there is no power"
        ),
        "`boxcox_llf` `yeojohnson` `yeojohnson_llf`": (
            "SciPy takes logarithms where a power is 0, or 2; ours move on smoothly there"
        ),
        "`alexandergovern`": "SciPy takes the root of a square, which is 0 where a mean is common",
        "`epps_singleton_2samp`": "SciPy's pseudoinverse loses digits in single precision",
        "`shapiro` `siegelslopes` `gaussian_kde`": "one step each is compiled",
        "`wasserstein_distance_nd`": "a linear program, of which ours takes the corner",
        "`cumfreq` `relfreq`": "the edges of bins move with the sample, which NumPy's do not",
        "`binned_statistic` `binned_statistic_2d` `binned_statistic_dd`": (
            "the numbers of bins are plain, and rounded"
        ),
        "`kendalltau` and other tests of ranks": "they are constant, so that nothing is recorded",
        "`permutation_test` `monte_carlo_test`": "what is resampled is not recorded",
        "`tukey_hsd` `dunnett`": "p-values are computed when they are asked for",
        "`quantile_test` `binomtest` `poisson_means_test`": "levels of confidence may be handles",
        "`scoreatpercentile`": "on an element SciPy's does not depend on the share",
        "`anderson`": "fits have derivatives, by what holds at the best",
        "`rv_discrete` `poisson_binom`": "SciPy keeps probabilities as keys of a dict",
        "distributions": (
            "formulas stand for the commonest, whose gradients are asked for most often, for those "
            "whose lines are compiled (`ncx2`, `ncf`, `nct`, `genhyperbolic`, `skewnorm`), and "
            "where these lose derivatives: at ties (`logistic`, `cauchy`, `genlogistic` at 0), in "
            "limits (`genextreme`, `genpareto`, `kappa4`, `pearson3`, `genhalflogistic`), and "
            "where a support starts (`fisk`, `burr`, `exponweib`, `gennorm`); of the others, and "
            "of all moments and entropies, SciPy's own lines are differentiated"
        ),
        "distributions of vectors": (
            "SciPy's own code, but for the factor of a covariance, whose eigenvectors have no "
            "derivatives where eigenvalues are equal, and for what it writes to elements that "
            "values choose, which cannot be done in a batch"
        ),
    },
}


def section() -> Iterator[str]:
    """Write the lines of the page."""
    yield "## In place of SciPy's own Python\n"
    yield (
        "What is written here though SciPy has it in Python, or steps of it, as its derivative is\n"
        "better than that of SciPy's steps.\n"
    )
    for module, functions in KEPT.items():
        yield f"### {module}: what is kept\n"
        yield from (f"- {names}: {why}" for names, why in functions.items())
        yield ""
