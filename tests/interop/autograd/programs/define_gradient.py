"""Functions with gradients of the program's own, in both modes, of several arguments and kinds."""

from typing import Any

import autograd.numpy as np
from autograd import grad, jacobian, make_jvp, make_vjp
from autograd.extend import defjvp, defvjp, defvjp_argnum, defvjp_argnums, primitive
from autograd.test_util import check_grads


@primitive
def logsumexp(x: Any) -> Any:
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def logsumexp_vjp(ans: Any, x: Any) -> Any:
    shape = x.shape
    return lambda g: np.full(shape, g) * np.exp(x - np.full(shape, ans))


defvjp(logsumexp, logsumexp_vjp)


@primitive
def scaled(x: Any, by: Any, power: int = 1) -> Any:
    return x * by**power


defvjp(
    scaled,
    lambda ans, x, by, power=1: lambda g: g * by**power,
    lambda ans, x, by, power=1: lambda g: np.sum(g * x * power * by ** (power - 1)),
)
defjvp(
    scaled,
    "same",
    lambda g, ans, x, by, power=1: g * x * power * by ** (power - 1),
)


@primitive
def total(*args: Any) -> Any:
    return sum(args)


defvjp_argnum(total, lambda argnum, ans, args, kwargs: lambda g: g)


@primitive
def both(x: Any, y: Any) -> Any:
    return x * y


def both_vjps(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    return lambda g: [g * args[1 - argnum] for argnum in argnums]


defvjp_argnums(both, both_vjps)


@primitive
def squared(z: Any) -> Any:
    return z * z


defvjp(squared, lambda ans, z: lambda g: 2 * g * z)


def run() -> Any:
    x = np.array([1.5, 6.7, 1e-4])
    check_grads(logsumexp, modes=["rev"])(x)
    check_grads(lambda x, by: scaled(x, by, power=3), (0, 1))(x, 1.3)
    return [
        grad(lambda y: logsumexp(y * y))(x),
        grad(lambda by: np.sum(jacobian(logsumexp)(x * by)))(0.7),
        make_jvp(lambda x: scaled(x, 2.0))(x)(np.ones(3)),
        grad(lambda x: np.sum(total(x, 2 * x, x**2)))(x),
        grad(lambda x: np.sum(both(x, both(x, x))))(x),
        make_vjp(squared)(1.0 + 2.0j)[0](0.5 - 1.0j),
        grad(lambda z: np.imag(squared(z)))(1.0 + 2.0j),
    ]
