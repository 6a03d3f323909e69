"""Linear systems in time."""

from typing import Any

import numpy as np

from tape_ad import differentiable
from tape_ad.extend.arrays import as_array, is_handle
from tape_ad.extend.packages import copied
from tape_ad.extend.rules import Entry
from tape_ad.scipy.counterparts import counterpart
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.functions import expm

SYSTEMS: dict[Any, Entry] = {}

from_zero = copied(scipy.signal.lsim)


@counterpart(SYSTEMS, from_zero, "system U T X0", trees="system")
def lsim(
    system: Any,
    U: Any,  # noqa: N803 - SciPy's name
    T: Any,  # noqa: N803 - SciPy's name
    X0: Any = None,  # noqa: N803 - SciPy's name
    interp: bool = True,
) -> Any:
    """Simulate a continuous system, as `scipy.signal.lsim` does.

    Parameters
    ----------
    system : tuple of array or Tensor, or a system
        A numerator and a denominator; zeros, poles and a gain; or four matrices.
    U : array or Tensor, or None
        The input at each time, with an axis for several inputs.
    T : array or Tensor, shape (n,)
        The times, evenly spaced. SciPy asks whether the first one is 0, where the state is the same
        to the first order on no side: here it is always moved on by that time.
    X0 : array or Tensor, optional
        The state at first.
    interp : bool
        Whether the input is linear between the times, or constant.

    Returns
    -------
    tuple of array or Tensor
        The times, the outputs and the states.
    """
    times = as_array(T)
    if not is_handle(times) or times.ndim != 1 or bool(times[0] < 0):
        return from_zero(system, U, T, X0, interp)
    system = system if hasattr(system, "to_ss") else differentiable(scipy.signal.lti)(*system)
    a = system.to_ss().A
    start = np.zeros(a.shape[0]) if X0 is None else as_array(X0)
    start = (start @ expm(a.T * times[0])).astype(np.result_type(start, a))
    _, out, states = from_zero(
        system, U, np.concatenate(([0.0], times[1:] - times[0])), start, interp
    )
    return times, out, states
