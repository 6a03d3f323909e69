"""Fit a model of predator and prey to the lynx and the hares of Hudson Bay, through an ODE solver.

The data is real: the pelts, in thousands, that the Hudson's Bay Company traded each year from 1900
to 1920 (C. G. Hewitt, *The Conservation of the Wild Life of Canada*, 1921; as in B. Carpenter,
"Predator-Prey Population Dynamics", Stan case studies, 2018). The model is that of Lotka and
Volterra, solved by SciPy's `solve_ivp`, which knows nothing of handles: a custom rule gives its
derivatives, by solving the adjoint equation backward in time. Writes lynx_and_hare.png. It takes
five seconds. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import tape_ad as ta

Array = np.ndarray[Any, Any]
RightHandSide = Callable[[Any, Any], Any]

YEARS = np.arange(1900.0, 1921.0)
# fmt: off
HARE = np.array([
    30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1,
    40.3, 57.0, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7,
])
LYNX = np.array([
    4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4,
    8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6,
])
# fmt: on
PELTS = np.stack([HARE, LYNX], axis=1)

RATES = ("alpha", "beta", "gamma", "delta")
START = {  # logarithms, for all of these are positive
    "rates": np.log([0.5, 0.03, 0.9, 0.03]),
    "initial": np.log(PELTS[0]),
}


def solve(f: Callable[[float, Array], Array], start: Array, times: Array) -> Array:
    """Integrate dy/dt = f(t, y) from the first time, and give y at all times."""
    solution = solve_ivp(f, (times[0], times[-1]), start, "LSODA", times, rtol=1e-9, atol=1e-9)
    if not solution.success:
        raise RuntimeError(solution.message)
    values: Array = solution.y.T
    return values


def odeint(f: RightHandSide) -> Callable[[Any, Any, Array], Any]:
    """Make the function of the initial value and of parameters that solves dy/dt = f(y, p).

    With a cotangent a(t) of y(t), going backward in time from one observation to the one before,

        da/dt = -(df/dy)^T a        and        dg/dt = -(df/dp)^T a,

    where the cotangent of each observation is added to a on the way; a at the first time is the
    cotangent of the initial value, and g that of the parameters. Both products come from one pull.
    """

    def pull(ct: Array, ys: Array, start: Array, params: Array, times: Array) -> Any:
        size = start.size

        def backward(s: float, state: Array) -> Array:
            """Derive (y, a, g) by the time s that has passed since the later observation."""
            value, pulled = ta.vjp(f, state[:size], params)
            by_y, by_p = pulled(state[size : 2 * size])
            return np.concatenate([-value, by_y, by_p])

        a, g = ct[-1], np.zeros(params.size)
        for i in range(len(times) - 1, 0, -1):
            span = np.array([0.0, times[i] - times[i - 1]])
            end = solve(backward, np.concatenate([ys[i], a, g]), span)[-1]
            a, g = end[size : 2 * size] + ct[i - 1], end[2 * size :]
        return a, g, None

    @ta.custom_rule(pull=pull)
    def solution(start: Array, params: Array, times: Array) -> Array:
        return solve(lambda t, y: f(y, params), start, times)

    return solution


def lotka_volterra(y: Any, rates: Any) -> Any:
    """Hares are born and eaten, lynx die and are fed."""
    hare, lynx = y
    alpha, beta, gamma, delta = rates
    return np.stack([(alpha - beta * lynx) * hare, (delta * hare - gamma) * lynx])


populations = odeint(lotka_volterra)


def misfit(p: Any) -> Any:
    """Half the sum of squares of the logarithms' differences: errors are relative."""
    model = populations(np.exp(p["initial"]), np.exp(p["rates"]), YEARS)
    return np.sum((np.log(model) - np.log(PELTS)) ** 2) / 2


def check_gradient() -> None:
    """Compare the gradient with central differences of the whole fit."""
    slopes = ta.grad(misfit)(START)
    step, worst = 1e-4, 0.0
    for name, values in START.items():
        for i in range(values.size):
            moved = step * np.eye(values.size)[i]
            right = misfit({**START, name: values + moved})
            left = misfit({**START, name: values - moved})
            difference = (right - left) / (2 * step)
            worst = max(worst, abs(slopes[name][i] - difference) / abs(difference))
    print(f"the gradient by the adjoint equation is that of differences to {worst:.0e}")
    assert worst < 1e-5


def draw(path: Path, fitted: dict[str, Array], deviation: float) -> None:
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    years = np.linspace(YEARS[0], YEARS[-1], 401)
    model = populations(np.exp(fitted["initial"]), np.exp(fitted["rates"]), years)
    before = populations(np.exp(START["initial"]), np.exp(START["rates"]), years)
    for i, (name, color) in enumerate((("hare", "tab:brown"), ("lynx", "tab:blue"))):
        band = np.exp(deviation)
        axes.fill_between(
            years, model[:, i] / band, model[:, i] * band, color=color, alpha=0.15, linewidth=0
        )
        axes.plot(years, model[:, i], color=color, label=f"{name}, fitted (± a standard deviation)")
        axes.plot(years, before[:, i], color=color, linestyle=":", label=f"{name}, first guess")
        axes.plot(YEARS, PELTS[:, i], "o", color=color, markersize=5, label=f"{name}, traded")
    axes.set_title("Lotka and Volterra's model, fitted to the pelts traded at Hudson Bay")
    axes.set_xlabel("year")
    axes.set_ylabel("pelts [thousands]")
    axes.locator_params(axis="x", integer=True)
    axes.set_ylim(0, 130)
    axes.grid(alpha=0.3)
    axes.legend(ncols=2, fontsize=9)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit an ODE to the lynx and hares of Hudson Bay.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    check_gradient()
    result = ta.scipy.optimize.minimize(misfit, START, "BFGS", options={"gtol": 1e-4})
    fitted = result.x
    deviation = np.sqrt(2 * result.fun / PELTS.size)
    print(f"misfit {misfit(START):.3f} -> {result.fun:.3f} in {result.nit} iterations")
    for name, rate in zip(RATES, np.exp(fitted["rates"]), strict=True):
        print(f"  {name} = {rate:.4f} per year")
    hare, lynx = np.exp(fitted["initial"])
    print(f"  in 1900: {hare:.1f} thousand hares, {lynx:.1f} thousand lynx")
    print(f"  a standard deviation of {deviation:.0%} is left unexplained")

    picture = options.out / "lynx_and_hare.png"
    draw(picture, fitted, deviation)
    print(f"wrote {picture}")
    if not result.success:
        sys.exit(f"the fit did not converge: {result.message}")


if __name__ == "__main__":
    main()
