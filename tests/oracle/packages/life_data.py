"""reliability: likelihoods of life distributions with their derivatives, and fits by them."""

from typing import Any

import numpy as np
from autograd import value_and_grad
from autograd.differential_operators import hessian
from reliability import Fitters

RS = np.random.RandomState(0)
FAILURES = RS.weibull(2.0, 30) * 50 + 5
CENSORED = np.full(8, 60.0)
SHARES = RS.beta(2, 3, 30)
NONE = np.array([])

LIKELIHOODS: list[tuple[str, str, list[float], tuple[Any, ...]]] = [
    ("Fit_Weibull_2P", "LL", [60.0, 2.2], (FAILURES, CENSORED)),
    ("Fit_Weibull_3P", "LL", [60.0, 2.2, 3.0], (FAILURES, CENSORED)),
    ("Fit_Weibull_Mixture", "LL", [20.0, 4.0, 70.0, 3.0, 0.2], (FAILURES, CENSORED)),
    ("Fit_Weibull_CR", "LL", [110.0, 1.8, 77.0, 4.0], (FAILURES, CENSORED)),
    ("Fit_Weibull_ZI", "LL", [60.0, 2.2, 0.1], (np.zeros(3), FAILURES, CENSORED)),
    ("Fit_Exponential_1P", "LL", [0.02], (FAILURES, CENSORED)),
    ("Fit_Normal_2P", "LL", [58.0, 22.0], (FAILURES, CENSORED)),
    ("Fit_Gumbel_2P", "LL", [69.0, 20.0], (FAILURES, CENSORED)),
    ("Fit_Lognormal_2P", "LL", [4.0, 0.5], (FAILURES, CENSORED)),
    ("Fit_Lognormal_3P", "LL", [4.0, 0.5, 1.0], (FAILURES, CENSORED)),
    ("Fit_Gamma_2P", "LL_ab", [12.0, 4.0], (FAILURES, CENSORED)),
    ("Fit_Gamma_2P", "LL_mb", [2.5, 5.0], (FAILURES, CENSORED)),
    ("Fit_Beta_2P", "LL", [2.2, 4.0], (SHARES, NONE)),
    ("Fit_Loglogistic_2P", "LL", [57.0, 3.6], (FAILURES, CENSORED)),
    ("Fit_Loglogistic_3P", "LL", [57.0, 3.6, 2.0], (FAILURES, CENSORED)),
]

FITS: list[tuple[str, dict[str, Any]]] = [
    ("Fit_Weibull_2P", {"failures": FAILURES, "right_censored": CENSORED}),
    ("Fit_Weibull_ZI", {"failures": np.append(FAILURES, [0.0, 0.0]), "right_censored": CENSORED}),
    ("Fit_Exponential_1P", {"failures": FAILURES, "right_censored": CENSORED}),
    ("Fit_Normal_2P", {"failures": FAILURES, "right_censored": CENSORED}),
    ("Fit_Gumbel_2P", {"failures": FAILURES, "right_censored": CENSORED}),
    ("Fit_Lognormal_2P", {"failures": FAILURES, "right_censored": CENSORED}),
    ("Fit_Gamma_2P", {"failures": FAILURES, "right_censored": CENSORED}),
    ("Fit_Loglogistic_2P", {"failures": FAILURES, "right_censored": CENSORED}),
    ("Fit_Beta_2P", {"failures": SHARES}),
]


def derivatives() -> Any:
    found = []
    for name, method, params, data in LIKELIHOODS:
        likelihood = getattr(getattr(Fitters, name), method)
        value, slope = value_and_grad(likelihood)(params, *data)
        found.append((value, slope, hessian(likelihood)(np.array(params), *data)))
    return found


def fits() -> Any:
    """Fit, by optimizers that stop where they come near enough."""
    found = []
    for name, data in FITS:
        quiet = {"show_probability_plot": False, "print_results": False}
        fit = getattr(Fitters, name)(**data, **quiet)
        found.append((fit.loglik, fit.results["Point Estimate"].to_numpy()))
    return found


def run() -> Any:
    return {"derivatives": derivatives(), "fits": fits()}
