"""Least squares that SciPy has found, linear ones too, as handles; see `constraints`."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import grad, jacobian
from tape_ad.errors import SingularJacobianError, UnsupportedArgumentError
from tape_ad.extend.arrays import (
    Array,
    any_handle,
    array_of,
    as_constant_handle,
    plain,
    refuse_handles,
)
from tape_ad.extend.solvers import (
    implicit,
    on_plain_arrays,
    opaque,
    records_in,
    squares_for_all,
    valued,
    vanishes,
    warn_unconverged,
)
from tape_ad.scipy.counterparts import named, signed_as
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.optimize.constraints import (
    NEGLIGIBLE,
    VANISHING,
    Constraint,
    box,
    in_a_row,
    near,
    plain_bounds,
    stationary,
    warn_if_not,
)
from tape_ad.scipy.optimize.objectives import Equations, check_option, in_a_vector, with_trees
from tape_ad.scipy.optimize.roots import as_tuple, by_minpack
from tape_ad.scipy.sparse.linalg import spsolve

__all__ = ["curve_fit", "isotonic_regression", "least_squares", "leastsq", "lsq_linear", "nnls"]

Function = Callable[..., Any]

SMALL = 100, 1_000_000
"""Up to how many unknowns, and entries, the Jacobian of a tree is a dense array, with which SciPy
takes exact steps; with a sparse one it iterates."""

DIFFERENCES = "2-point", "3-point", "cs"

LOSSES: dict[str, Function] = {
    "linear": lambda z: z,
    "soft_l1": lambda z: 2 * ((1 + z) ** 0.5 - 1),
    "huber": lambda z: np.where(z <= 1, z, 2 * np.where(z <= 1, 1.0, z) ** 0.5 - 1),
    "cauchy": np.log1p,
    "arctan": np.arctan,
}
"""What SciPy makes of a squared residual."""


@opaque
def least_squares(
    fun: Function,
    x0: Any,
    jac: Any = None,
    bounds: Any = (-np.inf, np.inf),
    *,
    args: Any = (),
    kwargs: Any = None,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    compile: bool = False,
    **options: Any,
) -> Any:
    """Minimize a sum of squares, as `scipy.optimize.least_squares` does.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args, **kwargs)``, an array; it may close over handles.
    x0 : array, shape (n,), or tree of real arrays
        Where to start. The minimum does not depend on it. With a tree, `fun` takes one and may
        return one, and `x` in the result is one.
    jac : {"2-point", "3-point", "cs", "sparse"} or callable, optional
        Left out, it is the exact Jacobian: a dense matrix, but a sparse one for a large tree, or
        with SciPy's option `jac_sparsity`. With "sparse" it is sparse, by
        `tape_ad.sparse_jacobian`; the others are SciPy's differences, of which "cs" is not for
        trees. A function is called as `fun` is, and gives a matrix.
    bounds : pair of array or Bounds
        May be handles. With a tree, `x0` with a pair (lower, upper) in place of each array.
    args, kwargs : tuple and dict
        Further arguments, with handles among them.
    loss : str
        One of SciPy's. A function of one's own is not for handles.
    f_scale : float
    compile : bool
        Whether to compile `fun` and its Jacobian by `tape_ad.compile`, as `minimize` does.
    **options
        All others of SciPy's, by name.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x`, `fun` and `cost` are.

    Raises
    ------
    SingularJacobianError
        Where the Hessian of the cost is singular at the minimum.
    UnsupportedArgumentError
        For a loss of one's own, and for a handle in an option.
    ValueError
        For another `jac`.

    Examples
    --------
    >>> import tape_ad as ta
    >>> def mean(data):
    ...     return least_squares(lambda x: x - data, [0.0]).x[0]
    >>> ta.grad(mean)(np.array([1.0, 2.0])).round(6)
    array([0.5, 0.5])
    """
    kwargs = {} if kwargs is None else kwargs
    args = as_tuple(args)
    refuse_handles("least_squares", {**options, "f_scale": f_scale, "loss": loss})
    function = functools.partial(fun, **plain(kwargs)) if kwargs else fun
    searched = Equations(
        function, plain(x0), plain(args), compile, name="least_squares", differences="jac='2-point'"
    )
    known = DIFFERENCES[:2] if searched.is_tree else DIFFERENCES
    check_option("least_squares", "jac", jac, "sparse", *known)
    if searched.is_tree and callable(options.get("callback")):
        options["callback"] = with_trees(options["callback"], searched)
    bounds = ends(bounds, x0) if searched.is_tree else bounds
    limits = pair_of(bounds)

    def residual(x: Any) -> Any:
        return in_a_vector(fun(searched.tree(x), *args, **kwargs))

    def cost(x: Any) -> Any:
        return f_scale**2 * np.sum(LOSSES[loss]((residual(x) / f_scale) ** 2)) / 2

    found = None
    if jac is None and loss == "linear" and not limits and not options.keys() - set(TOLERANCES):
        given = [options.get(name, 1e-8) or 0.0 for name in TOLERANCES]
        found = squares_for_all(residual, searched.x0, *given)
    slope = grad(cost)
    derived = found and records_in(cost(found.x))
    if found and (not derived or vanishes(slope, found.x, VANISHING)):
        moved = implicit(slope, found.x, "least_squares")
        x = as_constant_handle(moved, x0, args, kwargs)
        return scipy.optimize.OptimizeResult(
            x=searched.tree(x),
            fun=residual(x),
            cost=cost(x),
            jac=found.slope,
            grad=found.value @ found.slope,
            optimality=np.max(np.abs(found.value @ found.slope)),
            active_mask=np.zeros(np.shape(searched.x0)),
            success=True,
            status=2,
            message="`ftol` termination condition is satisfied.",
            **found.counts,
        )
    result = scipy.optimize.least_squares(
        searched.values,
        searched.x0,
        slopes_for(searched, jac, plain(kwargs), options),
        plain_bounds(bounds),
        loss=loss,
        f_scale=f_scale,
        **options,
    )
    handles = x0, args, kwargs, [(each.lower, each.upper) for each in limits]
    x, result.x = result.x, searched.tree(result.x)
    if not any_handle((handles, searched.found)):
        return result
    if callable(loss):
        raise UnsupportedArgumentError(
            f"least_squares: loss= is a function of its own, which has no derivative here; write "
            f"one of {', '.join(LOSSES)}, or ta.scipy.optimize.minimize of the cost"
        )
    if not result.success:
        warn_unconverged("least_squares", result.message)
    if any_handle((handles[1:], searched.found)):  # a start alone has no influence
        x = minimum("least_squares", slope, x, limits)
    x = as_constant_handle(x, handles)
    result.x = searched.tree(x)
    result.fun, result.cost = residual(x), cost(x)
    return result


TOLERANCES = ("ftol", "xtol", "gtol")
"""The options that a search for all of a batch knows."""


def slopes_for(searched: Equations, jac: Any, kwargs: Any, options: dict[str, Any]) -> Any:
    """Choose the Jacobian that SciPy is given."""
    if callable(jac):
        return searched.wrapped(lambda x: jac(searched.tree(x), *searched.args, **kwargs))
    if jac is not None and jac != "sparse":
        return jac
    pattern = options.pop("jac_sparsity", None)
    if jac is None and pattern is None and not searched.is_tree:
        return searched.jac
    exact = searched.sparse(pattern)
    asked = options.get("method") == "lm" or options.get("tr_solver") == "exact"

    def slopes(x: Array) -> Array:
        if jac is None and searched.found:  # a sparse one takes no handles that are closed over
            return searched.jac(x)
        found = exact(x)
        return found.toarray() if jac is None and (asked or is_small(found)) else found

    return slopes


def is_small(matrix: Any) -> bool:
    """Tell whether a Jacobian is worth no sparse steps."""
    unknowns, entries = SMALL
    rows, columns = matrix.shape
    return bool(columns <= unknowns and rows * columns <= entries)


def ends(bounds: Any, x0: Any) -> Any:
    """Take bounds like a tree, with a pair in place of each array, to SciPy's pair of vectors."""
    pairs = in_a_row(bounds, x0)
    if pairs is bounds:
        return bounds
    lower, upper = zip(*pairs, strict=True)
    return (
        [-np.inf if bound is None else bound for bound in lower],
        [np.inf if bound is None else bound for bound in upper],
    )


@opaque
def leastsq(
    func: Function,
    x0: Any,
    args: Any = (),
    Dfun: Any = None,
    full_output: Any = False,
    col_deriv: Any = False,
    *,
    compile: bool = False,
    **more: Any,
) -> Any:
    """Minimize a sum of squares, as `scipy.optimize.leastsq`; see `least_squares`.

    Without `Dfun` the Jacobian is derived; ``Dfun=False`` takes SciPy's differences.

    Examples
    --------
    >>> leastsq(lambda x: x - np.array([1.0, 2.0]), [0.0])[0].round(6)
    array([1.5])
    """
    args = as_tuple(args)
    given = func, x0, args, Dfun, full_output, col_deriv
    x, rest, handle = by_minpack(scipy.optimize.leastsq, "Dfun", given, compile, more)
    if any_handle((handle, x0, args)):
        cost = lambda x: np.sum(array_of(func(x, *args)) ** 2) / 2  # noqa: E731 - it is short
        x = minimum("leastsq", grad(cost), x, []) if any_handle((handle, args)) else x
        x = as_constant_handle(x, (x0, args))
    return x, *rest


def minimum(name: str, slope: Function, x: Array, limits: list[Constraint]) -> Any:
    """Make a handle of what minimizes a cost, of which the gradient is given."""
    handle, holds = stationary(slope, np.asarray(x, float), limits, name)
    warn_if_not(holds, name)
    return handle


def pair_of(bounds: Any) -> list[Constraint]:
    """Read bounds that are a pair of arrays, or a `Bounds`; none where they are infinite."""
    pair = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    found = [box(*map(array_of, pair))]
    ends = plain((found[0].lower, found[0].upper))
    return found if any(np.isfinite(end).any() for end in ends) else []


# Curves


@opaque
@signed_as(scipy.optimize.curve_fit, compile=False)
def curve_fit(
    f: Function, xdata: Any, ydata: Any, *more: Any, compile: bool = False, **options: Any
) -> Any:
    """Fit a curve to data, as `scipy.optimize.curve_fit` does.

    Parameters
    ----------
    f : callable
        ``f(xdata, *parameters)``, written in NumPy where derivatives are asked for.
    xdata : array or any
        May be a handle, or a tree of them.
    ydata : array, shape (m,)
        May be a handle.
    p0 : array, optional
        Where to start. The fit does not depend on it.
    sigma : number, array of shape (m,) or (m, m), optional
        Standard deviations, or covariances. May be a handle.
    absolute_sigma, check_finite, bounds, method, full_output
        As in SciPy; bounds may be handles.
    jac : {"2-point", "3-point", "cs"} or callable, optional
        As in SciPy, but left out it is the exact Jacobian, with every method.
    nan_policy : str, optional
        As in SciPy; "omit" is not for handles.
    compile : bool
        Whether to compile `f` and its Jacobian by `tape_ad.compile`, as `minimize` does.
    **options
        Those of `leastsq` or `least_squares`, too.

    Returns
    -------
    popt : array or Tensor, shape (n,)
        The parameters.
    pcov : array or Tensor, shape (n, n)
        Their covariances: SciPy's numbers, with the derivatives of the formula for them.
    more
        With `full_output`, as in SciPy.

    Raises
    ------
    SingularJacobianError
        Where the data do not determine the parameters.

    Examples
    --------
    >>> import tape_ad as ta
    >>> x = np.array([0.0, 1.0, 2.0])
    >>> slope = lambda y: curve_fit(lambda x, a, b: a * x + b, x, y)[0][0]
    >>> ta.grad(slope)(np.array([1.0, 3.0, 5.5])).round(6) + 0.0
    array([-0.5,  0. ,  0.5])
    """
    options |= named(scipy.optimize.curve_fit, 3, more)
    p0, sigma, jac, method = (options.get(name) for name in ("p0", "sigma", "jac", "method"))
    bounds = options.get("bounds", (-np.inf, np.inf))
    smooth = {"p0", "sigma", "bounds"}
    refuse_handles("curve_fit", {name: options[name] for name in options.keys() - smooth})
    check_option("curve_fit", "jac", jac, *DIFFERENCES)
    curve = Equations(
        lambda p, x: f(x, *p), (), (), compile, name="curve_fit", differences="jac='2-point'"
    )

    @functools.wraps(f)
    def searched(x: Any, *p: Any) -> Any:
        curve.args = (x,)
        return curve.values(np.array(p))

    def exact(x: Any, *p: Any) -> Any:
        curve.args = (x,)
        found = curve.jac(np.array(p))
        return found.T if options.get("col_deriv", False) else found

    slopes: Any = exact
    if callable(jac):
        slopes = on_plain_arrays(jac)
    elif jac is not None:  # but `leastsq` takes differences when it is told nothing
        lm = method == "lm" or (method is None and not pair_of(bounds))
        slopes = None if lm else jac
    given = options | {"p0": plain(p0), "bounds": plain_bounds(bounds), "jac": slopes}
    given["sigma"] = plain(array_of(sigma) if any_handle(sigma) else sigma)
    data = plain((xdata, array_of(ydata) if any_handle(ydata) else ydata))
    popt, pcov, *rest = scipy.optimize.curve_fit(searched, *data, **given)
    limits = pair_of(bounds)
    handles = xdata, ydata, p0, sigma, [(each.lower, each.upper) for each in limits]
    if not any_handle((curve.found, handles)):
        return popt, pcov, *rest
    if options.get("nan_policy") == "omit" and np.isnan(plain(array_of(ydata))).any():
        raise UnsupportedArgumentError(
            'curve_fit: nan_policy="omit" is not for handles; leave the nan out of the data'
        )
    if isinstance(xdata, (list, tuple)):
        xdata = array_of(xdata)

    def residual(p: Any) -> Any:
        difference = array_of(f(xdata, *p)) - array_of(ydata)
        if sigma is None:
            return difference
        spread = array_of(sigma)
        if spread.size == 1 or spread.ndim < 2:
            return difference / spread
        return np.linalg.solve(np.linalg.cholesky(spread), difference)

    def cost(p: Any) -> Any:
        return np.sum(residual(p) ** 2) / 2

    popt = minimum("curve_fit", grad(cost), popt, limits)
    popt = as_constant_handle(popt, handles)
    if np.all(np.isfinite(pcov)):
        at_best = jacobian(residual)(popt)
        covariance = np.linalg.inv(at_best.mT @ at_best)
        if not options.get("absolute_sigma"):
            freedom = at_best.shape[0] - at_best.shape[1]
            covariance = covariance * (np.sum(residual(popt) ** 2) / freedom)
        pcov = as_constant_handle(valued(covariance, pcov), handles)
    return popt, pcov, *rest


@opaque
def nnls(A: Any, b: Any, *args: Any, **options: Any) -> Any:
    """Minimize ``|A x - b|`` for x without negative elements, as `scipy.optimize.nnls` does.

    Parameters
    ----------
    A : array or Tensor, shape (m, n)
    b : array or Tensor, shape (m,)
    *args, **options
        SciPy's `maxiter`.

    Returns
    -------
    x : array or Tensor, shape (n,)
        Elements that are held at 0 stay there.
    rnorm : float or Tensor
        The norm of the residual.

    Raises
    ------
    SingularJacobianError
        Where the columns for the others are not independent.

    Examples
    --------
    >>> nnls(np.eye(2), np.array([1.0, -1.0]))[0]
    array([1., 0.])
    """
    refuse_handles("nnls", {"maxiter": (args, options)})
    if not any_handle((A, b)):
        return scipy.optimize.nnls(A, b, *args, **options)
    A, b = array_of(A), array_of(b)
    x, rnorm = scipy.optimize.nnls(plain(A), plain(b), *args, **options)
    x = minimum("nnls", lambda x: A.mT @ (A @ x - b), x, [box(0.0, np.inf)])
    return x, valued(np.linalg.norm(A @ x - b), rnorm)


@opaque
def lsq_linear(A: Any, b: Any, bounds: Any = (-np.inf, np.inf), *args: Any, **options: Any) -> Any:
    """Minimize ``|A x - b|`` between bounds, as `scipy.optimize.lsq_linear` does.

    Parameters
    ----------
    A : array or Tensor, shape (m, n)
    b : array or Tensor, shape (m,)
    bounds : pair of array or Bounds
        May be handles.
    *args, **options
        As in SciPy.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x`, `cost` and `fun` are.

    Raises
    ------
    SingularJacobianError
        Where the columns of what is not held at a bound are not independent.

    Examples
    --------
    >>> lsq_linear(np.eye(2), np.array([1.0, 3.0]), bounds=(0.0, 2.0)).x.round(6)
    array([1., 2.])
    """
    refuse_handles("lsq_linear", {**options, "further arguments": args})
    limits = pair_of(bounds)
    handles = A, b, [(each.lower, each.upper) for each in limits]
    if not any_handle(handles):
        return scipy.optimize.lsq_linear(A, b, bounds, *args, **options)
    sparse = scipy.sparse.issparse(A)
    A, b = A if sparse else array_of(A), array_of(b)
    result = scipy.optimize.lsq_linear(plain(A), plain(b), plain_bounds(bounds), *args, **options)
    if not result.success:
        warn_unconverged("lsq_linear", result.message)
    if sparse:
        result.x = sparse_minimum(A.tocsc(), b, result.x, limits)
    else:
        result.x = minimum("lsq_linear", lambda x: A.mT @ (A @ x - b), result.x, limits)
    result.fun = valued(A @ result.x - b, result.fun)
    result.cost = valued(np.sum(result.fun**2) / 2, result.cost)
    return result


def sparse_minimum(A: Any, b: Any, x: Array, limits: list[Constraint]) -> Any:
    """Make a handle of what minimizes |A x - b| for a sparse matrix, which is no handle.

    What is held at a bound moves with it, and the rest solves the normal equations.
    """
    slope = A.T @ (A @ x - plain(b))
    low = high = np.zeros(x.shape, bool)
    held: Any = np.zeros(x.shape)
    if limits:
        lower, upper = limits[0].bounds(x.size)
        pushing = abs(slope) > NEGLIGIBLE * np.max(abs(slope))
        low = pushing & (slope > 0) & near(x, plain(lower))
        high = pushing & (slope < 0) & near(x, plain(upper))
        held = np.where(low, lower, np.where(high, upper, 0.0))
    free = ~(low | high)
    chosen, columns = scipy.sparse.eye_array(x.size, format="csr")[:, free], A[:, free]
    normal = (columns.T @ columns).tocsc()
    check_rank(normal)
    moving = spsolve(normal, columns.T @ (b - A @ held)) if free.any() else np.zeros(0)
    return as_constant_handle(valued(held + chosen @ moving, x), b, held)


def check_rank(normal: Any) -> None:
    """Refuse normal equations that have no solution or several.

    Raises
    ------
    SingularJacobianError
    """
    try:
        pivots = abs(scipy.sparse.linalg.splu(normal).U.diagonal())
        regular = np.min(pivots, initial=1.0) > 1e-13 * np.max(pivots, initial=0.0)
    except RuntimeError:
        regular = False
    if not regular:
        raise SingularJacobianError(
            "lsq_linear: the columns of A for what is not held at a bound are not independent, so "
            "that the minimum is not the only one, and has no derivative; leave such columns out, "
            "or pass plain numbers where no gradient is wanted"
        )


@opaque
def isotonic_regression(y: Any, *, weights: Any = None, increasing: bool = True) -> Any:
    """Fit numbers in order, as `scipy.optimize.isotonic_regression` does.

    Parameters
    ----------
    y : array or Tensor, shape (n,)
    weights : array or Tensor, shape (n,), optional
    increasing : bool

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's; with handles, `x` and `weights` are. The blocks of equal numbers do not change.

    Examples
    --------
    >>> import tape_ad as ta
    >>> last = lambda y: isotonic_regression(y).x[-1]
    >>> ta.grad(last)(np.array([1.0, 4.0, 2.0]))
    array([0. , 0.5, 0.5])
    """
    if not any_handle((y, weights)):
        return scipy.optimize.isotonic_regression(y, weights=weights, increasing=increasing)
    y = np.atleast_1d(array_of(y))
    w = np.ones(y.shape) if weights is None else np.atleast_1d(array_of(weights))
    found = scipy.optimize.isotonic_regression(plain(y), weights=plain(w), increasing=increasing)
    starts = found.blocks[:-1]
    total = np.add.reduceat(w, starts)
    means = np.add.reduceat(w * y, starts) / total
    found.x = valued(means[np.repeat(np.arange(starts.size), np.diff(found.blocks))], found.x)
    found.weights = as_constant_handle(valued(total, found.weights), y)
    return found
