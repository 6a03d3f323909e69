"""Matrix equations, and functions of matrices with their Frechet derivatives.

The derivative of f at A in the direction E is a block of f([[A, E], [0, A]]), and so is the
derivative of that (Mathias 1996, "A chain rule for matrix functions and applications"; Higham
2008, *Functions of Matrices*, section 3.2). Its adjoint is the derivative at A^H, or, where f is
not defined alike on both sides of a branch cut, the conjugate of that at A^T.
"""

import operator
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import scipy.linalg
from attrs import define

from tape_ad.errors import ShapeError, UnsupportedArgumentError
from tape_ad.extend import facts
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.maps import Chain, LinearMap, adjoint
from tape_ad.extend.patterns import batched
from tape_ad.extend.rules import (
    Call,
    Entry,
    Refused,
    add_facts,
    each,
    overridable,
    refuse,
    rule,
    takes_over,
)
from tape_ad.rules.linalg.spectra import indistinct
from tape_ad.scipy.counterparts import composition_of, counterpart, scipy_function, takes_lists
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import MODULE
from tape_ad.scipy.linalg.spectral import vectors
from tape_ad.scipy.linalg.systems import Coefficients, RightHandSide, outer

__all__ = ["FUNCTIONS", "RICCATI"]


# The Sylvester equation


@takes_lists
def solve_sylvester(a: Array, b: Array, q: Array) -> Array:
    """Solve ``a @ x + x @ b = q``, as `scipy.linalg.solve_sylvester` does.

    Parameters
    ----------
    a : array or Tensor, shape (m, m)
    b : array or Tensor, shape (n, n)
    q : array or Tensor, shape (m, n), or stack + (m, n)

    Returns
    -------
    array or Tensor, shape of `q`

    Notes
    -----
    SciPy's own function is wrong where `a` or `b` is real and has complex eigenvalues while
    another argument is complex; so all three are taken to one dtype first.

    Examples
    --------
    >>> solve_sylvester(np.eye(2), np.array([[2.0]]), np.array([[3.0], [6.0]]))
    array([[1.], [2.]])
    """
    a, b, q = np.asarray(a), np.asarray(b), np.asarray(q)
    check_sylvester(a, b, q)
    if {each.dtype.kind for each in (a, b, q)} > {"c"}:
        common = np.result_type(a, b, q)
        a, b, q = a.astype(common), b.astype(common), q.astype(common)
    if q.ndim == 2 or a.ndim > 2 or b.ndim > 2:
        return scipy.linalg.solve_sylvester(a, b, q)
    if q.size == 0:
        return np.zeros(q.shape, np.result_type(a, b, q))
    # As SciPy does it (Bartels & Stewart 1972), with one factorisation for the whole stack
    r, u = scipy.linalg.schur(a)
    s, v = scipy.linalg.schur(adjoint(b))
    f = np.matmul(np.matmul(adjoint(u), q), v)
    (trsyl,) = scipy.linalg.get_lapack_funcs(("trsyl",), (r, s, f))
    solved = [trsyl(r, s, each, tranb="C")[:2] for each in f.reshape((-1, *f.shape[-2:]))]
    y = np.stack([y * scale for y, scale in solved]).reshape(f.shape)
    return np.matmul(np.matmul(u, y), adjoint(v))


def check_sylvester(a: Array, b: Array, q: Array) -> None:
    """Refuse shapes that do not fit; LAPACK reads what is beyond an array that is too small.

    Raises
    ------
    ShapeError
    """
    m, n, mn = a.shape[-2:], b.shape[-2:], q.shape[-2:]
    if not (len(m) == len(n) == len(mn) == 2 and m == (mn[0], mn[0]) and n == (mn[1], mn[1])):
        raise ShapeError(
            "solve_sylvester takes shapes (m, m), (n, n) and (m, n), got "
            f"{a.shape}, {b.shape} and {q.shape}"
        )


@define(eq=False, repr=False)
class Sylvester:
    """The linear system that a Sylvester equation is; what it holds is a or b, as `right` says."""

    a: Array
    b: Array
    right: bool = False

    def solve(self, b: Array) -> Array:
        return solve_sylvester(self.a, self.b, b)

    def adjoint(self) -> Self:
        return type(self)(adjoint(self.a), adjoint(self.b), self.right)

    def times(self, t: Array, x: Array) -> Array:
        return np.matmul(x, t) if self.right else np.matmul(t, x)

    def gradient(self, g: Array, x: Array) -> Array:
        return np.matmul(adjoint(x), g) if self.right else outer(g, x)


# Functions of matrices


@takes_lists
def expm(A: Array) -> Array:
    """Compute the exponential of a matrix, as `scipy.linalg.expm` does.

    Parameters
    ----------
    A : array or Tensor, shape (..., n, n)

    Returns
    -------
    array or Tensor, shape of `A`

    Notes
    -----
    The derivative is computed by the algorithm of Al-Mohy & Higham 2009, "Computing the Frechet
    derivative of the matrix exponential, with an application to condition number estimation".

    Examples
    --------
    >>> expm(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([[1., 1.], [0., 1.]])
    """
    return scipy.linalg.expm(A)


@takes_lists
def logm(A: Array, **options: Any) -> Array:
    """Compute the principal logarithm of a matrix, as `scipy.linalg.logm` does.

    Parameters
    ----------
    A : array or Tensor, shape (n, n)
    options
        Passed on to SciPy; handles take none.

    Returns
    -------
    array or Tensor, shape of `A`, in double precision

    Notes
    -----
    Single precision is taken to double before, and not after, as SciPy does; the derivative is
    computed from the logarithm of a block matrix.

    Examples
    --------
    >>> logm(np.array([[1.0, 1.0], [0.0, 1.0]]))
    array([[0., 1.], [0., 0.]])
    """
    return scipy.linalg.logm(double(matrix_of("logm", A)), **options)


@takes_lists
def sqrtm(A: Array, **options: Any) -> Array:
    """Compute the principal square root of a matrix, as `scipy.linalg.sqrtm` does.

    Parameters
    ----------
    A : array or Tensor, shape (n, n)
    options
        Passed on to SciPy; handles take none.

    Returns
    -------
    array or Tensor, shape of `A`

    Notes
    -----
    From X X = A follows X dX + dX X = dA, a Sylvester equation.

    Examples
    --------
    >>> sqrtm(np.array([[4.0, 4.0], [0.0, 4.0]]))
    array([[2., 1.], [0., 2.]])
    """
    return scipy.linalg.sqrtm(native(matrix_of("sqrtm", A)), **options)


@overridable
def expm_derivative(a: Array, e: Array) -> Array:
    """Compute the derivative of `expm` at `a` in the direction `e`.

    Parameters
    ----------
    a : array, shape (..., n, n)
    e : array, shape (..., n, n)

    Returns
    -------
    array, their shapes broadcast
    """

    def one(a: Array, e: Array) -> Array:
        return scipy.linalg.expm_frechet(a, e, compute_expm=False, check_finite=False)

    return one_by_one(one, at_least_single(a), at_least_single(e))


@overridable
def logm_derivative(a: Array, e: Array) -> Array:
    """Compute the derivative of `logm` at `a` in the direction `e`; see `expm_derivative`."""

    def one(a: Array, e: Array) -> Array:
        n, size = a.shape[-1], np.abs(e).max()
        scale = np.abs(a).max() / size if size else 1.0  # the block is to be no smaller than a
        block = np.block([[a, e * scale], [np.zeros_like(a), a]])
        return scipy.linalg.logm(block)[:n, n:] / scale

    return one_by_one(one, double(a), double(e))


def native(a: Array) -> Array:
    """Bring an array to the machine's byte order; of any other SciPy's `sqrtm` makes nonsense."""
    return a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("="))


def matrix_of(name: str, a: Array) -> Array:
    """Take what holds a matrix to an array; of anything else SciPy's `sqrtm` makes nonsense.

    Raises
    ------
    ShapeError
    """
    a = np.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ShapeError(f"{name} takes a square matrix, got shape {a.shape}")
    return a


def at_least_single(a: Array) -> Array:
    """Take half precision, in which the coefficients overflow, to single."""
    return a.astype(np.result_type(a, np.float32)) if a.dtype == np.float16 else a


def double(a: Array) -> Array:
    """Take single precision to double."""
    return a.astype(np.result_type(a, np.float64))


def one_by_one(function: Callable[..., Array], a: Array, e: Array) -> Array:
    """Call a function of two matrices for each of a stack of them."""
    stack = np.broadcast_shapes(a.shape[:-2], e.shape[:-2])
    shape = (*stack, *a.shape[-2:])
    if 0 in shape:
        return np.zeros(shape, np.result_type(a, e))
    a, e = (np.broadcast_to(m, shape).reshape((-1, *shape[-2:])) for m in (a, e))
    return np.stack([function(*pair) for pair in zip(a, e, strict=True)]).reshape(shape)


@define(eq=False, repr=False)
class Derivative:
    """The derivative of a function of matrices at `a`, in its direction.

    Parameters
    ----------
    function : callable
        ``function(a, e)`` is the derivative at `a` in the direction e.
    a : array, shape (..., n, n)

    Notes
    -----
    Rounding must not move negative eigenvalues off the branch cut, which it does when it splits
    the equal ones of a block matrix. So, at a real `a`, the parts of a complex direction are taken
    one by one, and `a` is transposed along its other diagonal: what is block triangular, where `a`
    is a block matrix itself, stays so, and the equal eigenvalues are found apart.
    """

    broadcasts: ClassVar[bool] = True
    pattern = batched(2, 2)
    function: Callable[..., Array]
    a: Array

    def push(self, t: Array) -> Array:
        return self.along(self.a, t)

    def pull(self, ct: Array) -> Array:
        transpose = turned(np.swapaxes(self.a, -1, -2))
        return turned(self.along(transpose, turned(ct.conjugate()))).conjugate()

    def along(self, a: Array, e: Array) -> Array:
        """Compute the derivative at `a`, or at its transpose, in the direction `e`."""
        if e.dtype.kind == "c" and a.dtype.kind != "c":
            return self.function(a, e.real) + 1j * self.function(a, e.imag)
        return self.function(a, e)


def turned(a: Array) -> Array:
    """Turn a matrix upside down and left to right, which is a similarity."""
    return a[..., ::-1, ::-1]


@define(eq=False, repr=False)
class SecondDerivative:
    """The derivative of a function of matrices at `a` in the direction `e`, in `a`."""

    broadcasts: ClassVar[bool] = True
    pattern = batched(2, 2)
    function: Callable[..., Array]
    a: Array
    e: Array

    def push(self, t: Array) -> Array:
        n, zero = self.a.shape[-1], np.zeros(self.a.shape[-2:], self.a.dtype)
        direction = block(t, zero, t)
        return self.function(block(self.a, self.e, self.a), direction)[..., :n, n:]

    def pull(self, ct: Array) -> Array:
        n, zero = self.a.shape[-1], np.zeros(self.a.shape[-2:], self.a.dtype)
        linear = Derivative(self.function, block(self.a, self.e, self.a))
        pulled = linear.pull(block(zero, ct, zero))
        return pulled[..., :n, :n] + pulled[..., n:, n:]


def block(a: Array, e: Array, d: Array) -> Array:
    """Write stacks of matrices as [[a, e], [0, d]]."""
    stack = np.broadcast_shapes(*(m.shape[:-2] for m in (a, e, d)))
    a, e, d = (np.broadcast_to(m, stack + m.shape[-2:]) for m in (a, e, d))
    zero = np.zeros(a.shape, a.dtype)
    return np.concatenate(
        (np.concatenate((a, e), axis=-1), np.concatenate((zero, d), axis=-1)), axis=-2
    )


def only_matrix(name: str) -> Callable[..., Call]:
    """Make the signature of a function of one matrix, or for `expm` of its only element."""

    def signature(A: Array, **options: Any) -> Call:
        refuse(name, **options)
        only = name == "expm" and A.ndim < 2 and A.size == 1
        return (double(np.reshape(A, (1, 1))) if only else A,), {}

    return signature


FUNCTIONS: dict[Any, Entry] = {
    solve_sylvester: rule(
        lambda out, a, b, q: Coefficients(Sylvester(a, b), out, vector=False),
        lambda out, a, b, q: Coefficients(Sylvester(a, b, right=True), out, vector=False),
        lambda out, a, b, q: RightHandSide(Sylvester(a, b), vector=False),
        signature=lambda a, b, q: ((a, b, q), {}),
        facts=facts.cores("(m,m),(n,n),(m,n)->(m,n)"),
    ),
    expm: rule(
        lambda out, a: Derivative(expm_derivative, a),
        signature=only_matrix("expm"),
        facts=facts.cores("(n,n)->(n,n)"),
    ),
    logm: rule(
        lambda out, a: Derivative(logm_derivative, a),
        signature=only_matrix("logm"),
        facts=facts.cores("(n,n)->(n,n)").also(dtype_by_values=True),
    ),
    sqrtm: rule(
        lambda out, a: RightHandSide(Sylvester(out, out), vector=False),
        signature=only_matrix("sqrtm"),
        facts=facts.cores("(n,n)->(n,n)").also(dtype_by_values=True),
    ),
    **{
        function: rule(
            lambda out, a, e, function=function: SecondDerivative(function, a, e),
            lambda out, a, e, function=function: Derivative(function, a),
            signature=lambda a, e: ((a, e), {}),
            facts=facts.cores("(n,n),(n,n)->(n,n)"),
        )
        for function in (expm_derivative, logm_derivative)
    },
}


ordqz = scipy_function(scipy.linalg.ordqz, MODULE)
qz = scipy_function(scipy.linalg.qz, MODULE)
schur = scipy_function(scipy.linalg.schur, MODULE)


@composition_of(FUNCTIONS, scipy.linalg.signm, "A", dtype_by_values=True, signature="(n,n)->...")
def sign(a: Array, *options: Any) -> Array:
    """Divide by the root of the square."""
    a = as_array(a)
    return a @ np.linalg.inv(sqrtm(a @ a))


def power(a: Array, t: Any) -> Array:
    """Multiply by itself, or take the exponential of a multiple of the logarithm."""
    a = as_array(a)
    if not takes_over(type(t)) and float(t).is_integer():
        return np.linalg.matrix_power(a, operator.index(int(t)))
    return expm(as_array(t) * logm(a))


@composition_of(FUNCTIONS, scipy.linalg.expm_frechet, "A E")
def frechet(a: Array, e: Array, method: Any, compute_expm: bool, check_finite: bool) -> Any:
    """Compute the derivative of the exponential, and that."""
    a, e = as_array(a), as_array(e)
    derivative = expm_derivative(a, e)
    return (expm(a), derivative) if compute_expm else derivative


def function_of_matrix(a: Array, func: Any, disp: bool) -> Any:
    """Call the function with the eigenvalues.

    Raises
    ------
    UnsupportedArgumentError
        Where two of them are equal, so that the derivative is not made of the function's values.
    """
    a = as_array(a)
    w, v = vectors(a)
    if np.any(np.add.reduce(indistinct(w), axis=-1) > 1):
        raise UnsupportedArgumentError(
            "tape_ad.scipy.linalg.funm: eigenvalues of this matrix are equal, where the derivative "
            "is not made of values of the function; write it with expm, logm, sqrtm or products"
        )
    out = np.linalg.solve(np.matrix_transpose(v), np.matrix_transpose(v * func(w)))
    out = np.matrix_transpose(out)
    size = 1e3 * float(np.finfo(out.dtype).eps) * max(1.0, np.max(np.abs(out)).item())
    if a.dtype.kind != "c" and np.all(np.abs(np.imag(out)) <= size):
        out = np.real(out)
    return out if disp else (out, None)


BASES = (
    "the bases that it finds have no derivative here, as they may be others for a matrix near by; "
    "write what is made of them by np.linalg.svd, np.linalg.eigh or np.linalg.qr"
)

FUNCTIONS |= {function: Refused(BASES) for function in (ordqz, qz, schur)}

funm = counterpart(FUNCTIONS, scipy.linalg.funm, "A", function_of_matrix, anchor=False)
fractional_matrix_power = counterpart(
    FUNCTIONS, scipy.linalg.fractional_matrix_power, "A t", power, dtype_by_values=True
)
funm.closing = function_of_matrix  # type: ignore[attr-defined]  # which `scipy_function` looks for

add_facts(FUNCTIONS, (logm_derivative, funm), dtype_by_values=True)
add_facts(FUNCTIONS, (funm,), signature="(n,n)->...")
add_facts(FUNCTIONS, (fractional_matrix_power,), signature="(n,n),()!->...")

# Their last digits go by where SciPy's arrays lie in memory, so replays cannot have the same bits
logm.rounds = logm_derivative.rounds = True  # type: ignore[attr-defined]  # which checks look for


# The equations of Lyapunov, Stein and Riccati, differentiated where they hold
#
# A change of the data changes the solution of a Riccati equation by what solves the Lyapunov or
# Stein equation of the closed loop (Kao & Hennequin 2020, "Automatic differentiation of Sylvester,
# Lyapunov and algebraic Riccati equations").


solve_discrete_lyapunov = scipy_function(scipy.linalg.solve_discrete_lyapunov, MODULE, "a q")
solve_continuous_are = scipy_function(scipy.linalg.solve_continuous_are, MODULE, "a b q r")
solve_discrete_are = scipy_function(scipy.linalg.solve_discrete_are, MODULE, "a b q r")


@define(eq=False, repr=False)
class Stein:
    """The system ``x - a x a^H = b``."""

    a: Array

    def solve(self, b: Array) -> Array:
        """Solve one by one, which a stack takes."""
        stack = b.shape[:-2]
        if not stack:
            return solve_discrete_lyapunov(self.a, b)
        flat = b.reshape((-1, *b.shape[-2:]))
        made = [solve_discrete_lyapunov(self.a, flat[i]) for i in range(flat.shape[0])]
        return np.stack(made).reshape(b.shape) if made else b

    def adjoint(self) -> Self:
        """Give ``x - a^H x a``."""
        return type(self)(adjoint(self.a))


def stein(a: Array) -> LinearMap:
    """Make the map from the right-hand side of a Stein equation to its solution."""
    system: Any = Stein(a)  # a system whose matrix nobody asks for
    return RightHandSide(system, vector=False)


@define(eq=False, repr=False)
class TwoSided:
    """``left @ t @ right``, with its conjugate transpose added where the result is Hermitian.

    Parameters
    ----------
    left, right : array
    both : bool
        Whether that is added.
    """

    pattern = batched(2, 2)
    left: Array
    right: Array
    both: bool = True

    def push(self, t: Array) -> Array:
        product = self.left @ t @ self.right
        return product + adjoint(product) if self.both else product

    def pull(self, ct: Array) -> Array:
        ct = ct + adjoint(ct) if self.both else ct
        return adjoint(self.left) @ ct @ adjoint(self.right)


def lyapunov_of_handle(a: Array, q: Array) -> Array:
    """Solve as the Sylvester equation that it is."""
    a = as_array(a)
    return solve_sylvester(a, adjoint(a), as_array(q))


@define(eq=False, repr=False)
class Steady:
    """The change of ``a x a^H`` with `a`, of an x that need not be Hermitian."""

    pattern = batched(2, 2)
    a: Array
    x: Array

    def push(self, t: Array) -> Array:
        return t @ self.x @ adjoint(self.a) + self.a @ self.x @ adjoint(t)

    def pull(self, ct: Array) -> Array:
        first = ct @ self.a @ adjoint(self.x)
        return first + adjoint(ct) @ self.a @ self.x


def direct(a: Array, q: Array, method: Any = None) -> Array:
    """Solve a small Stein equation as SciPy does, as one system for all elements."""
    if method not in (None, "direct") or (method is None and a.shape[-1] >= 10):
        raise UnsupportedArgumentError("SciPy solves it in another way")
    system = np.eye(q.size) - np.kron(a, np.conj(a))
    return np.reshape(np.linalg.solve(system, np.ravel(q)), q.shape)


# Riccati


def riccati_signature(public: Any) -> Any:
    """Make the signature of a Riccati equation, which is differentiated in its plain form."""

    def signature(
        a: Array, b: Array, q: Array, r: Array, e: Any = None, s: Any = None, balanced: bool = True
    ) -> Call:
        if e is not None or s is not None:
            raise UnsupportedArgumentError(
                f"tape_ad.scipy.linalg.{public.__name__}: e= and s= are not supported on handles; "
                "bring "
                "the equation to one without (a - b r^-1 s^H, q - s r^-1 s^H, and e^-1 a, e^-1 b)"
            )
        return tuple(map(np.atleast_2d, (a, b, q, r))), {"balanced": balanced}

    return signature


def continuous(x: Array, a: Array, b: Array, r: Array) -> tuple[Array, Array, LinearMap]:
    """Linearize the equation ``a^H x + x a - x b r^-1 b^H x + q = 0``; see `riccati`."""
    gain = np.linalg.solve(r, adjoint(b) @ x)
    closed = a - b @ gain
    return gain, -x, RightHandSide(Sylvester(adjoint(closed), closed), vector=False)


def discrete(x: Array, a: Array, b: Array, r: Array) -> tuple[Array, Array, LinearMap]:
    """Linearize ``x = a^H x a - a^H x b (r + b^H x b)^-1 b^H x a + q``; see `riccati`."""
    gain = np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a)
    closed = adjoint(a - b @ gain)
    return gain, closed @ x, stein(closed)


def riccati(public: Any, linearized: Any, sign: int) -> Entry:
    """Make the rule of an equation, of which another gives gain, left factor and solution."""

    def partial(
        position: int, out: Array, a: Array, b: Array, q: Array, r: Array, balanced: bool
    ) -> LinearMap:
        gain, left, solution = linearized(out, a, b, r)
        n = np.eye(out.shape[-1])
        change = (
            TwoSided(left, n),
            TwoSided(-left, gain),
            TwoSided(sign * n, n, both=False),
            TwoSided(sign * adjoint(gain), gain, both=False),
        )
        return Chain((change[position], solution))

    return each(partial, signature=riccati_signature(public))


RICCATI: dict[Any, Entry] = {
    solve_discrete_lyapunov: rule(
        lambda out, a, q, method: Chain((Steady(a, out), stein(a))),
        lambda out, a, q, method: stein(a),
        signature=lambda a, q, method=None: ((as_array(a), as_array(q)), {"method": method}),
        body=direct,
    ),
    solve_continuous_are: riccati(solve_continuous_are, continuous, -1),
    solve_discrete_are: riccati(solve_discrete_are, discrete, 1),
}

solve_lyapunov = counterpart(
    RICCATI, scipy.linalg.solve_continuous_lyapunov, "a q", lyapunov_of_handle
)
"""SciPy's other name for it."""
