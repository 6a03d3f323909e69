"""Which topic of NumPy's reference a function stands under, in the order of the reference."""

from collections.abc import Mapping, Sequence

__all__ = ["NEWER", "OURS", "SPOKEN", "TOPICS"]

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
    "tape_ad.interpolate.AAA": "SciPy 1.15",
    "tape_ad.interpolate.FloaterHormannInterpolator": "SciPy 1.15",
    "tape_ad.interpolate.make_splprep": "SciPy 1.15",
    "tape_ad.interpolate.make_splrep": "SciPy 1.15",
    "tape_ad.signal.firwin_2d": "SciPy 1.17",
    "tape_ad.signal.freqz_sos": "SciPy 1.15",
    "tape_ad.stats.quantile": "SciPy 1.15",
    **{
        f"tape_ad.special.{name}{every}": "SciPy 1.15"
        for name in ("legendre_p", "assoc_legendre_p", "sph_legendre_p", "sph_harm_y")
        for every in ("", "_all")
    },
    "chatterjeexi": "SciPy 1.15",
    "tape_ad.stats.lmoment": "SciPy 1.15",
    "tape_ad.stats.landau": "SciPy 1.15",
    "tape_ad.stats.poisson_binom": "SciPy 1.15",
    "tape_ad.stats.dpareto_lognorm": "SciPy 1.15",
    "tape_ad.stats.normal_inverse_gamma": "SciPy 1.15",
    "tape_ad.stats.matrix_t": "SciPy 1.17",
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
    "tape_ad.rules.scipy.sparse.sparse_matmul": "sparse @ t",
    "tape_ad.rules.scipy.sparse.matmul_sparse": "t @ sparse",
    "tape_ad.rules.layers.cross_entropies.cross_entropy": "tape_ad.nn.cross_entropy",
    "tape_ad.rules.scipy.linalg.solvers.cholesky_solve": "tape_ad.linalg.cho_solve",
    "tape_ad.rules.scipy.linalg.lu.lu_factors_solve": "tape_ad.linalg.lu_solve",
    "tape_ad.rules.scipy.special.gamma.polygamma": "tape_ad.special.polygamma",
    "tape_ad.rules.scipy.special.gamma.multigammaln": "tape_ad.special.multigammaln",
    "tape_ad.rules.scipy.special.gamma.comb": "tape_ad.special.comb",
    "tape_ad.rules.scipy.special.logarithms.log_sum_exp": "tape_ad.special.logsumexp",
    "tape_ad.rules.scipy.special.logarithms.log_abs_sum_exp": (
        "tape_ad.special.logsumexp (return_sign=True)"
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
    "tape_ad.special.": "scipy.special functions that SciPy writes in Python",
    "tape_ad.linalg.": "scipy.linalg",
    "tape_ad.fft.": "scipy.fft",
    "tape_ad.integrate.": "scipy.integrate",
    "tape_ad.interpolate.": "scipy.interpolate",
    "tape_ad.ndimage.": "scipy.ndimage",
    "tape_ad.optimize.": "scipy.optimize",
    "tape_ad.signal.": "scipy.signal",
    "tape_ad.spatial.": "scipy.spatial",
    "tape_ad.stats.": "scipy.stats",
    "tape_ad.nn.": "tape_ad.nn",
}

# Where those are to be found by the names that users write.
ROOMS: Sequence[str] = (
    *("scipy.special", "tape_ad.special", "tape_ad.linalg", "tape_ad.fft", "tape_ad.integrate"),
    *("tape_ad.interpolate", "tape_ad.ndimage", "tape_ad.optimize", "tape_ad.signal"),
    *("tape_ad.spatial", "tape_ad.spatial.distance", "tape_ad.spatial.transform"),
    *("tape_ad.stats", "tape_ad.nn"),
)
