"""Fit a model and sample its posterior, with the function as it is and compiled, side by side.

The data is real: how far the diabetes of 442 patients had gone in a year, and ten measurements at
the beginning (Efron, Hastie, Johnstone & Tibshirani, "Least angle regression", 2004; it comes with
scikit-learn). The model is a linear one whose errors follow Student's t distribution, with a scale
and degrees of freedom to be found too. SciPy's L-BFGS finds its maximum, and a Hamiltonian Monte
Carlo of thirty lines of NumPy goes round it, calling one small function tens of thousands of times:
the work that compiling is for. Both ways give the same numbers, up to rounding; without the extra
`compile`, to the last bit. Writes compiled.png. It takes ten seconds. Needs the extra: pip install
'tape-ad[examples]'.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field
from matplotlib.figure import Figure
from scipy.special import gammaln
from sklearn.datasets import load_diabetes

import tape_ad as ta

Array = np.ndarray[Any, Any]
Potential = Callable[[Array], tuple[float, Array]]

DRAWS, WARM_UP, LEAPS, STEP = 2_000, 100, 6, 0.4
FIRST = 30
"""How many evaluations are drawn one by one."""


def standardized() -> tuple[Array, Array, list[str]]:
    """Give measurements and progress, both with mean 0 and variance 1, and the names."""
    data = load_diabetes()
    x, y = data.data, data.target
    return x / x.std(axis=0), (y - y.mean()) / y.std(), list(data.feature_names)


def minus_log_posterior(p: Any, x: Array, y: Array) -> Any:
    """The likelihood by Student's t, and normal priors on all parameters; without constants."""
    freedom = 2 + np.exp(p["log_freedom"])
    residuals = (y - p["intercept"] - x @ p["weights"]) / np.exp(p["log_scale"])
    of_one = (
        gammaln((freedom + 1) / 2)
        - gammaln(freedom / 2)
        - np.log(freedom) / 2
        - p["log_scale"]
        - (freedom + 1) / 2 * np.log1p(residuals**2 / freedom)
    )
    priors = (
        np.sum(p["weights"] ** 2) / 2
        + p["intercept"] ** 2 / 2
        + p["log_scale"] ** 2 / 2
        + (p["log_freedom"] - 2) ** 2 / 2
    )
    return priors - np.sum(of_one)


@define
class Timed:
    """A potential that notes how long each evaluation takes."""

    potential: Potential
    seconds: list[float] = field(factory=list)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Evaluate it."""
        start = time.perf_counter()
        outcome = self.potential(x)
        self.seconds.append(time.perf_counter() - start)
        return outcome


def hamiltonian(potential: Potential, start: Array, curvature: Array, seed: int) -> Any:
    """Draw from exp(-potential), by Hamiltonian dynamics.

    Neal, "MCMC using Hamiltonian dynamics", 2011, https://arxiv.org/abs/1206.1901. The particle
    moves in coordinates in which the curvature at the start is 1 in all directions.

    Parameters
    ----------
    potential : callable
        ``potential(x)`` gives the value and the gradient.
    start : array, shape (n,)
    curvature : array, shape (n, n)
        The Hessian there.
    seed : int

    Returns
    -------
    tuple of array, shape (draws, n), and float
        The draws, and which part of the proposals was accepted.
    """
    rng = np.random.default_rng(seed)
    momentum: Any
    stretch = np.linalg.inv(np.linalg.cholesky(curvature)).T
    x, (value, slope) = start, potential(start)
    draws: list[Array] = []
    accepted = 0
    for _ in range(WARM_UP + DRAWS):
        momentum = rng.normal(size=x.shape)
        energy = value + momentum @ momentum / 2
        step = STEP * rng.uniform(0.8, 1.2)  # or a path could close in itself
        place, there, push = x, value, slope
        for _ in range(LEAPS):
            momentum = momentum - step / 2 * (push @ stretch)
            place = place + step * (stretch @ momentum)
            there, push = potential(place)
            momentum = momentum - step / 2 * (push @ stretch)
        if rng.uniform() < np.exp(min(0.0, energy - there - momentum @ momentum / 2)):
            x, value, slope = place, there, push
            accepted += 1
        draws.append(x)
    return np.array(draws[WARM_UP:]), accepted / len(draws)


def draw(
    path: Path, timed: dict[str, Timed], names: list[str], fitted: Array, draws: Array
) -> None:
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (how, each), color in zip(timed.items(), ("tab:gray", "tab:blue"), strict=True):
        seconds = np.array(each.seconds)
        median = np.median(seconds)
        label = f"{how}, median of {len(seconds):,}: {1e6 * median:.0f} µs"
        left.plot(1e6 * seconds[:FIRST], "o-", color=color, markersize=4, label=label)
        left.axhline(1e6 * median, color=color, linestyle=":")
    left.set_yscale("log")
    left.set_title("The first two calls capture, and all others replay")
    left.set_xlabel("evaluation of the value and its gradient")
    left.set_ylabel("time [µs]")
    left.legend(loc="upper right")
    rows = np.arange(len(names))
    right.errorbar(draws.mean(axis=0), rows, xerr=draws.std(axis=0), fmt="o", label="posterior")
    right.plot(fitted, rows, "kx", label="fit", zorder=3)  # on top of the draws' mean
    right.axvline(0, color="black", linewidth=0.8)
    right.set_yticks(rows, names)
    right.invert_yaxis()
    right.set_xlabel("weight (measurements and progress have variance 1)")
    right.set_title("Progress of diabetes: weights, ± a standard deviation")
    right.legend()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Sample a posterior, eagerly and compiled.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    x, y, names = standardized()
    start = {"weights": np.zeros(10), "intercept": 0.0, "log_scale": 0.0, "log_freedom": 1.0}
    timed, found = {}, {}
    for how, compile_it in (("as it is", False), ("compiled", True)):
        result = ta.scipy.optimize.minimize(
            minus_log_posterior, start, "L-BFGS-B", args=(x, y), compile=compile_it
        )
        objective = ta.scipy.optimize.scipy_objective(
            minus_log_posterior, start, args=(x, y), compile=compile_it
        )
        fitted = objective.vector(result.x)
        timed[how] = Timed(objective)
        before = time.perf_counter()
        draws, accepted = hamiltonian(timed[how], fitted, objective.hess(fitted), seed=0)
        passed = time.perf_counter() - before
        found[how] = fitted, draws
        print(
            f"{how}: L-BFGS fits in {result.nfev} evaluations; {len(draws):,} draws in "
            f"{passed:.1f} s, {accepted:.0%} accepted, "
            f"{1e6 * np.median(timed[how].seconds):.0f} us for each of "
            f"{len(timed[how].seconds):,} evaluations"
        )

    (fitted, draws), (compiled_fit, compiled_draws) = found.values()
    apart = max(np.abs(fitted - compiled_fit).max(), np.abs(draws - compiled_draws).max())
    print(f"the largest difference between both ways: {apart:.1e}")
    away = np.abs(draws.mean(axis=0) - fitted) / draws.std(axis=0)
    print(f"largest distance of a mean from the fit: {away.max():.2f} standard deviations")
    print(f"degrees of freedom: {2 + np.exp(draws[:, -1]).mean():.0f}")
    program = objective.compiled["value_and_grad"].programs[0]
    print(f"the compiled function is a program of {len(program)} calls:")
    print(objective.compiled["value_and_grad"].explain())

    picture = options.out / "compiled.png"
    draw(picture, timed, names, fitted[:10], draws[:, :10])
    print(f"wrote {picture}")
    assert apart < 1e-6
    assert away.max() < 0.5


if __name__ == "__main__":
    main()
