"""`solve_bvp` on handles: by the equations of collocation that the solution meets."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate
import scipy.interpolate

from tape_ad import differentiable
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import (
    Array,
    any_handle,
    array_of,
    as_constant_handle,
    plain,
    refuse_handles,
)
from tape_ad.extend.solvers import implicit, on_plain_arrays, opaque, warn_unconverged

__all__ = ["solve_bvp"]

Function = Callable[..., Any]


@opaque
def solve_bvp(
    fun: Function,
    bc: Function,
    x: Any,
    y: Any,
    p: Any = None,
    S: Any = None,
    fun_jac: Function | None = None,
    bc_jac: Function | None = None,
    **options: Any,
) -> Any:
    """Solve a boundary value problem dy/dx = fun(x, y, p), as `scipy.integrate.solve_bvp` does.

    Parameters
    ----------
    fun : callable
        ``fun(x, y)`` or ``fun(x, y, p)``, written in NumPy where derivatives are asked for. It may
        close over handles.
    bc : callable
        ``bc(ya, yb)`` or ``bc(ya, yb, p)``, the same.
    x : array, shape (m,)
        The first mesh. May be a handle: the nodes that are added move with those beside them.
    y, p : array, shape (n, m) and (k,)
        Where to start. The solution does not depend on it.
    S : array, shape (n, n), optional
        Not where there are handles.
    fun_jac, bc_jac : callable, optional
    **options
        SciPy's `tol`, `max_nodes`, `verbose` and `bc_tol`.

    Returns
    -------
    scipy.integrate._bvp.BVPResult
        SciPy's; with handles, `y`, `yp`, `p`, `sol`, and `x` where the mesh is one.

    Raises
    ------
    SingularJacobianError
        Where the equations do not say how the solution moves.
    UnsupportedArgumentError
        For handles with a singular term, and in options.

    Notes
    -----
    The mesh is refined until the residual is within `tol`, and Newton's method stops within a small
    part of that. The derivatives are those of the equations on the last mesh.

    Examples
    --------
    >>> import tape_ad as ta
    >>> x, start = np.linspace(0, 1, 5), np.zeros((2, 5))
    >>> def slope(end):
    ...     fun, bc = lambda x, y: np.stack([y[1], y[0]]), lambda a, b: np.stack([a[0], b[0] - end])
    ...     return solve_bvp(fun, bc, x, start, tol=1e-6).y[1, 0]
    >>> ta.grad(slope)(1.0).round(5)  # 1 / sinh(1)
    np.float64(0.85092)
    """
    refuse_handles("solve_bvp", {"S": S, **options})
    searched = [each and on_plain_arrays(each) for each in (fun, bc, fun_jac, bc_jac)]
    mesh, starts = array_of(x), (array_of(y), None if p is None else array_of(p))
    solved = scipy.integrate.solve_bvp(
        searched[0], searched[1], plain(mesh), *plain(starts), S, *searched[2:], **options
    )
    handles = x, y, p, [each.found for each in searched if each]
    if not any_handle(handles):
        return solved
    if S is not None:
        raise UnsupportedArgumentError(
            "solve_bvp: with a singular term, S=, there are no derivatives; start the problem at a "
            "point next to the singular one, or pass .data of handles"
        )
    if not solved.success:
        warn_unconverged("solve_bvp", solved.message)
    nodes = moved_with(mesh, solved.x) if any_handle(mesh) else solved.x
    n, m = solved.y.shape
    further = np.zeros(0) if solved.p is None else solved.p

    def parts(unknowns: Any) -> tuple[Any, Any]:
        return unknowns[: n * m].reshape((n, m)), unknowns[n * m :]

    def slopes(x: Any, y: Any, p: Any) -> Any:
        return array_of(fun(x, y, p) if further.size else fun(x, y))

    def residual(unknowns: Any) -> Any:
        y, p = parts(unknowns)
        h, f = nodes[1:] - nodes[:-1], slopes(nodes, y, p)
        middle = (y[:, 1:] + y[:, :-1]) / 2 - h / 8 * (f[:, 1:] - f[:, :-1])
        at_middle = slopes(nodes[:-1] + h / 2, middle, p)
        collocated = y[:, 1:] - y[:, :-1] - h / 6 * (f[:, :-1] + f[:, 1:] + 4 * at_middle)
        ends = (y[:, 0], y[:, -1], p) if further.size else (y[:, 0], y[:, -1])
        return np.concatenate([collocated.reshape(-1), array_of(bc(*ends)).reshape(-1)])

    unknowns = np.concatenate([solved.y.reshape(-1), further])
    found = as_constant_handle(implicit(residual, unknowns, "solve_bvp"), handles)
    solved.y, p = parts(found)
    solved.p = p if further.size else None
    solved.x, solved.yp = nodes, slopes(nodes, solved.y, p)
    solved.sol = through(nodes, solved.y, solved.yp)
    return solved


def moved_with(mesh: Any, nodes: Array) -> Any:
    """Give the nodes of a refined mesh as a function of the first mesh, parts of whose steps stay.

    Parameters
    ----------
    mesh : Tensor, shape (m,)
    nodes : array

    Returns
    -------
    Tensor, shape of `nodes`
    """
    first = plain(mesh)
    left = np.clip(np.searchsorted(first, nodes, side="right") - 1, 0, first.size - 2)
    share = (nodes - first[left]) / (first[left + 1] - first[left])
    return mesh[left] * (1 - share) + mesh[left + 1] * share


def through(x: Any, y: Any, slopes: Any) -> Any:
    """Make the cubic spline with given values and slopes, shape (n, m) each."""
    h = x[1:] - x[:-1]
    slope = (y[:, 1:] - y[:, :-1]) / h
    bend = (slopes[:, :-1] + slopes[:, 1:] - 2 * slope) / h
    square = (slope - slopes[:, :-1]) / h - bend
    c = np.stack((bend / h, square, slopes[:, :-1], y[:, :-1]))
    kind = differentiable(scipy.interpolate.PPoly)
    return kind(np.moveaxis(c, 1, 0), x, extrapolate=True, axis=1)
