"""L-BFGS, by SciPy: for losses without chance in them, where every evaluation is the same."""

from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen

from tape_ad.base.errors import StoreMismatchError, extra
from tape_ad.base.trees import by_name, flatten, gives_copies, unflatten
from tape_ad.base.vectors import arrays_of, vector_of
from tape_ad.optim.clipping import (
    Plain,
    at_least_one,
    at_least_zero,
    check_apart,
    check_parameter,
)
from tape_ad.record.record import ComputationRecord
from tape_ad.record.tensor import Tensor


@frozen
class Minimum:
    """What a minimisation came to.

    Attributes
    ----------
    loss : float
        The loss at the parameters that are in the store now.
    iterations, evaluations : int
    converged : bool
        Whether one of the tolerances was reached, and not just a limit.
    message : str
        Why it ended, in SciPy's words.
    """

    loss: float
    iterations: int
    evaluations: int
    converged: bool
    message: str


@define(eq=False)
class LBFGS:
    """The quasi-Newton method with a limited memory, as `scipy.optimize.minimize` has it.

    It evaluates the loss as often as it needs, so it takes a function instead of gradients. It
    keeps nothing between calls.

    Parameters
    ----------
    max_iter : int
        The largest number of iterations.
    max_eval : int, optional
        The largest number of evaluations; 5/4 of `max_iter` when left out.
    tolerance_grad : float
        It ends where no element of the gradient is larger.
    tolerance_change : float
        It ends where an iteration lowers the loss by less, relative to the larger of the loss
        and 1.
    history_size : int
        How many steps are remembered to approximate the curvature.

    Notes
    -----
    Byrd, Lu, Nocedal & Zhu, https://doi.org/10.1137/0916069. The names and the default values are
    those of PyTorch's ``torch.optim.LBFGS``; the line search is SciPy's, whatever the rate. SciPy
    works in float64, and the store keeps its dtypes. Needs the extra ``scipy``.

    Examples
    --------
    >>> import numpy as np
    >>> params = {"x": np.array([-1.0, 2.0])}
    >>> rosenbrock = lambda p: 100 * (p["x"][1] - p["x"][0] ** 2) ** 2 + (1 - p["x"][0]) ** 2
    >>> result = LBFGS(max_iter=100).minimize(params, rosenbrock)
    >>> result.converged, params["x"].round(4)
    (True, array([1., 1.]))
    """

    max_iter: int = field(default=20, validator=at_least_one)
    max_eval: int | None = field(default=None, validator=at_least_one)
    tolerance_grad: float = field(default=1e-7, validator=at_least_zero)
    tolerance_change: float = field(default=1e-9, validator=at_least_zero)
    history_size: int = field(default=100, validator=at_least_one)

    def minimize(self, params: Any, loss: Callable[[Any], Any]) -> Minimum:
        """Lower a loss, and put the parameters that were found into the store, in place.

        Parameters
        ----------
        params : dict of str to array, or another tree of arrays
            The store, where the search begins. Until the end it is not written to: an error in
            between leaves it as it was.
        loss : callable
            Called with a bound store, on a fresh record each time; gives a real scalar handle.

        Returns
        -------
        Minimum

        Raises
        ------
        StoreMismatchError, InPlaceError
            When a parameter cannot be updated in place or has two names, or there is none.
        TypeError, SeedError
            When the loss is no handle, or not one real number.
        ImportError
            When SciPy is not installed.
        """
        with extra("scipy", "LBFGS"):
            import scipy.optimize
        start = dict(by_name(params).items())
        if not start:
            raise StoreMismatchError("LBFGS: the store is empty, so there is nothing to minimise")
        for name, p in start.items():
            check_parameter(name, p)
        check_apart(list(start), list(start.values()))

        def evaluate(x: Plain) -> tuple[float, Plain]:
            p = ComputationRecord().bind(unflatten(params, arrays_of(x, start.values())))
            value = loss(p)
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"LBFGS: the loss is a {type(value).__name__}, not a handle; compute it from "
                    "the bound store that the function is called with"
                )
            gradients = value.grad(release=True).wrt(p)  # which refuses what is no real number
            return value.item(), vector_of(flatten(gradients))

        limit = self.max_iter * 5 // 4 if self.max_eval is None else self.max_eval
        result = scipy.optimize.minimize(
            evaluate,
            vector_of(start.values()),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": self.max_iter,
                "maxfun": limit,
                "gtol": self.tolerance_grad,
                "ftol": self.tolerance_change,
                "maxcor": self.history_size,
            },
        )
        write_back = gives_copies(params)
        for name, array in zip(start, arrays_of(result.x, start.values()), strict=True):
            start[name][...] = array
            if write_back:
                params[name] = start[name]
        return Minimum(
            loss=float(result.fun),
            iterations=int(result.nit),
            evaluations=int(result.nfev),
            converged=bool(result.success),
            message=str(result.message),
        )
