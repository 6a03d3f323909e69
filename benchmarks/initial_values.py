"""Compare the ways in which an initial value problem is differentiated: errors, times, memory.

Run from the repository's root; it takes a minute, and prints the tables of docs/ode.md::

    python -m benchmarks.initial_values
"""

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

import tape_ad as ta
from tape_ad.scipy import integrate

__all__: list[str] = []

Array = np.ndarray[Any, Any]

RATES = np.array([1.5, 1.0, 3.0, 1.0])
POPULATIONS = np.array([1.0, 1.0])
SPAN = (0.0, 10.0)

WAYS = (
    ("steps", "RK45"),
    ("steps", "RK23"),
    ("steps", "DOP853"),
    ("adjoint", "RK45"),
    ("adjoint", "DOP853"),
    ("adjoint", "LSODA"),
    ("adjoint", "BDF"),
    ("adjoint", "Radau"),
)


def predators(t: float, y: Any, rates: Any) -> Any:
    """Lotka's and Volterra's equations."""
    prey, predator = y[0], y[1]
    a, b, c, d = rates[0], rates[1], rates[2], rates[3]
    return np.stack([(a - b * predator) * prey, (d * prey - c) * predator])


def last(rates: Any, way: str, method: str, rtol: float) -> Any:
    """Sum up both populations at the end."""
    options: dict[str, Any] = {"rtol": rtol, "atol": rtol * 1e-2}
    solution = integrate.solve_ivp(
        predators, SPAN, POPULATIONS, method, args=(rates,), adjoint=way, **options
    )
    return np.sum(solution.y[:, -1])


def shortest(call: Callable[[], Any], repeats: int = 3) -> float:
    """Time a call, in milliseconds."""
    times = []
    for _ in range(repeats):
        before = time.perf_counter()
        call()
        times.append(time.perf_counter() - before)
    return 1e3 * min(times)


def row(way: str, method: str, rtol: float, reference: Array) -> str:
    """Measure one way, as a row of a table."""
    f = functools.partial(last, way=way, method=method, rtol=rtol)
    error = np.max(abs(ta.grad(f)(RATES) - reference) / abs(reference))
    options: dict[str, Any] = {"rtol": rtol, "atol": rtol * 1e-2, "args": (RATES,)}
    plain = shortest(
        lambda: scipy.integrate.solve_ivp(predators, SPAN, POPULATIONS, method, **options)
    )
    both = shortest(lambda: ta.value_and_grad(f)(RATES))
    record = ta.ComputationRecord()
    f(record.tensor(RATES))
    return (
        f"| {way} | {method} | {error:.0e} | {plain:.0f} ms | {both / plain:.1f} | {len(record)} |"
    )


def main() -> None:
    reference = ta.grad(functools.partial(last, way="steps", method="DOP853", rtol=1e-13))(RATES)
    for rtol in (1e-4, 1e-8):
        print(f"\nrtol={rtol:.0e}\n")
        print("| way | method | error of the gradient | SciPy alone | value and gradient | nodes |")
        print("|---|---|--:|--:|--:|--:|")
        for way, method in WAYS:
            if not (rtol < 1e-6 and method == "RK23"):  # which takes thousands of steps
                print(row(way, method, rtol, reference), flush=True)


if __name__ == "__main__":
    main()
