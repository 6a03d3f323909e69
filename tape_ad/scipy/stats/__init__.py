"""Distributions, moments, correlations and densities: functions of `scipy.stats` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.stats`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.

Distributions are objects, as in SciPy: ``stats.norm.logpdf(x, loc, scale)`` and
``stats.norm(loc, scale).logpdf(x)`` can be differentiated with respect to x, loc, scale and, where
a distribution has them, its shape parameters. Of discrete distributions the shape parameters alone
can be handles. Those of vectors and matrices take handles for points, centres and matrices.
`DISTRIBUTIONS` lists their names. Moments, entropies and expectations without a formula are
integrated by a quadrature rule; where that does not give SciPy's value, they are refused. A moment
that does not exist has nan for its slope. `rv_discrete` and `rv_histogram` make distributions of
tables. Random variables (`Normal`, `Mixture`, `make_distribution`) are SciPy's own code.

Functions of samples (`skew`, `pearsonr`, `ttest_ind`, `wasserstein_distance`) are SciPy's own code,
of which a copy takes handles; see `tape_ad.differentiable`. Some steps of it are ours, where they
are compiled, or branch on values that are exactly equal. `FUNCTIONS` lists what is ours as a whole.
Functions of ranks alone (`rankdata`, `kendalltau`) are piecewise constant, and give plain results.

Examples
--------
>>> import numpy as np
>>> import tape_ad as ta
>>> from tape_ad.scipy import stats
>>> loc = ta.ComputationRecord().tensor(0.5)
>>> likelihood = np.sum(stats.norm.logpdf([0.0, 1.0, 2.0], loc=loc))
>>> float(likelihood.grad().wrt(loc))
1.5
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tape_ad import differentiable
from tape_ad.extend.arrays import any_handle, plain
from tape_ad.extend.packages import copied_object, extra

with extra("scipy", "tape_ad.scipy.stats"):
    import scipy.stats

import tape_ad.scipy.linalg  # noqa: F401 - which adds the rules
from tape_ad.extend.rules import add_rules, merged
from tape_ad.scipy.faces import face
from tape_ad.scipy.stand_ins import OBJECTS
from tape_ad.scipy.stats import hypotheses
from tape_ad.scipy.stats.continuous import CONTINUOUS
from tape_ad.scipy.stats.discrete import DISCRETE, with_numbers
from tape_ad.scipy.stats.distributions import Distribution, refuse_counts
from tape_ad.scipy.stats.families import FORMULAS
from tape_ad.scipy.stats.multivariate import MULTIVARIATE, Multivariate
from tape_ad.scipy.stats.partials import DISTRIBUTIONS as METHODS
from tape_ad.scipy.stats.ranks import PUBLISHED, RANKS

add_rules(merged(FORMULAS, METHODS, RANKS, hypotheses.TESTS))

DISTRIBUTIONS: dict[str, Distribution | Multivariate] = {
    **{name: Distribution(name) for name in sorted([*CONTINUOUS, *DISCRETE])},
    **MULTIVARIATE,
}
"""The distributions by their names, each of which is an attribute of this module."""


def frozen(original: Any) -> Any:
    """Make of one of SciPy's distributions with its parameters the same of ours."""
    ours = DISTRIBUTIONS.get(original.dist.name)
    return ours and ours(*original.args, **original.kwds)


OBJECTS[scipy.stats._distn_infrastructure.rv_frozen] = frozen

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **PUBLISHED,
    **{
        name: getattr(hypotheses, name) for name in hypotheses.__all__ if hasattr(scipy.stats, name)
    },
}
"""The functions that are not copies of SciPy's own, by their names, each of which is an attribute
of this module."""


def with_copied_result(copy: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function give a class, or an object, whose methods take handles too."""

    def public(*args: Any, **kwargs: Any) -> Any:
        args = tuple(each.scipy if isinstance(each, Distribution) else each for each in args)
        if copy.__name__ == "fit":
            refuse_counts(args[0] if args else kwargs["dist"], "fit", args, kwargs)
        found = copy(*args, **kwargs)
        return differentiable(found) if isinstance(found, type) else copied_object(found)

    return functools.wraps(copy)(public)


def drawing(copy: Callable[..., Any]) -> Callable[..., Any]:
    """Let SciPy's function draw plain values where a copy of it computes with handles."""
    theirs = inspect.unwrap(copy)
    signature = inspect.signature(theirs)

    @functools.wraps(theirs)
    def public(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        given = bound.arguments
        if given.get("plot") is None or not any_handle((args, kwargs)):
            return copy(*args, **kwargs)
        theirs(**{name: each if name == "plot" else plain(each) for name, each in given.items()})
        del given["plot"]
        return copy(*bound.args, **bound.kwargs)

    return public


DRAWING = ("boxcox_normplot", "ppcc_plot", "probplot", "yeojohnson_normplot")
"""Functions that also draw what they compute."""

OPTIONS = ("BootstrapMethod", "MonteCarloMethod", "PermutationMethod")
"""Classes of options, which hold no handles, and are SciPy's own."""

__getattr__, __dir__ = face(
    __name__,
    DISTRIBUTIONS,
    FUNCTIONS,
    also=["DISTRIBUTIONS", "FUNCTIONS"],
    around={"rv_discrete": with_numbers}
    | dict.fromkeys(DRAWING, drawing)
    | dict.fromkeys(
        ("binomtest", "fit", "goodness_of_fit", "make_distribution"), with_copied_result
    )
    | dict.fromkeys(OPTIONS, lambda copy: getattr(scipy.stats, copy.__name__)),
)
