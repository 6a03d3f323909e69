"""FITPACK's interface to splines: `splrep`, `splev` and `UnivariateSpline`, without smoothing.

How much a spline is smoothed decides where its knots are, by a search that has no derivative. So
handles are interpolated (``s=0``), or fitted with given knots.
"""

from typing import Any

import numpy as np
import scipy.interpolate

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, joined, primal
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.interpolate.bsplines import BSpline, padded, splder
from tape_ad.scipy.interpolate.fitting import make_interp_spline, make_lsq_spline
from tape_ad.scipy.interpolate.shared import increasing, is_plain

__all__ = [
    "FITPACK",
    "InterpolatedUnivariateSpline",
    "LSQUnivariateSpline",
    "UnivariateSpline",
    "insert",
    "make_splprep",
    "make_splrep",
    "one_polynomial",
    "places_of_spline",
    "spalde",
    "splev",
    "splint",
    "splprep",
    "splrep",
    "sproot",
]

SMOOTHING = (
    "{}: how much to smooth decides by a search where the knots are, which has no derivative (but "
    "where one polynomial is near enough); give s=0, or knots, or write "
    "make_smoothing_spline(x, y, lam=...)"
)


@overridable
def one_polynomial(x: Array, y: Array, w: Array, k: int, s: Any) -> Array:
    """Tell whether FITPACK's smoothing spline has no knots between the ends: 0 or 1."""
    t, _, _ = scipy.interpolate.splrep(x, y, w, k=k, s=s, full_output=True)[0]
    return np.asarray(t.shape[0] == 2 * k + 2, int)


def smoothing(name: str, x: Array, y: Array, w: Array | None, k: int, s: Any) -> BSpline:
    """Make a smoothing spline, where this is the polynomial that fits the points best.

    Raises
    ------
    UnsupportedArgumentError
        Where there are knots in between.
    """
    x, y = increasing(joined(x)), in_double(joined(y))
    weights = np.ones(x.shape) if w is None else in_double(joined(w))
    if not is_plain(s) or not one_polynomial(x, y, weights, k, s):
        raise UnsupportedArgumentError(SMOOTHING.format(name))
    return fitted_between(x, y, np.zeros(0), k, weights)


def splrep(x: Array, y: Array, w: Array | None = None, **options: Any) -> tuple[Array, Array, int]:
    """Make a spline of points, as `scipy.interpolate.splrep` does.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
        Increasing.
    y, w : array or Tensor, shape (n,)
    options
        SciPy's. Handles take ``k``, ``s=0`` (or so much that the spline is one polynomial), and
        with ``task=-1`` the knots ``t``.

    Returns
    -------
    tuple
        Knots, coefficients and degree.
    """
    if is_plain(x, y, w, *options.values()):
        return scipy.interpolate.splrep(x, y, w, **options)  # type: ignore[no-any-return]  # a tuple
    k, s, t = options.pop("k", 3), options.pop("s", None), options.pop("t", None)
    task = options.pop("task", 0)
    if options:
        raise UnsupportedArgumentError(f"splrep: {', '.join(options)} cannot go with handles")
    if task == -1 and t is not None:
        spline = fitted_between(increasing(x), y, t, k, w)
    else:
        if s is None:
            count = np.shape(x)[0]
            s = 0 if w is None else count - (2 * count) ** 0.5
        if is_plain(s) and s == 0:
            spline = make_interp_spline(x, y, k)
        else:
            spline = smoothing("splrep", x, y, w, k, s)
    return padded(spline.tck)


def fitted_between(x: Array, y: Array, t: Array, k: int, w: Array | None) -> BSpline:
    """Fit a spline with given knots between the first point and the last one."""
    knots = np.concatenate((*[x[:1]] * (k + 1), in_double(t), *[x[-1:]] * (k + 1)))
    return make_lsq_spline(x, y, knots, k, w)


def splprep(
    x: Any, w: Array | None = None, u: Array | None = None, **options: Any
) -> tuple[Any, Array]:
    """Make a spline of the points of a curve, as `scipy.interpolate.splprep` does.

    Parameters
    ----------
    x : list of array or Tensor, shape (n,)
        The coordinates.
    w : array, shape (n,), optional
        For plain arrays.
    u : array or Tensor, shape (n,), optional
        The parameter at each point; the length of the way to it along straight lines if it is left
        out, as a part of the whole way.
    options
        SciPy's. Handles take ``k`` and ``s=0``.

    Returns
    -------
    tck : list
        Knots, coefficients and degree.
    u : array or Tensor, shape (n,)

    Raises
    ------
    UnsupportedArgumentError
        For handles that are to be smoothed.
    """
    given = list(x) if isinstance(x, list | tuple) else [x]
    if is_plain(*given, w, u, *options.values()):
        return scipy.interpolate.splprep(x, w, u, **options)  # type: ignore[no-any-return]  # a tuple
    k, s = options.pop("k", 3), options.pop("s", None)
    if options:
        raise UnsupportedArgumentError(f"splprep: {', '.join(options)} cannot go with handles")
    if not is_plain(s, w) or s is None or s != 0:
        raise UnsupportedArgumentError(
            "splprep: handles are interpolated, and where a smoothing spline has its knots is "
            "found by a search, which has no derivative; give s=0"
        )
    points = in_double(joined(x))
    if u is None:
        steps = np.sqrt(np.add.reduce((points[:, 1:] - points[:, :-1]) ** 2, axis=0))
        way = np.cumsum(steps)
        u = np.concatenate((np.zeros(1), way / way[-1]))
    u = in_double(joined(u))
    spline = make_interp_spline(u, points.T, k)
    return [spline.t, list(spline.c.T), k], u


def splev(x: Array, tck: Any, der: int = 0, ext: int = 0) -> Array:
    """Evaluate a spline, as `scipy.interpolate.splev` does.

    Parameters
    ----------
    x : array or Tensor, any shape
    tck : tuple or BSpline
        Knots, coefficients and degree; arrays or handles.
    der : int
        The order of the derivative.
    ext : int
        What to do outside of the knots: 0 to go on, 1 for 0, 2 to refuse it, 3 for the value at
        the end.

    Returns
    -------
    array or Tensor, shape of `x`

    Raises
    ------
    ValueError
        When a point is outside, and `ext` is 2.
    """
    t, c, k = tck.tck if isinstance(tck, BSpline) else tck
    if is_plain(x, t) and isinstance(c, np.ndarray):
        return scipy.interpolate.splev(x, (t, c, k), der, ext)
    if isinstance(c, list | tuple):  # the coordinates of a curve
        return [splev(x, (t, each, k), der, ext) for each in c]
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    if not 0 <= der <= k:
        raise ValueError(f"0<=der={der}<=k={k} must hold")
    x, t = in_double(x), in_double(t)
    low, high = t[k], t[-k - 1]
    below, above = x < low, x > high
    if ext == 2 and (np.any(below) or np.any(above)):
        raise ValueError("Invalid input data")
    if ext == 3 and der == 0:  # derivatives go on, in FITPACK too
        x = np.where(below, low, np.where(above, high, x))
    value = BSpline.construct_fast(t, c, k)(x, der)
    return np.where(below | above, 0.0, value) if ext == 1 else value


def splint(a: Array, b: Array, tck: Any) -> Array:
    """Integrate a spline, which is 0 outside of its knots, as `scipy.interpolate.splint` does.

    Parameters
    ----------
    a, b : float or Tensor
        The bounds.
    tck : tuple or BSpline
        Knots, coefficients and degree; arrays or handles.

    Returns
    -------
    float or Tensor
    """
    t, c, k = tck.tck if isinstance(tck, BSpline) else tck
    if is_plain(a, b, t, c):
        return scipy.interpolate.splint(a, b, (t, c, k))
    return BSpline.construct_fast(t, c, k).integrate(a, b, extrapolate=False)


MODES = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


class UnivariateSpline:
    """A spline of points, as `scipy.interpolate.UnivariateSpline`.

    Handles want ``s=0``, or so much smoothing that the spline is one polynomial.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    y, w : array or Tensor, shape (n,)
    bbox : pair
        For plain arrays.
    k : int
    s : float, optional
    ext : int or str
    check_finite : bool

    Examples
    --------
    >>> import tape_ad as ta
    >>> y = ta.ComputationRecord().tensor([0.0, 1.0, 8.0, 27.0])
    >>> spline = ta.scipy.interpolate.UnivariateSpline([0.0, 1.0, 2.0, 3.0], y, s=0)
    >>> float(spline.integral(0, 2).data.round(9))
    4.0
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        w: Array | None = None,
        bbox: Any = (None, None),
        k: int = 3,
        s: Any = None,
        ext: int | str = 0,
        check_finite: bool = False,
    ) -> None:
        if is_plain(x, y, w, s):
            made = scipy.interpolate.UnivariateSpline(x, y, w, list(bbox), k, s, ext, check_finite)
            self._fill(made._eval_args, ext)
            return
        if any(each is not None for each in bbox):
            raise UnsupportedArgumentError(f"{type(self).__name__}: bbox= cannot go with handles")
        if is_plain(s) and s is not None and s == 0:
            self._fill(make_interp_spline(x, y, k).tck, ext)
            return
        s = np.shape(x)[0] if s is None else s
        self._fill(smoothing("UnivariateSpline", x, y, w, k, s).tck, ext)

    def _fill(self, tck: tuple[Array, Array, int], ext: int | str) -> None:
        t, c, k = tck
        self._eval_args = t, c[: t.shape[0] - k - 1], k
        self.ext = MODES.get(ext, -1) if isinstance(ext, str) else ext
        if self.ext not in MODES.values():
            raise ValueError(f"Unknown extrapolation mode {ext}.")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"tape_ad.scipy.interpolate.{type(self).__name__} has no {name}; there are derivative, "
            "antiderivative, integral, derivatives, get_knots and get_coeffs, and SciPy's own for "
            "what is plain"
        )

    def __call__(self, x: Array, nu: int = 0, ext: int | str | None = None) -> Array:
        """Evaluate the spline or its derivative."""
        mode = self.ext if ext is None else MODES[ext] if isinstance(ext, str) else ext
        return splev(x, self._padded(), nu, mode)

    def _padded(self) -> tuple[Array, Array, int]:
        return padded(self._eval_args)

    def _other(self, tck: tuple[Array, Array, int], ext: int) -> "UnivariateSpline":
        other = UnivariateSpline.__new__(UnivariateSpline)
        other._fill(tck, ext)
        return other

    def derivative(self, n: int = 1) -> "UnivariateSpline":
        """Make the spline that is the derivative."""
        return self._other(splder(self._padded(), n), 1 if self.ext == 3 else self.ext)

    def antiderivative(self, n: int = 1) -> "UnivariateSpline":
        """Make a spline of which this is the derivative."""
        return self._other(splder(self._padded(), -n), self.ext)

    def integral(self, a: Array, b: Array) -> Array:
        """Integrate between two bounds; outside of the knots the spline is 0."""
        return splint(a, b, self._padded())

    def derivatives(self, x: Array) -> Array:
        """Evaluate the spline and all its derivatives at one point."""
        return np.stack([self(x, nu) for nu in range(self._eval_args[2] + 1)])

    def get_knots(self) -> Array:
        """Give the knots, the outer ones once."""
        t, _, k = self._eval_args
        return t[k : t.shape[0] - k]

    def get_coeffs(self) -> Array:
        """Return the coefficients of the spline."""
        return self._eval_args[1]


class InterpolatedUnivariateSpline(UnivariateSpline):
    """A spline through points, as `scipy.interpolate.InterpolatedUnivariateSpline`.

    Parameters
    ----------
    x, y, w, bbox, k, ext, check_finite
        As in `UnivariateSpline`.
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        w: Array | None = None,
        bbox: Any = (None, None),
        k: int = 3,
        ext: int | str = 0,
        check_finite: bool = False,
    ) -> None:
        super().__init__(x, y, w, bbox, k, 0, ext, check_finite)


class LSQUnivariateSpline(UnivariateSpline):
    """A spline with given knots, as `scipy.interpolate.LSQUnivariateSpline`.

    Parameters
    ----------
    x : array or Tensor, shape (n,)
    y, w : array or Tensor, shape (n,)
    t : array or Tensor, shape (m,)
        The knots between the first point and the last one.
    bbox : pair
        For plain arrays.
    k : int
    ext : int or str
    check_finite : bool
    """

    def __init__(
        self,
        x: Array,
        y: Array,
        t: Array,
        w: Array | None = None,
        bbox: Any = (None, None),
        k: int = 3,
        ext: int | str = 0,
        check_finite: bool = False,
    ) -> None:
        if is_plain(x, y, t, w):
            made = scipy.interpolate.LSQUnivariateSpline(
                x, y, t, w, list(bbox), k, ext, check_finite
            )
            self._fill(made._eval_args, ext)
            return
        if any(each is not None for each in bbox):
            raise UnsupportedArgumentError("LSQUnivariateSpline: bbox= cannot go with handles")
        self._fill(fitted_between(increasing(x), y, t, k, w).tck, ext)


# Roots, derivatives and knots of splines in FITPACK's form, and smoothing splines


def parts_of(tck: Any) -> tuple[Array, Any, int]:
    """Take apart a spline: knots, coefficients, or a list of them for a curve, and degree."""
    t, c, k = padded(tck.tck) if hasattr(tck, "tck") else tck
    return joined(t), c, k


def spalde(x: Array, tck: Any) -> Any:
    """Evaluate all derivatives of a spline, as `scipy.interpolate.spalde` does.

    Parameters
    ----------
    x : float, array or Tensor
    tck : tuple
        Knots, coefficients and degree; arrays or handles.

    Returns
    -------
    array or Tensor, shape (k + 1,), or a list of them for several points
    """
    t, c, k = parts_of(tck)
    if is_plain(x, t, c):
        return scipy.interpolate.spalde(x, tck)
    if isinstance(c, list | tuple):
        return [spalde(x, (t, each, k)) for each in c]
    points = np.atleast_1d(joined(x))
    rows = np.stack([splev(points, (t, c, k), der) for der in range(k + 1)], axis=1)
    return rows[0] if points.shape[0] == 1 else list(rows)


@overridable
def places_of_spline(t: Array, c: Array, mest: int) -> Array:
    """Find where a cubic spline is 0, as `scipy.interpolate.sproot` does."""
    return scipy.interpolate.sproot((t, c, 3), mest)


def sproot(tck: Any, mest: int = 10) -> Any:
    """Find where a cubic spline is 0, as `scipy.interpolate.sproot` does.

    Parameters
    ----------
    tck : tuple or BSpline
        Knots, coefficients and degree, 3; arrays or handles.
    mest : int
        How many roots there may be.

    Returns
    -------
    array or Tensor, shape (number of roots,), or a list of them for a curve

    Raises
    ------
    UnsupportedArgumentError
        For handles, where a root is a double one, which has no derivative.
    """
    t, c, k = parts_of(tck)
    if is_plain(t, c):
        return scipy.interpolate.sproot((t, c, k), mest)
    if k != 3:
        raise ValueError("sproot works only for cubic (k=3) splines")
    if isinstance(c, list | tuple):
        return [sproot((t, each, k), mest) for each in c]
    roots: Any = places_of_spline(t, c, mest)
    if np.any(primal(splev(roots, (t, c, k), 1)) == 0):
        raise UnsupportedArgumentError(
            "sproot: a root of handles has to be a simple one; a double root has no derivative"
        )
    for _ in range(2):  # which do not move a root, and have its first three derivatives
        roots = roots - splev(roots, (t, c, k)) / splev(roots, (t, c, k), 1)
    return roots


def insert(x: Array, tck: Any, m: int = 1, per: int = 0) -> Any:
    """Insert a knot into a spline, which stays as it is, as `scipy.interpolate.insert` does.

    Parameters
    ----------
    x : float or Tensor
        The knot.
    tck : tuple or BSpline
        Knots, coefficients and degree; arrays or handles.
    m : int
        How often.
    per : int
        0 for handles.

    Returns
    -------
    tuple or BSpline, as `tck`

    Notes
    -----
    W. Boehm, *Inserting new knots into B-spline curves*, Computer-Aided Design 12 (1980).
    """
    t, c, k = parts_of(tck)
    if is_plain(x, t, c):
        if not hasattr(tck, "tck"):
            return scipy.interpolate.insert(x, tck, m, per)
        host = scipy.interpolate.BSpline(*tck.tck)
        return BSpline.construct_fast(*scipy.interpolate.insert(x, host, m, per).tck)
    if per:
        raise UnsupportedArgumentError("insert: per= cannot go with handles")
    if isinstance(c, list | tuple):
        several = [insert(x, (t, each, k), m) for each in c]
        return several[0][0], [each for _, each, _ in several], k
    x, t, c = in_double(joined(x)), in_double(t), in_double(joined(c))
    c = c[: t.shape[0] - k - 1]
    for _ in range(m):
        n = c.shape[0]
        left = int(np.clip(np.searchsorted(t, x, side="right") - 1, k, n - 1))
        i = np.arange(left - k + 1, left + 1)
        share = ((x - t[i]) / (t[i + k] - t[i])).reshape((-1,) + (1,) * (c.ndim - 1))
        between = share * c[i] + (1 - share) * c[i - 1]
        c = np.concatenate((c[: left - k + 1], between, c[left:]))
        t = np.concatenate((t[: left + 1], x.reshape((1,)), t[left + 1 :]))
    if hasattr(tck, "tck"):
        return BSpline.construct_fast(t, c, k)
    return padded((t, c, k))


INTERPOLATED = (
    "{}: handles are interpolated, and where a smoothing spline has its knots is found by a "
    "search, which has no derivative; give s=0, or write make_smoothing_spline(x, y, lam=...)"
)


def make_splrep(x: Array, y: Array, *, s: Any = 0, k: int = 3, **options: Any) -> BSpline:
    """Make a spline of points, as `scipy.interpolate.make_splrep` does.

    Parameters
    ----------
    x, y : array or Tensor, shape (n,)
    s : float
        0 for handles.
    k : int
    **options
        SciPy's; handles take `bc_type`.

    Returns
    -------
    BSpline
    """
    if is_plain(x, y, s, *options.values()):
        made = scipy.interpolate.make_splrep(x, y, s=s, k=k, **options)
        return BSpline.construct_fast(made.t, made.c, made.k, made.extrapolate, made.axis)
    given = {name: each for name, each in options.items() if each is not None}
    bc_type = given.pop("bc_type", None)
    if not is_plain(s) or s != 0 or given:
        raise UnsupportedArgumentError(INTERPOLATED.format("make_splrep"))
    return make_interp_spline(joined(x), joined(y), k, bc_type=bc_type)


def make_splprep(
    x: Any, *, u: Any = None, s: Any = 0, k: int = 3, **options: Any
) -> tuple[BSpline, Array]:
    """Make a spline of the points of a curve, as `scipy.interpolate.make_splprep` does.

    Parameters
    ----------
    x : list of array or Tensor, shape (n,)
        The coordinates.
    u : array or Tensor, shape (n,), optional
    s : float
        0 for handles.
    k : int
    **options
        SciPy's, for plain arrays.

    Returns
    -------
    spline : BSpline
    u : array or Tensor, shape (n,)
    """
    given = list(x) if isinstance(x, list | tuple) else [x]
    if is_plain(*given, u, s, *options.values()):
        made, u = scipy.interpolate.make_splprep(x, u=u, s=s, k=k, **options)
        return BSpline.construct_fast(made.t, made.c, made.k, made.extrapolate, made.axis), u
    if not is_plain(s) or s != 0 or any(each is not None for each in options.values()):
        raise UnsupportedArgumentError(INTERPOLATED.format("make_splprep"))
    (t, c, k), u = splprep(x, u=u, s=0, k=k)
    return BSpline.construct_fast(t, np.stack(c, axis=-1), k, axis=1), u


FITPACK: dict[Any, Entry] = constants(one_polynomial, places_of_spline)
