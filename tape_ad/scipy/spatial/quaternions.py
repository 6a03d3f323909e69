"""Rotations as quaternions (x, y, z, w) on the last axis, and what they are made of and taken to.

All of it is NumPy, so that handles record it. Where SciPy's result does not depend on how far a
matrix is from a rotation, neither does ours, and the derivative is that of the projection.
"""

import math
from typing import Any

import numpy as np
import scipy.special

from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, primal
from tape_ad.extend.rules import Entry, overridable, rule
from tape_ad.scipy.spatial.metrics import root

NEAR_COSINE, NEAR_ARCTAN = 1.0, 0.25
"""Up to where power series are summed."""


def summed(coefficients: list[float], s: Array) -> Array:
    """Evaluate a polynomial, the lowest power first."""
    total = np.full_like(s, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * s + coefficient
    return total


@overridable
def cosine_of_root(s: Array, n: int = 0) -> Array:
    """Compute the n-th derivative of cos(sqrt(s)) by s; the first is -sin(sqrt(s)) / sqrt(s) / 2.

    Parameters
    ----------
    s : array or Tensor
        Not negative.
    n : int

    Returns
    -------
    array or Tensor, shape of `s`

    Notes
    -----
    From n = 1 on it is (-1/2)**n j(x) / x**(n - 1), with x = sqrt(s) and the spherical Bessel
    function j of order n - 1 (https://dlmf.nist.gov/10.51.E3).
    """
    s = np.asarray(s)
    near = s <= NEAR_COSINE
    terms = [(-1.0) ** k * math.perm(k, n) / math.factorial(2 * k) for k in range(n, n + 10)]
    series = summed(terms, np.where(near, s, 0.0))
    if np.all(near):
        return series[()]
    x = np.sqrt(np.where(near, 1.0, s))
    if n == 0:
        far = np.cos(x)
    elif n == 1:
        far = -np.sin(x) / x / 2
    else:
        far = (-0.5) ** n * scipy.special.spherical_jn(n - 1, x) / x ** (n - 1)
    return np.where(near, series, far.astype(s.dtype))[()]


@overridable
def arctan_of_root(t: Array, n: int = 0) -> Array:
    """Compute the n-th derivative of arctan(sqrt(t)) / sqrt(t) by t.

    Parameters
    ----------
    t : array or Tensor
        Not negative.
    n : int

    Returns
    -------
    array or Tensor, shape of `t`

    Notes
    -----
    Away from 0, each derivative follows from the one before: what is derived n times is
    2 t a' + a = 1 / (1 + t).
    """
    t = np.asarray(t)
    near = t <= NEAR_ARCTAN
    terms = [(-1.0) ** k * float(math.perm(k, n)) / (2 * k + 1) for k in range(n, n + 30 + 6 * n)]
    series = summed(terms, np.where(near, t, 0.0))
    if np.all(near):
        return series[()]
    at = np.where(near, 1.0, t)
    far = np.arctan(np.sqrt(at)) / np.sqrt(at)
    for m in range(n):
        source = (-1.0) ** m * math.factorial(m) / (1 + at) ** (m + 1)
        far = (source - (2 * m + 1) * far) / (2 * at)
    return np.where(near, series, far)[()]


ANGLES: dict[Any, Entry] = {
    cosine_of_root: rule(
        lambda out, s, n: cosine_of_root(s, n + 1),
        signature=lambda s, n=0: ((s,), {"n": n}),
        facts=facts.elementwise("s"),
    ),
    arctan_of_root: rule(
        lambda out, t, n: arctan_of_root(t, n + 1),
        signature=lambda t, n=0: ((t,), {"n": n}),
        facts=facts.elementwise("t"),
    ),
}


def normalized(q: Array) -> Array:
    """Divide by the length.

    Raises
    ------
    ValueError
        When that is 0.
    """
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    if np.any(primal(length) == 0):
        raise ValueError("Found zero norm quaternions in `quat`.")
    return q / length


def upright(q: Array) -> Array:
    """Choose the sign with which w is positive, or else the first element that is not 0."""
    sign = np.sign(q[..., 3])
    for i in range(3):
        sign = np.where(sign == 0, np.sign(q[..., i]), sign)
    return np.where(sign < 0, -1.0, 1.0)[..., None] * q


def composed(p: Array, q: Array) -> Array:
    """Multiply quaternions: first the rotation q, and then p."""
    a, b, s, t = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    # In the order in which SciPy adds up
    vector = s * b + t * a + np.cross(a, b)
    scalar = s * t - a[..., :1] * b[..., :1] - a[..., 1:2] * b[..., 1:2] - a[..., 2:] * b[..., 2:]
    return np.concatenate((vector, scalar), axis=-1)


def inverse(q: Array) -> Array:
    """Rotate back."""
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def from_rotvec(rotvec: Array) -> Array:
    """Make quaternions of rotation vectors, which are angles times unit vectors."""
    square = np.add.reduce(rotvec * rotvec, axis=-1, keepdims=True) / 4
    return np.concatenate((-rotvec * cosine_of_root(square, 1), cosine_of_root(square)), axis=-1)


def rotvec_of(q: Array) -> Array:
    """Make rotation vectors of unit quaternions.

    An angle is twice the arc tangent of |v| / w, of which the smaller one of v and w is divided by
    the other.
    """
    q = upright(q)
    v, w = q[..., :3], q[..., 3:]
    square = np.add.reduce(v * v, axis=-1, keepdims=True)
    small = square <= w * w
    safe_w, safe_square = np.where(small, w, 1.0), np.where(small, 1.0, square)
    near = 2 * arctan_of_root(np.where(small, square, 0.0) / safe_w**2) / safe_w
    length = np.sqrt(safe_square)
    far = (np.pi - 2 * np.arctan(w / length)) / length
    return np.where(small, near, far) * v


def magnitude(q: Array) -> Array:
    """Compute the angles of rotations, from 0 to pi."""
    return 2 * np.arctan2(np.linalg.norm(q[..., :3], axis=-1), np.abs(q[..., 3]))


def from_mrp(mrp: Array) -> Array:
    """Make quaternions of modified Rodrigues parameters."""
    square = np.add.reduce(mrp * mrp, axis=-1, keepdims=True)
    return np.concatenate((2 * mrp, 1 - square), axis=-1) / (1 + square)


def mrp_of(q: Array) -> Array:
    """Make modified Rodrigues parameters of quaternions."""
    sign = np.where(q[..., 3:] < 0, -1.0, 1.0)
    return sign * q[..., :3] / (1.0 + sign * q[..., 3:])


# Matrices


def matrix_of(q: Array) -> Array:
    """Make rotation matrices of quaternions."""
    x, y, z, w = (q[..., i] for i in range(4))
    x2, y2, z2, w2 = x * x, y * y, z * z, w * w
    elements = (
        x2 - y2 - z2 + w2,
        2 * (x * y - z * w),
        2 * (x * z + y * w),
        2 * (x * y + z * w),
        -x2 + y2 - z2 + w2,
        2 * (y * z - x * w),
        2 * (x * z - y * w),
        2 * (y * z + x * w),
        -x2 - y2 + z2 + w2,
    )
    return np.stack(elements, axis=-1).reshape((*q.shape[:-1], 3, 3))


def applied(q: Array, vectors: Array, back: bool = False) -> Array:
    """Rotate vectors by quaternions."""
    matrix = matrix_of(q)
    return np.matmul(matrix.mT if back else matrix, vectors[..., None])[..., 0]


def from_matrix(matrix: Array, project: bool = True) -> Array:
    """Make quaternions of rotation matrices.

    Parameters
    ----------
    matrix : array, shape (..., 3, 3)
    project : bool
        Whether to take the rotations nearest to them first, as SciPy does from 1.15 on; before it
        normalizes a quaternion that is made of their elements.

    Raises
    ------
    ValueError
        When a determinant is not positive.
    """
    wrong = np.linalg.det(matrix) <= 0
    if project and np.any(wrong):
        number = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            "Non-positive determinant (left-handed or null coordinate frame) in rotation matrix "
            f"{number}: {matrix.reshape((-1, 3, 3))[number]}."
        )
    m = nearest_rotation(matrix) if project else matrix
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    diagonal = np.stack((m[..., 0, 0], m[..., 1, 1], m[..., 2, 2], trace), axis=-1)
    choice = np.argmax(diagonal, axis=-1)[..., None]
    # Four times the products of the quaternion's elements: each row is it times one of them
    off = {
        pair: m[..., pair[0], pair[1]] + m[..., pair[1], pair[0]]
        for pair in ((0, 1), (0, 2), (1, 2))
    }
    turn = turning(m)
    square = [1 - trace + 2 * m[..., i, i] for i in range(3)]
    rows = (
        (square[0], off[0, 1], off[0, 2], turn[0]),
        (off[0, 1], square[1], off[1, 2], turn[1]),
        (off[0, 2], off[1, 2], square[2], turn[2]),
        (*turn, 1 + trace),
    )
    candidates = [np.stack(row, axis=-1) for row in rows]
    q = candidates[3]
    for i in range(3):
        q = np.where(choice == i, candidates[i], q)
    return normalized(q)


def turning(m: Array) -> list[Array]:
    """List the differences of a matrix and its transpose, axis by axis."""
    return [m[..., j, i] - m[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1))]


def nearest_rotation(matrix: Array) -> Array:
    """Project matrices on the rotations: the first factor of the polar decomposition.

    Where a matrix is a multiple of a rotation up to rounding, which leaves its singular vectors
    open, the inverse root of its Gram matrix is expanded; its derivatives are exact to the third.
    """
    size = np.sqrt(np.add.reduce(matrix * matrix, axis=(-2, -1), keepdims=True) / 3)
    scaled = matrix / size
    excess = np.matmul(scaled.mT, scaled) - np.eye(3)
    near = np.max(np.abs(excess), axis=(-2, -1)) <= 1e-6
    if np.all(near):
        return expanded(scaled, excess)
    if not np.any(near):
        u, _, vh = np.linalg.svd(scaled)
        return np.matmul(u, vh)
    flat = scaled.reshape((-1, 3, 3))
    parts = [nearest_rotation(flat[i]) for i in range(flat.shape[0])]
    return np.stack(parts).reshape(matrix.shape)


def expanded(scaled: Array, excess: Array) -> Array:
    """Multiply by the inverse root of a matrix near the identity."""
    square = np.matmul(excess, excess)
    series = np.eye(3) - excess / 2 + 0.375 * square - 0.3125 * np.matmul(square, excess)
    return np.matmul(scaled, series)


# Euler's angles


def axes_of(seq: str) -> tuple[list[int], bool]:
    """Read a sequence of axes: their numbers, and whether they turn with the body."""
    return ["xyz".index(axis) for axis in seq.lower()], seq.isupper()


def from_euler_angles(seq: str, angles: Array) -> Array:
    """Make quaternions of angles about several axes, on the last axis."""
    axes, intrinsic = axes_of(seq)
    q: Any = None
    for i, axis in enumerate(axes):
        half = angles[..., i, None] / 2.0
        basis = np.eye(4)
        turn = np.sin(half) * basis[axis] + np.cos(half) * basis[3]
        q = turn if q is None else composed(q, turn) if intrinsic else composed(turn, q)
    return q


def euler_angles(q: Array, seq: str) -> Array:
    """Make angles about three axes of quaternions (Bernardes & Viollet 2022, PLoS ONE 17(11)).

    Where the first and the last axis coincide, the last angle is 0, as in SciPy.
    """
    axes, intrinsic = axes_of(seq)
    i, j, k = axes[::-1] if intrinsic else axes
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    if symmetric:
        a, b, c, d = q[..., 3], q[..., i], q[..., j], q[..., k] * sign
    else:
        a, b = q[..., 3] - q[..., j], q[..., i] + q[..., k] * sign
        c, d = q[..., j] + q[..., 3], q[..., k] * sign - q[..., i]
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    aligned = np.abs(middle) <= 1e-7
    opposed = np.abs(middle - np.pi) <= 1e-7
    locked = aligned | opposed
    turned = np.where(aligned, 2 * half_sum, 2 * half_difference * (1 if intrinsic else -1))
    turned, rest = np.where(locked, turned, half_sum), np.where(locked, 0.0, half_difference)
    # What turns with the body has been read backwards
    first = turned + rest if intrinsic else turned - rest
    third = np.where(
        locked, 0.0, half_sum - half_difference if intrinsic else half_sum + half_difference
    )
    if not symmetric:
        first, third = (first * sign, third) if intrinsic else (first, third * sign)
        middle = middle - np.pi / 2
    angles = np.stack((first, middle, third), axis=-1)
    return (angles + np.pi) % (2 * np.pi) - np.pi


# Several rotations, several vectors


def mean_of(q: Array, weights: Array | None) -> Array:
    """Average quaternions whatever their signs: the first eigenvector of their products' sum."""
    weighted = q if weights is None else weights[:, None] * q
    return np.linalg.eigh(np.matmul(weighted.T, q))[1][:, -1]


def aligned(a: Array, b: Array, weights: Array) -> tuple[Array, Array]:
    """Find the rotation that takes vectors b nearest to vectors a, and how far they stay.

    It is the first eigenvector of Davenport's matrix (Markley & Mortari 2000, "Quaternion attitude
    estimation using vector observations"), whose derivative needs no singular values to differ.
    """
    if a.shape[0] == 1:
        lengths = np.linalg.norm(a[0]) * np.linalg.norm(b[0])
        q = normalized(np.concatenate((np.cross(b[0], a[0]), (lengths + a[0] @ b[0])[None])))
        rest = a - applied(q, b)
        return q, root(np.add.reduce(weights[:, None] * rest * rest, axis=None))
    matrix = (weights[:, None] * a).T @ b
    trace = np.trace(matrix)
    turn = np.stack(turning(matrix))
    upper = np.concatenate((matrix + matrix.T - trace * np.eye(3), turn[:, None]), axis=1)
    davenport = np.concatenate((upper, np.concatenate((turn, trace[None]))[None]))
    values, vectors = np.linalg.eigh(davenport)
    squares = np.add.reduce(weights * np.add.reduce(a * a + b * b, axis=-1)) - 2 * values[-1]
    return vectors[:, -1], root(np.where(squares > 0, squares, 0.0))
