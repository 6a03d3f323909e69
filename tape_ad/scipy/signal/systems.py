"""Linear systems as objects, in the forms of a transfer function, of roots and of states."""

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from tape_ad.base.errors import ShapeError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.packages import called
from tape_ad.scipy.counterparts import holds, is_handle, joined
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.signal.forms import (
    abcd_normalize,
    cont2discrete,
    normalize,
    ss2tf,
    ss2zpk,
    tf2ss,
    zpk2ss,
)
from tape_ad.scipy.signal.responses import tf2zpk, zpk2tf
from tape_ad.scipy.signal.simulations import dimpulse, dlsim, dstep, impulse, lsim, step
from tape_ad.scipy.signal.system_responses import bode, dbode, dfreqresp, freqresp

__all__ = ["StateSpace", "TransferFunction", "ZerosPolesGain", "dlti", "lti"]

Conversion = Callable[..., tuple[Array, ...]]

CONTINUOUS = frozenset({lsim, impulse, step, bode, freqresp, cont2discrete})
DISCRETE = frozenset({dlsim, dimpulse, dstep, dbode, dfreqresp})


class System:
    """A linear system that is not to be changed; its arrays may be handles.

    Made of plain arrays, a class gives SciPy's own object of its name.
    """

    __slots__ = ("arrays", "dt")

    original: ClassVar[Any]
    names: ClassVar[tuple[str, ...]]
    to: ClassVar[dict[int, Conversion]]

    arrays: tuple[Any, ...]
    dt: Any

    def __new__(cls, *system: Any, **kwargs: Any) -> Any:
        """Make a system, SciPy's own where no array is a handle."""
        if len(system) == 1 and isinstance(system[0], System):
            return converted(system[0], cls)
        given = (*system, *kwargs.values())
        if not any(holds(each) or is_handle(each) for each in given):
            return cls.original(*system, **kwargs)
        if set(kwargs) - {"dt"} or len(system) != len(cls.names):
            raise ValueError(
                f"tape_ad.scipy.signal.{cls.__name__} takes {', '.join(cls.names)} and dt=, got "
                f"{len(system)} arrays and {sorted(kwargs)}"
            )
        made = object.__new__(cls)
        made.arrays = cls.checked(*map(joined, system))
        made.dt = kwargs.get("dt")
        return made

    @staticmethod
    def checked(*arrays: Any) -> tuple[Any, ...]:
        """Bring the arrays into form."""
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        names = type(self).names
        if name in names:
            return self.arrays[names.index(name)]
        raise AttributeError(f"a system of the form {type(self).__name__} has no {name!r}")

    def __repr__(self) -> str:
        named = zip(type(self).names, self.arrays, strict=True)
        parts = ", ".join(f"{name}={array!r}" for name, array in named)
        return f"{type(self).__name__}({parts}, dt={self.dt!r})"

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Take part in a call of a function of systems, as the tuple of the arrays."""
        wrong = DISCRETE if self.dt is None else CONTINUOUS
        if function in wrong or function not in CONTINUOUS | DISCRETE:
            time = "continuous" if self.dt is None else "discrete"
            raise AttributeError(f"{called(function)} takes no system of {time} time")

        def plain(argument: Any) -> Any:
            return argument.tuple if isinstance(argument, System) else argument

        return function(*map(plain, args), **{key: plain(each) for key, each in kwargs.items()})

    @property
    def tuple(self) -> Any:
        """The arrays, and the step of a discrete system."""
        return self.arrays if self.dt is None else (*self.arrays, self.dt)

    @property
    def step_size(self) -> dict[str, Any]:
        """The step, as the argument that makes a system of it."""
        return {} if self.dt is None else {"dt": self.dt}

    @property
    def zeros(self) -> Any:
        """The zeros of the system."""
        return self.to_zpk().arrays[0]

    @property
    def poles(self) -> Any:
        """The poles of the system."""
        return self.to_zpk().arrays[1]

    @property
    def inputs(self) -> int:
        """The number of inputs of the system."""
        return int(self.to_ss().arrays[1].shape[1])

    @property
    def outputs(self) -> int:
        """The number of outputs of the system."""
        return int(self.to_ss().arrays[2].shape[0])

    def to_tf(self) -> Any:
        """Give the system as a transfer function."""
        return converted(self, TransferFunction)

    def to_zpk(self) -> Any:
        """Give the system by its zeros, poles and gain."""
        return converted(self, ZerosPolesGain)

    def to_ss(self) -> Any:
        """Give the system by its states."""
        return converted(self, StateSpace)

    def to_discrete(self, dt: Any, method: str = "zoh", alpha: Any = None) -> Any:
        """Give the system at steps of time; see `cont2discrete`."""
        made = cont2discrete(self.arrays, dt, method, alpha)
        arrays = made[:-1]
        if len(arrays) == 2 and arrays[0].ndim == 2 and arrays[0].shape[0] == 1:
            arrays = (arrays[0][0], arrays[1])
        return type(self)(*arrays, dt=dt)

    def impulse(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the impulse response; see `impulse` and `dimpulse`."""
        return (impulse if self.dt is None else dimpulse)(self, *args, **kwargs)

    def step(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the step response; see `step` and `dstep`."""
        return (step if self.dt is None else dstep)(self, *args, **kwargs)

    def output(self, *args: Any, **kwargs: Any) -> Any:
        """Simulate an input; see `lsim` and `dlsim`."""
        return (lsim if self.dt is None else dlsim)(self, *args, **kwargs)

    def bode(self, *args: Any, **kwargs: Any) -> Any:
        """Compute magnitude and phase; see `bode` and `dbode`."""
        return (bode if self.dt is None else dbode)(self, *args, **kwargs)

    def freqresp(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the frequency response; see `freqresp` and `dfreqresp`."""
        return (freqresp if self.dt is None else dfreqresp)(self, *args, **kwargs)


class TransferFunction(System):
    """A system of a numerator and a denominator, as `scipy.signal.TransferFunction`."""

    __slots__ = ()
    original = scipy.signal.TransferFunction
    names = ("num", "den")
    to: ClassVar[dict[int, Conversion]] = {3: tf2zpk, 4: tf2ss}

    @staticmethod
    def checked(*arrays: Any) -> Any:
        """Divide by the first coefficient."""
        return normalize(*arrays)


class ZerosPolesGain(System):
    """A system of zeros, poles and a gain, as `scipy.signal.ZerosPolesGain`."""

    __slots__ = ()
    original = scipy.signal.ZerosPolesGain
    names = ("zeros", "poles", "gain")
    to: ClassVar[dict[int, Conversion]] = {2: zpk2tf, 4: zpk2ss}
    zeros = property(lambda self: self.arrays[0])
    poles = property(lambda self: self.arrays[1])

    @staticmethod
    def checked(*arrays: Any) -> Any:
        """Make vectors of the roots."""
        zeros, poles, gain = arrays
        return *[x.reshape((-1,)) for x in map(as_array, (zeros, poles))], gain


class StateSpace(System):
    """A system of four matrices, as `scipy.signal.StateSpace`."""

    __slots__ = ()
    original = scipy.signal.StateSpace
    names = ("A", "B", "C", "D")
    to: ClassVar[dict[int, Conversion]] = {2: ss2tf, 3: ss2zpk}

    @staticmethod
    def checked(*arrays: Any) -> Any:
        """Check that the matrices of a system fit together."""
        return abcd_normalize(*arrays)

    def __add__(self, other: Any) -> Any:
        """Put two systems beside each other, or add a gain to what goes straight through."""
        if is_states(other):
            return beside(self, other)
        a, b, c, d = self.arrays
        return self.with_arrays(a, b, c, d + other)

    def __radd__(self, other: Any) -> Any:
        """Add the system to a number or another system on its left."""
        return beside(other, self) if is_states(other) else self + other

    def __neg__(self) -> Any:
        """Turn the sign of what comes out."""
        a, b, c, d = self.arrays
        return self.with_arrays(a, b, -c, -d)

    def __sub__(self, other: Any) -> Any:
        """Subtract a system or a gain."""
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        """Subtract from a system or a gain."""
        return (-self) + other

    def __mul__(self, other: Any) -> Any:
        """Put a system behind another one, or scale what goes in."""
        if is_states(other):
            return behind(self, other)
        a, b, c, d = self.arrays
        scaled = (b @ other, c, d @ other) if np.ndim(other) else (b * other, c, d * other)
        return self.with_arrays(a, *scaled)

    def __rmul__(self, other: Any) -> Any:
        """Put another system behind, or scale what comes out."""
        if is_states(other):
            return behind(other, self)
        a, b, c, d = self.arrays
        scaled = (other @ c, other @ d) if np.ndim(other) else (other * c, other * d)
        return self.with_arrays(a, b, *scaled)

    def __truediv__(self, other: Any) -> Any:
        """Divide the system by a number."""
        return self * (1 / other)

    def with_arrays(self, *arrays: Any) -> Any:
        """Make a system of the same step."""
        return StateSpace(*arrays, **self.step_size)

    __array_ufunc__ = None  # so that an array times a system is left to the system


def is_states(other: Any) -> bool:
    """Tell whether something is a system of states, ours or SciPy's."""
    return isinstance(other, (StateSpace, scipy.signal.StateSpace))


def beside(one: Any, other: Any) -> Any:
    """Give two systems the same input, and add their outputs."""
    (a, b, c, d), (e, f, g, h) = both(one, other)
    if d.shape != h.shape:
        raise ShapeError(f"systems of {d.shape} and {h.shape} outputs and inputs do not add")
    states = corners(a, np.zeros((a.shape[0], e.shape[0])), e)
    step = {} if one.dt is None else {"dt": one.dt}
    return StateSpace(states, np.concatenate((b, f)), np.concatenate((c, g), axis=1), d + h, **step)


def behind(one: Any, other: Any) -> Any:
    """Give one system what comes out of the other."""
    (a, b, c, d), (e, f, g, h) = both(one, other)
    if d.shape[1] != h.shape[0]:
        raise ShapeError(f"{h.shape[0]} outputs go into {d.shape[1]} inputs")
    states = corners(a, b @ g, e)
    step = {} if one.dt is None else {"dt": one.dt}
    return StateSpace(
        states, np.concatenate((b @ h, f)), np.concatenate((c, d @ g), axis=1), d @ h, **step
    )


def corners(a: Array, corner: Array, e: Array) -> Array:
    """Join two square matrices, and what is right of the first, to one."""
    below = np.concatenate((np.zeros((e.shape[0], a.shape[0])), e), axis=1)
    return np.concatenate((np.concatenate((a, corner), axis=1), below))


def both(one: Any, other: Any) -> Any:
    """Give the matrices of two systems.

    Raises
    ------
    TypeError
        When they have different steps.
    """
    if (one.dt is None) != (other.dt is None) or (one.dt is not None and one.dt != other.dt):
        raise TypeError("Cannot combine systems with different `dt`.")
    return [(each.A, each.B, each.C, each.D) for each in (one, other)]


def converted(system: Any, form: Any) -> Any:
    """Give a system in one of the forms."""
    if type(system) is form:
        return system
    arrays = system.to[len(form.names)](*system.arrays)
    return form(*arrays, **system.step_size)


FORMS_OF: dict[int, Any] = {2: TransferFunction, 3: ZerosPolesGain, 4: StateSpace}


def of_any_form(original: Any, system: Any, **kwargs: Any) -> Any:
    """Make a system of as many arrays as its form has."""
    given = (*system, *kwargs.values())
    if not any(holds(each) or is_handle(each) for each in given):
        return original(*system, **kwargs)
    if len(system) not in FORMS_OF:
        misfit()
    return FORMS_OF[len(system)](*system, **kwargs)


def misfit() -> NoReturn:
    """Explain in an error how many arrays make a system."""
    raise ValueError("`system` has 2, 3 or 4 arrays.")


def lti(*system: Any) -> Any:
    """Make a system of continuous time, as `scipy.signal.lti` does.

    Parameters
    ----------
    *system : array or Tensor
        A numerator and a denominator; zeros, poles and a gain; or four matrices.

    Returns
    -------
    TransferFunction, ZerosPolesGain or StateSpace
        SciPy's own where no array is a handle.
    """
    return of_any_form(scipy.signal.lti, system)


def dlti(*system: Any, **kwargs: Any) -> Any:
    """Make a system of discrete time, as `scipy.signal.dlti` does.

    Parameters
    ----------
    *system : array or Tensor
        As for `lti`.
    dt : number or Tensor, optional
        The step.

    Returns
    -------
    TransferFunction, ZerosPolesGain or StateSpace
        SciPy's own where no array is a handle.
    """
    step = kwargs.pop("dt", True)
    return of_any_form(scipy.signal.dlti, system, dt=step, **kwargs)
