"""`Rotation`, as an object that may hold handles.

One that holds plain arrays alone has SciPy's object behind it, which is asked first.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np

from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, in_double
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.interpolate.shared import is_plain
from tape_ad.scipy.spatial import quaternions

__all__ = ["Rotation", "from_host"]

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

    @staticmethod
    @made
    def identity(*args: Any, **kwargs: Any) -> "Rotation":
        """Make identity rotations."""
        raise UnsupportedArgumentError("Rotation.identity takes no handles; give it a number")

    @staticmethod
    @made
    def random(*args: Any, **kwargs: Any) -> "Rotation":
        """Draw random rotations, uniformly distributed."""
        raise UnsupportedArgumentError("Rotation.random takes no handles; give it a number")

    @staticmethod
    def concatenate(rotations: Any) -> "Rotation":
        """Put rotations one after another."""
        rotations = from_host(rotations)
        if isinstance(rotations, Rotation):
            return rotations
        rotations = [from_host(each) for each in rotations]
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

    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        """Reduce the rotations by a group, which SciPy does for plain arrays."""
        return self._only("reduce", "multiply by an element of the group")(*args, **kwargs)

    def as_davenport(self, *args: Any, **kwargs: Any) -> Any:
        """Give Davenport's angles, which SciPy does for plain arrays."""
        return self._only("as_davenport", "write as_euler")(*args, **kwargs)

    def _only(self, name: str, instead: str) -> Any:
        if self._host is None:
            raise UnsupportedArgumentError(f"Rotation.{name} takes no handles; {instead}")
        method = getattr(self._host, name)
        return lambda *args, **kwargs: from_host(
            method(*map(to_host, args), **{key: to_host(v) for key, v in kwargs.items()})
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
