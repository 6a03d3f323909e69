"""Hand gradients to other people's numeric code: ``scipy.optimize.minimize(jac=True)``.

First the Rosenbrock function in ten dimensions, then a logistic regression on real data (569
breast tumours, 30 measurements each, that come with scikit-learn). Both are ordinary NumPy. Each
result is checked against the one that SciPy finds with finite differences, which have to evaluate
the function once more for every dimension. Writes no files. Needs the extra:
pip install 'tape-ad[examples]'.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_breast_cancer

import tape_ad as ta

Array = np.ndarray[Any, Any]


def with_gradient(function: Callable[[Any], Any]) -> Callable[[Array], tuple[float, Array]]:
    """Make of a function of an array what ``jac=True`` asks for: its value and its gradient."""

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        rec = ta.ComputationRecord()
        t = rec.tensor(x)
        value = function(t)
        return value.item(), value.grad().wrt(t)

    return value_and_gradient


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def logistic_loss(features: Array, malignant: Array) -> Callable[[Any], Any]:
    """Make the mean of -log p over the samples, with a small penalty on the weights."""
    sign = np.where(malignant, 1.0, -1.0)

    def loss(parameters: Any) -> Any:
        weights, bias = parameters[:-1], parameters[-1]
        logits = features @ weights + bias
        return np.mean(np.logaddexp(0, -sign * logits)) + 0.01 * np.sum(weights**2)

    return loss


def solve(title: str, function: Callable[[Any], Any], start: Array, method: str) -> Array:
    """Minimize with our gradient and with finite differences, and compare."""
    exact = minimize(with_gradient(function), start, jac=True, method=method)
    differences = minimize(function, start, jac="3-point", method=method)
    distance = np.max(np.abs(exact.x - differences.x))
    print(f"{title}, {start.size} variables, {method}: {exact.message}")
    for how, result in (("tape_ad", exact), ("finite differences", differences)):
        print(
            f"  with {how + ':':20}{result.fun:10.3g} after {result.nit} iterations, "
            f"{result.nfev} evaluations"
        )
    print(f"  largest difference between the two results: {distance:.1e}")
    assert exact.success
    assert distance < 1e-4
    solution: Array = exact.x
    return solution


def main() -> None:
    parser = argparse.ArgumentParser(description="Minimize two functions with SciPy.")
    parser.add_argument("--out", metavar="DIR", help="accepted as in every example; not used")
    parser.parse_args()

    x = solve("Rosenbrock", rosenbrock, np.zeros(10), "BFGS")
    print(f"  x = {np.array2string(x, precision=6)}\n")

    data = load_breast_cancer()
    features = (data.data - data.data.mean(axis=0)) / data.data.std(axis=0)
    malignant = data.target == 0
    loss = logistic_loss(features, malignant)
    parameters = solve("Logistic regression", loss, np.zeros(31), "L-BFGS-B")
    logits = features @ parameters[:-1] + parameters[-1]
    print(f"  tumours told apart rightly: {np.mean((logits > 0) == malignant):.1%}")


if __name__ == "__main__":
    main()
