"""Interpolation: functions of `scipy.interpolate` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles.
``import tape_ad.scipy.interpolate`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.base.extras import extra
from tape_ad.record.messages.migration_hints import attributes_of, listed

with extra("scipy", "tape_ad.scipy.interpolate"):
    import scipy.interpolate

from tape_ad.rules import add_rules
from tape_ad.scipy.interpolate.bsplines import BSpline, splantider, splder
from tape_ad.scipy.interpolate.fitpack import (
    InterpolatedUnivariateSpline,
    LSQUnivariateSpline,
    UnivariateSpline,
    splev,
    splint,
    splprep,
    splrep,
)
from tape_ad.scipy.interpolate.fitting import (
    make_interp_spline,
    make_lsq_spline,
    make_smoothing_spline,
)
from tape_ad.scipy.interpolate.further import (
    approximate_taylor_polynomial,
    insert,
    lagrange,
    pade,
    spalde,
    sproot,
)
from tape_ad.scipy.interpolate.polynomials import (
    Akima1DInterpolator,
    CubicHermiteSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    pchip_interpolate,
)
from tape_ad.scipy.interpolate.radial import RBFInterpolator
from tape_ad.scipy.interpolate.rbf import Rbf
from tape_ad.scipy.interpolate.rectangles import RectBivariateSpline
from tape_ad.scipy.interpolate.regular import RegularGridInterpolator, interpn
from tape_ad.scipy.interpolate.rules import INTERPOLATE
from tape_ad.scipy.interpolate.scattered import (
    CloughTocher2DInterpolator,
    LinearNDInterpolator,
    NearestNDInterpolator,
    griddata,
)
from tape_ad.scipy.interpolate.surfaces import (
    LSQBivariateSpline,
    LSQSphereBivariateSpline,
    RectSphereBivariateSpline,
    SmoothBivariateSpline,
    SmoothSphereBivariateSpline,
    bisplev,
)
from tape_ad.scipy.interpolate.univariate import (
    BarycentricInterpolator,
    KroghInterpolator,
    barycentric_interpolate,
    interp1d,
    krogh_interpolate,
)
from tape_ad.scipy.linalg.banded import BANDED
from tape_ad.scipy.spatial.pairs import PAIRS

__all__ = [
    "Akima1DInterpolator",
    "BSpline",
    "BarycentricInterpolator",
    "CloughTocher2DInterpolator",
    "CubicHermiteSpline",
    "CubicSpline",
    "InterpolatedUnivariateSpline",
    "KroghInterpolator",
    "LSQBivariateSpline",
    "LSQSphereBivariateSpline",
    "LSQUnivariateSpline",
    "LinearNDInterpolator",
    "NearestNDInterpolator",
    "PPoly",
    "PchipInterpolator",
    "RBFInterpolator",
    "Rbf",
    "RectBivariateSpline",
    "RectSphereBivariateSpline",
    "RegularGridInterpolator",
    "SmoothBivariateSpline",
    "SmoothSphereBivariateSpline",
    "UnivariateSpline",
    "approximate_taylor_polynomial",
    "barycentric_interpolate",
    "bisplev",
    "griddata",
    "insert",
    "interp1d",
    "interpn",
    "krogh_interpolate",
    "lagrange",
    "make_interp_spline",
    "make_lsq_spline",
    "make_smoothing_spline",
    "pade",
    "pchip_interpolate",
    "spalde",
    "splantider",
    "splder",
    "splev",
    "splint",
    "splprep",
    "splrep",
    "sproot",
]
add_rules(INTERPOLATE)
add_rules(PAIRS)  # distances, which radial functions are of
add_rules(BANDED)  # which the systems of splines are solved with

if hasattr(scipy.interpolate, "AAA"):  # since SciPy 1.15
    from tape_ad.scipy.interpolate.further import make_splprep, make_splrep
    from tape_ad.scipy.interpolate.rational import AAA, FloaterHormannInterpolator

    __all__ += ["AAA", "FloaterHormannInterpolator", "make_splprep", "make_splrep"]

__getattr__ = attributes_of(__name__)
__dir__ = listed(__all__)
