"""Integrals and initial value problems: functions of `scipy.integrate` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.integrate`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs. What has no
rule here, as `nquad`, is a copy of SciPy's own code, which calls those that have.
"""

from tape_ad.extend.packages import extra

with extra("scipy", "tape_ad.scipy.integrate"):
    import scipy.integrate  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.extend.rules import add_rules
from tape_ad.extend.solvers import opaque
from tape_ad.scipy.faces import face
from tape_ad.scipy.integrate.boundary_values import *
from tape_ad.scipy.integrate.initial_value import *
from tape_ad.scipy.integrate.quadrature import *
from tape_ad.scipy.integrate.runge_kutta import STEPS
from tape_ad.scipy.interpolate.polynomials import PIECES

add_rules(STEPS)
add_rules(PIECES)  # of which the solution of a boundary value problem is

__getattr__, __dir__ = face(__name__, around=dict.fromkeys(("dblquad", "nquad", "tplquad"), opaque))
