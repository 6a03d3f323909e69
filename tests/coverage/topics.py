"""Which topic of NumPy's reference a function stands under, in the order of the reference."""

from collections.abc import Mapping, Sequence

__all__ = ["HANDLES", "INNER", "METHODS", "NEWER", "OTHERS", "OURS", "PAGES", "SPOKEN", "TOPICS"]

INNER = "Functions that others are made of"
"""Which users do not call, so no page lists them."""

METHODS = "Methods of ufuncs"
HANDLES = "Handles"
OTHERS = "Further functions of NumPy"

# The functions of `numpy` itself; those of its submodules are sorted by their module.
TOPICS: Mapping[str, str] = {
    "Array creation": """
        zeros_like ones_like empty_like full_like copy diag diagflat tri tril triu vander
        linspace logspace geomspace meshgrid
    """,
    "Array manipulation": """
        astype shape ndim size reshape ravel moveaxis rollaxis swapaxes transpose permute_dims
        matrix_transpose atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to expand_dims
        squeeze copyto concatenate stack block vstack hstack dstack column_stack split array_split
        dsplit hsplit vsplit unstack tile repeat delete insert append resize trim_zeros flip fliplr
        flipud roll rot90 pad
    """,
    "Binary operations": """
        bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count packbits
        unpackbits
    """,
    "Data types and memory": """
        can_cast min_scalar_type result_type common_type shares_memory may_share_memory
    """,
    "Functional programming": "apply_along_axis apply_over_axes piecewise",
    "Indexing": """
        ix_ nonzero where indices diag_indices_from tril_indices_from triu_indices_from
        ravel_multi_index unravel_index take take_along_axis choose compress select diagonal place
        put put_along_axis putmask fill_diagonal
    """,
    "Input and output": "array2string array_repr array_str",
    "Linear algebra": """
        dot vdot vecdot inner outer matmul matvec vecmat tensordot einsum einsum_path kron trace
        cross
    """,
    "Logic": """
        all any isfinite isinf isnan isneginf isposinf iscomplex iscomplexobj isreal isrealobj
        isscalar logical_and logical_or logical_not logical_xor allclose isclose array_equal
        array_equiv greater greater_equal less less_equal equal not_equal
    """,
    "Mathematical functions": """
        sin cos tan arcsin arccos arctan hypot arctan2 degrees radians unwrap deg2rad rad2deg sinh
        cosh tanh arcsinh arccosh arctanh round around rint fix floor ceil trunc prod sum nanprod
        nansum cumulative_sum cumulative_prod cumprod cumsum nancumprod nancumsum diff ediff1d
        gradient trapezoid exp expm1 exp2 log log10 log2 log1p logaddexp logaddexp2 i0 sinc signbit
        copysign frexp ldexp nextafter spacing lcm gcd add reciprocal positive negative multiply
        divide power subtract float_power fmod mod modf remainder divmod floor_divide angle real
        imag conj conjugate maximum max amax fmax nanmax minimum min amin fmin nanmin convolve clip
        sqrt cbrt square absolute fabs sign heaviside nan_to_num real_if_close interp
    """,
    "Polynomials": "polyval polyadd polysub polymul polydiv polyder polyint polyfit poly roots",
    "Sets": """
        unique unique_all unique_counts unique_inverse unique_values union1d intersect1d setdiff1d
        setxor1d isin
    """,
    "Sorting, searching and counting": """
        sort lexsort argsort sort_complex partition argpartition argmax nanargmax argmin nanargmin
        argwhere flatnonzero searchsorted extract count_nonzero
    """,
    "Statistics": """
        ptp percentile nanpercentile quantile nanquantile median average mean std var nanmedian
        nanmean nanstd nanvar corrcoef correlate cov histogram histogram2d histogramdd bincount
        histogram_bin_edges digitize
    """,
}

# The release that a function came with, where it is later than the oldest one that is promised.
NEWER: Mapping[str, str] = {
    "np.cumulative_sum": "NumPy 2.1",
    "np.cumulative_prod": "NumPy 2.1",
    "np.unstack": "NumPy 2.1",
    "np.matvec": "NumPy 2.2",
    "np.vecmat": "NumPy 2.2",
    "tape_ad.scipy.interpolate.AAA": "SciPy 1.15",
    "tape_ad.scipy.interpolate.FloaterHormannInterpolator": "SciPy 1.15",
    "tape_ad.scipy.interpolate.make_splprep": "SciPy 1.15",
    "tape_ad.scipy.interpolate.make_splrep": "SciPy 1.15",
    "tape_ad.scipy.signal.firwin_2d": "SciPy 1.17",
    "tape_ad.scipy.signal.freqz_sos": "SciPy 1.15",
    "tape_ad.scipy.special.softplus": "SciPy 1.15",
    "tape_ad.scipy.stats.quantile": "SciPy 1.15",
    **{
        f"tape_ad.scipy.special.{name}{every}": "SciPy 1.15"
        for name in ("legendre_p", "assoc_legendre_p", "sph_legendre_p", "sph_harm_y")
        for every in ("", "_all")
    },
    "chatterjeexi": "SciPy 1.15",
    **{
        f"tape_ad.scipy.stats.{name}": "SciPy 1.15"
        for name in ("chatterjeexi", "make_distribution", "Mixture", "Normal", "Uniform")
    },
    **{
        f"tape_ad.scipy.stats.{name}": "SciPy 1.17"
        for name in ("Binomial", "Logistic", "spearmanrho")
    },
    "tape_ad.scipy.stats.lmoment": "SciPy 1.15",
    "tape_ad.scipy.stats.landau": "SciPy 1.15",
    "tape_ad.scipy.stats.poisson_binom": "SciPy 1.15",
    "tape_ad.scipy.stats.dpareto_lognorm": "SciPy 1.15",
    "tape_ad.scipy.stats.normal_inverse_gamma": "SciPy 1.15",
    "tape_ad.scipy.stats.matrix_t": "SciPy 1.17",
    "spearmanrho": "SciPy 1.17",
    "matrix_t_logpdf": "SciPy 1.17",
    "normal_inverse_gamma_logpdf": "SciPy 1.15",
    "normal_inverse_gamma_mean": "SciPy 1.15",
    "normal_inverse_gamma_var": "SciPy 1.15",
}

# What users write for a function that has no public name of its own.
SPOKEN: Mapping[str, str] = {
    "_operator.getitem": "t[key]",
    "tape_ad.rules.numpy.updates.updated": "t[key] = value",
    "tape_ad.rules.numpy.updates.viewed": "t[key] = value (seen by a view)",
    "tape_ad.rules.sparse_products.sparse_matmul": "sparse @ t",
    "tape_ad.rules.sparse_products.matmul_sparse": "t @ sparse",
    "tape_ad.rules.nn.cross_entropies.cross_entropy": "tape_ad.nn.cross_entropy",
    "tape_ad.scipy.linalg.systems.cholesky_solve": "tape_ad.scipy.linalg.cho_solve",
    "tape_ad.scipy.linalg.systems.factors_solved": "tape_ad.scipy.linalg.lu_solve",
    "tape_ad.scipy.special.gamma_functions.polygamma": "tape_ad.scipy.special.polygamma",
    "tape_ad.scipy.special.gamma_functions.multigammaln": "tape_ad.scipy.special.multigammaln",
    "tape_ad.scipy.special.gamma_functions.comb": "tape_ad.scipy.special.comb",
    "tape_ad.scipy.special.elementary.log_sum_exp": "tape_ad.scipy.special.logsumexp",
    "tape_ad.scipy.special.elementary.log_abs_sum_exp": (
        "tape_ad.scipy.special.logsumexp (return_sign=True)"
    ),
    "numpy._lambertw": "scipy.special.lambertw",
    "numpy._zeta": "scipy.special.zeta",
    "numpy._riemann_zeta": "scipy.special.zeta (of one argument)",
    "numpy.clip": "np.clip (its ufunc)",
}

# The topics of functions that are not in `numpy` itself, by how their names begin.
OURS: Mapping[str, str] = {
    "np.linalg.": "numpy.linalg",
    "np.fft.": "numpy.fft",
    "np.emath.": "numpy.emath",
    "np.lib.": "numpy.lib",
    "scipy.special.": "scipy.special",
    "tape_ad.scipy.special.": "scipy.special functions that SciPy writes in Python",
    "tape_ad.scipy.linalg.": "scipy.linalg",
    "tape_ad.scipy.fft.": "scipy.fft",
    "tape_ad.scipy.integrate.": "scipy.integrate",
    "tape_ad.scipy.interpolate.": "scipy.interpolate",
    "tape_ad.scipy.ndimage.": "scipy.ndimage",
    "tape_ad.scipy.optimize.": "scipy.optimize",
    "tape_ad.scipy.signal.": "scipy.signal",
    "tape_ad.scipy.spatial.": "scipy.spatial",
    "tape_ad.scipy.stats.": "scipy.stats",
    "tape_ad.nn.": "tape_ad.nn",
}

# Where those are to be found by the names that users write.
PACKAGES: Sequence[str] = (
    *(
        "scipy.special",
        "tape_ad.scipy.special",
        "tape_ad.scipy.linalg",
        "tape_ad.scipy.fft",
        "tape_ad.scipy.integrate",
    ),
    *(
        "tape_ad.scipy.interpolate",
        "tape_ad.scipy.ndimage",
        "tape_ad.scipy.optimize",
        "tape_ad.scipy.signal",
    ),
    *("tape_ad.scipy.spatial", "tape_ad.scipy.spatial.distance", "tape_ad.scipy.spatial.transform"),
    *("tape_ad.scipy.stats", "tape_ad.nn"),
)

# The pages, each with its title, its topics, and the modules whose calls are counted on it.
PAGES: Mapping[str, tuple[str, Sequence[str], Sequence[str]]] = {
    "numpy-arrays": (
        "NumPy: arrays",
        ("Array creation", "Array manipulation", "Indexing", "Functional programming"),
        (),
    ),
    "numpy-sorting-and-logic": (
        "NumPy: sorting and logic",
        (
            *("Sorting, searching and counting", "Sets", "Logic", "Binary operations"),
            *("Data types and memory", "Input and output"),
        ),
        (),
    ),
    "numpy-mathematics": (
        "NumPy: mathematics",
        ("Mathematical functions", "Statistics", "Polynomials", OTHERS),
        (),
    ),
    "numpy-linear-algebra": (
        "NumPy: linear algebra and transforms",
        (
            *("Linear algebra", "numpy.linalg", "numpy.fft", "numpy.emath", "numpy.lib"),
            METHODS,
        ),
        (),
    ),
    **{
        f"scipy-{name}": (f"scipy.{name}", (f"scipy.{name}",), (f"scipy.{name}",))
        for name in ("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal")
    },
    "scipy-sparse": ("scipy.sparse", (), ("scipy.sparse", "scipy.sparse.linalg")),
    "scipy-spatial": (
        "scipy.spatial",
        ("scipy.spatial",),
        ("scipy.spatial", "scipy.spatial.distance", "scipy.spatial.transform"),
    ),
    "scipy-special": ("scipy.special", ("scipy.special",), ()),
    "scipy-special-in-python": (
        "scipy.special, written in Python",
        ("scipy.special functions that SciPy writes in Python",),
        ("scipy.special",),
    ),
    "scipy-stats": ("scipy.stats", ("scipy.stats",), ("scipy.stats",)),
    "sklearn": ("scikit-learn", (), ("sklearn",)),
    "layers-and-handles": ("Layers and handles", ("tape_ad.nn", HANDLES), ()),
}
