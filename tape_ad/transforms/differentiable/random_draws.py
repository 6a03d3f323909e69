"""Random numbers drawn with handles for parameters: a draw of the standard distribution, moved.

What does not depend on the parameters is drawn as NumPy draws it, with the same bits, and the rest
is NumPy's own formula on handles: ``loc + scale * rng.normal()``. Where the steps of a draw branch
on a parameter (the shape of a gamma distribution, a count), there is no such formula.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.errors import NoRuleError
from tape_ad.record.primals import primal
from tape_ad.transforms.differentiable.compiled import FOR_COMPILED
from tape_ad.transforms.differentiable.copying import MAKERS
from tape_ad.transforms.differentiable.kinds import standing
from tape_ad.transforms.differentiable.numpy_names import as_array_handle, holds
from tape_ad.transforms.differentiable.reach import reaches
from tape_ad.transforms.differentiable.table import ORIGINALS, note_stand_in, stands_in_for

__all__: list[str] = []

Function = Callable[..., Any]


def moved(draw: Function, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    """Move and stretch a draw of location 0 and scale 1."""
    return loc + scale * draw(0.0, 1.0, full(size, loc, scale))


def stretched(draw: Function, scale: Any = 1.0, size: Any = None) -> Any:
    """Stretch a draw of scale 1."""
    return scale * draw(1.0, full(size, scale))


def uniform(draw: Function, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    """Move a draw between 0 and 1."""
    return low + (high - low) * draw(0.0, 1.0, full(size, low, high))


def lognormal(draw: Function, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    """Take the exponential of a normal draw, whose logarithm the draw of parameters 0 and 1 has."""
    return np.exp(mean + sigma * np.log(draw(0.0, 1.0, full(size, mean, sigma))))


def pareto(draw: Function, a: Any, size: Any = None) -> Any:
    """Take the exponential of an exponential draw, which a Pareto draw of shape 1 has."""
    return np.expm1(np.log1p(draw(1.0, full(size, a))) / a)


def power(draw: Function, a: Any, size: Any = None) -> Any:
    """Take a power of a draw of shape 1: of an exponential one, or of a uniform one."""
    return np.power(draw(1.0, full(size, a)), 1.0 / a)


def triangular(draw: Function, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
    """Take a uniform number to where it belongs, known by a draw whose mode is in the middle."""
    x = draw(0.0, 0.5, 1.0, full(size, left, mode, right))
    u = np.where(x < 0.5, 2 * x**2, 1 - 2 * (1 - x) ** 2)
    rising, falling = (mode - left) / (right - left), (right - mode) / (right - left)
    is_below = u <= primal(rising)
    depth = np.sqrt(np.where(is_below, u * rising, (1 - u) * falling)) * (right - left)
    return np.where(is_below, left + depth, right - depth)


def gamma(draw: Function, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    """Stretch a draw of the same shape, which has to be plain."""
    refuse("shape", "gamma", shape)
    return scale * draw(unwrapped(shape), 1.0, full(size, shape, scale))


def chosen(
    draw: Function, a: Any, size: Any = None, replace: bool = True, p: Any = None, **more: Any
) -> Any:
    """Choose among handles, by the places that NumPy chooses."""
    refuse("p", "choice", p)
    values = as_array_handle(a)
    axis = more.get("axis", 0)
    places = draw(values.shape[axis], size, replace, unwrapped(p))
    return np.take(values, places, axis=axis)


def permutation(draw: Function, x: Any, axis: int = 0) -> Any:
    """Permute handles, as NumPy permutes their places."""
    values = as_array_handle(x)
    return np.take(values, draw(values.shape[axis]), axis=axis)


def shuffle(draw: Function, x: Any, axis: int = 0) -> None:
    """Permute handles in place."""
    listed = type(x) is list
    places = np.arange(len(x) if listed else x.shape[axis])
    draw(places)
    x[:] = [x[i] for i in places] if listed else np.take(x, places, axis)


def permuted(draw: Function, x: Any, *, axis: int | None = None, out: None = None) -> Any:
    """Permute handles along an axis, each row by itself."""
    values = as_array_handle(x)
    places = np.arange(values.size).reshape(values.shape)
    return np.take(np.ravel(values), draw(places, axis=axis, out=out))


def multivariate_normal(draw: Function, mean: Any, cov: Any, size: Any = None, **more: Any) -> Any:
    """Turn and stretch a draw of independent normal numbers, by the factor that NumPy takes."""
    if more.get("method", "svd") != "svd":
        raise NoRuleError("multivariate_normal takes handles with method='svd' alone")
    n = np.shape(primal(mean))[0]
    independent = draw(np.zeros(n), np.eye(n), size)
    _, s, vh = np.linalg.svd(cov)
    turned = np.linalg.svd(np.eye(n))[2]  # what NumPy turned the draw by
    return mean + (independent @ turned.T) @ (np.sqrt(s)[:, None] * vh)


FORMULAS: dict[str, Function] = {
    **dict.fromkeys(("normal", "laplace", "gumbel", "logistic"), moved),
    **dict.fromkeys(("exponential", "rayleigh"), stretched),
    "uniform": uniform,
    "lognormal": lognormal,
    **dict.fromkeys(("weibull", "power"), power),
    "pareto": pareto,
    "gamma": gamma,
    "choice": chosen,
    "permutation": permutation,
    "permuted": permuted,
    "shuffle": shuffle,
    "triangular": triangular,
    "multivariate_normal": multivariate_normal,
}
"""How each distribution is drawn with handles, by the method that draws it without."""


def full(size: Any, *parameters: Any) -> Any:
    """Give the shape of a draw: what is asked for, or that of the parameters."""
    if size is not None:
        return size
    shape = np.broadcast_shapes(*[np.shape(primal(each)) for each in parameters])
    return shape or None


def refuse(name: str, method: str, value: Any) -> None:
    """Refuse a handle for what a draw branches on.

    Raises
    ------
    NoRuleError
    """
    if holds(value):
        raise no_formula(method, f"{name}=")


COUNTS = frozenset(
    {"binomial", "geometric", "hypergeometric", "logseries", "multinomial", "negative_binomial"}
    | {"multivariate_hypergeometric", "poisson", "zipf", "integers", "randint"}
)
"""The methods that draw whole numbers."""


def no_formula(method: str, name: str) -> NoRuleError:
    """Make the error for a draw that does not move smoothly with a parameter."""
    if method in COUNTS or name == "p=":
        return NoRuleError(
            f"rng.{method} draws whole numbers, which do not move smoothly with {name}, so it "
            "takes no handle there; pass t.data, or compute with the distribution's mean"
        )
    return NoRuleError(
        f"the steps of rng.{method} branch on {name}, so the draw does not move smoothly there "
        "and takes no handle; pass t.data, or take scipy.stats' ppf of that distribution of "
        "rng.uniform(size=...)"
    )


def drawing(name: str, draw: Function) -> Function:
    """Let a method that draws take handles."""

    def calling(*args: Any, **kwargs: Any) -> Any:
        if not reaches((args, kwargs)):
            return draw(*unwrapped(args), **unwrapped(kwargs))
        formula = FORMULAS.get(name)
        if formula is None:
            raise no_formula(name, "its parameters")
        return formula(draw, *args, **kwargs)

    return calling


class Draws:
    """A random generator in copies: the same draws, also with handles for parameters."""

    __slots__ = ("__weakref__", "source")

    def __init__(self, source: Any) -> None:
        self.source = source
        ORIGINALS[self] = source

    @property  # type: ignore[misc]  # it is asked for by what is no copy
    def __class__(self) -> type:
        """The class of the generator, also where the original code asks for it."""
        return type(self.source)

    def __getattr__(self, name: str) -> Any:
        if name == "source":  # of an object that is being made anew
            raise AttributeError(name)
        found = getattr(self.source, name)
        return drawing(name, found) if callable(found) and name[0] != "_" else found

    def __repr__(self) -> str:
        return repr(self.source)

    def __reduce__(self) -> Any:
        return Draws, (self.source,)


MAKERS[np.random.Generator] = MAKERS[np.random.RandomState] = Draws
FOR_COMPILED[Draws] = lambda draws: draws.source


@stands_in_for(np.random.default_rng)
def default_rng(seed: Any = None) -> Draws:
    """Stand in for `numpy.random.default_rng`."""
    return Draws(np.random.default_rng(seed.source if isinstance(seed, Draws) else seed))


def made_anew(cls: Any, *args: Any, **kwargs: Any) -> Draws:
    """Make a generator that draws with handles."""
    return Draws(cls.original(*args, **kwargs))


standing(np.random.RandomState, __new__=made_anew)
standing(np.random.Generator, __new__=made_anew)
for _name in FORMULAS:
    if hasattr(np.random, _name):
        _draw = getattr(np.random, _name)
        note_stand_in(_draw, drawing(_name, _draw))
