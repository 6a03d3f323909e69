"""SciPy's optimizers and equation solvers, with derivatives into them and through them.

`minimize` gives SciPy's methods the derivatives that they take, for a function of nested structures
of parameters. And what a solver finds has derivatives itself: `minimize`, `root`, `brentq`,
`curve_fit` and the others here take handles among their further arguments, or in a function's
closure, and give handles, by the implicit function theorem (docs/implicit-differentiation.md).

They have SciPy's names and arguments, and give SciPy's results for plain arrays. SciPy is needed
for all but `scipy_objective`: pip install 'tape-ad[scipy]'.
"""

from typing import Any

from tape_ad.extend.packages import extra, listed, published
from tape_ad.scipy.optimize.minima import *
from tape_ad.scipy.optimize.objectives import *

try:
    import scipy.optimize  # noqa: F401 - the modules below do, and only they
except ImportError:

    def absent(name: str, /) -> Any:
        """Say which extra has what is not here."""
        if name.startswith("_"):
            raise AttributeError(f"module 'tape_ad.scipy.optimize' has no attribute {name!r}")
        with extra("scipy", f"tape_ad.scipy.optimize.{name}"):
            raise ImportError(name)

    __getattr__, __dir__ = absent, listed(["ScipyObjective", "minimize", "scipy_objective"])
else:
    from tape_ad.scipy.optimize import elementwise as elementwise
    from tape_ad.scipy.optimize.fits import *
    from tape_ad.scipy.optimize.linear_fits import *
    from tape_ad.scipy.optimize.linear_programs import *
    from tape_ad.scipy.optimize.minima import *
    from tape_ad.scipy.optimize.roots import *
    from tape_ad.scipy.optimize.rosenbrock import *
    from tape_ad.scipy.optimize.searches import *
    from tape_ad.scipy.optimize.sparse_structure import *

    __getattr__, __dir__ = published(
        __name__,
        also=["ScipyObjective", "Structure", "scipy_objective", "structure"],
        packages=["elementwise"],
    )
