"""FITPACK's steps in `splrep`, `splev` and `UnivariateSpline`, without smoothing.

How much a spline is smoothed decides where its knots are, by a search that has no derivative. So
handles are interpolated (``s=0``), or fitted with given knots.
"""

import functools
import inspect
from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, is_handle, joined, primal
from tape_ad.extend.packages import copied_object
from tape_ad.extend.rules import Entry, constants, overridable
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.bsplines import (
    knots_for,
    make_interp_spline,
    make_lsq_spline,
    spline_of,
)
from tape_ad.scipy.interpolate.grids import tensor_coefficients, tensor_value
from tape_ad.scipy.interpolate.shared import is_plain, refuse_handles
from tape_ad.scipy.stand_ins import stands_for

__all__ = ["FITPACK", "make_splprep", "make_splrep"]


THEIRS = scipy.interpolate._fitpack_impl
"""Where SciPy's functions call FITPACK."""

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


def smoothing(name: str, x: Array, y: Array, w: Array | None, k: int, s: Any) -> Any:
    """Make a smoothing spline, where this is the polynomial that fits the points best.

    Raises
    ------
    UnsupportedArgumentError
        Where there are knots in between.
    """
    x, y = in_double(joined(x)), in_double(joined(y))
    weights = np.ones(x.shape) if w is None else in_double(joined(w))
    if not is_plain(s) or not one_polynomial(x, y, weights, k, s):
        raise UnsupportedArgumentError(SMOOTHING.format(name))
    return fitted_between(x, y, np.zeros(0), k, weights)


def fitted_between(x: Array, y: Array, t: Array, k: int, w: Array | None) -> Any:
    """Fit a spline with given knots between the first point and the last one."""
    knots = np.concatenate((*[x[:1]] * (k + 1), in_double(t), *[x[-1:]] * (k + 1)))
    return make_lsq_spline(x, y, knots, k, w)


def padded(spline: Any) -> tuple[Array, Array, int]:
    """Give as many coefficients as there are knots, as FITPACK has it."""
    t, c, k = spline.tck
    zeros = np.zeros((t.shape[0] - c.shape[0], *c.shape[1:]), c.dtype)
    return t, np.concatenate((c, zeros)), k


# What stands for FITPACK in SciPy's functions


def arguments_of(function: Any, args: Any, options: Any) -> dict[str, Any]:
    """Name the arguments of a call, with all defaults."""
    bound = inspect.signature(function).bind(*args, **options)
    bound.apply_defaults()
    return bound.arguments


@stands_for(THEIRS.splrep)
def splrep(*args: Any, **options: Any) -> tuple[Array, Array, int]:
    """Make a spline of points: through them, with given knots, or one polynomial."""
    given = arguments_of(THEIRS.splrep, args, options)
    refuse("splrep", given, "xb", "xe", "full_output", "per")
    x, y, w, k, task, s, t = (given[name] for name in ("x", "y", "w", "k", "task", "s", "t"))
    if task not in (-1, 0) or (task == -1 and t is None):
        raise TypeError(f"splrep: task={task!r}: handles go with 0, or with -1 and knots, t=")
    if t is not None:
        return padded(fitted_between(in_double(x), y, t, k, w))
    if s is None:
        count = np.shape(x)[0]
        s = 0 if w is None else count - (2 * count) ** 0.5
    if is_plain(s) and s == 0:
        check_weights("splrep", w, np.shape(x))
        return padded(make_interp_spline(x, y, k))
    return padded(smoothing("splrep", x, y, w, k, s))


def refuse(name: str, given: dict[str, Any], *options: str) -> None:
    """Refuse what cannot go with handles, where it is given: no flag of 0, nor None."""
    flags = {"full_output", "per", "task"}
    found = [
        option
        for option in options
        if (given[option] if option in flags else given[option] is not None)
    ]
    if found:
        raise UnsupportedArgumentError(f"{name}: {', '.join(found)} cannot go with handles")


def check_weights(name: str, w: Any, shape: tuple[int, ...]) -> None:
    """Check weights that change nothing, as the spline goes through all points."""
    if w is not None and np.shape(w) != shape:
        raise TypeError(f"{name}: w has the shape {np.shape(w)}, and the points {shape}")


@stands_for(THEIRS.splprep)
def splprep(*args: Any, **options: Any) -> tuple[Any, Array]:
    """Make a spline through the points of a curve, by the length of the way to each of them."""
    given = arguments_of(THEIRS.splprep, args, options)
    refuse("splprep", given, "ub", "ue", "task", "full_output", "t", "nest", "per")
    x, w, u, k, s = (given[name] for name in ("x", "w", "u", "k", "s"))
    if not is_plain(s, w) or s is None or s != 0:
        raise UnsupportedArgumentError(INTERPOLATED.format("splprep"))
    points = in_double(joined(x))
    check_weights("splprep", w, points.shape[1:])
    if u is None:
        steps = np.sqrt(np.add.reduce((points[:, 1:] - points[:, :-1]) ** 2, axis=0))
        way = np.cumsum(steps)
        u = np.concatenate((np.zeros(1), way / way[-1]))
    u = in_double(joined(u))
    spline = make_interp_spline(u, points.T, k)
    return [spline.t, list(spline.c.T), k], u


@stands_for(THEIRS.splev)
def splev(x: Array, tck: Any, der: int = 0, ext: int = 0) -> Array:
    """Evaluate a spline or a curve, with one of FITPACK's ends: on, 0, an error, or the value."""
    t, c, k = tck
    if isinstance(c, list | tuple) or np.ndim(c) > 1:  # the coordinates of a curve
        return [splev(x, (t, each, k), der, ext) for each in c]
    if ext not in (0, 1, 2, 3):
        raise ValueError(f"ext = {ext} not in (0, 1, 2, 3) ")
    der = int(der)
    if not 0 <= der <= k:
        raise ValueError(f"0<=der={der}<=k={k} must hold")
    x, t = in_double(joined(x)), in_double(joined(t))
    low, high = t[k], t[-k - 1]
    below, above = x < low, x > high
    if ext == 2 and (np.any(below) or np.any(above)):
        raise ValueError("Invalid input data")
    if ext == 3 and der == 0:  # derivatives go on, in FITPACK too
        x = np.where(below, low, np.where(above, high, x))
    value = spline_of(t, joined(c), k)(x, der)
    return np.where(below | above, 0.0, value) if ext == 1 else value


@stands_for(THEIRS.splint)
def splint(a: Array, b: Array, tck: Any, full_output: int = 0) -> Array:
    """Integrate a spline, which is 0 outside of its knots."""
    refuse("splint", {"full_output": full_output}, "full_output")
    t, c, k = tck
    if isinstance(c, list | tuple) or np.ndim(c) > 1:
        return [splint(a, b, (t, each, k)) for each in c]
    return spline_of(joined(t), joined(c), k).integrate(a, b, extrapolate=False)


@stands_for(THEIRS.spalde)
def spalde(x: Array, tck: Any) -> Any:
    """Evaluate all derivatives of a spline, at one point or several."""
    t, c, k = tck
    if isinstance(c, list | tuple) or np.ndim(c) > 1:
        return [spalde(x, (t, each, k)) for each in c]
    points = np.atleast_1d(joined(x))
    rows = np.stack([splev(points, (t, c, k), der) for der in range(k + 1)], axis=1)
    return rows[0] if points.shape[0] == 1 else list(rows)


@overridable
def places_of_spline(t: Array, c: Array, mest: int) -> Array:
    """Find where a cubic spline is 0, as `scipy.interpolate.sproot` does."""
    return scipy.interpolate.sproot((t, c, 3), mest)


@stands_for(THEIRS.sproot)
def sproot(tck: Any, mest: int = 10) -> Any:
    """Find where a cubic spline is 0.

    Raises
    ------
    UnsupportedArgumentError
        Where a root is a double one, which has no derivative.
    """
    t, c, k = tck
    if k != 3:
        raise ValueError("sproot works only for cubic (k=3) splines")
    if isinstance(c, list | tuple) or np.ndim(c) > 1:
        return [sproot((t, each, k), mest) for each in c]
    roots: Any = places_of_spline(t, c, mest)
    if np.any(primal(splev(roots, (t, c, k), 1)) == 0):
        raise UnsupportedArgumentError(
            "sproot: a root of handles has to be a simple one; a double root has no derivative"
        )
    for _ in range(2):  # which do not move a root, and have its first three derivatives
        roots = roots - splev(roots, (t, c, k)) / splev(roots, (t, c, k), 1)
    return roots


@stands_for(THEIRS.insert)
def insert(x: Array, tck: Any, m: int = 1, per: int = 0) -> Any:
    """Insert a knot into a spline, which stays as it is.

    Notes
    -----
    W. Boehm, *Inserting new knots into B-spline curves*, Computer-Aided Design 12 (1980).
    """
    t, c, k = tck
    if per:
        raise UnsupportedArgumentError("insert: per= cannot go with handles")
    if isinstance(c, list | tuple) or np.ndim(c) > 1:
        several = [insert(x, (t, each, k), m) for each in c]
        return several[0][0], [each for _, each, _ in several], k
    x, t, c = in_double(joined(x)), in_double(joined(t)), in_double(joined(c))
    c = c[: t.shape[0] - k - 1]
    for _ in range(m):
        n = c.shape[0]
        left = int(np.clip(np.searchsorted(t, x, side="right") - 1, k, n - 1))
        i = np.arange(left - k + 1, left + 1)
        share = (x - t[i]) / (t[i + k] - t[i])
        between = share * c[i] + (1 - share) * c[i - 1]
        c = np.concatenate((c[: left - k + 1], between, c[left:]))
        t = np.concatenate((t[: left + 1], x.reshape((1,)), t[left + 1 :]))
    return padded(spline_of(t, c, k))


@stands_for(scipy.interpolate.UnivariateSpline.get_residual)
def residual(self: Any) -> Array:
    """Add up the squares of what is left of the data."""
    x, y, w = self._data[:3]
    return np.sum(((y - self(x)) * (1 if w is None else w)) ** 2)


def of_data(kind: Any, self: Any, *args: Any, **options: Any) -> None:
    """Make a `UnivariateSpline` through points, with given knots, or of one polynomial."""
    given = arguments_of(kind, args, options)
    knots, s = given.pop("t", None), given.pop("s", 0)
    x, y, w, bbox, k, ext, check_finite = given.values()
    if any(each is not None for each in bbox):
        raise UnsupportedArgumentError(f"{kind.__name__}: bbox= cannot go with handles")
    strict = s if knots is None else None
    x, y, w, _, self.ext = self.validate_input(x, y, w, list(bbox), k, strict, ext, check_finite)
    data: tuple[Any, ...] = x, y, w
    if knots is not None:
        spline = fitted_between(in_double(x), y, knots, k, w)
    elif is_plain(s) and s == 0:
        spline, data = make_interp_spline(x, y, k), (x, y, 0.0)  # nothing is left
    else:
        spline = smoothing("UnivariateSpline", x, y, w, k, x.shape[0] if s is None else s)
    other = type(self)._from_tck(padded(spline), self.ext)
    self._eval_args, self._data = other._eval_args, (*data, *other._data[3:])


for _kind in (
    scipy.interpolate.UnivariateSpline,
    scipy.interpolate.InterpolatedUnivariateSpline,
    scipy.interpolate.LSQUnivariateSpline,
):
    stands_for(_kind.__init__)(functools.partial(of_data, _kind))


INTERPOLATED = (
    "{}: handles are interpolated, and where a smoothing spline has its knots is found by a "
    "search, which has no derivative; give s=0, or write make_smoothing_spline(x, y, lam=...)"
)


def make_splrep(x: Array, y: Array, *, s: Any = 0, k: int = 3, **options: Any) -> Any:
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
        return copied_object(scipy.interpolate.make_splrep(x, y, s=s, k=k, **options))
    given = {name: each for name, each in options.items() if each is not None}
    bc_type = given.pop("bc_type", None)
    if not is_plain(s) or s != 0 or given:
        raise UnsupportedArgumentError(INTERPOLATED.format("make_splrep"))
    return make_interp_spline(joined(x), joined(y), k, bc_type=bc_type)


def make_splprep(
    x: Any, *, u: Any = None, s: Any = 0, k: int = 3, **options: Any
) -> tuple[Any, Array]:
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
        spline, u = scipy.interpolate.make_splprep(x, u=u, s=s, k=k, **options)
        return copied_object(spline), u
    if not is_plain(s) or s != 0 or any(each is not None for each in options.values()):
        raise UnsupportedArgumentError(INTERPOLATED.format("make_splprep"))
    (t, c, k), u = splprep(x, u=u, s=0, k=k)
    return spline_of(t, np.stack(c, axis=-1), k, axis=1), u


FITPACK: dict[Any, Entry] = constants(one_polynomial, places_of_spline)


# Splines on rectangles and spheres, with derivatives by the values that they fit and by places
#
# With knots that stay, FITPACK's coefficients are a linear function of the values. Its matrix is
# what FITPACK itself makes of values that are 1 at one point and 0 at all others.


@stands_for(scipy.interpolate._fitpack2._BivariateSplineBase.__call__)
def evaluate(self: Any, x: Array, y: Array, dx: int = 0, dy: int = 0, grid: bool = True) -> Array:
    """Evaluate a spline or its derivative on a grid, or at points."""
    t, u, c = map(in_double, map(joined, self.tck[:3]))
    knots, degrees = [t, u], self.degrees
    if any(order >= k for order, k in zip((dx, dy), degrees, strict=True) if order):
        raise ValueError(f"a spline of degrees {degrees} has no derivative {(dx, dy)}")
    x, y = in_double(joined(x)), in_double(joined(y))
    if grid:
        x, y = x.reshape((-1, 1)), y.reshape((1, -1))
    x, y = np.broadcast_arrays(x, y)
    pairs = zip((x, y), knots, degrees, strict=True)
    coordinates = [within(each.reshape(-1), t, k) for each, t, k in pairs]
    shape = [t.shape[0] - k - 1 for t, k in zip(knots, degrees, strict=True)]
    c = c[: shape[0] * shape[1]].reshape(shape)
    return tensor_value(c, knots, degrees, coordinates, (dx, dy)).reshape(x.shape)


def within(x: Array, t: Array, k: int) -> Array:
    """Move points outside of the knots to their ends, as FITPACK does."""
    low, high = t[k], t[t.shape[0] - k - 1]
    return np.where(x < low, low, np.where(x > high, high, x))


@stands_for(scipy.interpolate._fitpack_impl.bisplev)
def bisplev(x: Array, y: Array, tck: Any, dx: int = 0, dy: int = 0) -> Array:
    """Evaluate a spline in FITPACK's form on a grid, without axes of one element."""
    surface = differentiable(scipy.interpolate.BivariateSpline)()
    surface.tck, surface.degrees = tuple(tck[:3]), tuple(tck[3:])
    z = evaluate(surface, np.atleast_1d(joined(x)), np.atleast_1d(joined(y)), dx, dy)
    if z.shape[0] > 1:
        return z
    return z[0] if z.shape[1] > 1 else z[0][0]


@stands_for(scipy.interpolate.RectBivariateSpline.__init__)
def through_grid(
    self: Any,
    x: Array,
    y: Array,
    z: Array,
    bbox: Any = (None, None, None, None),
    kx: int = 3,
    ky: int = 3,
    s: float = 0,
    maxit: int = 20,
) -> None:
    """Make a `RectBivariateSpline` through values on a grid."""
    if not is_plain(s) or s != 0 or any(each is not None for each in bbox):
        raise UnsupportedArgumentError(
            "RectBivariateSpline: s= and bbox= are not supported on handles, as the knots of "
            "a smoothing spline are found by a search; make it of t.data"
        )
    axes, z = [in_double(joined(x)), in_double(joined(y))], in_double(joined(z))
    if any(np.any(axis[1:] <= axis[:-1]) for axis in axes):
        raise ValueError("x and y must be strictly increasing")
    if z.shape != (axes[0].shape[0], axes[1].shape[0]):
        raise ValueError(f"z has shape {z.shape}, which is not that of the grid")
    knots = [knots_for(axis, k) for axis, k in zip(axes, (kx, ky), strict=True)]
    c = tensor_coefficients(z, axes, knots, (kx, ky)).reshape(-1)
    self.tck, self.degrees = (*knots, c), (kx, ky)


UNREPEATED = (
    "{}: {}= cannot be a handle here, for the installed SciPy gives other splines of the same "
    "values at each call, as 1.18 does with pole_continuity=True, where it reads memory that it "
    "has not written; use another release, or leave out pole_continuity"
)

SEARCHED = (
    "{}: {}= cannot be a handle{}, for how much to smooth decides by a search where the knots are, "
    "which has no derivative; write LSQ{}BivariateSpline with knots of your own, or "
    "Rect{}BivariateSpline with s=0"
)


def fit(kind: Any, self: Any, *args: Any, **options: Any) -> None:
    """Fit values, the third argument, which alone may be handles."""
    name, given = kind.__name__, inspect.signature(kind).bind(*args, **options).arguments
    values_name = list(given)[2]
    values = joined(given.pop(values_name))
    instead = f"there are derivatives by {values_name}= alone, and by where the spline is taken"
    refuse_handles(name, instead, **given)
    smooths = given.get("s", 0.0) != 0
    if is_handle(values) and ("Smooth" in name or smooths):
        where = "" if "Smooth" in name else " with s= other than 0"
        surface = "Sphere" if "Sphere" in name else ""
        raise UnsupportedArgumentError(SEARCHED.format(name, values_name, where, surface, surface))

    def made(values: Array) -> Any:
        return kind(**{values_name: values}, **given)

    host = made(np.zeros(values.shape))
    t, u, start = host.tck[:3]
    units = np.eye(values.size).reshape((-1, *values.shape))
    columns = [made(unit).tck[2] - start for unit in units]
    c = np.stack(columns, axis=-1) @ in_double(values).reshape((-1,)) + start
    told = made(primal(values)).tck[2]
    if not np.allclose(primal(c), told, rtol=0.0, atol=1e-6 * np.max(np.abs(told), initial=1.0)):
        raise UnsupportedArgumentError(UNREPEATED.format(name, values_name))
    self.__dict__.update({**host.__dict__, "tck": (t, u, c)})


for _kind in (
    scipy.interpolate.LSQBivariateSpline,
    scipy.interpolate.LSQSphereBivariateSpline,
    scipy.interpolate.RectSphereBivariateSpline,
    scipy.interpolate.SmoothBivariateSpline,
    scipy.interpolate.SmoothSphereBivariateSpline,
):
    stands_for(_kind.__init__)(functools.partial(fit, _kind))
