"""The forms of a linear system: transfer function, zeros and poles, states, sections.

Coefficients of a characteristic polynomial come from the matrix itself (Faddeev & LeVerrier), for
they are smooth where eigenvalues meet, which have no derivative there.
"""

import warnings
from typing import Any

import numpy as np

from tape_ad.base.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array, primal
from tape_ad.extend.rules import TYPED_BY_VALUES, Entry, add_facts
from tape_ad.scipy.counterparts import joined, scipy_composition, with_value
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.functions import expm
from tape_ad.scipy.signal.responses import tf2zpk, without_zeros, zpk2tf

__all__ = [
    "FORMS",
    "abcd_normalize",
    "characteristic",
    "cont2discrete",
    "matrices_of",
    "normalize",
    "ss2tf",
    "ss2zpk",
    "tf2ss",
    "zpk2ss",
]

FORMS: dict[Any, Entry] = {}

Four = tuple[Array, Array, Array, Array]


@scipy_composition(FORMS, scipy.signal.normalize, "b a", trees="b")
def normalize(b: Any, a: Array) -> tuple[Array, Array]:
    """Divide a transfer function by its first coefficient, as `scipy.signal.normalize` does.

    Parameters
    ----------
    b : array or Tensor, shape (k,) or (outputs, k), or a list of such of different lengths
    a : array or Tensor, shape (l,)

    Returns
    -------
    tuple of array or Tensor
        Both without the zeros that they begin with.
    """
    a = as_array(a)
    a = a.reshape((1,)) if a.ndim == 0 else a
    b = at_least_two(aligned(b))
    if a.ndim != 1 or b.ndim != 2:
        raise ShapeError(
            "normalize takes a denominator of one axis, and a numerator of one or two, got shapes "
            f"{a.shape} and {b.shape}"
        )
    if not bool((primal(a) != 0).any()):
        raise ValueError("Denominator must have at least on nonzero element.")
    a = without_zeros(a)
    b, a = b / a[0], a / a[0]
    small = (abs(b) <= 1e-14).all(axis=0)
    leading = b.shape[1] if bool(small.all()) else int(np.argmin(small))
    if leading:
        warnings.warn(
            "Badly conditioned filter coefficients (numerator): the results may be meaningless",
            scipy.signal.BadCoefficients,
            stacklevel=5,
        )
        b = b[:, min(leading, b.shape[1] - 1) :]
    return (b[0] if b.shape[0] == 1 else b), a


def aligned(b: Any) -> Array:
    """Fill numerators of different lengths up with zeros in front."""
    if type(b) not in (list, tuple):
        return as_array(b)
    rows = [as_array(joined(each)) for each in b]
    if len({each.shape for each in rows}) == 1:
        return as_array(joined(b)) if rows[0].ndim == 0 else np.stack(rows)
    rows = [each.reshape((1,)) if each.ndim == 0 else each for each in rows]
    longest = max(each.shape[0] for each in rows)
    return np.stack([np.pad(each, (longest - each.shape[0], 0)) for each in rows])


def at_least_two(x: Array) -> Array:
    """Put axes of length 1 in front of an array that has less than two."""
    return x if x.ndim > 1 else x.reshape((*(1,) * (2 - x.ndim), *x.shape))


@scipy_composition(FORMS, scipy.signal.abcd_normalize, "A B C D")
def abcd_normalize(
    A: Any = None,  # noqa: N803 - SciPy's name
    B: Any = None,  # noqa: N803 - SciPy's name
    C: Any = None,  # noqa: N803 - SciPy's name
    D: Any = None,  # noqa: N803 - SciPy's name
) -> Four:
    """Make matrices of a system's states, as `scipy.signal.abcd_normalize` does.

    Parameters
    ----------
    A, B, C, D : array or Tensor, optional

    Returns
    -------
    tuple of array or Tensor
        Of the shapes (n, n), (n, p), (q, n) and (q, p); what is missing is zeros.
    """
    given = [None if x is None else as_array(x) for x in (A, B, C, D)]
    # What is missing, and the dtypes, are SciPy's for zeros in the place of what is there
    alike = [
        np.zeros(x.shape, x.dtype) if x is not None and hasattr(original, "ndim") else original
        for original, x in zip((A, B, C, D), given, strict=True)
    ]
    whole = scipy.signal.abcd_normalize(*alike)
    a, b, c, d = (
        y if x is None or x.size == 0 else at_least_two(x).astype(y.dtype)
        for x, y in zip(given, whole, strict=True)
    )
    return a, b, c, d


@scipy_composition(FORMS, scipy.signal.tf2ss, "num den", trees="num")
def tf2ss(num: Any, den: Array) -> Four:
    """Make states of a transfer function, as `scipy.signal.tf2ss` does.

    Parameters
    ----------
    num, den : array or Tensor
        As for `normalize`.

    Returns
    -------
    tuple of array or Tensor
        The matrices A, B, C and D, in controller canonical form.
    """
    num, den = normalize(num, den)
    num = at_least_two(num)
    few, size = num.shape[1], den.shape[0]
    if few > size:
        raise ValueError("Improper transfer function. `num` is longer than `den`.")
    num = np.pad(num, [(0, 0), (size - few, 0)])
    if size == 1:
        return np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((num.shape[0], 1)), num
    a = np.concatenate((-den[None, 1:], np.eye(size - 2, size - 1)))
    c = num[:, 1:] - num[:, :1] * den[1:]
    return a, np.eye(size - 1, 1), c, num[:, :1]


def polynomial_of(matrix: Array) -> Array:
    """Compute the coefficients of a characteristic polynomial as SciPy does."""
    return np.poly(matrix)


@scipy_composition(FORMS, polynomial_of, "matrix")
def characteristic(matrix: Array) -> Array:
    """Compute the coefficients of the characteristic polynomial, the highest power first.

    Parameters
    ----------
    matrix : array or Tensor, shape (n, n)

    Returns
    -------
    array or Tensor, shape (n + 1,)
    """
    size = matrix.shape[0]
    unit = np.eye(size, dtype=matrix.dtype)
    out, product = [unit[0, 0]], unit
    for k in range(1, size + 1):
        product = matrix @ product
        out.append(-np.trace(product) / k)
        product = product + out[-1] * unit
    return with_value(np.stack(out), None, characteristic, (matrix,), {})


@scipy_composition(FORMS, scipy.signal.ss2tf, "A B C D")
def ss2tf(
    A: Any,  # noqa: N803 - SciPy's name
    B: Any,  # noqa: N803 - SciPy's name
    C: Any,  # noqa: N803 - SciPy's name
    D: Any,  # noqa: N803 - SciPy's name
    input: int = 0,  # noqa: A002 - SciPy's name
) -> tuple[Array, Array]:
    """Make a transfer function of states, as `scipy.signal.ss2tf` does.

    Parameters
    ----------
    A, B, C, D : array or Tensor
    input : int
        Which of the inputs.

    Returns
    -------
    tuple of array or Tensor, shapes (outputs, n + 1) and (n + 1,)
    """
    a, b, c, d = abcd_normalize(A, B, C, D)
    if input >= d.shape[1]:
        raise ValueError("System does not have the input specified.")
    b, d = b[:, input : input + 1], d[:, input : input + 1]
    if a.size == 0:
        return d.reshape((-1,)), np.ones(1)
    den = characteristic(a)
    rows = [
        characteristic(a - b @ row[None]) + (last - 1) * den for row, last in zip(c, d, strict=True)
    ]
    dtype = np.result_type(*[x.dtype for x in (a, b, c, d)], np.float16)
    return np.stack(rows).astype(dtype), den


@scipy_composition(FORMS, scipy.signal.zpk2ss, "z p k")
def zpk2ss(z: Array, p: Array, k: Any) -> Four:
    """Make states of zeros, poles and a gain, as `scipy.signal.zpk2ss` does.

    Parameters
    ----------
    z, p : array or Tensor, shapes (m,) and (n,)
    k : number or Tensor

    Returns
    -------
    tuple of array or Tensor
        The matrices A, B, C and D.
    """
    return tf2ss(*zpk2tf(z, p, k))


@scipy_composition(FORMS, scipy.signal.ss2zpk, "A B C D")
def ss2zpk(
    A: Any,  # noqa: N803 - SciPy's name
    B: Any,  # noqa: N803 - SciPy's name
    C: Any,  # noqa: N803 - SciPy's name
    D: Any,  # noqa: N803 - SciPy's name
    input: int = 0,  # noqa: A002 - SciPy's name
) -> tuple[Array, Array, Array]:
    """Find zeros, poles and a gain of states, as `scipy.signal.ss2zpk` does.

    Parameters
    ----------
    A, B, C, D : array or Tensor
    input : int
        Which of the inputs.

    Returns
    -------
    tuple of array or Tensor
        The zeros, the poles and the gain. Where a root is not simple it has no derivative.
    """
    num, den = ss2tf(A, B, C, D, input)
    return tf2zpk(num if num.ndim == 1 else num[0], den)


def matrices_of(system: Any) -> Four:
    """Take what describes a system to its matrices.

    Parameters
    ----------
    system : tuple, or a system of SciPy's
        A numerator and a denominator; zeros, poles and a gain; or four matrices.

    Raises
    ------
    ValueError
        When it is anything else.
    """
    if hasattr(system, "to_ss"):
        form = system.to_ss()
        return form.A, form.B, form.C, form.D
    parts = [joined(each) if len(system) != 2 or i else each for i, each in enumerate(system)]
    if len(parts) not in MATRICES:
        raise ValueError(
            "First argument must either be a tuple of 2 (tf), 3 (zpk), or 4 (ss) arrays."
        )
    a, b, c, d = MATRICES[len(parts)](*parts)
    return a, b, c, d


MATRICES: dict[int, Any] = {2: tf2ss, 3: zpk2ss, 4: abcd_normalize}
"""How so many arrays become four matrices."""

BACKWARD: dict[str, float] = {
    "bilinear": 0.5,
    "tustin": 0.5,
    "euler": 0.0,
    "forward_diff": 0.0,
    "backward_diff": 1.0,
}
"""The share of the end of a step in each of these methods."""


@scipy_composition(FORMS, scipy.signal.cont2discrete, "system dt alpha", trees="system")
def cont2discrete(system: Any, dt: Any, method: str = "zoh", alpha: Any = None) -> Any:
    """Make a discrete system of a continuous one, as `scipy.signal.cont2discrete` does.

    Parameters
    ----------
    system : tuple of array or Tensor, or a system of SciPy's
    dt : number or Tensor
        The step.
    method : str
        "gbt", "bilinear", "euler", "backward_diff", "zoh", "foh" or "impulse".
    alpha : number or Tensor, optional
        The weight for "gbt".

    Returns
    -------
    tuple of array or Tensor
        The system in the form in which it came, and the step.
    """
    if hasattr(system, "to_ss"):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.signal.cont2discrete: a system of scipy.signal together with a "
            "handle; make it by tape_ad.scipy.signal's class of that name, "
            "or pass the tuple of its arrays"
        )
    # Of four matrices SciPy takes each in its own precision
    own = len(system) == 4
    a, b, c, d = (at_least_two(as_array(joined(x))) for x in system) if own else matrices_of(system)
    weight = BACKWARD.get(method, alpha)
    if method == "gbt" and weight is None:
        raise ValueError(
            "Alpha parameter must be specified for the generalized bilinear transform (gbt) method"
        )
    if method in BACKWARD or method == "gbt":
        if not 0 <= weight <= 1:
            raise ValueError("Alpha parameter must be within the interval [0,1] for the gbt method")
        made = by_trapezoids(a, b, c, d, dt, weight)
    elif method in STEPPED:
        made = STEPPED[method](a, b, c, d, dt)
    else:
        raise ValueError(f"Unknown transformation method '{method}'")
    back = {2: ss2tf, 3: ss2zpk}.get(len(system))
    return (*(made if back is None else back(*made)), dt)


def by_trapezoids(a: Array, b: Array, c: Array, d: Array, dt: Any, alpha: Any) -> Four:
    """Step by a mean of the ends, with a weight for the later one."""
    unit = np.eye(a.shape[0])
    system = unit - alpha * dt * a
    stepped = np.linalg.solve(system, unit + (1.0 - alpha) * dt * a)
    driven = np.linalg.solve(system, dt * b)
    return stepped, driven, np.linalg.solve(system.T, c.T).T, d + alpha * (c @ driven)


def by_holding(a: Array, b: Array, c: Array, d: Array, dt: Any) -> Four:
    """Step with an input that is constant from one sample to the next."""
    n, m = b.shape
    both = np.concatenate((np.concatenate((a, b), axis=1), np.zeros((m, n + m))))
    stepped = expm(dt * both)[:n]
    return stepped[:, :n], stepped[:, n:], c, d


def by_lines(a: Array, b: Array, c: Array, d: Array, dt: Any) -> Four:
    """Step with an input that is linear from one sample to the next."""
    n, m = b.shape
    upper = np.concatenate((a * dt, b * dt, np.zeros((n, m))), axis=1)
    middle = np.eye(m, n + 2 * m, n + m)
    stepped = expm(np.concatenate((upper, middle, np.zeros((m, n + 2 * m)))))[:n]
    one, two, three = stepped[:, :n], stepped[:, n : n + m], stepped[:, n + m :]
    return one, two - three + one @ three, c, d + c @ three


def by_impulses(a: Array, b: Array, c: Array, d: Array, dt: Any) -> Four:
    """Keep the impulse response at the samples."""
    if not np.allclose(d, 0):
        raise ValueError("Impulse method is only applicable to strictly proper systems")
    stepped = expm(a * dt)
    return stepped, stepped @ b * dt, c, c @ b * dt


STEPPED: dict[str, Any] = {"zoh": by_holding, "foh": by_lines, "impulse": by_impulses}

TYPED_BY_VALUES.update((characteristic, ss2tf, zpk2ss, ss2zpk, cont2discrete))

add_facts(FORMS, (normalize, tf2ss, zpk2ss, ss2zpk, cont2discrete), shape_by_values=True)
