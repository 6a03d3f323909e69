"""What comes of a call when a handle stands in place of an argument."""

import os
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from attrs import frozen

import tape_ad as ta
from tape_ad.errors import TapeError
from tape_ad.record.constants import ConstantTensor
from tests.calls.arguments import Place, with_argument
from tests.calls.examples import Step, TooSlow, Unit, in_time, replayed

__all__ = ["FLAGGED", "Outcome", "Slopes", "outcome_of", "slopes_of"]

SECONDS = float(os.environ.get("SECONDS_PER_CALL", "0.5"))
FIELDS = (
    *("x", "fun", "root", "y", "sol", "statistic", "pvalue", "correlation", "slope"),
    *("intercept", "cdf", "quantiles", "mean", "variance", "integral", "params", "converged"),
)
CLOSE = 1e-4
STEPS = 2e-4, 1e-4
TOLERANCES = {
    "scipy.optimize.brute": 1e-4,
    "scipy.optimize.fmin": 1e-7,
    "scipy.optimize.": 1e-8,
    "scipy.special.ncfdtri": 1e-5,
    "scipy.special.itairy": 2e-7,
}
"""How far from the solution a solver may stop, or a value be off, and so what differences of it
cannot tell. Of SciPy's functions, mpmath says that it is so."""


def to_the_end(f: Any, start: Any, bounds: Any) -> tuple[Any, Any]:
    """Search as Gaussian processes do, but not stop before the gradient vanishes."""
    closely = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000}
    found = scipy.optimize.minimize(
        f, start, method="L-BFGS-B", jac=True, bounds=bounds, options=closely
    )
    return found.x, found.fun


TIGHTER: dict[str, dict[str, Any]] = {
    "scipy.integrate.solve_bvp": {"tol": 1e-6},
    "scipy.integrate.solve_ivp": {"rtol": 1e-8, "atol": 1e-10},
    "scipy.optimize.fmin_bfgs": {"gtol": 1e-12},
    "scipy.optimize.golden": {"tol": 1e-13},
    "sklearn.linear_model.LogisticRegression": {"max_iter": 10_000, "tol": 1e-9},
    **{
        f"sklearn.gaussian_process._gpr.GaussianProcessRegressor.fit.{what}": {
            "optimizer": to_the_end
        }
        for what in ("predict", "score")
    },
}
"""Searches whose examples stop so early that differences are of where they stop: all calls of them
are made to go on, the library's own and ours."""

INSTEAD: dict[str, dict[str, Any]] = {
    f"pvlib.singlediode.bishop88_{what}": {"method_kwargs": {"tol": 1e-12, "maxiter": 100}}
    for what in ("i_from_v", "v_from_i", "mpp")
}
"""Searches that the examples themselves make stop early."""

PART: dict[str, Callable[[Any], Any]] = {
    "chemicals.rachford_rice.Rachford_Rice_solution_binary_dd": lambda found: found[0],
    "scipy.interpolate.insert": lambda tck: (tck[0], tck[1][: -tck[2] - 1]),
    "scipy.integrate.solve_ivp": lambda solved: solved.y[..., -1],
    **dict.fromkeys(
        [f"scipy.integrate.{name}quad" for name in ("", "dbl", "tpl", "n")]
        + ["scipy.integrate.quad_vec"],
        lambda found: found[0],
    ),
}
"""What of a result tells. The rest is memory that nobody has written to, the estimate of an error,
or taken at times that the solver has chosen, and would choose otherwise."""

OUTPUT_ARGUMENTS = frozenset({"distances", "indices", "out", "output"})
"""The arguments that SciPy writes results to where they are arrays of NumPy's."""

FLAGGED = os.environ.get("SCIPY_ARRAY_API") == "1"


@frozen
class Outcome:
    """What came of it.

    Attributes
    ----------
    kind : str
        "right", "clear", "cryptic", "detached", "wrong", "slow" or "unclear".
    story : str
        The error, or how far the slope is off.
    """

    kind: str
    story: str = ""


@frozen
class Slopes:
    """How a call's numbers change along one direction of an argument, by differences.

    Attributes
    ----------
    direction : ndarray
    values : dict of str to array
    weights : dict of str to array
    slopes : dict of str to tuple of float
        Of each weighted sum, with how far it can be trusted.
    errors : dict of str to float
        How far the values are off, as rounding leaves them: what second differences over two steps
        are apart, which of a smooth function are as the squares of the steps.
    """

    direction: Any
    values: dict[str, Any]
    weights: dict[str, Any]
    slopes: dict[str, tuple[float, float]]
    errors: dict[str, float]

    @property
    def constant(self) -> bool:
        return all(abs(slope) <= noise for slope, noise in self.slopes.values())

    @property
    def unclear(self) -> bool:
        return any(noise > 0.1 * abs(slope) > 0.0 for slope, noise in self.slopes.values())


def numbers_of(result: Any, path: str = "") -> dict[str, Any]:
    """Flatten what a function gives to its arrays and numbers, by where they stand."""
    if isinstance(result, np.ndarray):  # of a subclass, or of NumPy's own
        result = np.asarray(result)
    if isinstance(result, (ta.Tensor, np.ndarray, np.generic, float, complex)):
        return (
            {path: result}
            if np.dtype(result.dtype if hasattr(result, "dtype") else type(result)).kind in "fcO"
            else {}
        )
    pairs: list[tuple[Any, Any]]
    if isinstance(result, dict):
        pairs = [(key, result[key]) for key in FIELDS if key in result]
    elif isinstance(result, (tuple, list)) and len(result) < 50:
        pairs = list(enumerate(result))
    elif hasattr(result, "toarray"):
        pairs = [("toarray()", result.toarray())]
    elif hasattr(result, "as_matrix"):
        pairs = [("as_matrix()", result.as_matrix())]
    elif type(result).__name__.endswith(("Result", "Bunch")):
        pairs = [(key, getattr(result, key)) for key in FIELDS if hasattr(result, key)]
    else:
        return {}
    return {
        inner: number
        for key, value in pairs
        for inner, number in numbers_of(value, f"{path}.{key}").items()
    }


def run(thing: Any, unit: Unit, place: Place | None, value: Any) -> dict[str, Any]:
    """Run a call, with another value at one place."""
    steps = with_argument(unit, place, value)
    if unit.name in TIGHTER:
        first, *others = steps
        steps = (Step(first.what, first.args, {**TIGHTER[unit.name], **first.kwargs}), *others)
    if unit.name in INSTEAD:
        first, *others = steps
        steps = (Step(first.what, first.args, {**first.kwargs, **INSTEAD[unit.name]}), *others)
    if FLAGGED and isinstance(value, ta.Tensor):
        held = ((s.what, in_namespace(s.args), named_in_namespace(s.kwargs)) for s in steps)
        steps = tuple(Step(*each) for each in held)
    np.random.seed(0)  # noqa: NPY002 - what SciPy draws from where it is given no generator
    with warnings.catch_warnings(), np.errstate(all="ignore"), in_time(SECONDS):
        warnings.simplefilter("ignore")
        return numbers_of(PART.get(unit.name, as_it_is)(replayed(thing, steps)))


def as_it_is(result: Any) -> Any:
    return result


def in_namespace(held: Any) -> Any:
    """Make constants of plain arrays, for all arrays of a call are to be of one namespace."""
    if type(held) is tuple:
        return tuple(map(in_namespace, held))
    if type(held) is dict:
        return {key: in_namespace(each) for key, each in held.items()}
    if type(held) is np.ndarray and held.dtype.kind in "biufc":
        return ta.interop.array_api.asarray(held)
    return held


def named_in_namespace(named: dict[str, Any]) -> dict[str, Any]:
    """Do so for arguments by name, but for arrays that results are written to."""
    return {
        key: each if key in OUTPUT_ARGUMENTS else in_namespace(each) for key, each in named.items()
    }


def weighted(values: dict[str, Any], weights: dict[str, Any]) -> dict[str, Any]:
    """Sum up each of the arrays by weights, a real number for each."""
    return {key: np.sum(np.real(np.conj(weight) * values[key])) for key, weight in weights.items()}


def slopes_of(
    thing: Any, unit: Unit, place: Place, value: Any, as_given: bool = True, finer: float = 1.0
) -> Slopes | None:
    """Measure how the library's own result changes; None where it cannot be measured.

    Where the value is as it was given, its floats have to give what the original gives. Steps are
    shorter by a factor where ties lie close.
    """
    rng = np.random.default_rng(0)
    typical = np.sqrt(np.mean(value**2)) or 1.0
    direction = rng.normal(size=value.shape) * np.where(value == 0, typical, np.abs(value))
    try:
        values = run(thing, unit, None if as_given else place, value)
        again = run(thing, unit, place, value)
        weights = {
            key: rng.normal(size=np.shape(out)) * (1 + 0j if np.iscomplexobj(out) else 1)
            for key, out in values.items()
            if np.size(out) and np.all(np.isfinite(out))
        }
        if not weights or not all(same(again[key], values[key]) for key in weights):
            return None
        sums, bends = {}, []
        steps = [finer * h for h in STEPS]
        for h in steps:
            ends = [run(thing, unit, place, value + s * h * direction) for s in (1, -1)]
            if any(np.shape(end[key]) != np.shape(weights[key]) for end in ends for key in weights):
                return None
            up, down = (weighted(end, weights) for end in ends)
            sums[h] = {key: (up[key] - down[key]) / (2 * h) for key in weights}
            bends.append({key: ends[0][key] + ends[1][key] - 2 * again[key] for key in weights})
    except (Exception, TooSlow):
        return None
    slopes, errors = {}, {}
    stops = next((at for start, at in TOLERANCES.items() if unit.name.startswith(start)), 1e-15)
    for key, weight in weights.items():
        first, second = (float(sums[h][key]) for h in steps)
        scale = float(np.sum(np.abs(weight * values[key])))
        noise = abs(second - first) + stops * (scale + 1e-3) / steps[1] + 1e-13
        slopes[key] = (4 * second - first) / 3, noise
        apart = float(np.max(np.abs(bends[0][key] - 4 * bends[1][key])))
        errors[key] = min(apart, stops * 1e-3)  # no kink counts as rounding
    if not all(np.isfinite(slope) for slope, _ in slopes.values()):
        return None
    return Slopes(direction, again, weights, slopes, errors)


def same(out: Any, expected: Any) -> bool:
    """Tell whether a result is that of the original call."""
    close = np.shape(out) == np.shape(expected)
    return close and np.allclose(out, expected, rtol=1e-7, atol=1e-12)


def outcome_of(thing: Any, unit: Unit, place: Place, value: Any, measured: Slopes) -> Outcome:
    """Make the call with a handle, and compare."""
    handle = ta.ComputationRecord().tensor(value)
    try:
        results = run(thing, unit, place, handle)
        found = {
            key: number_and_slope(results[key], key, handle, measured)
            for key in measured.weights
            if key in results
        }
    except TooSlow:
        return Outcome("slow")
    except Exception as error:
        return Outcome("clear" if is_clear(error) else "cryptic", told(error))
    worst = Outcome("right")
    for key, (slope, noise) in measured.slopes.items():
        if key not in found:
            return Outcome("wrong", f"{key or 'the result'} is missing: {sorted(results)}")
        shape, close, got = found[key]
        if shape != np.shape(measured.weights[key]) or not close:
            return Outcome("wrong", f"{key or 'the result'} has another value or shape {shape}")
        if got is None:
            if 0.1 * abs(slope) > noise:
                worst = Outcome("detached", f"{key or 'the result'}: {slope:.6g} is lost")
        elif abs(got - slope) > CLOSE * abs(slope) + 10 * noise:
            return Outcome("wrong", f"{key or 'the result'}: {got:.9g}, not {slope:.9g}")
    return worst


def number_and_slope(
    out: Any, key: str, handle: Any, measured: Slopes
) -> tuple[tuple[int, ...], bool, float | None]:
    """Give an output's shape, whether its value is the library's, and its slope if it has one."""
    plain = out.data if isinstance(out, ta.Tensor) else out
    shape = np.shape(plain)
    expected = measured.values[key]
    if shape != np.shape(expected):
        return shape, False, None
    scale = float(np.max(np.abs(expected)))
    atol = 1e-7 * scale + measured.errors[key]
    close = bool(np.allclose(plain, expected, rtol=1e-5, atol=atol))
    if not isinstance(out, ta.Tensor) or isinstance(out, ConstantTensor):
        return shape, close, None
    total: Any = np.sum(np.real(np.conj(measured.weights[key]) * out))
    gradient = total.grad().wrt(handle)
    return shape, close, float(np.sum(gradient * measured.direction))


def is_clear(error: BaseException | None) -> bool:
    """Tell whether an error, or what it says is its cause, speaks of handles."""
    while error is not None:
        text = str(error)
        told = "handle" in text or "tape_ad" in text or "Got Tensor(" in text
        if isinstance(error, TapeError) or told:
            return True
        error = error.__cause__
    return False


def told(error: BaseException) -> str:
    """Tell an error in a line, with where it came from."""
    frames = traceback.extract_tb(error.__traceback__)
    last = next((each for each in reversed(frames) if "/tape_ad/" not in each.filename), frames[-1])
    where = f"{last.filename.rpartition('site-packages/')[2]}:{last.lineno}"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]} ({where})"
