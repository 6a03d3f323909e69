"""Integrals and initial value problems: functions of `scipy.integrate` on handles.

They have SciPy's names and arguments. SciPy's own turn what they get into plain arrays; these give
SciPy's results for plain arrays, and record what they do for handles. ``import
tape_ad.scipy.integrate`` needs SciPy, which ``pip install 'tape-ad[scipy]'`` installs.
"""

from tape_ad.base.extras import extra
from tape_ad.record.messages.migration_hints import attributes_of, listed

with extra("scipy", "tape_ad.scipy.integrate"):
    import scipy.integrate  # noqa: F401 - asked for first, so that its absence has one message

from tape_ad.rules import add_rules
from tape_ad.scipy.integrate.boundary_values import solve_bvp
from tape_ad.scipy.integrate.initial_value import solve_ivp
from tape_ad.scipy.integrate.odepack import odeint
from tape_ad.scipy.integrate.quadrature import (
    dblquad,
    fixed_quad,
    newton_cotes,
    nquad,
    quad,
    quad_vec,
    tplquad,
)
from tape_ad.scipy.integrate.quasi_monte_carlo import qmc_quad
from tape_ad.scipy.integrate.rules import INTEGRATE
from tape_ad.scipy.integrate.samples import (
    cumulative_simpson,
    cumulative_trapezoid,
    romb,
    simpson,
    trapezoid,
)
from tape_ad.scipy.interpolate.pieces import PIECES

__all__ = [
    "cumulative_simpson",
    "cumulative_trapezoid",
    "dblquad",
    "fixed_quad",
    "newton_cotes",
    "nquad",
    "odeint",
    "qmc_quad",
    "quad",
    "quad_vec",
    "romb",
    "simpson",
    "solve_bvp",
    "solve_ivp",
    "tplquad",
    "trapezoid",
]

add_rules(INTEGRATE)
add_rules(PIECES)  # of which the solution of a boundary value problem is

__getattr__ = attributes_of(__name__)
__dir__ = listed(__all__)
