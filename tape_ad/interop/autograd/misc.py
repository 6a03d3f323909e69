"""Flattening, optimizers and fixed points."""

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from tape_ad.extend.trees import map_leaves
from tape_ad.interop.autograd.core import make_vjp
from tape_ad.interop.autograd.differential_operators import make_vjp as make_vjp_of
from tape_ad.interop.autograd.extend import defvjp, primitive
from tape_ad.interop.autograd.modules import publish
from tape_ad.interop.autograd.spaces import VSpace, given_back, match_complex, plain, vspace

__all__ = [
    "adam",
    "fixed_point",
    "flatten",
    "flatten_func",
    "rmsprop",
    "sgd",
    "unflatten_optimizer",
]

Function = Callable[..., Any]


def raveled(value: Any) -> Iterator[Any]:
    """Yield the arrays in a structure, dicts in the order of their keys, as vectors."""
    for each in entries(value):
        if each is value:
            yield np.ravel(value)
        else:
            yield from raveled(each)


def entries(value: Any) -> Iterable[Any]:
    """List what is in a structure; an array is a structure of its own."""
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, (list, tuple)) else [value]


def cut(space: Any, parts: Iterator[Any]) -> Any:
    """Put vectors in the places of a structure's spaces, in the order of `raveled`."""
    if isinstance(space, dict):
        filled = {key: cut(space[key], parts) for key in sorted(space)}
        return {key: filled[key] for key in space}
    if isinstance(space, (list, tuple)):
        return type(space)([cut(each, parts) for each in space])
    part = match_complex(space.zeros(), np.reshape(next(parts), space.shape))
    return given_back(part)


def flatten(value: Any) -> tuple[Any, Function]:
    """Join all arrays in a structure to one vector, and give the way back.

    Parameters
    ----------
    value : nested dicts, lists and tuples of arrays and numbers
        Keys that can be sorted.

    Returns
    -------
    vector : array, one axis
    unflatten : callable
        It takes such a vector to such a structure.

    Examples
    --------
    >>> vector, unflatten = flatten({"b": 1.0, "a": np.zeros(2)})
    >>> vector
    array([0., 0., 1.])
    >>> unflatten(vector + 1)
    {'b': np.float64(2.0), 'a': array([1., 1.])}
    """
    vectors = list(raveled(value))
    spaces = map_leaves(lambda leaf, path: VSpace(np.asarray(plain(leaf))), value)
    ends = np.cumsum([vector.size for vector in vectors])[:-1]

    def unflatten(vector: Any) -> Any:
        return cut(spaces, iter(np.split(vector, ends)))

    return np.concatenate(vectors) if vectors else np.zeros(0), unflatten


def flatten_func(func: Function, example: Any) -> tuple[Function, Function, Any]:
    """Make a function of a vector, from one of a structure to a structure.

    Returns
    -------
    func : callable
    unflatten : callable
    vector : array
        The example's.
    """
    vector, unflatten = flatten(example)
    return lambda x, *args: flatten(func(unflatten(x), *args))[0], unflatten, vector


@primitive
def fixed_point(f: Function, a: Any, x0: Any, distance: Function, tol: float) -> Any:
    """Iterate ``x = f(a)(x)`` until it moves by `tol` at most.

    Parameters
    ----------
    f : callable
        ``f(a)`` is the function to iterate.
    a : array or tree
        Its parameters, by which the result is differentiated.
    x0 : array
        Where to start; the result does not depend on it.
    distance : callable
        ``distance(x, y)`` gives a number.
    tol : float

    Returns
    -------
    array

    Notes
    -----
    With g the cotangent of the fixed point x, that of `a` is ``u df/da``, where
    ``u = g + u df/dx`` is a fixed point as well.
    """
    step = f(a)
    x, before = step(x0), x0
    while distance(x, before) > tol:
        x, before = step(x), x
    return x


def fixed_point_vjp(
    ans: Any, f: Function, a: Any, x0: Any, distance: Function, tol: float
) -> Function:
    """Make the VJP by the parameters."""
    space = vspace(ans)

    def backwards(params: Any) -> Function:
        parameters, x, g = params
        vjp_x, _ = make_vjp(f(parameters), x)
        return lambda u: space.add(vjp_x(u), g)

    vjp_a, _ = make_vjp_of(lambda parameters, x: f(parameters)(x))(a, ans)
    return lambda g: vjp_a(fixed_point(backwards, (a, ans, g), vspace(x0).zeros(), distance, tol))


defvjp(fixed_point, None, fixed_point_vjp, None)


def unflatten_optimizer(optimize: Function) -> Function:
    """Let an optimizer of vectors take nested dicts, lists and tuples of arrays.

    Parameters
    ----------
    optimize : callable
        ``optimize(grad, x0, callback, ...)``, where ``grad(x, i)`` is the gradient in iteration i,
        and ``callback(x, i, g)`` is called in each; it gives the last x.
    """

    @functools.wraps(optimize)
    def optimize_structure(
        grad: Function, x0: Any, callback: Function | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        start, unflatten = flatten(x0)

        def slope(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def told(x: Any, i: int, g: Any) -> None:
            if callback is not None:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(slope, start, told if callback else None, *args, **kwargs))

    return optimize_structure


@unflatten_optimizer
def sgd(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 200,
    step_size: float = 0.1,
    mass: float = 0.9,
) -> Any:
    """Descend with momentum, of which each gradient makes the share ``1 - mass``."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        velocity = mass * velocity - (1.0 - mass) * g
        x = x + step_size * velocity
    return x


@unflatten_optimizer
def rmsprop(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.1,
    gamma: float = 0.9,
    eps: float = 10**-8,
) -> Any:
    """Descend by gradients over the root of their mean square, which starts from 1."""
    mean_square = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean_square = gamma * mean_square + (1 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(mean_square) + eps)
    return x


@unflatten_optimizer
def adam(
    grad: Function,
    x: Any,
    callback: Function | None = None,
    num_iters: int = 100,
    step_size: float = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 10**-8,
) -> Any:
    """Descend by Adam, https://arxiv.org/abs/1412.6980."""
    mean, mean_square = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        if callback:
            callback(x, i, g)
        mean = b1 * mean + (1 - b1) * g
        mean_square = b2 * mean_square + (1 - b2) * g**2
        root = np.sqrt(mean_square / (1 - b2 ** (i + 1)))
        x = x - step_size * mean / (1 - b1 ** (i + 1)) / (root + eps)
    return x


fixed_points: Any
optimizers: Any

publish(
    __name__,
    {
        "fixed_points": [f"{__name__}:fixed_point"],
        "flatten": [f"{__name__}:flatten flatten_func"],
        "optimizers": [f"{__name__}:adam rmsprop sgd unflatten_optimizer"],
    },
)
