"""`Rotation`, as an object that may hold handles, and what goes from one to the next in time.

One that holds plain arrays alone has SciPy's object behind it, which is asked first.

Between two rotations of a `RotationSpline` the vector of the rotation that is left to do, φ, is a
cubic polynomial of time. Its rates at the ends make the angular velocity ω and the angular
acceleration α continuous:

    ω = R(φ) φ'        α = R(φ) φ'' + (dR(φ)/dt) φ'        R(φ) = 1 - a [φ]ₓ + b [φ]ₓ²

with a = (1 - cos|φ|)/|φ|² and b = (|φ| - sin|φ|)/|φ|³.
"""

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double, plain, primal
from tape_ad.extend.solvers import implicit
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial import quaternions
from tape_ad.scipy.stand_ins import OBJECTS, WHOLE, stands_for

DEGREE = np.pi / 180.0

Host = scipy.spatial.transform.Rotation


def to_host(value: Any) -> Any:
    """Give SciPy's object behind a rotation of plain arrays."""
    return value._host if isinstance(value, Rotation) else value


def from_host(value: Any) -> Any:
    """Take what SciPy gives to ours: rotations, alone or first in a tuple."""
    if isinstance(value, Host):
        return Rotation._make(value.as_quat(), value)
    return tuple(map(from_host, value)) if isinstance(value, tuple) else value


def made(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let SciPy make a rotation, where only plain arrays are given."""

    @functools.wraps(function)
    def public(*args: Any, **kwargs: Any) -> Any:
        if is_plain(*args, *kwargs.values()):
            return from_host(getattr(Host, function.__name__)(*args, **kwargs))
        return function(*args, **kwargs)

    return public


def asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Ask SciPy's object first, where there is one and only plain arrays are given."""

    @functools.wraps(function)
    def public(self: "Rotation", *args: Any, **kwargs: Any) -> Any:
        args = from_host(args)
        kwargs = {name: from_host(value) for name, value in kwargs.items()}
        given = (self, *args, *kwargs.values())
        recorded = any(isinstance(each, Rotation) and each._host is None for each in given)
        if recorded or not is_plain(*given):
            return function(self, *args, **kwargs)
        named = {name: to_host(value) for name, value in kwargs.items()}
        return from_host(getattr(self._host, function.__name__)(*map(to_host, args), **named))

    return public


def of_plain_arrays(name: str) -> Callable[..., Any]:
    """Let SciPy make a rotation of what is no handle."""

    def public(*args: Any, **kwargs: Any) -> Any:
        if not is_plain(*args, *kwargs.values()):
            raise UnsupportedArgumentError(
                f"Rotation.{name} takes no handles; pass .data, or write from_euler or from_rotvec"
            )
        return from_host(getattr(Host, name)(*args, **kwargs))

    return public


class Rotation:
    """Rotations in three dimensions, as `scipy.spatial.transform.Rotation`, also of handles.

    Make them by `from_quat`, `from_matrix`, `from_rotvec`, `from_mrp` or `from_euler`. All that is
    made of them is smooth in them, at no rotation too; only `magnitude` has a kink there.

    Examples
    --------
    >>> import tape_ad as ta
    >>> v = ta.ComputationRecord().tensor([0.0, 0.0, 0.0])
    >>> turned = ta.scipy.spatial.transform.Rotation.from_rotvec(v).apply([1.0, 0.0, 0.0])
    >>> turned[1].grad().wrt(v)  # about the z axis
    array([0., 0., 1.])
    """

    __array_ufunc__: ClassVar[None] = None
    _quat: Array
    _host: Any

    def __init__(self, quat: Array, normalize: bool = True, **options: Any) -> None:
        made = (
            from_host(Host(quat, normalize, **options))
            if is_plain(quat)
            else Rotation._make(quaternion(quat, normalize, **options))
        )
        self._quat, self._host = made._quat, made._host

    @classmethod
    def _make(cls, quat: Array, host: Any = None) -> Self:
        rotation = cls.__new__(cls)
        rotation._quat, rotation._host = quat, host
        return rotation

    # From

    @staticmethod
    @made
    def from_quat(quat: Array, *, scalar_first: bool = False) -> "Rotation":
        """Make rotations of quaternions (x, y, z, w), which are normalized, shape (..., 4)."""
        return Rotation._make(quaternion(quat, scalar_first=scalar_first))

    @staticmethod
    @made
    def from_matrix(matrix: Array, **options: Any) -> "Rotation":
        """Make the rotations that are nearest to matrices, shape (..., 3, 3)."""
        if options.get("assume_valid"):
            raise UnsupportedArgumentError(
                "Rotation.from_matrix: assume_valid= is not supported on handles, whose matrices "
                "are always projected; leave it out"
            )
        return Rotation._make(quaternions.from_matrix(in_double(matrix), projects()))

    @staticmethod
    @made
    def from_rotvec(rotvec: Array, degrees: bool = False) -> "Rotation":
        """Make rotations of rotation vectors, shape (..., 3)."""
        rotvec = in_double(rotvec)
        if rotvec.shape[-1:] != (3,):
            raise ValueError(f"Expected `rot_vec` to have shape (..., 3), got {rotvec.shape}")
        return Rotation._make(quaternions.from_rotvec(rotvec * DEGREE if degrees else rotvec))

    @staticmethod
    @made
    def from_mrp(mrp: Array) -> "Rotation":
        """Make rotations of modified Rodrigues parameters, shape (..., 3)."""
        return Rotation._make(quaternions.from_mrp(in_double(mrp)))

    @staticmethod
    @made
    def from_euler(seq: str, angles: Array, degrees: bool = False) -> "Rotation":
        """Make rotations of angles about axes, shape (..., len(seq)); see SciPy for one axis."""
        angles = in_double(angles)
        shape = Host.from_euler(seq, np.zeros(angles.shape)).as_quat().shape
        angles = angles.reshape((*shape[:-1], len(seq)))
        angles = angles * DEGREE if degrees else angles
        return Rotation._make(quaternions.from_euler_angles(seq, angles))

    create_group = staticmethod(of_plain_arrays("create_group"))
    from_davenport = staticmethod(of_plain_arrays("from_davenport"))
    identity = staticmethod(of_plain_arrays("identity"))
    random = staticmethod(of_plain_arrays("random"))

    @staticmethod
    def concatenate(rotations: Any) -> "Rotation":
        """Put rotations one after another."""
        rotations = from_host(rotations)
        rotations = [rotations] if isinstance(rotations, Rotation) else [*map(from_host, rotations)]
        if not all(isinstance(each, Rotation) for each in rotations):
            raise TypeError("input must contain Rotation objects only")
        hosts = [each._host for each in rotations]
        if all(host is not None for host in hosts):
            return from_host(Host.concatenate(hosts))  # type: ignore[no-any-return]  # is ours
        return Rotation._make(np.concatenate([each._quat.reshape((-1, 4)) for each in rotations]))

    @staticmethod
    @made
    def align_vectors(
        a: Array, b: Array, weights: Array | None = None, return_sensitivity: bool = False
    ) -> tuple["Rotation", Array]:
        """Find the rotation that takes vectors b nearest to vectors a, and how far they stay."""
        a, b = (in_double(each).reshape((-1, 3)) for each in (a, b))
        if a.shape != b.shape:
            raise ValueError(
                f"Expected inputs `a` and `b` to have same shapes, got {a.shape} and {b.shape} "
                "respectively."
            )
        weights = np.ones(a.shape[0]) if weights is None else in_double(weights)
        if np.any(weights < 0):
            raise ValueError("`weights` may not contain negative values")
        if return_sensitivity or not np.all(np.isfinite(weights)):
            raise UnsupportedArgumentError(
                "Rotation.align_vectors: return_sensitivity= and infinite weights= are not "
                "supported on handles; use large weights"
            )
        q, rssd = quaternions.aligned(a, b, weights)
        return Rotation._make(q), rssd

    # As

    @asked
    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Array:
        """Give quaternions, shape (..., 4)."""
        q = quaternions.upright(self._quat) if canonical else self._quat
        return np.roll(q, 1, axis=-1) if scalar_first else q

    @asked
    def as_matrix(self) -> Array:
        """Give rotation matrices, shape (..., 3, 3)."""
        return quaternions.matrix_of(self._quat)

    @asked
    def as_rotvec(self, degrees: bool = False) -> Array:
        """Give rotation vectors, shape (..., 3)."""
        rotvec = quaternions.rotvec_of(self._quat)
        return rotvec / DEGREE if degrees else rotvec

    @asked
    def as_mrp(self) -> Array:
        """Give modified Rodrigues parameters, shape (..., 3)."""
        return quaternions.mrp_of(self._quat)

    @asked
    def as_euler(self, seq: str, degrees: bool = False, **options: Any) -> Array:
        """Give angles about three axes, shape (..., 3)."""
        Host.from_euler(seq, np.zeros((1, 3)))  # which refuses what is no sequence of axes
        angles = quaternions.euler_angles(self._quat, seq)
        return angles / DEGREE if degrees else angles

    @asked
    def apply(self, vectors: Array, inverse: bool = False) -> Array:
        """Rotate vectors, shape (..., 3)."""
        vectors = in_double(vectors)
        if vectors.shape[-1:] != (3,):
            raise ValueError(f"Expected input of shape (..., 3), got {vectors.shape}.")
        return quaternions.applied(self._quat, vectors, inverse)

    @asked
    def magnitude(self) -> Array:
        """Compute the angles of the rotations."""
        return quaternions.magnitude(self._quat)

    @asked
    def inv(self) -> "Rotation":
        """Rotate back."""
        return Rotation._make(quaternions.inverse(self._quat))

    @asked
    def mean(self, weights: Array | None = None, axis: Any = None) -> "Rotation":
        """Compute the weighted mean of the rotations."""
        if axis is not None:
            raise UnsupportedArgumentError(
                "Rotation.mean: axis= is not supported on handles; index the rotations instead"
            )
        weights = None if weights is None else in_double(weights)
        if weights is not None and np.any(weights < 0):
            raise ValueError("`weights` must be non-negative.")
        q = self._quat.reshape((-1, 4))
        return Rotation._make(quaternions.mean_of(q, weights))

    @asked
    def approx_equal(self, other: "Rotation", atol: Any = None, degrees: bool = False) -> Array:
        """Tell which rotations are nearly those of another object."""
        angles = (other * self.inv()).magnitude()
        limit = 1e-8 if atol is None else atol * DEGREE if degrees else atol
        return angles < limit

    @asked
    def __mul__(self, other: "Rotation") -> "Rotation":
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation._make(quaternions.composed(self._quat, other._quat))

    def __rmul__(self, other: Any) -> "Rotation":
        return from_host(other) * self if isinstance(other, Host) else NotImplemented

    @asked
    def __pow__(self, n: Array, modulus: None = None) -> "Rotation":
        if modulus is not None:
            raise NotImplementedError("modulus not supported")
        return Rotation._make(quaternions.from_rotvec(n * quaternions.rotvec_of(self._quat)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Host, name):
            raise AttributeError(f"Rotation has no attribute {name!r}")
        if self._host is None:
            raise UnsupportedArgumentError(
                f"Rotation.{name} takes no handles; multiply by an element of a group for reduce, "
                "and write as_euler for other angles"
            )
        return lambda *args, **kwargs: from_host(
            getattr(self._host, name)(
                *map(to_host, args), **{key: to_host(value) for key, value in kwargs.items()}
            )
        )

    # As a sequence

    @property
    def single(self) -> bool:
        """Whether this is one rotation, and not a sequence of one."""
        return bool(self._quat.ndim == 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the sequence."""
        return tuple(self._quat.shape[:-1])

    def __len__(self) -> int:
        if self.single:
            raise TypeError("Single rotation has no len().")
        return int(self._quat.shape[0])

    def __getitem__(self, indexer: Any) -> "Rotation":
        if self.single:
            raise TypeError("Single rotation is not subscriptable.")
        if self._host is not None:
            return from_host(self._host[indexer])  # type: ignore[no-any-return]  # is ours
        return Rotation._make(self._quat[indexer])

    def __iter__(self) -> Iterator["Rotation"]:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Rotation.from_quat({self._quat!r})"


OBJECTS[Host] = from_host
WHOLE.add(Host)


@functools.cache
def projects() -> bool:
    """Tell whether SciPy takes the rotation that is nearest to a matrix; older ones do not."""
    skewed = np.eye(3) + 0.5 * np.eye(3, k=1)
    u, _, vh = np.linalg.svd(skewed)
    return bool(np.allclose(Host.from_matrix(skewed).as_matrix(), u @ vh))


def quaternion(quat: Array, normalize: bool = True, scalar_first: bool = False, **_: Any) -> Array:
    """Read one quaternion, or a stack of them, and normalize it."""
    q = in_double(quat)
    if q.shape[-1:] != (4,):
        raise ValueError(f"Expected `quat` to have shape (..., 4), got {q.shape}.")
    q = np.roll(q, -1, axis=-1) if scalar_first else q
    return quaternions.normalized(q) if normalize else q


# Splines of rotations, which are SciPy's own code, and turns at a constant rate

THEIRS = scipy.spatial.transform._rotation_spline
Spline = THEIRS.RotationSpline


SMALL = 0.5
"""Below which square of an angle the factors are summed up as series."""


def factor(square: Array, start: int, order: int = 0) -> Array:
    """Compute Σ (-s)ᵏ / (2k + start)!, or its derivative by s.

    It is (1 - cos √s)/s for a start of 2, and (√s - sin √s)/√s³ for 3.
    """
    near = np.less(square, SMALL)
    degrees = range(order, 10)
    terms = [(-1.0) ** k * math.perm(k, order) / math.factorial(2 * k + start) for k in degrees]
    s = np.where(near, 1.0, square)
    root = np.sqrt(s)
    cosine, sine = (1 - np.cos(root)) / s, (root - np.sin(root)) / (s * root)
    if start == 2:
        far = (np.sin(root) / (2 * root) - cosine) / s if order else cosine
    else:
        far = (cosine - 3 * sine) / (2 * s) if order else sine
    return np.where(near, quaternions.summed(terms, np.where(near, square, 0.0)), far)


@stands_for(THEIRS._compute_angular_rate)
def turned(phi: Array, v: Array) -> Array:
    """Multiply vectors on the last axis by the rotation vector's Jacobian: R(φ) v."""
    square = np.add.reduce(phi * phi, axis=-1, keepdims=True)
    once = np.cross(phi, v)
    return v - factor(square, 2) * once + factor(square, 3) * np.cross(phi, once)


def unturned(phi: Array, omega: Array) -> Array:
    """Multiply angular rates by the inverse of the rotation vector's Jacobian: R(φ)⁻¹ ω."""
    square = np.add.reduce(phi * phi, axis=-1, keepdims=True)
    once = np.cross(phi, omega)
    share = factor(square, 2, 1) / factor(square, 2)
    return omega + once / 2 - share * np.cross(phi, once)


@stands_for(THEIRS._compute_angular_acceleration)
def acceleration(phi: Array, rate: Array, second: Array) -> Array:
    """Compute the angular acceleration at given times."""
    square = np.add.reduce(phi * phi, axis=-1, keepdims=True)
    rising = 2 * np.add.reduce(phi * rate, axis=-1, keepdims=True)
    once = np.cross(phi, rate)
    twice = np.cross(rate, once)  # and what is left of d[φ]ₓ²/dt φ' is φ × (φ' × φ') = 0
    change = (
        factor(square, 3, 1) * rising * np.cross(phi, once)
        - factor(square, 2, 1) * rising * once
        + factor(square, 3) * twice
    )
    return turned(phi, second) + change


@stands_for(Spline._solve_for_angular_rates)
def rates_of_spline(self: Any, dt: Array, rates: Array, phi: Array) -> tuple[Array, Array]:
    """Find the rates with which the acceleration is continuous.

    SciPy iterates for them, and their derivatives are those of these equations.
    """
    start, end, length = rates[:1], rates[-1:], dt[:, None]

    def both(inner: Any) -> tuple[Any, Any]:
        return np.concatenate((start, inner)), unturned(phi, np.concatenate((inner, end)))

    def jumps(inner: Any) -> Any:
        first, last = both(inner)
        before = (-6 * phi + length * (2 * first + 4 * last)) / length**2
        after = (6 * phi - length * (4 * first + 2 * last)) / length**2
        return (acceleration(phi, last, before)[:-1] - after[1:]) * length[1:]

    found, _ = Spline._solve_for_angular_rates(Spline, *map(np.array, plain((dt, rates, phi))))
    return both(implicit(jumps, found[1:], "RotationSpline"))


class Slerp:
    """Rotation at a constant rate between given ones, as `scipy.spatial.transform.Slerp`.

    Parameters
    ----------
    times : array or Tensor, shape (n,)
        Increasing.
    rotations : Rotation
        As many; ours, or SciPy's.

    Examples
    --------
    >>> turns = Rotation.from_rotvec([[0, 0, 0], [0, 0, 90]], degrees=True)
    >>> round(float(Slerp([0.0, 1.0], turns)(0.5).magnitude()), 6)  # pi / 4
    0.785398
    """

    def __init__(self, times: Array, rotations: Rotation) -> None:
        rotations = from_host(rotations)
        if not isinstance(rotations, Rotation):
            raise TypeError("`rotations` must be a `Rotation` instance.")
        if rotations.single or len(rotations) <= 1:
            raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
        self.times = in_double(times)
        if self.times.shape != (len(rotations),):
            raise ValueError(
                "Expected number of rotations to be equal to number of timestamps given, got "
                f"{len(rotations)} rotations and {self.times.shape} timestamps."
            )
        self.timedelta = self.times[1:] - self.times[:-1]
        if np.any(self.timedelta <= 0):
            raise ValueError("Times must be in strictly increasing order.")
        self.rotations = rotations[:-1]
        self.rotvecs = (self.rotations.inv() * rotations[1:]).as_rotvec()

    def __call__(self, times: Array) -> Rotation:
        """Give the rotations at times, one or several."""
        times = in_double(times)
        if times.ndim > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        if np.any((times < self.times[0]) | (times > self.times[-1])):
            raise ValueError(
                f"Interpolation times must be within the range [{self.times[0]}, "
                f"{self.times[-1]}], both inclusive."
            )
        number = np.maximum(np.searchsorted(self.times, times, side="left") - 1, 0)
        share = (times - self.times[number]) / self.timedelta[number]
        turned: Rotation = Rotation.from_rotvec(self.rotvecs[number] * share[..., None])
        rotation: Rotation = self.rotations[number] * turned
        return rotation


def geometric_slerp(start: Array, end: Array, t: Array, tol: float = 1e-7) -> Array:
    """Go along a great circle at a constant rate, as `scipy.spatial.geometric_slerp` does.

    Parameters
    ----------
    start, end : array or Tensor, shape (d,)
        Of length 1.
    t : array or Tensor, shape () or (n,)
        From 0 to 1.
    tol : float

    Returns
    -------
    array or Tensor, shape (d,) or (n, d)

    Examples
    --------
    >>> geometric_slerp([1.0, 0.0], [0.0, 1.0], 0.5).round(3)
    array([0.707, 0.707])
    """
    if is_plain(start, end, t):
        return scipy.spatial.geometric_slerp(start, end, t, tol)
    if not isinstance(tol, float):
        raise ValueError("tol must be a float")
    start, end, t = in_double(start), in_double(end), in_double(t)
    if start.ndim != 1 or start.shape != end.shape or start.shape[0] < 2:
        raise ValueError("The dimensions of start and end must match (have same size)")
    for each in (start, end):
        if not np.allclose(np.linalg.norm(each), 1.0, rtol=1e-9, atol=0):
            raise ValueError("start and end are not on a unit n-sphere")
    if np.any((t < 0) | (t > 1)):
        raise ValueError("interpolation parameter must be in [0, 1]")
    cosine = start @ end
    across = end - cosine * start
    sine = np.linalg.norm(across)
    t = t[..., None]
    if primal(sine) == 0 and cosine < 0:
        raise UnsupportedArgumentError(
            "geometric_slerp of handles: start and end are opposite, so the path between them is "
            "not unique; move one of them"
        )
    if primal(sine) == 0:  # the series in the sine, to its third power
        square = across @ across
        bend = 1 + (1 - t**2) / 6 * square
        return start * (1 - t**2 / 2 * square) + t * across * bend
    angle = np.arctan2(sine, cosine)
    return start * np.cos(t * angle) + across / sine * np.sin(t * angle)
