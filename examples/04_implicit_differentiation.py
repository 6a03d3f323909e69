"""Tune penalties through the solution of a problem: derivatives of a root and of a fixed point.

A logistic regression on real data (569 breast tumours, 30 measurements each, that come with
scikit-learn) has a penalty for each kind of measurement. The weights that minimize the penalized
loss are found by SciPy, in code that knows nothing of handles; the implicit function theorem gives
their derivatives with respect to the penalties, so these can be tuned by cross-validation: by the
mean loss on tumours that the weights have not seen, over five folds. Writes penalties.png.
It takes five seconds. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from matplotlib.figure import Figure
from scipy.optimize import root
from sklearn.datasets import load_breast_cancer

import tape_ad as ta

Array = np.ndarray[Any, Any]
Residual = Callable[[Any, Any], Any]

HELD_OUT = 189
FOLDS = 5


def implicit_root(residual: Residual, start: Array) -> Callable[[Any], Any]:
    """Make the function of the parameters that solves residual(x, params) = 0 for x.

    Where F(x(p), p) = 0 for all nearby p, dF/dx x'(p) + dF/dp = 0. So a cotangent of x is pulled
    back by one linear system with the transposed dF/dx, and one pull through F with respect to p.
    All of it is NumPy, and so it can be differentiated once more.
    """

    def pull(ct: Any, x: Any, params: Any) -> Any:
        by_x = ta.jacobian(residual)(x, params)
        multiplier = np.linalg.solve(by_x.T, -ct)
        _, pulled = ta.vjp(lambda p: residual(x, p), params)
        return pulled(multiplier)

    @ta.custom_rule(pull=pull)
    def solve(params: Array) -> Array:
        found = root(residual, start, args=(params,), jac=ta.jacobian(residual), tol=1e-12)
        if np.max(np.abs(found.fun)) > 1e-10:  # where rounding stops it, it reports no success
            raise RuntimeError(found.message)
        x: Array = found.x
        return x

    return solve


def fixed_point(f: Residual, start: Array) -> Callable[[Any], Any]:
    """Make the function of the parameters that solves x = f(x, params), by iteration."""

    def pull(ct: Any, x: Any, params: Any) -> Any:
        _, pulled = ta.vjp(f, x, params)
        total = ct
        for _ in range(200):  # the adjoint is a fixed point itself: u = ct + (df/dx)^T u
            total = ct + pulled(total)[0]
        return pulled(total)[1]

    @ta.custom_rule(pull=pull)
    def solve(params: Array) -> Array:
        x: Array = start
        for _ in range(1000):
            before = x
            x = f(x, params)
            if np.max(np.abs(x - before)) < 1e-14:
                return x
        raise RuntimeError("the iteration does not converge")

    return solve


def kepler(anomaly: Any, orbit: Any) -> Any:
    """Kepler's equation as an iteration: E = M + e sin E, for an orbit (M, e)."""
    return orbit[0] + orbit[1] * np.sin(anomaly)


def check_kepler() -> None:
    """Compare dE/de = sin E / (1 - e cos E), at an eccentricity like that of Mercury."""
    eccentric_anomaly = fixed_point(kepler, np.array(1.0))
    orbit = np.array([1.2, 0.2056])
    anomaly = float(eccentric_anomaly(orbit))
    slope = ta.grad(eccentric_anomaly)(orbit)[1]
    exact = np.sin(anomaly) / (1 - orbit[1] * np.cos(anomaly))
    print(f"Kepler's equation: E = {anomaly:.6f}, dE/de = {slope:.12f}, exactly {exact:.12f}")
    assert abs(slope - exact) < 1e-12


@frozen
class Tumours:
    """Measurements, shape (n, 31) with a constant one, and 1 for malignant or -1, shape (n,)."""

    features: Array
    signs: Array

    def __getitem__(self, key: Any) -> "Tumours":
        return Tumours(self.features[key], self.signs[key])

    def loss(self, weights: Any) -> Any:
        """Compute the mean of -log p over the tumours."""
        return np.mean(np.logaddexp(0, -self.signs * (self.features @ weights)))

    def accuracy(self, weights: Array) -> float:
        """Compute the share that is classified correctly."""
        return float(np.mean((self.features @ weights > 0) == (self.signs > 0)))

    def slope(self, weights: Any, logarithms: Any) -> Any:
        """Compute the gradient of the penalized loss, which vanishes at the minimum."""
        margins = self.signs * (self.features @ weights)
        by_margin = -self.signs / (1 + np.exp(margins)) / len(self.signs)
        return by_margin @ self.features + penalties(logarithms) * weights

    def weights(self, logarithms: Any) -> Any:
        """Minimize the penalized loss."""
        return implicit_root(self.slope, np.zeros(31))(logarithms)


def load() -> tuple[Tumours, list[str]]:
    """Load the tumours, shuffled, and the names of the ten kinds of measurements."""
    data = load_breast_cancer()
    scaled = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    features = np.column_stack([scaled, np.ones(len(scaled))])
    signs = np.where(data.target == 0, 1.0, -1.0)
    names = [name.removeprefix("mean ") for name in data.feature_names[:10]]
    return Tumours(features, signs)[np.random.default_rng(0).permutation(len(signs))], names


def penalties(logarithms: Any) -> Any:
    """Give each measurement the penalty of its kind; three stand for a kind, mean to worst."""
    return np.concatenate([np.exp(np.concatenate([logarithms] * 3)), np.array([1e-6])])


def draw(path: Path, names: list[str], tuned: Array, start: Array, losses: list[float]) -> None:
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(losses, "o-", markersize=4)
    left.set_title("Tuning ten penalties through the solution")
    left.set_xlabel("iteration")
    left.set_ylabel("mean loss on what is left out [nats]")
    left.grid(alpha=0.3)
    order = np.argsort(tuned)
    rows = np.arange(len(order))  # no bars: a logarithmic axis has no zero for them to begin at
    right.hlines(rows, np.exp(start), np.exp(tuned[order]), color="tab:blue", linewidth=1)
    right.plot(np.exp(tuned[order]), rows, "o", color="tab:blue", label="tuned")
    right.plot(np.exp(start), rows, "|", color="0.4", markersize=12, label="at the start")
    right.set_yticks(rows, [names[i] for i in order])
    right.set_xscale("log")
    right.grid(alpha=0.3, axis="x")
    right.set_title("The penalty of each kind of measurement")
    right.set_xlabel("penalty")
    right.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Differentiate the solution of a problem.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    check_kepler()

    tumours, names = load()
    known, held_out = tumours[HELD_OUT:], tumours[:HELD_OUT]
    fold = np.arange(len(known.signs)) % FOLDS
    splits = [(known[fold != k], known[fold == k]) for k in range(FOLDS)]

    def validation_loss(logarithms: Any) -> Any:
        losses = [left_out.loss(rest.weights(logarithms)) for rest, left_out in splits]
        return sum(losses) / FOLDS

    start = np.full(10, np.log(0.01))
    slopes = ta.grad(validation_loss)(start)
    steps = 1e-5 * np.eye(10)
    differences = [(validation_loss(start + e) - validation_loss(start - e)) / 2e-5 for e in steps]
    apart = np.max(np.abs(slopes - differences)) / np.max(np.abs(slopes))
    print(f"the gradient through the solution is that of differences to {apart:.0e}")
    assert apart < 1e-6

    losses = [float(validation_loss(start))]
    result = ta.scipy.optimize.minimize(
        validation_loss,
        start,
        "L-BFGS-B",
        bounds=[(np.log(1e-5), np.log(10))] * 10,
        callback=lambda x: losses.append(float(validation_loss(x))),
    )
    print(f"loss in cross-validation: {losses[0]:.4f} -> {losses[-1]:.4f}")
    before, after = (known.weights(each) for each in (start, result.x))
    of_before, of_after = (held_out.loss(weights) for weights in (before, after))
    print(f"loss on {HELD_OUT} held-out tumours: {of_before:.4f} -> {of_after:.4f}")
    print(f"held-out tumours classified correctly: {held_out.accuracy(after):.1%}")

    picture = options.out / "penalties.png"
    draw(picture, names, result.x, start, losses)
    print(f"wrote {picture}")
    if not result.success:
        sys.exit(f"the penalties did not converge: {result.message}")


if __name__ == "__main__":
    main()
