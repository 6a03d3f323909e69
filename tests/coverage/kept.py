"""What stands in place of SciPy's own Python, and why: where ours was measured to be better."""

from collections.abc import Iterator, Mapping

__all__ = ["section"]

KEPT: Mapping[str, Mapping[str, str]] = {
    "scipy.integrate": {
        "`quad` `quad_vec` `solve_ivp` `odeint` `solve_bvp`": "derivatives of the solution",
    },
    "scipy.linalg": {
        "`circulant` `hankel` `toeplitz`": "SciPy's are views by strides, which handles have not",
        "`pinv` `pinvh` `subspace_angles`": "singular values may be equal in them",
        "equations, factors, spectra, functions of matrices": "derivatives of the solution",
    },
    "scipy.optimize": {
        "searches, roots, fits and programs": "derivatives of the solution",
    },
    "scipy.stats": {
        "`entropy`": "a share of 0 gives all others their slopes, which are nan in SciPy's steps",
        "`power_divergence`": "in SciPy's formula for a power of 1 there is no power",
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
        "`tukey_hsd`": "p-values are computed when they are asked for",
        "`dunnett`": "p-values are integrated at random points, without a derivative",
        "`scoreatpercentile`": "on an element SciPy's does not depend on the share",
        "`rv_discrete` `poisson_binom`": "numbers are looked for in a set; one step is compiled",
        "distributions": (
            "formulas stand for some of the commonest, whose gradients are asked for most often, "
            "for those whose lines are compiled (`genhyperbolic`, `skewnorm`, `landau`), and "
            "where these lose derivatives: at ties (`logistic`, `cauchy`, `genlogistic` at 0), in "
            "limits (`genextreme`, `genpareto`, `kappa4`, `pearson3`, `genhalflogistic`), and "
            "where a support starts (`gamma`, `fisk`, `burr`, `exponweib`, `gennorm`); of the "
            "others, of discrete ones, and of all moments, fits and entropies, SciPy's own lines "
            "are differentiated"
        ),
        "distributions of vectors": (
            "SciPy's own code, but for the factor of a covariance, whose eigenvectors have no "
            "derivatives where eigenvalues are equal, and for what it writes to elements that "
            "values choose, which cannot be done in a batch"
        ),
    },
    "scipy.interpolate": {
        "values and coefficients of splines and piecewise polynomials": (
            "rules for what SciPy compiles; the classes around them are SciPy's own code, with "
            "which a gradient takes about 3 times as long as with code of ours (`CubicSpline` 1.3 "
            "ms)"
        ),
        "`make_interp_spline` `make_lsq_spline` `make_smoothing_spline` `splrep`": (
            "the derivative is that of the solution; SciPy's steps take 10 times as long"
        ),
        "`PchipInterpolator`": "its slopes: where data are flat, SciPy's steps have nan",
        "`BarycentricInterpolator` `Rbf` `RBFInterpolator` `AAA` `FloaterHormannInterpolator`": (
            "their values, for SciPy chooses where points coincide"
        ),
        "`KroghInterpolator` `lagrange`": (
            "SciPy asks whether points are exactly equal, or leaves out zeros"
        ),
    },
    "scipy.ndimage": {
        "`standard_deviation` `generic_gradient_magnitude` `distance_transform_edt`": (
            "roots that may be 0, of which the derivative is 0 there"
        ),
        "`gaussian_filter` by its deviation": "SciPy multiplies arrays of integers by handles",
        "`rotate` of more than a plane": "all planes at once, 6 times as fast",
    },
    "scipy.spatial": {
        "metrics": (
            "they are those of `cdist`; of equal points SciPy's `mahalanobis` and `jensenshannon` "
            "have nan for a derivative"
        ),
        "`yule`": "SciPy gives 0 without a slope where vectors differ in one manner alone",
        "`distance_matrix` `minkowski_distance`": "the same; and SciPy 1.18 deprecates them",
        "`geometric_slerp`": "SciPy's steps take 3.9 times as long",
        "`Rotation` `Slerp` `KDTree`": "they are compiled, or other code in each release",
        "`RotationSpline`": (
            "SciPy's own class, but for the rates that it iterates for, whose derivatives are "
            "those of the equations, and for formulas that lose digits at small angles"
        ),
    },
    "scipy.signal": {
        "`ShortTimeFFT.stft`": (
            "all segments at once; around it `welch` and `csd` are SciPy's own code, with which a "
            "gradient takes 3.2 and 4.4 times as long as with code of ours (1 and 1.3 ms)"
        ),
        "`tf2sos` `residue`": "SciPy's steps take 4 to 7 times as long",
        "`cspline1d_eval` `qspline1d_eval`": "SciPy's call themselves once for each mirror image",
        "`bilinear`": "SciPy's steps take 19 times as long",
        "`convolve` `correlate`": "SciPy's steps take up to 2.6 times as long",
    },
}


def section(module: str) -> Iterator[str]:
    """Write the lines of a module's page."""
    if module in KEPT:
        yield "## In place of SciPy's own Python\n"
        yield (
            "What is written here though SciPy has it in Python, or steps of it, as its derivative "
            "is\nbetter than that of SciPy's steps, or takes less time.\n"
        )
        yield from (f"- {names}: {why}" for names, why in KEPT[module].items())
        yield ""
