"""What the derivative of a function is where it is not unique or does not exist, in a few words."""

from collections.abc import Mapping

__all__ = ["CONVENTIONS"]

TIED = "operands that tie share it equally"
TIES = "elements that tie share it equally; 0 where the result is nan"
RUNNING = "elements that tie for a running extremum share it equally"
STABLE = "elements that tie are taken in the order in which they stand"
AT_NAN = "0 for what is nan"
FACTORS = "nothing is divided, so it is exact at zeros"
INFINITE = "infinite at the ends of the domain"
BRANCH = "infinite at branch points; complex beyond them"
JUMPS = "that of the smooth piece on the side of NumPy's value"
VECTORS = (
    "right for what does not depend on the factors that vectors are free in; nan for what turns "
    "vectors of equal values"
)
TRIANGLE = "the triangle that is not read gets none"
NORM = "0 at 0; magnitudes, sums and singular values that tie share it equally"
FIRST = "of equal elements, the one that stands first"
PROBABILITY = f"{STABLE}; in the probability, at a kink the slope on the right; 0 for nan"
PLACES = "plain integers"
MASK = "a branch not taken contributes 0, even where it is nan or inf"
SINGULAR = "infinite or nan at a singular matrix"
POLES = "infinite or nan at poles, like the function"
ORDER = "an order that is a handle is refused"

SHARED: Mapping[str, str] = {
    TIED: "np.maximum np.minimum np.fmax np.fmin np.clip",
    TIES: """
        np.max np.amax np.min np.amin np.ptp np.nanmax np.nanmin np.maximum.reduce np.minimum.reduce
        np.fmax.reduce np.fmin.reduce
    """,
    RUNNING: "np.maximum.accumulate np.minimum.accumulate np.fmax.accumulate np.fmin.accumulate",
    STABLE: "np.sort np.partition np.sort_complex np.median np.nanmedian",
    PROBABILITY: "np.quantile np.percentile np.nanquantile np.nanpercentile",
    AT_NAN: "np.nansum np.nanprod np.nanmean np.nancumsum np.nancumprod np.nan_to_num",
    FACTORS: "np.prod np.cumprod np.cumulative_prod np.multiply.reduce np.multiply.accumulate",
    INFINITE: """
        np.sqrt np.cbrt np.log np.log2 np.log10 np.log1p np.arcsin np.arccos np.arccosh np.arctanh
        scipy.special.logit scipy.special.erfinv scipy.special.erfcinv scipy.special.ndtri
        scipy.special.entr scipy.special.ellipk
    """,
    BRANCH: """
        np.emath.sqrt np.emath.log np.emath.log2 np.emath.log10 np.emath.logn np.emath.arcsin
        np.emath.arccos np.emath.arctanh np.emath.power
    """,
    JUMPS: "np.remainder np.fmod np.divmod np.modf np.copysign np.unwrap",
    VECTORS: "np.linalg.eig np.linalg.svd",
    f"{VECTORS}; {TRIANGLE}": "np.linalg.eigh",
    TRIANGLE: """
        np.linalg.cholesky np.linalg.eigvalsh tape_ad.scipy.linalg.cho_factor
        tape_ad.scipy.linalg.cho_solve tape_ad.scipy.linalg.solve_triangular
    """,
    NORM: "np.linalg.norm np.linalg.vector_norm np.linalg.matrix_norm np.linalg.cond",
    FIRST: """
        np.unique np.unique_all np.unique_counts np.unique_inverse np.unique_values np.union1d
        np.intersect1d np.setdiff1d np.setxor1d
    """,
    PLACES: """
        np.argmax np.argmin np.nanargmax np.nanargmin np.argsort np.argpartition np.lexsort
        np.argwhere np.nonzero np.flatnonzero np.searchsorted np.digitize
    """,
    MASK: "np.where np.select np.piecewise np.choose",
    SINGULAR: "np.linalg.inv np.linalg.solve np.linalg.slogdet",
    POLES: """
        scipy.special.gamma scipy.special.gammaln scipy.special.loggamma scipy.special.psi
        scipy.special.beta scipy.special.betaln scipy.special.zeta scipy.special.exp1
        scipy.special.expi scipy.special.y0 scipy.special.y1 scipy.special.k0 scipy.special.k1
    """,
    ORDER: """
        scipy.special.jv scipy.special.yv scipy.special.iv scipy.special.ive scipy.special.kv
        scipy.special.kve scipy.special.expn tape_ad.scipy.special.polygamma
    """,
}

CONVENTIONS: Mapping[str, str] = {
    **{name: text for text, names in SHARED.items() for name in names.split()},
    "np.absolute": "0 at 0",
    "np.fabs": "0 at 0",
    "np.hypot": "0 at (0, 0)",
    "np.arctan2": "nan at (0, 0)",
    "np.angle": "not finite at 0",
    "np.sign": "plain data for real numbers; of complex ones, 0 at 0",
    "np.heaviside": "0 in the first operand; in the second, 1 where the first is 0",
    "np.floor_divide": "plain data",
    "np.power": "0 in the exponent where the base is 0; nan there where the base is negative",
    "np.sinc": "0 at 0, and exact near it",
    "np.logaddexp": "one half each where both are the same infinity",
    "np.logaddexp2": "one half each where both are the same infinity",
    "np.std": "0 where all elements are equal",
    "np.nanstd": "0 where all elements are equal, and for what is nan",
    "np.nanvar": AT_NAN,
    "np.interp": "on a knot that of the piece to its right, on the last to its left; 0 outside",
    "np.frexp": "that of the mantissa, with its exponent held fixed",
    "np.histogram": "in the weights, and in the edges, which move with the ends of the sample",
    "np.linalg.det": "right at singular matrices too",
    "np.linalg.eigvals": "equal values share it as their sum demands",
    "np.linalg.svdvals": "equal values share it as their sum demands; 0 at 0",
    "np.linalg.pinv": "that at constant rank",
    "np.linalg.lstsq": "that at constant rank",
    "np.linalg.matrix_rank": "a plain integer",
    "scipy.special.lambertw": "nan at the branch point -1/e",
    "scipy.special.hyp1f1": "in z alone; a handle elsewhere is refused",
    "scipy.special.hyp2f1": "in z alone; a handle elsewhere is refused",
    "scipy.special.smirnov": "at k / n that on the right",
    "scipy.special.tklmbda": "that of the formula also where SciPy has it logistic, near lmbda = 0",
    "t[key] = value": "of an element assigned twice, the last assignment counts",
    "t[key]": "an element picked several times gets the sum",
}
