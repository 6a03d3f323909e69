"""Integrals by SciPy's adaptive rules, and Leibniz' rule for their derivatives.

An integrand depends on handles in ways unknown.

    d/dp ∫ f(x, p) dx  =  f(b) db/dp - f(a) da/dp + ∫ ∂f/∂p dx

The last integral is computed by the same function and to the same tolerances as the first one. For
records within records the rule is applied from the outside in, so that each derivative is an
integral that has derivatives as well.
"""

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad import Tensor
from tape_ad.errors import DtypeError
from tape_ad.extend.arrays import any_handle, array_of, as_constant_handle, primal, refuse_handles
from tape_ad.extend.solvers import nested, opaque, outside, records_of, up_to
from tape_ad.scipy.counterparts import named, signed_as
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.integrate.runge_kutta import Functional
from tape_ad.transforms.excerpts import HandleMet, Watched, alert

__all__ = ["newton_cotes", "quad", "quad_vec"]

Function = Callable[..., Any]


def by_leibniz(watched: Watched, value: Any, a: Any, b: Any, integrals: Function) -> Any:
    """Give an integral its derivatives.

    Parameters
    ----------
    watched : Watched
        The integrand, which has been called at the points that the integral was computed from.
    value : array
        The integral.
    a, b : float or Tensor
        The limits.
    integrals : callable
        ``integrals(integrand, size, a, b)`` integrates a function that gives so many numbers,
        of plain arrays or of handles, shape (size,).

    Returns
    -------
    Tensor, or `value` where nothing is a handle
    """
    shape = np.shape(value)
    for record in nested([*watched.records, *records_of(a), *records_of(b)]):
        if value.dtype.kind == "c":
            raise DtypeError(
                f"{watched.name}: the derivatives of a complex integral are not given; integrate "
                "the real and the imaginary part as functions of their own"
            )
        ends = outside(record, a), outside(record, b)
        parents, partials = [], []
        for end, below, sign in zip((a, b), ends, (-1.0, 1.0), strict=True):
            at = up_to(record, end)
            if type(at) is Tensor and at.record is record:
                parents.append(at.index)
                slope = end_value(watched, record, below, shape)
                partials.append(Functional(sign * slope.reshape(-1, 1), shape, ()))
        slopes = Slopes(watched, record, watched.sources_in(record), shape)
        if slopes.nodes:
            size = int(np.prod(shape))
            matrix = integrals(slopes, size * slopes.width, *ends).reshape(size, slopes.width)
            parents += slopes.nodes
            partials += slopes.maps(matrix)
        if parents:
            value = record.note(by_leibniz, (), {}, value, parents, partials)
    return value


def end_value(watched: Watched, record: Any, end: Any, shape: Any) -> Any:
    """Give the integrand at a limit; 0 at an infinite one, where there is no other."""
    if np.isinf(primal(end)):
        return np.zeros(shape)
    return outside(record, watched.evaluated(end)[0])


@define(eq=False)
class Slopes:
    """The derivatives of an integrand by nodes of a record, as a function of a number.

    Attributes
    ----------
    watched : Watched
    record : ComputationRecord
    nodes : list of int
    shape : tuple of int
        That of what the integrand gives.
    width : int
        How many numbers all nodes are, a complex one being two.
    """

    watched: Watched
    record: Any
    nodes: list[int]
    shape: tuple[int, ...]
    width: int = field(init=False)
    _known: dict[float, Any] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.width = sum(size * (2 if is_complex else 1) for _, size, is_complex in self._spaces())

    def _spaces(self) -> list[tuple[Any, int, bool]]:
        """List the shape and the size of each node, and whether it is complex."""
        record = self.record
        return [
            (record.shapes[node], math.prod(record.shapes[node]), record.dtypes[node].kind == "c")
            for node in self.nodes
        ]

    def __call__(self, x: Any) -> Any:
        """Derive all elements by all nodes, shape (elements * width,)."""
        if type(x) is float and x in self._known:  # the integrals of all elements begin alike
            return self._known[x]
        size = math.prod(self.shape)
        seed = np.eye(size).reshape(size, *self.shape)
        rows = []
        found = self.watched.cotangents(self.record, x, self.nodes, seed)
        for ct, (_, length, is_complex) in zip(found, self._spaces(), strict=True):
            if ct is None:
                rows.append(np.zeros((size, length * (2 if is_complex else 1))))
                continue
            block = outside(self.record, ct).reshape(size, length)
            rows += [block.real, block.imag] if is_complex else [block]
        derivatives: Any = np.concatenate(rows, axis=1).reshape(-1)
        if type(x) is float and type(derivatives) is not Tensor:
            self._known[x] = derivatives
        return derivatives

    def maps(self, matrix: Any) -> list[Functional]:
        """Make the maps of the nodes from all their derivatives, shape (elements, width)."""
        maps, start = [], 0
        for shape, size, is_complex in self._spaces():
            part = matrix[:, start : start + size]
            start += size
            if is_complex:
                part = part + 1j * matrix[:, start : start + size]
                start += size
            maps.append(Functional(part, self.shape, shape))
        return maps


@opaque
@signed_as(scipy.integrate.quad)
def quad(
    func: Any, a: Any, b: Any, args: Any = (), full_output: Any = 0, *more: Any, **options: Any
) -> Any:
    """Compute a definite integral, as `scipy.integrate.quad` does.

    Parameters
    ----------
    func : callable
        ``func(x, *args)``, a number; written in NumPy where derivatives are asked for. It may
        close over handles.
    a, b : float
        The limits, which may be handles where there is no `weight`. With respect to an infinite
        one the derivative is 0.
    args : tuple
        Further arguments of `func`: handles, or trees of them. Each element that the integrand
        depends on takes an integral of its own.
    full_output, epsabs, epsrel, limit, points, weight, wvar, wopts, maxp1, limlst, complex_func
        As in SciPy, not handles. The tolerances are those of the derivatives' integrals too.

    Returns
    -------
    y : float or Tensor
        The integral.
    abserr : float
        What SciPy estimates for the error.
    more
        With `full_output`, as in SciPy.

    Raises
    ------
    UnsupportedArgumentError
        Where a handle may not be given, and for a function with a cache of handles.

    Examples
    --------
    >>> import tape_ad as ta
    >>> ta.grad(lambda k: quad(lambda x: np.exp(-k * x), 0, np.inf)[0])(2.0).round(8)
    np.float64(-0.25)
    """
    args = args if isinstance(args, tuple) else (args,)
    options |= named(scipy.integrate.quad, 5, more)
    complex_func = options.pop("complex_func", False)
    refuse_handles("quad", options)
    if not callable(func):  # a LowLevelCallable, which is a tuple of C functions
        refuse_handles("quad", {"a": a, "b": b, "args": args})
        return scipy.integrate.quad(func, a, b, args, full_output, **options)
    if options.get("weight") is not None:
        refuse_handles("quad, with weight=", {"a": a, "b": b})
    if complex_func:
        return complex_quad(func, a, b, args, full_output, options)
    if not any_handle((a, b, args)):
        with contextlib.suppress(HandleMet):
            return scipy.integrate.quad(alert(func), a, b, args, full_output, **options)
    watched = Watched(lambda x: func(x, *args), "quad", as_number)
    value, *rest = scipy.integrate.quad(watched, primal(a), primal(b), (), full_output, **options)

    def integrals(integrand: Function, size: int, a: Any, b: Any) -> Any:
        return np.stack([quad(element(integrand, i), a, b, **options)[0] for i in range(size)])

    if watched.records or any_handle((a, b, args)):
        value = by_leibniz(watched, np.float64(value), a, b, integrals)
        value = as_constant_handle(value, a, b, args)
    return value, *rest


def as_number(value: Any) -> Any:
    """Give what a function returns as an array without axes."""
    return array_of(value).reshape(())


def element(integrand: Function, i: int) -> Function:
    """Make the function that gives one element of what another one gives."""
    return lambda x: integrand(x)[i]


def complex_quad(func: Any, a: Any, b: Any, args: Any, full_output: Any, options: Any) -> Any:
    """Integrate the real and the imaginary part of a function, as SciPy does."""

    def part(name: str) -> Any:
        of_func = lambda x, *args: getattr(array_of(func(x, *args)), name)  # noqa: E731 - it is short
        return quad(of_func, a, b, args, full_output, **options)

    re, im = part("real"), part("imag")
    value, error = re[0] + 1j * im[0], re[1] + 1j * im[1]
    return (value, error, {"real": re[2:], "imag": im[2:]}) if full_output else (value, error)


@opaque
@signed_as(scipy.integrate.quad_vec)
def quad_vec(f: Function, a: Any, b: Any, *more: Any, args: Any = (), **options: Any) -> Any:
    """Compute the integral of a vector-valued function, as `scipy.integrate.quad_vec` does.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, an array of real numbers; it may close over handles.
    a, b : float
        The limits, which may be handles.
    args : tuple
        Further arguments of `f`: handles, or trees of them. All derivatives are one integral.
    epsabs, epsrel, norm, cache_size, limit, workers, points, quadrature, full_output
        As in SciPy, not handles.

    Returns
    -------
    res : array or Tensor
        The integral.
    err : float
        What SciPy estimates for the error.
    info : object
        With `full_output`, as in SciPy.

    Raises
    ------
    UnsupportedArgumentError
        Where a handle may not be given, and for a function with a cache of handles.
    DtypeError
        For a complex integrand with handles.

    Examples
    --------
    >>> quad_vec(lambda x, k: np.cos(k * x), 0, 1, args=(np.array([1.0, 2.0]),))[0].round(6)
    array([0.841471, 0.454649])
    """
    args = args if isinstance(args, tuple) else (args,)
    options |= named(scipy.integrate.quad_vec, 3, more)
    refuse_handles("quad_vec", options)
    if options.get("workers", 1) != 1 and not any_handle((a, b, args)):
        return scipy.integrate.quad_vec(f, a, b, args=args, **options)  # processes know no handles
    options.pop("workers", None)
    if not any_handle((a, b, args)):
        with contextlib.suppress(HandleMet):
            return scipy.integrate.quad_vec(alert(f), a, b, args=args, **options)
    watched = Watched(lambda x: f(x, *args), "quad_vec")
    value, *rest = scipy.integrate.quad_vec(watched, primal(a), primal(b), **options)
    options.pop("full_output", None)

    def integrals(integrand: Function, size: int, a: Any, b: Any) -> Any:
        return quad_vec(integrand, a, b, **options)[0]

    value = by_leibniz(watched, value, a, b, integrals)
    return as_constant_handle(value, a, b, args), *rest


def newton_cotes(rn: Any, equal: int = 0) -> Any:
    """Give the weights of a rule for samples, as `scipy.integrate.newton_cotes`; not for handles.

    Examples
    --------
    >>> newton_cotes(2)[0] * 3
    array([1., 4., 1.])
    """
    refuse_handles("newton_cotes", {"rn": rn})
    return scipy.integrate.newton_cotes(rn, equal)
