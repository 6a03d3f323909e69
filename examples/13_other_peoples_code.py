"""Choose the pipes of a water main by gradient, through two packages that know of no gradients.

Water is pumped to eight villages through a tree of sixteen pipes. Wide pipes are dear, and in
narrow ones friction eats the pump's power for forty years. `fluids` has the friction factor of a
rough pipe, an equation solved by iteration in plain Python, and the losses of its bends;
`numpy_financial` has the yearly payment of the loan and the present value of the bills. Neither was
written for anything but floats. `ta.differentiable` lets both take handles, and the gradient of the
cost by all sixteen diameters leads L-BFGS to the cheapest main. Beside it stands what engineers
start from: the same velocity in every pipe.

It takes five seconds. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import fluids
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import numpy_financial as npf
import scipy.optimize
from scipy.special import logsumexp

import tape_ad as ta

Array = np.ndarray[Any, Any]

ABOVE = np.array([-1, 0, 1, 2, 3, 1, 5, 6, 2, 8, 3, 6, 7, 8, 5, 0])
"""The pipe that each pipe hangs on; the first one comes from the pump."""

LENGTHS = 1000 * np.array([2.0, 1.5, 1.2, 1, 0.8, 1.4, 1, 0.9, 0.7, 1.1, 0.6, 0.8, 1, 0.9, 0.7, 1])
ENDS = np.array([4, 9, 10, 11, 12, 13, 14, 15])
DEMANDS = np.array([12.0, 20, 9, 15, 11, 18, 7, 14]) / 1000
"""Of the villages at the ends, in cubic metres a second."""

DENSITY, VISCOSITY, ROUGHNESS = 998.2, 1.002e-3, 1e-4
POWER_PRICE, GROWTH, DISCOUNT, YEARS = 0.18, 0.02, 0.05, 40
"""Euros for a kilowatt hour, and how it grows; what money is worth a year later; the time."""


SHARPNESS = 1e3
"""How far below the worst village another may be that has no say in the pressure, in pascals."""


def way_to(pipe: int) -> list[int]:
    """List the pipes from the pump to the end of one."""
    return [*(way_to(ABOVE[pipe]) if ABOVE[pipe] >= 0 else []), pipe]


def flows() -> Array:
    """Add up what every pipe carries."""
    carried = np.zeros(len(ABOVE))
    for end, demand in zip(ENDS, DEMANDS, strict=True):
        carried[way_to(end)] += demand
    return carried


FLOWS = flows()


def pressure_loss(diameter: float, flow: float, length: float) -> float:
    """The pressure that a pipe with four bends takes, as `fluids` has it, in pascals."""
    speed = flow / (np.pi / 4 * diameter**2)
    reynolds = fluids.Reynolds(speed, diameter, DENSITY, VISCOSITY)
    friction = fluids.friction_factor(Re=reynolds, eD=ROUGHNESS / diameter)
    bends = 4 * fluids.bend_rounded(Di=diameter, angle=90, fd=friction, bend_diameters=3)
    return float(
        fluids.dP_from_K(fluids.K_from_f(friction, length, diameter) + bends, DENSITY, speed)
    )


def cost(diameters: Array) -> float:
    """What the main costs in forty years, as it is worth today, in millions of euros."""
    losses = [pressure_loss(*each) for each in zip(diameters, FLOWS, LENGTHS, strict=True)]
    on_the_way = np.array([sum(losses[i] for i in way_to(end)) for end in ENDS])
    needed = SHARPNESS * logsumexp(on_the_way / SHARPNESS) + 3e5  # a maximum without corners
    power = needed * FLOWS[0] / 0.75 / 1000
    bills = np.zeros(YEARS + 1)
    for year in range(1, YEARS + 1):
        bills[year] = power * 8760 * POWER_PRICE * (1 + GROWTH) ** year
    pipes = sum(np.asarray(LENGTHS) * (60 + 1500 * np.asarray(diameters) ** 1.4))
    yearly = -npf.pmt(DISCOUNT, YEARS, pipes)
    worth: float = npf.npv(DISCOUNT, bills) + npf.pv(DISCOUNT, YEARS, -yearly)
    return worth / 1e6


def picture(diameters: dict[str, Array], costs: dict[str, float], path: Path) -> None:
    """Draw the diameters of both mains, and how fast the water flows in them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    places = np.arange(len(ABOVE))
    for i, (name, each) in enumerate(diameters.items()):
        label = f"{name}: {costs[name]:.2f} million euros"
        left.bar(places + 0.4 * i, 1000 * each, 0.4, label=label)
        right.plot(places, FLOWS / (np.pi / 4 * each**2), "o", label=name)
    left.set(xlabel="pipe", ylabel="diameter in mm")
    right.set(xlabel="pipe", ylabel="velocity in m/s", ylim=(0, None))
    left.legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path())
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")

    start = np.sqrt(FLOWS / (np.pi / 4 * 1.0))  # one metre a second everywhere
    slopes = ta.value_and_grad(ta.differentiable(cost))
    copied = ta.differentiable.explain(pressure_loss).copied
    print(
        f"{sum(name.startswith('fluids.') for name in copied)} functions of fluids are within reach"
    )

    begin = time.perf_counter()
    value, gradient = slopes(start)
    assert value == cost(start)  # the original, to the last bit
    nudge = 1e-6 * np.eye(len(start))[5]
    difference = (cost(start + nudge) - cost(start - nudge)) / 2e-6
    print(f"slope in one diameter: {gradient[5]:.6f}; by differences {difference:.6f}")
    assert np.isclose(gradient[5], difference, rtol=1e-5)

    def in_logarithms(logs: Array) -> tuple[float, Array]:
        value, gradient = slopes(np.exp(logs))
        return float(value), gradient * np.exp(logs)

    found = scipy.optimize.minimize(in_logarithms, np.log(start), jac=True, method="L-BFGS-B")
    best = np.exp(found.x)
    seconds = time.perf_counter() - begin
    costs = {"one velocity": float(value), "by gradient": float(found.fun)}
    print(f"{found.nfev} gradients by {len(start)} diameters in {seconds:.1f} s")
    print(f"cost {costs['one velocity']:.4f} before, {costs['by gradient']:.4f} after")
    picture(dict(zip(costs, (start, best), strict=True)), costs, out / "pipes.png")
    assert costs["by gradient"] < costs["one velocity"]


if __name__ == "__main__":
    main()
