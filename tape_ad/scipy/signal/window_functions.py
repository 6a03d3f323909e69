"""Windows whose shape is a number: how it moves with that.

Those without a parameter are SciPy's own. A window that is periodic is one point longer, without
its last one.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.rules import Entry, Refused
from tape_ad.scipy.counterparts import (
    holds,
    is_handle,
    joined,
    scipy_composition,
    scipy_function,
    with_value,
)
from tape_ad.scipy.installed import scipy

__all__ = ["EVERY", "NAMED", "WINDOWS", "get_window", "window_taps"]

WINDOWS: dict[Any, Entry] = {}

NAMED: dict[str, Any] = {}
"""The public functions by their names."""

Points = Callable[..., Array]


def window(smooth: str) -> Callable[[Points], Points]:
    """Publish the lines for one window, which get its number of points and its parameters.

    The value is SciPy's.
    """

    def decorate(lines: Points) -> Points:
        original = getattr(scipy.signal.windows, lines.__name__)
        if not original:
            return cast("Points", original)
        signature = inspect.signature(original)
        kept = [p for name, p in signature.parameters.items() if name not in ("xp", "device")]
        signature = signature.replace(parameters=kept)

        def composed(*args: Any, **kwargs: Any) -> Array:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
            count, sym = int(given.pop("M")), given.pop("sym")
            taps = lines(count + (not sym), **given)[:count] if count > 1 else np.ones(count)
            return with_value(taps, None, public, args, kwargs) if count > 1 else taps

        composed.__name__ = composed.__qualname__ = lines.__name__
        composed.__module__ = lines.__module__
        composed.__doc__ = (
            f"Make a window, as `scipy.signal.windows.{lines.__name__}` does.\n\n    "
            f"Handles may be: {smooth.replace(' ', ', ')}."
        )
        composed.__signature__ = signature  # type: ignore[attr-defined]  # as inspect looks for it
        public: Any = scipy_composition(WINDOWS, original, smooth)(composed)
        NAMED[lines.__name__] = public
        return functools.wraps(lines)(public)

    return decorate


def middle(count: int) -> Array:
    """Count the points from the middle on."""
    return np.arange(count) - (count - 1.0) / 2.0


@window("beta")
def kaiser(count: int, beta: Any) -> Array:
    """Give Bessel functions of a semicircle."""
    arch = np.sqrt(1 - (middle(count) / ((count - 1) / 2.0)) ** 2)
    return scipy.special.i0(beta * arch) / scipy.special.i0(beta)


@window("beta")
def kaiser_bessel_derived(count: int, beta: Any) -> Array:
    """Give square roots of sums of Kaiser's window."""
    if count % 2:
        raise ValueError("Kaiser-Bessel Derived windows are only defined for even number of points")
    sums = np.cumsum(NAMED["kaiser"](count // 2 + 1, beta))
    half = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate((half, half[::-1]))


@window("std")
def gaussian(count: int, std: Any) -> Array:
    """Compute the taps of a Gaussian window."""
    return np.exp(-(middle(count) ** 2) / (2 * std * std))


@window("p sig")
def general_gaussian(count: int, p: Any, sig: Any) -> Array:
    """Give a bell of another power."""
    away = np.abs(middle(count))
    there = away > 0  # else 1 for any power
    scaled = np.where(there, away, 1.0) / np.abs(sig)
    return np.where(there, np.exp(-0.5 * scaled ** (2 * p)), 1.0)


@window("a")
def general_cosine(count: int, a: Any) -> Array:
    """Give a sum of cosines."""
    a = as_array(a)
    turns = np.linspace(-np.pi, np.pi, count)
    return a @ np.cos(np.arange(a.shape[0])[:, None] * turns)


@window("alpha")
def general_hamming(count: int, alpha: Any) -> Array:
    """Give a constant and a cosine."""
    return alpha + (1.0 - alpha) * np.cos(np.linspace(-np.pi, np.pi, count))


@window("center tau")
def exponential(count: int, center: Any, tau: Any) -> Array:
    """Give a decay to both sides."""
    center = (count - 1) / 2 if center is None else center
    return np.exp(-np.abs(np.arange(count) - center) / tau)


@window("alpha")
def tukey(count: int, alpha: Any) -> Array:
    """Give a plateau with half a cosine at each end."""
    if bool(alpha <= 0):
        return np.ones(count) + 0 * alpha
    if bool(alpha >= 1):
        return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(count) / (count - 1)) + 0 * alpha
    width = np.minimum(np.arange(count), np.arange(count)[::-1])
    share = 2.0 * width / (alpha * (count - 1))
    inside = width <= np.floor(float(alpha_of(alpha)) * (count - 1) / 2.0)
    return np.where(inside, 0.5 * (1 - np.cos(np.pi * np.where(inside, share, 0.0))), 1.0)


def alpha_of(number: Any) -> Any:
    """Give the value of a number."""
    return number.item() if hasattr(number, "item") else number


@window("at")
def chebwin(count: int, at: Any) -> Array:
    """Give the window whose side lobes are all as high; see Dolph 1946."""
    order = count - 1.0
    beta = np.cosh(np.arccosh(10 ** (np.abs(at) / 20.0)) / order)
    x = beta * np.cos(np.pi * np.arange(count) / count)
    # Chebyshev's polynomial on both sides of where it is no cosine
    outside = np.abs(x) > 1
    far = np.cosh(order * np.arccosh(np.where(outside, np.abs(x), 2.0)))
    sign = np.where(x > 0, 1, 2 * (count % 2) - 1)
    p = np.where(outside, sign * far, np.cos(order * np.arccos(np.where(outside, 0.0, x))))
    if count % 2 == 0:
        p = p * np.exp(1j * np.pi / count * np.arange(count))
    w = np.real(np.fft.fft(p))
    n = (count + 1) // 2 if count % 2 else count // 2 + 1
    w = np.concatenate((w[1:n][::-1], w[:n] if count % 2 else w[1:n]))
    return w / np.max(w)


@window("sll")
def taylor(count: int, nbar: int, sll: Any, norm: bool) -> Array:
    """Give the window of a taper with near side lobes of one level; see Taylor 1955."""
    a = np.arccosh(10 ** (sll / 20)) / np.pi
    m = np.arange(1, nbar)
    scale = nbar**2 / (a**2 + (nbar - 0.5) ** 2)
    rows = []
    for i in range(nbar - 1):
        others = np.delete(m, i) ** 2
        above = (-1.0) ** i * np.prod(1 - m[i] ** 2 / scale / (a**2 + (m - 0.5) ** 2))
        rows.append(above / (2 * np.prod(1 - m[i] ** 2 / others)))
    weights = np.stack(rows) if rows else np.zeros(0)

    def at(n: Any) -> Any:
        return 1 + 2 * weights @ np.cos(2 * np.pi * m[:, None] * (n - count / 2.0 + 0.5) / count)

    w = at(np.arange(count))
    return w / at(np.array([(count - 1) / 2]))[0] if norm else w


dpss = scipy_function(scipy.signal.windows.dpss, "tape_ad.scipy.signal.windows")
NAMED["dpss"] = dpss
WINDOWS[dpss] = Refused(
    "NW= is not given a derivative; pass its value, .data, or write "
    "kaiser(M, beta), which is close to it and has one"
)

SPOKEN: dict[str, str] = {
    **dict.fromkeys(("kaiser", "ksr"), "kaiser"),
    **dict.fromkeys(("kaiser bessel derived", "kbd"), "kaiser_bessel_derived"),
    **dict.fromkeys(("gaussian", "gauss", "gss"), "gaussian"),
    **dict.fromkeys(
        ("general gaussian", "general_gauss", "general gauss", "ggs"), "general_gaussian"
    ),
    **dict.fromkeys(("general cosine",), "general_cosine"),
    **dict.fromkeys(("general hamming",), "general_hamming"),
    **dict.fromkeys(("poisson",), "exponential"),
    **dict.fromkeys(("tuk",), "tukey"),
    **dict.fromkeys(("cheb",), "chebwin"),
    **dict.fromkeys(("taylorwin",), "taylor"),
}
"""The other names of windows that have a parameter."""


@scipy_composition(WINDOWS, scipy.signal.get_window, "window", trees="window")
def get_window(window: Any, Nx: int, fftbins: bool = True) -> Array:  # noqa: N803 - SciPy's name
    """Make a window by its name, as `scipy.signal.get_window` does.

    Parameters
    ----------
    window : str, tuple, number or Tensor
        A name; a tuple of one and of parameters, which may be handles; or Kaiser's beta.
    Nx : int
        The number of points.
    fftbins : bool
        Whether it is periodic.

    Returns
    -------
    array or Tensor, shape (Nx,)
    """
    if not isinstance(window, tuple):
        if np.ndim(window):
            raise ShapeError(
                f"get_window takes a name, a tuple or a number, got shape {np.shape(window)}"
            )
        return NAMED["kaiser"](Nx, window, not fftbins)
    name: str = window[0]
    parameters = window[1:]
    for ending, symmetric in (("_symmetric", True), ("_periodic", False)):
        if name.endswith(ending):
            name, fftbins = name.removesuffix(ending), not symmetric
    public = NAMED.get(SPOKEN.get(name, name))
    if public is None:
        raise ValueError(f"{window[0]!r} is no window that takes parameters")
    return public(Nx, *map(joined, parameters), sym=not fftbins)


EVERY: dict[str, Any] = {
    name: NAMED.get(name, getattr(scipy.signal.windows, name))
    for name in scipy.signal.windows.__all__
}
"""The public functions, SciPy's own where there is no parameter."""
EVERY["get_window"] = get_window


def window_taps(name: str, window: Any, count: int, *, periodic: bool) -> Array:
    """Make the window that a function is given, whose parameters may be handles."""
    if is_handle(window) and window.ndim:
        raise UnsupportedArgumentError(
            f"tape_ad.scipy.signal.{name}: window= is a handle of shape {window.shape}, where "
            "SciPy takes a name, a tuple or a number"
        )
    if holds(window) or is_handle(window):
        return get_window(window, count, periodic)
    return scipy.signal.get_window(window, count, fftbins=periodic)
