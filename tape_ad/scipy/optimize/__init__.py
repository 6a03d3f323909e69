"""SciPy's optimizers and equation solvers, with derivatives into them and through them.

`minimize` gives SciPy's methods the derivatives that they take, for a function of nested structures
of parameters. And what a solver finds has derivatives itself: `minimize`, `root`, `brentq`,
`curve_fit` and the others here take handles among their further arguments, or in a function's
closure, and give handles, by the implicit function theorem (docs/implicit-differentiation.md).

They have SciPy's names and arguments, and give SciPy's results for plain arrays. SciPy is needed
for all but `scipy_objective`: pip install 'tape-ad[scipy]'.
"""

from typing import Any

from tape_ad.base.extras import extra
from tape_ad.record.messages.migration_hints import listed
from tape_ad.scipy.optimize.minima import minimize
from tape_ad.scipy.optimize.objectives import ScipyObjective, scipy_objective

try:
    import scipy.optimize  # noqa: F401 - the modules below do, and only they
except ImportError:

    def __getattr__(name: str) -> Any:
        """Say which extra has what is not here."""
        if name not in __all__:
            raise AttributeError(f"module 'tape_ad.scipy.optimize' has no attribute {name!r}")
        with extra("scipy", f"tape_ad.scipy.optimize.{name}"):
            raise ImportError(name)

else:
    from tape_ad.scipy.optimize.fits import curve_fit, least_squares, leastsq
    from tape_ad.scipy.optimize.linear_fits import isotonic_regression, lsq_linear, nnls
    from tape_ad.scipy.optimize.linear_programs import (
        approx_fprime,
        check_grad,
        linear_sum_assignment,
        linprog,
        milp,
        quadratic_assignment,
    )
    from tape_ad.scipy.optimize.roots import (
        bisect,
        brenth,
        brentq,
        fixed_point,
        fsolve,
        newton,
        ridder,
        root,
        root_scalar,
        toms748,
    )
    from tape_ad.scipy.optimize.rosenbrock import rosen, rosen_der, rosen_hess, rosen_hess_prod
    from tape_ad.scipy.optimize.scalar_minima import brent, fminbound, golden, minimize_scalar
    from tape_ad.scipy.optimize.searches import (
        anderson,
        basinhopping,
        broyden1,
        broyden2,
        brute,
        diagbroyden,
        differential_evolution,
        direct,
        dual_annealing,
        excitingmixing,
        fmin,
        fmin_bfgs,
        fmin_cg,
        fmin_l_bfgs_b,
        fmin_ncg,
        fmin_powell,
        fmin_tnc,
        line_search,
        linearmixing,
        newton_krylov,
        shgo,
    )
    from tape_ad.scipy.optimize.sparse_fits import Structure, structure

__all__ = [
    "ScipyObjective",
    "Structure",
    "anderson",
    "approx_fprime",
    "basinhopping",
    "bisect",
    "brent",
    "brenth",
    "brentq",
    "broyden1",
    "broyden2",
    "brute",
    "check_grad",
    "curve_fit",
    "diagbroyden",
    "differential_evolution",
    "direct",
    "dual_annealing",
    "excitingmixing",
    "fixed_point",
    "fmin",
    "fmin_bfgs",
    "fmin_cg",
    "fmin_l_bfgs_b",
    "fmin_ncg",
    "fmin_powell",
    "fmin_tnc",
    "fminbound",
    "fsolve",
    "golden",
    "isotonic_regression",
    "least_squares",
    "leastsq",
    "line_search",
    "linear_sum_assignment",
    "linearmixing",
    "linprog",
    "lsq_linear",
    "milp",
    "minimize",
    "minimize_scalar",
    "newton",
    "newton_krylov",
    "nnls",
    "quadratic_assignment",
    "ridder",
    "root",
    "root_scalar",
    "rosen",
    "rosen_der",
    "rosen_hess",
    "rosen_hess_prod",
    "scipy_objective",
    "shgo",
    "structure",
    "toms748",
]
__dir__ = listed(__all__)
