"""SciPy's multivariate distributions as objects whose methods take handles."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, any_handle
from tape_ad.scipy.counterparts import joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stats.multivariate import COMPOSED, MULTIVARIATE

__all__ = ["FrozenMultivariate", "Multivariate"]

CONSTANTS = {"multinomial": ("x", "n"), "dirichlet_multinomial": ("x", "n")}
"""Arguments that are counts."""

POINTS = {"normal_inverse_gamma": 2}
"""How many variables a density has, where it is not one."""


@frozen(eq=False, repr=False)
class Multivariate:
    """A distribution of vectors or matrices, whose methods take handles for what is smooth.

    On plain arrays every method gives what SciPy's gives. Call the distribution with its parameters
    to freeze them.

    Attributes
    ----------
    name : str

    Examples
    --------
    >>> import tape_ad as ta
    >>> from tape_ad.scipy import stats
    >>> mean = ta.ComputationRecord().tensor([0.0, 1.0])
    >>> stats.multivariate_normal.logpdf([2.0, 2.0], mean).grad().wrt(mean)
    array([2., 1.])
    """

    name: str
    _signature: inspect.Signature = field(init=False)

    @_signature.default
    def _sign(self) -> inspect.Signature:
        log = "logpmf" if (self.name, "logpmf") in COMPOSED else "logpdf"
        parameters = list(inspect.signature(COMPOSED[self.name, log]).parameters.values())
        return inspect.Signature(parameters[POINTS.get(self.name, 1) :])

    @property
    def scipy(self) -> Any:
        """SciPy's own object."""
        return getattr(scipy.stats, self.name)

    def __repr__(self) -> str:
        return f"tape_ad.scipy.stats.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> "FrozenMultivariate":
        """Freeze the parameters of the distribution."""
        seed = kwargs.pop("seed", None)
        bound = self._signature.bind(*args, **kwargs)
        if seed is not None and not any_handle((args, kwargs)):
            kwargs["seed"] = seed
        return FrozenMultivariate(self, dict(bound.arguments), kwargs.get("seed"))

    def __getattr__(self, name: str) -> Any:
        """Give one of SciPy's methods, or something of its that is no method."""
        theirs = getattr(self.scipy, name)
        return self._method(name, theirs) if callable(theirs) else theirs

    def _method(self, name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
        def method(*args: Any, **kwargs: Any) -> Any:
            if not any_handle((args, kwargs)):
                return theirs(*args, **kwargs)
            exponential = name in ("pdf", "pmf")
            key = self.name, f"log{name}" if exponential else name
            if key not in MULTIVARIATE:
                raise UnsupportedArgumentError(
                    f"scipy.stats.{self.name}.{name} does not take handles; pass .data of those "
                    "that are meant as constants"
                )
            bound = inspect.signature(COMPOSED[key]).bind(*args, **kwargs)
            self._check_counts(name, bound.arguments)
            bound.apply_defaults()
            out: Array = MULTIVARIATE[key](*map(joined, bound.args))
            return np.exp(out) if exponential else out

        method.__name__ = name
        method.__doc__ = f"See `scipy.stats.{self.name}.{name}`."
        return method

    def _check_counts(self, method: str, arguments: Any) -> None:
        for argument in CONSTANTS.get(self.name, ()):
            if any_handle(arguments.get(argument)):
                raise UnsupportedArgumentError(
                    f"scipy.stats.{self.name}.{method} cannot be differentiated with respect to "
                    f"{argument}; pass {argument}.data there if it is meant as a constant"
                )


@frozen(eq=False, repr=False)
class FrozenMultivariate:
    """A multivariate distribution with its parameters.

    Attributes
    ----------
    dist : Multivariate
    parameters : dict
    seed : any
        Of random numbers, for plain parameters.

    Examples
    --------
    >>> from tape_ad.scipy import stats
    >>> stats.dirichlet([1.0, 3.0]).mean()
    array([0.25, 0.75])
    """

    dist: Multivariate
    parameters: dict[str, Any]
    seed: Any = None

    def __repr__(self) -> str:
        pairs = (f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.dist!r}({', '.join(pairs)})"

    def __getattr__(self, name: str) -> Any:
        """Give a method with these parameters; what has no handle is SciPy's own."""
        if any_handle(self.parameters):
            if name in self.parameters:
                return self.parameters[name]
            method = getattr(self.dist, name)
            return lambda *args, **options: method(*args, **self.parameters, **options)
        theirs = getattr(self.dist.scipy(**self.parameters, seed=self.seed), name)
        if not callable(theirs):
            return theirs
        method = getattr(self.dist, name, None)

        def called(*args: Any, **options: Any) -> Any:
            if method is None or not any_handle((args, options)):
                return theirs(*args, **options)
            return method(*args, **self.parameters, **options)

        return called
