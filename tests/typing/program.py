"""A program as users write them, with types throughout; both checkers have to find nothing in it.

It fits a network from a dict, a curve with SciPy, a store that is an attrs class, and a function
with a rule of its own, by records and by transforms.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, assert_type

import numpy as np
from attrs import define
from numpy.typing import NDArray

import tape_ad as ta

Vector = NDArray[np.float64]
Params = dict[str, Vector]


# A network, by records


def batches(x: Vector, y: Vector, size: int) -> Iterator[tuple[Vector, Vector]]:
    for start in range(0, len(x), size):
        yield x[start : start + size], y[start : start + size]


def network(p: dict[str, ta.Tensor], x: Vector) -> ta.Tensor:
    hidden = np.tanh(x @ p["w0"] + p["b0"])
    assert_type(hidden, ta.Tensor)
    return hidden @ p["w1"] + p["b1"]


def loss_of(p: dict[str, ta.Tensor], x: Vector, y: Vector) -> ta.Tensor:
    error = network(p, x)[:, 0] - y
    penalty = sum((np.sum(w**2) for w in p.values()), start=np.sum(p["b1"] * 0.0))
    loss = np.mean(error**2) + 1e-6 * penalty
    assert_type(loss, ta.Tensor)
    return loss


def train(params: Params, x: Vector, y: Vector, epochs: int, rate: float) -> list[float]:
    losses: list[float] = []
    for _ in range(epochs):
        for some, wanted in batches(x, y, 16):
            rec = ta.ComputationRecord()
            p = rec.bind(params)
            assert_type(p, dict[str, ta.Tensor])
            loss = loss_of(p, some, wanted)
            gradients = loss.grad()
            assert_type(gradients, ta.Gradients)
            slopes = gradients.wrt(p)
            for name, slope in slopes.items():
                params[name] -= rate * slope
            losses.append(float(loss.item()))
    return losses


# Classification: the functions that a program of more than one kind of array calls


def cross_entropy(logits: ta.Tensor, labels: NDArray[np.int64]) -> ta.Tensor:
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    normal = np.log(np.sum(np.exp(shifted), axis=1))
    picked = shifted[np.arange(len(labels)), labels]
    assert_type(picked, ta.Tensor)
    return np.mean(normal - picked)


def joined(left: ta.Tensor, right: Vector) -> ta.Tensor:
    whole = np.concatenate([left, right], axis=1)
    rows = np.stack([whole[0], whole[1]])
    chosen = np.where(rows > 0, rows, 0.1 * rows)
    assert_type(chosen, ta.Tensor)
    return np.einsum("ij,kj->ik", chosen, right @ np.ones((right.shape[1], whole.shape[1])))


def whitened(x: ta.Tensor) -> ta.Tensor:
    centred = x - np.mean(x, axis=0)
    covariance = centred.T @ centred / len(x) + 1e-3 * np.eye(x.shape[1])
    values, vectors = np.linalg.eigh(covariance)
    assert_type(values, ta.Tensor)
    factor = np.linalg.cholesky(covariance)
    volume = np.linalg.slogdet(covariance).logabsdet
    print(f"{volume:.3f}", np.argmax(values), vectors.shape)
    return np.linalg.solve(factor, centred.T)


# A curve, by SciPy and by transforms


def curve(theta: Vector, t: Vector) -> Vector:
    amplitude, decay, level = theta
    return np.asarray(amplitude * np.exp(-decay * t) + level)


def misfit(theta: Vector, t: Vector, y: Vector, *, weight: float = 1.0) -> float:
    residual = theta[0] * np.exp(-theta[1] * t) + theta[2] - y
    total: float = weight * np.sum(residual**2)
    return total


def fit(t: Vector, y: Vector) -> Vector:
    from scipy.optimize import minimize  # noqa: PLC0415 - as a program that may do without

    slope = ta.grad(misfit)
    assert_type(slope(np.ones(3), t, y, weight=2.0), Vector)
    value, gradient = ta.value_and_grad(misfit)(np.ones(3), t, y)
    assert_type(value, float)
    assert_type(gradient, Vector)
    found = minimize(misfit, np.ones(3), args=(t, y), jac=slope, method="BFGS")
    curvature = ta.hessian(misfit)(found.x, t, y)
    print(np.sqrt(np.diag(np.linalg.inv(curvature))))
    best: Vector = found.x
    return best


def linear_part(theta: Vector) -> Vector:
    return np.cumsum(theta) ** 2


def directions(theta: Vector) -> tuple[Vector, Vector]:
    output, pull = ta.vjp(linear_part, theta)
    assert_type(output, Vector)
    (pulled,) = pull(np.ones(3))
    primal, tangent = ta.jvp(linear_part, (theta,), (np.ones(3),))
    assert_type(tangent, Vector)
    print(pulled, primal, ta.jacobian(linear_part)(theta).shape)
    return output, tangent


def with_options(theta: Vector, **options: float) -> float:
    return 0.0 + np.sum(options["scale"] * theta**2)


def with_a_default(theta: Vector, scale: float = 1.0) -> Vector:
    return scale * theta**2


def derivatives_with_options(theta: Vector) -> None:
    print(ta.grad(with_options)(theta, scale=2.0), ta.hessian(with_options)(theta, scale=2.0))
    print(ta.value_and_grad(with_options)(theta, scale=2.0))
    print(ta.jacobian(with_options, mode="reverse")(theta, scale=2.0))
    print(ta.jacobian(with_a_default)(theta, scale=2.0) @ theta)
    assert_type(ta.grad(with_a_default)(theta, 2.0), Vector)


def norm_and_parts(p: Params) -> tuple[float, Params]:
    return 0.0 + np.sum(p["a"] ** 2), p


def of_trees(p: Params) -> Params:
    by_name, parts = ta.grad(norm_and_parts, has_aux=True)(p)
    assert_type(by_name, Params)
    assert_type(parts, Params)
    return by_name


# A store that is a class, and a named tuple


@define
class Oscillator:
    mass: Any
    stiffness: Any
    name: str = "oscillator"

    def frequency(self) -> Any:
        return np.sqrt(self.stiffness / self.mass)


class Pair(NamedTuple):
    first: Any
    second: Any


def tune(oscillator: Oscillator, wanted: float) -> Oscillator:
    rec = ta.ComputationRecord()
    p = rec.bind(oscillator)
    assert_type(p, Oscillator)
    loss = (p.frequency() - wanted) ** 2
    slopes = loss.grad().wrt(p)
    pair = rec.bind(Pair(np.ones(2), np.zeros(2)))
    print(pair.first.shape)
    return Oscillator(oscillator.mass, oscillator.stiffness - 0.1 * slopes.stiffness)


# Rules, checkpoints and compiled functions keep the signature of what they are made from


def pull_root(ct: Vector, out: Vector, a: Vector) -> Vector:
    return ct / (2 * out)


@ta.custom_rule(pull=pull_root)
def root(a: Vector) -> Vector:
    return np.sqrt(a)


@ta.checkpoint
def block(x: Vector, scale: float = 1.0) -> Vector:
    return np.tanh(scale * x)


@ta.compile
def fast(x: Vector, n: int) -> Vector:
    return np.cos(x) * n


@ta.compile(max_programs=2)
def faster(x: Vector) -> Vector:
    return np.sin(x)


def kept() -> Callable[[Vector], Vector]:
    assert_type(root(np.ones(2)), Vector)
    assert_type(block(np.ones(2), scale=2.0), Vector)
    assert_type(fast(np.ones(2), n=3), Vector)
    assert_type(faster(np.ones(2)), Vector)
    print(len(fast.programs))
    return ta.compile(ta.grad(lambda x: np.sum(x**2)))


def main() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 3))
    y = np.sin(x[:, 0])
    params = {"w0": rng.normal(size=(3, 8)), "b0": np.zeros(8)}
    params |= {"w1": rng.normal(size=(8, 1)), "b1": np.zeros(1)}
    losses = train(params, x, y, 20, 0.05)
    assert losses[-1] < losses[0]
    t = np.linspace(0, 3, 40)
    theta = fit(t, curve(np.array([2.0, 1.5, 0.3]), t))
    np.testing.assert_allclose(theta, [2.0, 1.5, 0.3], rtol=1e-3)
    rec = ta.ComputationRecord()
    h = rec.tensor(x[:4])
    total = (
        cross_entropy(h, np.array([0, 1, 2, 0])) + np.sum(whitened(h)) + np.sum(joined(h, x[:4]))
    )
    assert_type(total.grad().wrt([h, h])[0], np.ndarray[Any, Any])
    directions(np.ones(3))
    of_trees({"a": np.ones(2)})
    print(tune(Oscillator(np.array(1.0), np.array(2.0)), 1.0), kept()(np.ones(3)))


if __name__ == "__main__":
    main()
