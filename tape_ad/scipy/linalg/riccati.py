"""The equations of Lyapunov, Stein and Riccati, differentiated where they hold.

A change of the data changes the solution of a Riccati equation by what solves the Lyapunov or Stein
equation of the closed loop (Kao & Hennequin 2020, "Automatic differentiation of Sylvester, Lyapunov
and algebraic Riccati equations").
"""

from typing import Any, Self

import numpy as np
from attrs import define

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, as_array
from tape_ad.extend.maps import Chain, LinearMap, adjoint
from tape_ad.extend.patterns import batched
from tape_ad.extend.rules import Call, Entry, rule
from tape_ad.scipy.counterparts import counterpart, scipy_function
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.linalg.basics import MODULE
from tape_ad.scipy.linalg.functions import Sylvester, solve_sylvester
from tape_ad.scipy.linalg.systems import RightHandSide

__all__ = ["RICCATI"]


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


def steady(out: Array, a: Array, q: Array, method: Any) -> LinearMap:
    """Make the partial of the Stein equation in `a`."""
    return Chain((Steady(a, out), stein(a)))


def discrete_signature(a: Array, q: Array, method: Any = None) -> Call:
    """Sort the arguments of `solve_discrete_lyapunov`."""
    return (as_array(a), as_array(q)), {"method": method}


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


def continuous(position: int) -> Any:
    """Make the maker of a partial of the equation ``a^H x + x a - x b r^-1 b^H x + q = 0``."""

    def maker(out: Array, a: Array, b: Array, q: Array, r: Array, balanced: bool) -> LinearMap:
        x = out
        gain = np.linalg.solve(r, adjoint(b) @ x)
        closed = a - b @ gain
        n = np.eye(x.shape[-1])
        change = (
            lambda: TwoSided(-x, n),
            lambda: TwoSided(x, gain),
            lambda: TwoSided(-n, n, both=False),
            lambda: TwoSided(-adjoint(gain), gain, both=False),
        )[position]()
        system = Sylvester(adjoint(closed), closed)
        return Chain((change, RightHandSide(system, vector=False)))

    return maker


def discrete(position: int) -> Any:
    """Make the maker of a partial of ``x = a^H x a - a^H x b (r + b^H x b)^-1 b^H x a + q``."""

    def maker(out: Array, a: Array, b: Array, q: Array, r: Array, balanced: bool) -> LinearMap:
        x = out
        gain = np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a)
        closed = a - b @ gain
        n = np.eye(x.shape[-1])
        ahead = adjoint(closed) @ x
        change = (
            lambda: TwoSided(ahead, n),
            lambda: TwoSided(-ahead, gain),
            lambda: TwoSided(n, n, both=False),
            lambda: TwoSided(adjoint(gain), gain, both=False),
        )[position]()
        return Chain((change, stein(adjoint(closed))))

    return maker


RICCATI: dict[Any, Entry] = {
    solve_discrete_lyapunov: rule(
        steady,
        lambda out, a, q, method: stein(a),
        signature=discrete_signature,
        body=direct,
    ),
    solve_continuous_are: rule(
        *map(continuous, range(4)), signature=riccati_signature(solve_continuous_are)
    ),
    solve_discrete_are: rule(
        *map(discrete, range(4)), signature=riccati_signature(solve_discrete_are)
    ),
}

solve_continuous_lyapunov = counterpart(
    RICCATI, scipy.linalg.solve_continuous_lyapunov, "a q", lyapunov_of_handle
)
solve_lyapunov = solve_continuous_lyapunov
"""SciPy's other name for it."""
