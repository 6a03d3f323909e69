"""Tune what comes before a ridge regression by gradient, through scikit-learn as it is.

The data is real: how far the diabetes of 442 patients had gone in a year, and ten measurements at
the beginning (Efron, Hastie, Johnstone & Tibshirani, "Least angle regression", 2004; it comes with
scikit-learn). The pipeline scales the measurements, makes all products of two, and fits a Ridge. A
weight for each measurement says how cheap it is for the penalty, a warp bends its scale, and the
penalty itself is to be found too: 21 numbers, for which a grid search would be hopeless. Their
gradient of the validation error goes back through `Ridge.fit`, `PolynomialFeatures` and
`StandardScaler`, which get handles in place of arrays, and L-BFGS does the rest. Patients of a
third group, which nobody has looked at before, show what it was worth. Writes pipeline.png.

It takes half a minute. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import os

os.environ["SCIPY_ARRAY_API"] = "1"  # read when SciPy is imported, and asked for by scikit-learn

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn import config_context
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import tape_ad as ta

Array = np.ndarray[Any, Any]

GROUPS = 5
"""Of as many groups, each is left out in turn to be predicted from the others."""


def patients() -> tuple[Array, Array, Array, Array]:
    """Give measurements and progress of those to tune with, and of those to judge by."""
    x, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = x[order] / x.std(axis=0), (y[order] - y.mean()) / y.std()
    return x[:300], y[:300], x[300:], y[300:]


def prepared(p: Any, x: Array) -> Any:
    """Bend the scale of each measurement, and weigh it."""
    return np.exp(p["log_weights"]) * (x + p["warps"] * np.tanh(x) ** 2)


def predicted(p: Any, x: Array, y: Array, to: Array) -> Any:
    """Fit the pipeline to some patients, and predict the progress of others."""
    pipeline = make_pipeline(
        StandardScaler(with_std=False),
        PolynomialFeatures(2, interaction_only=True, include_bias=False),
        Ridge(alpha=np.exp(p["log_alpha"]), solver="svd"),
    )
    pipeline.fit(prepared(p, x), ta.interop.array_api.asarray(y))
    return pipeline.predict(prepared(p, to))


def validation_error(p: Any, x: Array, y: Array) -> Any:
    """The mean squared error for patients whom the fit has not seen."""
    group = np.arange(len(y)) % GROUPS
    errors = [
        np.sum((predicted(p, x[group != i], y[group != i], x[group == i]) - y[group == i]) ** 2)
        for i in range(GROUPS)
    ]
    return np.sum(np.stack(errors)) / len(y)


def penalty(p: Any) -> Any:
    """A small one, so that what hardly matters stays where it was."""
    return np.sum(p["log_weights"] ** 2) + np.sum(p["warps"] ** 2)


def drawn(tuned: Any, errors: list[float], unseen: list[float]) -> Figure:
    """Draw what was found for each measurement, and what it was worth."""
    figure = Figure(figsize=(10, 3.5), layout="constrained")
    weights, warps, worth = figure.subplots(1, 3)
    names = load_diabetes().feature_names
    weights.barh(names, np.exp(tuned["log_weights"]))
    weights.set(title="weight: how cheap for the penalty")
    warps.barh(names, tuned["warps"], color="tab:orange")
    warps.set(title="warp: how much its scale bends")
    worth.bar(["before", "after"], errors, width=-0.35, align="edge", label="validation")
    worth.bar(["before", "after"], unseen, width=0.35, align="edge", label="never looked at")
    worth.set(title="mean squared error", ylim=(0.9 * min(errors + unseen), None))
    worth.legend()
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description="Tune a pipeline of scikit-learn by gradient.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    folder = parser.parse_args().out

    x, y, unseen_x, unseen_y = patients()
    start = {"log_weights": np.zeros(10), "warps": np.zeros(10), "log_alpha": np.array(3.0)}
    error = ta.value_and_grad(validation_error)

    def judged(p: Any) -> float:
        handles = ta.ComputationRecord().bind(p)
        return float(np.mean((predicted(handles, x, y, unseen_x).data - unseen_y) ** 2))

    with config_context(array_api_dispatch=True):
        value, gradient = error(start, x, y)
        nudge = 1e-5 * np.eye(10)[3]
        sides = [error({**start, "warps": side}, x, y)[0] for side in (nudge, -nudge)]
        slope, difference = gradient["warps"][3], (sides[0] - sides[1]) / 2e-5
        print(f"slope of the error in one warp: {slope:.8f}; by differences {difference:.8f}")
        assert np.isclose(slope, difference, rtol=1e-4)

        tuned = ta.scipy.optimize.minimize(
            lambda p: validation_error(p, x, y) + 1e-3 * penalty(p),
            start,
            "L-BFGS-B",
            options={"maxiter": 25},
        ).x
        errors = [value, error(tuned, x, y)[0]]
        unseen = [judged(start), judged(tuned)]
    print(f"validation error {errors[0]:.4f} before, {errors[1]:.4f} after")
    lines = zip(
        load_diabetes().feature_names, np.exp(tuned["log_weights"]), tuned["warps"], strict=True
    )
    for name, weight, warp in sorted(lines, key=lambda line: -line[1]):
        print(f"    {name:3}  weight {weight:5.2f}  warp {warp:+.2f}")
    print(f"error for patients never looked at: {unseen[0]:.4f} before, {unseen[1]:.4f} after")
    folder.mkdir(parents=True, exist_ok=True)
    drawn(tuned, errors, unseen).savefig(folder / "pipeline.png", dpi=120)
    assert errors[1] < errors[0]
    assert unseen[1] < unseen[0]


if __name__ == "__main__":
    main()
