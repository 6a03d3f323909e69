"""SciPy's optimizers and equation solvers, with derivatives into them and through them.

`minimize` gives SciPy's methods the derivatives that they take, for a function of nested structures
of parameters. And what a solver finds has derivatives itself: `minimize`, `root`, `brentq`,
`curve_fit` and the others here take handles among their further arguments, or in a function's
closure, and give handles, by the implicit function theorem (docs/implicit-differentiation.md).

They have SciPy's names and arguments, and give SciPy's results for plain arrays, but that those
which take a Jacobian get the exact one. ``import tape_ad.scipy.optimize`` needs SciPy, which ``pip
install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.optimize"):
    import scipy.optimize  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.scipy.faces import face
from tape_ad.scipy.optimize import elementwise as elementwise
from tape_ad.scipy.optimize.fits import *
from tape_ad.scipy.optimize.linear_programs import *
from tape_ad.scipy.optimize.minima import *
from tape_ad.scipy.optimize.objectives import *
from tape_ad.scipy.optimize.roots import *
from tape_ad.scipy.optimize.searches import *

__getattr__, __dir__ = face(
    __name__,
    SEARCHES,
    also=["ScipyObjective", "Structure", "scipy_objective", "structure"],
    packages=["elementwise"],
)
