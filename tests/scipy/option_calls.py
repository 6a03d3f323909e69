"""Calls of functions of `tape_ad.scipy` that have options and no row in the table of rules.

Each takes the function, SciPy's or ours, an array or a handle, the package that the function is of,
and options.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.sparse
import scipy.stats

Array = Any
Call = Callable[..., Any]

X = np.array([0.3, 1.2, 2.0])
SQUARE = np.eye(3) * 3 + 0.5
SPARSE = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 1.0], [2.0, 0.0, 1.0]])
LINE, WAVE = np.linspace(0.0, 2.0, 8), np.sin(np.linspace(0.3, 2.0, 8))
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
GRID = np.add.outer(np.sin(LINE), LINE**2)
PLANE = np.random.default_rng(0).uniform(size=(20, 2))
HEIGHTS = PLANE[:, 0] + PLANE[:, 1] ** 2
ANGLES = tuple(np.random.default_rng(1).uniform(0.1, [[3.0], [6.0]], (2, 60)))
ROTATION = scipy.linalg.expm(np.triu(GRID[:4, :4], 1) - np.triu(GRID[:4, :4], 1).T)
TCK = scipy.interpolate.splrep(LINE, WAVE)


def known(function: Any, **options: Any) -> dict[str, Any]:
    """Leave out options that the installed release has not, which warns if it gets none."""
    return {k: v for k, v in options.items() if k in inspect.signature(function).parameters}


def rooted(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(lambda x, *a: x - t[0], -2.0, 2.0, **options)


def smallest(f: Any, t: Array, m: Any, **options: Any) -> Any:
    given = {"args": (t,), "disp": False} | options
    return f(lambda x, s: np.sum((x - s) ** 2), X, **given)


def smallest_number(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(lambda x, s: (x - s) ** 2, **{"args": (t[0],)} | options)


def solved(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(lambda x: (x - t) * 1.5, X, **options)


def of_places(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f((t, ([0, 1, 2], [1, 0, 2])), **{"shape": (3, 3)} | options).toarray()


def of_matrix(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(SPARSE * t, **options).toarray()


def of_matrices(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f([m.csr_array(SPARSE * t), m.csr_array(SPARSE)], **options).toarray()


def of_one_sparse(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(m.csr_array(SPARSE * t), **options).toarray()


def of_two_sparse(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(m.csr_array(SPARSE * t), SPARSE, **options).toarray()


def through_points(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(LINE, WAVE * t[0], **options)(0.3)


def over_corners(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(CORNERS, t, **options)([[0.2, 0.2]])


def of_samples(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(t, X + 0.1, **options)


def plain(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(**options)


def of_three(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(3, **options)


def of_sides(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(3, 1.5, **options)


def of_window(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(8, **options)


def of_table(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f([[8, 2], [1, 5]], **options)


def of_system(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(scipy.sparse.csr_array(SQUARE), t, **options)[0]


def of_filter(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(t, [1.0, 0.5], **options)


def over_plane(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(*PLANE.T, HEIGHTS, **{"kx": 1, "ky": 1} | options)


def over_curve(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(LINE, WAVE * t[0], 0.3, **options)


def of_pieces(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(t[:, None] * np.ones(1), [0.0, 1.0], **options)(0.3)


def of_line(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(LINE * t[0] + 1, **options)


def descended(f: Any, t: Array, m: Any, **options: Any) -> Any:
    given = {"fprime": lambda x, s: 2 * (x - s), "args": (t,)} | options
    return f(lambda x, s: np.sum((x - s) ** 2), X, **given)


def bounded(f: Any, t: Array, m: Any, **options: Any) -> Any:
    return f(lambda x, *a: np.sum((x - t[0]) ** 2), [(-1.0, 3.0)], **options)


def seeded(f: Any, **options: Any) -> dict[str, Any]:
    """Add a generator, by the name that this release has for it."""
    names = inspect.signature(getattr(scipy.stats, f.__name__, f)).parameters
    name = next(each for each in ("rng", "random_state", "seed") if each in names)
    return {name: np.random.default_rng(0)} | options


def fitted(f: Any, bounds: Any, **options: Any) -> Any:
    """Stand in for an optimizer that finds the middle at once."""
    return scipy.optimize.OptimizeResult(x=np.array([0.5, 0.5]), success=True, message="")


FACES: dict[str, Call] = {
    "special.lambertw": lambda f, t, m, **o: f(t, **o),
    "special.logsumexp": lambda f, t, m, **o: f(t, **o),
    "special.softmax": lambda f, t, m, **o: f(t, **o),
    "special.log_softmax": lambda f, t, m, **o: f(t, **o),
    "linalg.cho_solve": lambda f, t, m, **o: f((np.linalg.cholesky(SQUARE), True), t, **o),
    "linalg.lu_solve": lambda f, t, m, **o: f((SQUARE, np.arange(3)), t, **o),
    "linalg.solve_toeplitz": lambda f, t, m, **o: f(X + 5, t, **o),
    **dict.fromkeys(("sparse.coo_array", "sparse.csr_array", "sparse.bsr_matrix"), of_places),
    **dict.fromkeys(("sparse.dia_array", "sparse.lil_matrix", "sparse.dok_array"), of_matrix),
    **dict.fromkeys(("sparse.hstack", "sparse.vstack", "sparse.block_diag"), of_matrices),
    **dict.fromkeys(("sparse.tril", "sparse.triu"), of_one_sparse),
    **dict.fromkeys(("sparse.kron", "sparse.kronsum"), of_two_sparse),
    "sparse.diags": lambda f, t, m, **o: f([t], **{"offsets": [0]} | o).toarray(),
    "sparse.linalg.expm_multiply": lambda f, t, m, **o: f(scipy.sparse.csr_array(SPARSE), t, **o),
    "sparse.linalg.spsolve": lambda f, t, m, **o: f(scipy.sparse.csc_array(SQUARE), t, **o),
    "sparse.linalg.spsolve_triangular": lambda f, t, m, **o: f(
        scipy.sparse.csr_array(np.tril(SQUARE)), t, **o
    ),
    **dict.fromkeys(("stats.kruskal", "stats.mannwhitneyu", "stats.ranksums"), of_samples),
    **dict.fromkeys(("stats.kendalltau", "stats.spearmanr", "stats.brunnermunzel"), of_samples),
    "stats.rankdata": lambda f, t, m, **o: f(t, **o),
    "interpolate.make_interp_spline": through_points,
    "interpolate.make_splrep": through_points,
    "interpolate.make_lsq_spline": lambda f, t, m, **o: f(
        LINE, WAVE * t[0], [0, 0, 0, 0, 1, 2, 2, 2, 2], **o
    )(0.3),
    "interpolate.LinearNDInterpolator": over_corners,
    "interpolate.CloughTocher2DInterpolator": over_corners,
    "interpolate.NearestNDInterpolator": over_corners,
    "integrate.quad": lambda f, t, m, **o: f(lambda x, *a: x * t[0], 0.0, 1.0, **o),
    **dict.fromkeys(("optimize.bisect", "optimize.brentq", "optimize.toms748"), rooted),
    **dict.fromkeys(("optimize.brenth", "optimize.ridder"), rooted),
    "optimize.newton": lambda f, t, m, **o: f(lambda x, *a: x - t[0], 1.0, **o),
    **dict.fromkeys(("optimize.brent", "optimize.golden"), smallest_number),
    **dict.fromkeys(("optimize.fmin", "optimize.fmin_bfgs", "optimize.fmin_cg"), smallest),
    "optimize.fsolve": lambda f, t, m, **o: f(lambda x, s: x - s, X, **{"args": (t,)} | o),
    **dict.fromkeys(("optimize.anderson", "optimize.broyden1", "optimize.newton_krylov"), solved),
    "optimize.approx_fprime": lambda f, t, m, **o: f(t, lambda x: np.sum(x**2), **o),
    "optimize.linear_sum_assignment": lambda f, t, m, **o: f(SPARSE * t, **o),
    "optimize.milp": lambda f, t, m, **o: f(t, **{"bounds": scipy.optimize.Bounds(0, 1)} | o),
    "spatial.geometric_slerp": lambda f, t, m, **o: f(
        np.array([1.0, 0.0]), np.array([0.0, 1.0]), t / 3, **o
    ),
    "special.assoc_laguerre": lambda f, t, m, **o: f(t, 2, **o),
    **dict.fromkeys(
        (
            "special.c_roots",
            "special.chebyc",
            "special.chebys",
            "special.chebyt",
            "special.chebyu",
            "special.h_roots",
            "special.he_roots",
            "special.hermite",
            "special.hermitenorm",
            "special.l_roots",
            "special.laguerre",
            "special.legendre",
            "special.p_roots",
            "special.ps_roots",
            "special.roots_chebyc",
            "special.roots_chebys",
            "special.roots_chebyt",
            "special.roots_chebyu",
            "special.roots_hermite",
            "special.roots_hermitenorm",
            "special.roots_laguerre",
            "special.roots_legendre",
            "special.roots_sh_chebyt",
            "special.roots_sh_chebyu",
            "special.roots_sh_legendre",
            "special.s_roots",
            "special.sh_chebyt",
            "special.sh_chebyu",
            "special.sh_legendre",
            "special.t_roots",
            "special.ts_roots",
            "special.u_roots",
            "special.us_roots",
            "special.factorial2",
            "special.y0_zeros",
            "special.y1_zeros",
            "special.y1p_zeros",
        ),
        of_three,
    ),
    **dict.fromkeys(("special.gegenbauer", "special.genlaguerre"), of_sides),
    **dict.fromkeys(
        ("special.jacobi", "special.sh_jacobi"), lambda f, t, m, **o: f(3, 1.5, 1.2, **o)
    ),
    "special.factorialk": lambda f, t, m, **o: f(5, 2, **o),
    "special.stirling2": lambda f, t, m, **o: f(5, 2, **o),
    "linalg.cho_solve_banded": lambda f, t, m, **o: f(
        (np.array([[2.0, 2, 2], [0.5, 0.5, 0]]), True), t, **o
    ),
    "linalg.clarkson_woodruff_transform": lambda f, t, m, **o: f(SQUARE, 2, **seeded(f, **o)),
    "linalg.cossin": lambda f, t, m, **o: f(ROTATION, **{"p": 2, "q": 2} | o),
    **dict.fromkeys(
        ("linalg.dft", "linalg.helmert", "linalg.invhilbert", "linalg.invpascal", "linalg.pascal"),
        of_three,
    ),
    "linalg.hadamard": lambda f, t, m, **o: f(4, **o),
    "linalg.find_best_blas_type": lambda f, t, m, **o: (
        f((X,), **o) if "arrays" not in o else f(**o)
    ),
    "linalg.get_blas_funcs": lambda f, t, m, **o: f(("gemm",), **o),
    "linalg.get_lapack_funcs": lambda f, t, m, **o: f(("getrf",), **o),
    "linalg.ishermitian": lambda f, t, m, **o: f(SQUARE, **o),
    "linalg.issymmetric": lambda f, t, m, **o: f(SQUARE, **o),
    "linalg.schur": lambda f, t, m, **o: f(SPARSE, **o),
    "linalg.qz": lambda f, t, m, **o: f(SPARSE, SQUARE, **o),
    "linalg.ordqz": lambda f, t, m, **o: f(SPARSE, SQUARE, **o),
    **dict.fromkeys(
        ("sparse.coo_matrix", "sparse.csc_array", "sparse.csc_matrix", "sparse.csr_matrix"),
        of_places,
    ),
    **dict.fromkeys(
        ("sparse.bsr_array", "sparse.dia_matrix", "sparse.dok_matrix", "sparse.lil_array"),
        of_matrix,
    ),
    "sparse.block_array": lambda f, t, m, **o: f([[m.csr_array(SPARSE * t), None]], **o).toarray(),
    "sparse.bmat": lambda f, t, m, **o: f([[m.csr_array(SPARSE * t), None]], **o).toarray(),
    "sparse.diags_array": lambda f, t, m, **o: f([t], **{"offsets": [0]} | o).toarray(),
    "sparse.spdiags": lambda f, t, m, **o: f(t[None], [0], **{"m": 3, "n": 3} | o).toarray(),
    **dict.fromkeys(
        (
            "sparse.linalg.bicg",
            "sparse.linalg.bicgstab",
            "sparse.linalg.cg",
            "sparse.linalg.cgs",
            "sparse.linalg.gcrotmk",
            "sparse.linalg.gmres",
            "sparse.linalg.lgmres",
            "sparse.linalg.minres",
            "sparse.linalg.qmr",
            "sparse.linalg.tfqmr",
        ),
        of_system,
    ),
    "sparse.linalg.LaplacianNd": lambda f, t, m, **o: f((3,), **o).toarray(),
    "sparse.linalg.funm_multiply_krylov": lambda f, t, m, **o: f(
        scipy.linalg.expm, scipy.sparse.csr_array(SQUARE), t, **o
    ),
    "sparse.linalg.norm": lambda f, t, m, **o: f(scipy.sparse.csr_array(SPARSE), **o),
    "sparse.linalg.onenormest": lambda f, t, m, **o: f(SQUARE, **o),
    "sparse.linalg.splu": lambda f, t, m, **o: f(scipy.sparse.csc_array(SQUARE), **o).solve(X),
    "sparse.linalg.spilu": lambda f, t, m, **o: f(scipy.sparse.csc_array(SQUARE), **o).solve(X),
    "stats.CensoredData": lambda f, t, m, **o: f(X, **o),
    "stats.Logistic": plain,
    "stats.Normal": lambda f, t, m, **o: f(**{"mu": 0.0, "sigma": t[0]} | o).pdf(1.0),
    "stats.Uniform": lambda f, t, m, **o: f(**{"a": 0.0, "b": t[0]} | o).pdf(0.1),
    "stats.Mixture": lambda f, t, m, **o: f(
        [m.Normal(mu=0.0, sigma=t[0]), m.Normal(mu=1.0, sigma=1.0)], **o
    ).pdf(0.1),
    "stats.truncate": lambda f, t, m, **o: f(m.Normal(mu=0.0, sigma=1.0), **o).pdf(0.1),
    "stats.anderson": lambda f, t, m, **o: (
        f(LINE * t[0], **known(scipy.stats.anderson, method="interpolate") | o).statistic
    ),
    "stats.anderson_ksamp": lambda f, t, m, **o: (
        f([LINE * t[0], WAVE], **known(scipy.stats.anderson_ksamp, variant="midrank") | o).statistic
    ),
    **dict.fromkeys(
        (
            "stats.ansari",
            "stats.bws_test",
            "stats.chatterjeexi",
            "stats.cramervonmises_2samp",
            "stats.ks_2samp",
            "stats.mood",
            "stats.somersd",
            "stats.spearmanrho",
            "stats.weightedtau",
            "stats.wilcoxon",
            "stats.logrank",
        ),
        of_samples,
    ),
    **dict.fromkeys(
        ("stats.barnard_exact", "stats.boschloo_exact", "stats.fisher_exact"), of_table
    ),
    "stats.bayes_mvs": lambda f, t, m, **o: f(t, **o)[0].statistic,
    "stats.binomtest": lambda f, t, m, **o: f(3, 10, **o).pvalue,
    "stats.bootstrap": lambda f, t, m, **o: (
        f(
            (t,), np.mean, **seeded(f, **{"n_resamples": 9, "method": "percentile"} | o)
        ).confidence_interval
    ),
    "stats.boxcox_normmax": of_line,
    "stats.boxcox_normplot": lambda f, t, m, **o: f(LINE + 1, 0.0, 1.0, **o),
    "stats.yeojohnson_normmax": of_line,
    "stats.yeojohnson_normplot": lambda f, t, m, **o: f(LINE + 1, 0.0, 1.0, **o),
    "stats.dirichlet": lambda f, t, m, **o: f(t, **o).pdf([0.2, 0.3, 0.5]),
    "stats.dirichlet_multinomial": lambda f, t, m, **o: f(t, 3, **o).pmf([1, 1, 1]),
    "stats.multinomial": lambda f, t, m, **o: f(3, [0.2, 0.3, 0.5], **o).pmf([1, 1, 1]),
    "stats.multivariate_normal": lambda f, t, m, **o: f(**{"mean": t} | o).pdf(X),
    "stats.multivariate_t": lambda f, t, m, **o: f(**{"loc": t} | o).pdf(X),
    "stats.matrix_normal": lambda f, t, m, **o: f(
        **{"mean": SQUARE * t, "rowcov": np.eye(3), "colcov": np.eye(3)} | o
    ).pdf(SPARSE),
    "stats.matrix_t": lambda f, t, m, **o: f(
        **{"mean": SQUARE * t, "row_spread": np.eye(3), "col_spread": np.eye(3), "df": 4} | o
    ).pdf(SPARSE),
    "stats.normal_inverse_gamma": lambda f, t, m, **o: f(**{"mu": t[0]} | o).pdf(0.3, 1.2),
    "stats.vonmises_fisher": lambda f, t, m, **o: f(
        **{"mu": [1.0, 0.0, 0.0], "kappa": t[0]} | o
    ).pdf([0.0, 1.0, 0.0]),
    "stats.wishart": lambda f, t, m, **o: f(**{"df": 4, "scale": SQUARE * t[0]} | o).pdf(SQUARE),
    "stats.invwishart": lambda f, t, m, **o: f(**{"df": 4, "scale": SQUARE * t[0]} | o).pdf(SQUARE),
    "stats.dunnett": lambda f, t, m, **o: f(t, control=X + 1.0, **seeded(f, **o)).statistic,
    "stats.fit": lambda f, t, m, **o: f(
        m.norm,
        LINE * t[0],
        **{"bounds": {"loc": (0.0, 1.0), "scale": (0.1, 2.0)}, "optimizer": fitted} | o,
    ),
    "stats.fligner": of_samples,
    "stats.friedmanchisquare": lambda f, t, m, **o: f(t, X + 0.1, X[::-1] ** 2, **o),
    "stats.tukey_hsd": of_samples,
    "stats.gaussian_kde": lambda f, t, m, **o: f(t, **o)(0.4),
    "stats.goodness_of_fit": lambda f, t, m, **o: (
        f(m.norm, t, **seeded(f, **{"n_mc_samples": 9} | o)).statistic
    ),
    "stats.mode": lambda f, t, m, **o: f(t, **o),
    "stats.monte_carlo_test": lambda f, t, m, **o: (
        f(t, np.random.default_rng(0).normal, np.mean, **{"n_resamples": 9} | o).statistic
    ),
    "stats.multiscale_graphcorr": lambda f, t, m, **o: (
        f(LINE[:, None], WAVE[:, None], **seeded(f, **{"reps": 2} | o)).statistic
    ),
    "stats.page_trend_test": lambda f, t, m, **o: f(SPARSE * t, **o).statistic,
    "stats.percentileofscore": lambda f, t, m, **o: f(X, 1.0, **o),
    "stats.permutation_test": lambda f, t, m, **o: (
        f(
            (t, X + 0.3),
            lambda a, b, axis=-1: np.mean(a, axis=axis) - np.mean(b, axis=axis),
            **seeded(f, **{"n_resamples": 9} | o),
        ).statistic
    ),
    "stats.poisson_means_test": lambda f, t, m, **o: f(3, 10.0, 5, 12.0, **o).statistic,
    "stats.ppcc_max": lambda f, t, m, **o: f(LINE * t[0], **o),
    "stats.ppcc_plot": lambda f, t, m, **o: f(LINE, 0.0, 1.0, **o),
    "stats.probplot": lambda f, t, m, **o: f(t, **o),
    "stats.quantile_test": lambda f, t, m, **o: f(X, **o).statistic,
    "stats.rv_continuous": plain,
    "stats.rv_discrete": plain,
    "stats.rv_histogram": lambda f, t, m, **o: f(
        (np.array([1, 2, 1]), np.array([0.0, 1.0, 2.0, 3.0])), **o
    ).pdf(0.3),
    "stats.sobol_indices": lambda f, t, m, **o: (
        f(
            func=lambda x: x[0] + x[1] ** 2 * 1.0,
            n=4,
            **seeded(f, **{"dists": [scipy.stats.uniform()] * 2} | o),
        ).first_order
    ),
    "signal.CZT": lambda f, t, m, **o: f(3, **o)(t),
    "signal.ZoomFFT": lambda f, t, m, **o: f(3, [0.1, 0.2], **o)(t),
    "signal.ShortTimeFFT": lambda f, t, m, **o: f(np.hanning(4) + 0.1, 2, 1.0, **o).stft(WAVE),
    "signal.besselap": of_three,
    "signal.buttap": of_three,
    "signal.cheb1ap": of_sides,
    "signal.cheb2ap": of_sides,
    "signal.ellipap": lambda f, t, m, **o: f(3, 1.0, 20.0, **o),
    "signal.correlation_lags": lambda f, t, m, **o: f(3, 4, **o),
    **dict.fromkeys(("signal.lp2bp", "signal.lp2bs", "signal.lp2hp", "signal.lp2lp"), of_filter),
    "signal.max_len_seq": of_three,
    "signal.unit_impulse": of_three,
    "signal.remez": lambda f, t, m, **o: f(5, [0.0, 0.1, 0.2, 0.5], [1.0, 0.0], **o),
    "ndimage.find_objects": lambda f, t, m, **o: f(np.array([[0, 1], [2, 1]]), **o),
    "ndimage.iterate_structure": lambda f, t, m, **o: f(np.ones((3, 3), bool), 2, **o),
    "ndimage.sum": lambda f, t, m, **o: f(t, **{"labels": np.array([1, 1, 2])} | o),
    "ndimage.value_indices": lambda f, t, m, **o: f(np.array([[0, 1], [2, 1]]), **o),
    "ndimage.vectorized_filter": lambda f, t, m, **o: f(t, np.mean, **{"size": 3} | o),
    "ndimage.watershed_ift": lambda f, t, m, **o: f(
        np.ones((3, 3), np.uint8), np.eye(3, dtype=int), **o
    ),
    **dict.fromkeys(
        (
            "interpolate.Akima1DInterpolator",
            "interpolate.CubicSpline",
            "interpolate.FloaterHormannInterpolator",
            "interpolate.InterpolatedUnivariateSpline",
            "interpolate.KroghInterpolator",
            "interpolate.PchipInterpolator",
            "interpolate.UnivariateSpline",
            "interpolate.interp1d",
        ),
        through_points,
    ),
    "interpolate.BarycentricInterpolator": lambda f, t, m, **o: f(LINE, **{"yi": WAVE * t[0]} | o)(
        0.3
    ),
    "interpolate.BPoly": of_pieces,
    "interpolate.PPoly": of_pieces,
    "interpolate.NdPPoly": lambda f, t, m, **o: f(X[:, None], ([0.0, 1.0],), **o)([[0.3]]),
    "interpolate.BSpline": lambda f, t, m, **o: f(np.arange(8.0), WAVE[:4] * t[0], 3, **o)(3.2),
    "interpolate.NdBSpline": lambda f, t, m, **o: f((np.arange(8.0),), WAVE[:4], 3, **o)([[3.2]]),
    "interpolate.CubicHermiteSpline": lambda f, t, m, **o: f(LINE, WAVE * t[0], WAVE, **o)(0.3),
    "interpolate.LSQUnivariateSpline": lambda f, t, m, **o: f(LINE, WAVE * t[0], [0.7, 1.3], **o)(
        0.3
    ),
    "interpolate.LSQBivariateSpline": lambda f, t, m, **o: f(
        *PLANE.T, HEIGHTS * t[0], [0.5], [0.5], **{"kx": 1, "ky": 1} | o
    )(0.3, 0.4),
    "interpolate.SmoothBivariateSpline": over_plane,
    "interpolate.LSQSphereBivariateSpline": lambda f, t, m, **o: f(
        *ANGLES, np.cos(ANGLES[0]) * t[0], [1.5], [2.0, 4.0], **o
    )(0.3, 0.4),
    "interpolate.SmoothSphereBivariateSpline": lambda f, t, m, **o: f(
        *ANGLES, np.cos(ANGLES[0]), **{"s": 10.0} | o
    )(0.3, 0.4),
    "interpolate.RBFInterpolator": lambda f, t, m, **o: f(PLANE, HEIGHTS * t[0], **o)([[0.3, 0.4]]),
    "interpolate.RectBivariateSpline": lambda f, t, m, **o: f(LINE, LINE, GRID * t[0], **o)(
        0.3, 0.4
    ),
    "interpolate.RectSphereBivariateSpline": lambda f, t, m, **o: f(
        LINE[1:], LINE[1:], GRID[1:, 1:] * t[0], **o
    )(0.3, 0.4),
    "interpolate.RegularGridInterpolator": lambda f, t, m, **o: f((LINE, LINE), GRID * t[0], **o)(
        [[0.3, 0.4]]
    ),
    "interpolate.approximate_taylor_polynomial": lambda f, t, m, **o: f(np.sin, 0.0, 3, 1.0, **o),
    "interpolate.barycentric_interpolate": over_curve,
    "interpolate.krogh_interpolate": over_curve,
    "interpolate.pchip_interpolate": over_curve,
    "interpolate.bisplrep": over_plane,
    "interpolate.bisplev": lambda f, t, m, **o: f(
        0.3, 0.4, scipy.interpolate.bisplrep(*PLANE.T, HEIGHTS, kx=1, ky=1), **o
    ),
    "interpolate.generate_knots": lambda f, t, m, **o: list(f(LINE, WAVE, **{"s": 0.1} | o)),
    "interpolate.griddata": lambda f, t, m, **o: f(CORNERS, t, [[0.2, 0.2]], **o),
    "interpolate.insert": lambda f, t, m, **o: f(t[0], TCK, **o)[1],
    "interpolate.AAA": lambda f, t, m, **o: f(LINE, WAVE, **o)(0.3),
    "interpolate.make_smoothing_spline": lambda f, t, m, **o: f(
        LINE, WAVE * t[0], **{"lam": 0.1} | o
    )(0.3),
    "interpolate.interpn": lambda f, t, m, **o: f((LINE, LINE), GRID * t[0], [[0.3, 0.4]], **o),
    "interpolate.make_splprep": lambda f, t, m, **o: f([LINE * t[0], WAVE], **o)[0](0.3),
    "interpolate.pade": lambda f, t, m, **o: f(t, 1, **o)[0](0.3),
    "interpolate.splantider": lambda f, t, m, **o: f(TCK, **o)[1],
    "interpolate.splder": lambda f, t, m, **o: f(TCK, **o)[1],
    "interpolate.splev": lambda f, t, m, **o: f(t, TCK, **o),
    "interpolate.splint": lambda f, t, m, **o: f(0.0, t[0], TCK, **o),
    "interpolate.splprep": lambda f, t, m, **o: f([LINE * t[0], WAVE], **{"s": 0} | o)[0][1],
    "interpolate.splrep": lambda f, t, m, **o: f(LINE, WAVE * t[0], **o)[1],
    "interpolate.sproot": lambda f, t, m, **o: f(TCK, **o),
    "integrate.OdeSolution": lambda f, t, m, **o: f([0.0, 1.0], [lambda s: s], **o),
    "integrate.OdeSolver": lambda f, t, m, **o: f(lambda s, y: -y, 0.0, X, 1.0, False, **o),
    "integrate.fixed_quad": lambda f, t, m, **o: f(lambda x, *a: x * t[0], 0.0, 1.0, **o)[0],
    "integrate.newton_cotes": of_three,
    "integrate.nquad": lambda f, t, m, **o: f(
        lambda x, y, *a: x * y * t[0], [(0.0, 1.0), (0.0, 1.0)], **o
    )[0],
    "integrate.qmc_quad": lambda f, t, m, **o: f(
        lambda x: np.sum(x, axis=0) * t[0], [0.0, 0.0], [1.0, 1.0], **{"n_points": 4} | o
    )[0],
    "integrate.solve_bvp": lambda f, t, m, **o: (
        f(
            lambda x, y: np.stack([y[1], -y[0]]),
            lambda a, b: np.stack([a[0] - t[0], b[0]]),
            LINE,
            np.ones((2, 8)),
            **o,
        ).y
    ),
    "integrate.tanhsinh": lambda f, t, m, **o: f(lambda x, *a: x * t[0], 0.0, 1.0, **o).integral,
    "integrate.tplquad": lambda f, t, m, **o: f(
        lambda z, y, x, *a: x * y * z * t[0], 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, **o
    )[0],
    **dict.fromkeys(
        (
            "optimize.BFGS",
            "optimize.SR1",
            "optimize.BroydenFirst",
            "optimize.KrylovJacobian",
            "optimize.Bounds",
        ),
        plain,
    ),
    "optimize.LinearConstraint": lambda f, t, m, **o: f(SQUARE, **o),
    "optimize.NonlinearConstraint": lambda f, t, m, **o: f(np.sum, 0.0, 1.0, **o),
    "optimize.basinhopping": lambda f, t, m, **o: (
        f(lambda x: np.sum((x - t) ** 2), X, **seeded(f, **{"niter": 2} | o)).x
    ),
    "optimize.bracket": lambda f, t, m, **o: f(lambda x, *a: (x - t[0]) ** 2, **o),
    **dict.fromkeys(
        (
            "optimize.broyden2",
            "optimize.diagbroyden",
            "optimize.excitingmixing",
            "optimize.linearmixing",
        ),
        solved,
    ),
    "optimize.brute": lambda f, t, m, **o: f(
        lambda x, *a: np.sum((x - t[0]) ** 2), [(0.0, 1.0)], **{"finish": None} | o
    ),
    "optimize.check_grad": lambda f, t, m, **o: f(lambda x: np.sum(x**2), lambda x: 2 * x, X, **o),
    **dict.fromkeys(
        (
            "optimize.differential_evolution",
            "optimize.direct",
            "optimize.dual_annealing",
            "optimize.shgo",
        ),
        bounded,
    ),
    "optimize.fmin_l_bfgs_b": descended,
    "optimize.fmin_tnc": descended,
    "optimize.fmin_ncg": lambda f, t, m, **o: f(
        lambda x, s: np.sum((x - s) ** 2),
        X,
        lambda x, s: 2 * (x - s),
        **{"args": (t,), "disp": False} | o,
    ),
    "optimize.fmin_powell": smallest,
    "optimize.fminbound": lambda f, t, m, **o: f(lambda x, *a: (x - t[0]) ** 2, 0.0, 1.0, **o),
    "optimize.line_search": lambda f, t, m, **o: f(
        lambda x, *a: np.sum(x**2), lambda x, *a: 2 * x, X, -X, **o
    ),
    "optimize.nnls": lambda f, t, m, **o: f(SQUARE, t, **o),
    "optimize.quadratic_assignment": lambda f, t, m, **o: f(SQUARE, SPARSE, **o),
    "spatial.KDTree": lambda f, t, m, **o: f(PLANE, **o).query(t[:2])[0],
    "spatial.distance.is_valid_y": lambda f, t, m, **o: f(X, **o),
    "spatial.transform.Rotation": lambda f, t, m, **o: f(
        np.array([0.1, 0.2, 0.3, 0.9]) * t[0], **o
    ).as_matrix(),
    "spatial.transform.RigidTransform": lambda f, t, m, **o: f(
        np.eye(4) * np.append(np.ones(3), 1.0), **o
    ).as_matrix(),
    **dict.fromkeys(
        (
            "signal.windows.barthann",
            "signal.windows.bartlett",
            "signal.windows.blackman",
            "signal.windows.blackmanharris",
            "signal.windows.bohman",
            "signal.windows.boxcar",
            "signal.windows.cosine",
            "signal.windows.flattop",
            "signal.windows.hamming",
            "signal.windows.hann",
            "signal.windows.lanczos",
            "signal.windows.nuttall",
            "signal.windows.parzen",
            "signal.windows.triang",
        ),
        of_window,
    ),
    "signal.windows.dpss": lambda f, t, m, **o: f(8, 2.5, **o),
    "signal.windows.get_window": lambda f, t, m, **o: f(("gaussian", t[0]), 8, **o),
    "optimize.elementwise.find_root": lambda f, t, m, **o: (
        f(lambda x, s: x - s, (-1.0, 3.0), **{"args": (t,)} | o).x
    ),
    "optimize.elementwise.find_minimum": lambda f, t, m, **o: (
        f(lambda x, s: (x - s) ** 2, (-1.0, 0.5, 5.0), **{"args": (t,)} | o).x
    ),
    "optimize.elementwise.bracket_root": lambda f, t, m, **o: (
        f(lambda x, s: x - s, -1.0, **{"xr0": 0.1, "args": (t,)} | o).bracket
    ),
    "optimize.elementwise.bracket_minimum": lambda f, t, m, **o: (
        f(lambda x, s: (x - s) ** 2, 0.2, **{"args": (t,)} | o).bracket
    ),
}
