"""Single functions with their sweep: the commonest ones, each as NumPy and as PyTorch has it."""

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import field, frozen

from benchmarks.libraries import BY_HAND, TORCH, TORCH_COMPILED
from benchmarks.libraries.plain import Data, Outcome, Program, seed_like
from benchmarks.workloads import functions_by_hand as by_hand
from benchmarks.workloads.base import Workload

__all__ = ["FUNCTIONS", "WORKLOADS", "Function"]

Make = Callable[[np.random.Generator], np.ndarray[Any, Any]]


def normal(*shape: int) -> Make:
    """Draw from the standard normal distribution."""
    return lambda rng: rng.normal(size=shape)


def between(low: float, high: float, *shape: int) -> Make:
    """Draw evenly from an interval."""
    return lambda rng: rng.uniform(low, high, shape)


MATRIX = normal(64, 128)
PAIR = (MATRIX, MATRIX)
POSITIVE = (between(0.1, 2.0, 64, 128),)
WITHIN = (between(-0.9, 0.9, 64, 128),)
SQUARE = (lambda rng: rng.normal(size=(64, 64)) + 16 * np.eye(64),)
DEFINITE = (lambda rng: np.cov(rng.normal(size=(64, 256))),)
ROWS = np.random.default_rng(1).permutation(64)
LABELS = np.random.default_rng(2).integers(128, size=64)
ORDER = np.argsort(np.random.default_rng(3).normal(size=(64, 128)), axis=1)
CHOSEN = np.random.default_rng(4).random((64, 128)) < 0.5


OTHERS = ("hips_autograd", "my_grad", "jax_eager", "jax_jit", TORCH_COMPILED)


@frozen(slots=False)  # for its cached property
class Function:
    """One function, and the arrays that it is called with.

    Attributes
    ----------
    name : str
    ours : callable or str
        ``ours(*operands, *constants)``, of handles or of arrays; a name is one in `our_functions`.
    torch : callable
        ``torch(library, *operands, *constants)``, the same with PyTorch's module.
    operands : tuple of callable
        Make each operand; its gradient is taken.
    constants : tuple of array
        What is an array, or a tensor, without a gradient: a permutation, a mask, labels.
    by_hand : callable or None
        ``by_hand(ct, *operands)``: the value and the cotangent of each operand in the best NumPy,
        where that alone comes near to PyTorch's time or exceeds it.
    """

    name: str
    ours: Callable[..., Any] | str
    torch: Callable[..., Any]
    operands: tuple[Make, ...] = field(default=(MATRIX,))
    constants: tuple[np.ndarray[Any, Any], ...] = field(default=(), kw_only=True)
    by_hand: Callable[..., Any] | None = field(default=None, kw_only=True)

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        """Find what is ours; PyTorch's process must not import tape_ad, which changes `malloc`."""
        if callable(self.ours):
            return self.ours
        module = importlib.import_module("benchmarks.workloads.our_functions")
        function: Callable[..., Any] = getattr(module, self.ours)
        return function

    def workload(self) -> Workload:
        """Give it as what the libraries' processes run."""
        own = {TORCH: lambda library, p, data: self.torch(library.xp, *p.values(), *data.values())}
        return Workload(
            self.name,
            "one function with its sweep",
            lambda library, p, data: self.function(*p.values(), *data.values()),
            self.inputs,
            kind="function",
            own=own | ({BY_HAND: self.program_by_hand} if self.by_hand else {}),
            cannot=dict.fromkeys(OTHERS, "single functions are beside PyTorch"),
        )

    def inputs(self) -> tuple[Data, Data]:
        """Make the operands and the constants."""
        rng = np.random.default_rng(0)
        p = {f"operand {i}": make(rng) for i, make in enumerate(self.operands)}
        return p, {f"constant {i}": each for i, each in enumerate(self.constants)}

    def program_by_hand(self, p: Data, data: Data) -> Program:
        """Make a program of the formulas by hand."""
        by_hand, operands = self.by_hand, tuple(p.values())
        assert by_hand is not None
        ct = seed_like(self.function(*operands))

        def program() -> Outcome:
            value, *cotangents = by_hand(ct, *operands)
            return value, dict(zip(p, cotangents, strict=True))

        return program


def composed_softmax(x: Any) -> Any:
    """Write softmax as a user of NumPy does."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def composed_softmax_in_torch(x: Any) -> Any:
    """Write the same with tensors."""
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


FUNCTIONS = [
    # elementwise, one operand
    Function("np.negative", lambda x: -x, lambda t, x: -x),
    Function("np.abs", np.abs, lambda t, x: t.abs(x)),
    Function("np.exp", np.exp, lambda t, x: t.exp(x)),
    Function("np.expm1", np.expm1, lambda t, x: t.expm1(x), by_hand=by_hand.expm1),
    Function("np.log", np.log, lambda t, x: t.log(x), POSITIVE),
    Function("np.log1p", np.log1p, lambda t, x: t.log1p(x), POSITIVE),
    Function("np.log2", np.log2, lambda t, x: t.log2(x), POSITIVE),
    Function("np.sqrt", np.sqrt, lambda t, x: t.sqrt(x), POSITIVE),
    Function("np.square", np.square, lambda t, x: t.square(x)),
    Function("x**3", lambda x: x**3, lambda t, x: x**3, by_hand=by_hand.cube),
    Function("np.reciprocal", np.reciprocal, lambda t, x: t.reciprocal(x), POSITIVE),
    Function("np.sin", np.sin, lambda t, x: t.sin(x), by_hand=by_hand.sin),
    Function("np.cos", np.cos, lambda t, x: t.cos(x), by_hand=by_hand.cos),
    Function("np.tan", np.tan, lambda t, x: t.tan(x), WITHIN),
    Function("np.arcsin", np.arcsin, lambda t, x: t.arcsin(x), WITHIN),
    Function("np.arctan", np.arctan, lambda t, x: t.arctan(x)),
    Function("np.sinh", np.sinh, lambda t, x: t.sinh(x)),
    Function("np.tanh", np.tanh, lambda t, x: t.tanh(x)),
    Function("np.clip", lambda x: np.clip(x, -1, 1), lambda t, x: t.clamp(x, -1, 1)),
    Function("special.erf", "erf", lambda t, x: t.erf(x), by_hand=by_hand.erf),
    Function("special.gammaln", "gammaln", lambda t, x: t.lgamma(x), POSITIVE),
    # elementwise, two operands
    Function("np.add", np.add, lambda t, x, y: t.add(x, y), PAIR),
    Function("np.subtract", np.subtract, lambda t, x, y: t.sub(x, y), PAIR),
    Function("np.multiply", np.multiply, lambda t, x, y: t.mul(x, y), PAIR),
    Function("np.divide", np.divide, lambda t, x, y: t.div(x, y), POSITIVE * 2),
    Function("np.power", np.power, lambda t, x, y: t.pow(x, y), POSITIVE * 2),
    Function("np.maximum", np.maximum, lambda t, x, y: t.maximum(x, y), PAIR),
    Function("np.minimum", np.minimum, lambda t, x, y: t.minimum(x, y), PAIR),
    Function("np.hypot", np.hypot, lambda t, x, y: t.hypot(x, y), PAIR, by_hand=by_hand.hypot),
    Function("np.arctan2", np.arctan2, lambda t, x, y: t.arctan2(x, y), PAIR),
    Function(
        "np.logaddexp",
        np.logaddexp,
        lambda t, x, y: t.logaddexp(x, y),
        PAIR,
        by_hand=by_hand.logaddexp,
    ),
    Function("x + row", np.add, lambda t, x, y: x + y, (MATRIX, normal(128))),
    Function("x * column", np.multiply, lambda t, x, y: x * y, (MATRIX, normal(64, 1))),
    Function(
        "np.where",
        lambda x, y, chosen: np.where(chosen, x, y),
        lambda t, x, y, chosen: t.where(chosen, x, y),
        PAIR,
        constants=(CHOSEN,),
    ),
    # reductions and scans
    Function("np.sum", np.sum, lambda t, x: t.sum(x)),
    Function("np.sum, axis", lambda x: np.sum(x, axis=1), lambda t, x: t.sum(x, 1)),
    Function("np.mean, axis", lambda x: np.mean(x, axis=0), lambda t, x: t.mean(x, 0)),
    Function("np.var, axis", lambda x: np.var(x, axis=1), lambda t, x: t.var(x, 1, correction=0)),
    Function("np.std, axis", lambda x: np.std(x, axis=1), lambda t, x: t.std(x, 1, correction=0)),
    Function("np.max, axis", lambda x: np.max(x, axis=1), lambda t, x: t.amax(x, 1)),
    Function("np.min", np.min, lambda t, x: t.amin(x)),
    Function("np.prod, axis", lambda x: np.prod(x, axis=1), lambda t, x: t.prod(x, 1)),
    Function(
        "np.cumsum",
        lambda x: np.cumsum(x, axis=1),
        lambda t, x: t.cumsum(x, 1),
        by_hand=by_hand.cumsum,
    ),
    Function("np.cumprod", lambda x: np.cumprod(x, axis=1), lambda t, x: t.cumprod(x, 1)),
    Function("np.sort", lambda x: np.sort(x, axis=1), lambda t, x: t.sort(x, 1)[0]),
    Function(
        "np.linalg.norm, axis",
        lambda x: np.linalg.norm(x, axis=1),
        lambda t, x: t.linalg.norm(x, dim=1),
    ),
    # shapes
    Function("np.reshape", lambda x: x.reshape(128, 64), lambda t, x: x.reshape(128, 64)),
    Function("np.transpose", lambda x: x.T, lambda t, x: x.T),
    Function(
        "np.concatenate",
        lambda x, y: np.concatenate([x, y], axis=1),
        lambda t, x, y: t.cat([x, y], 1),
        PAIR,
    ),
    Function("np.stack", lambda x, y: np.stack([x, y]), lambda t, x, y: t.stack([x, y]), PAIR),
    Function(
        "np.broadcast_to",
        lambda x: np.broadcast_to(x, (64, 128)),
        lambda t, x: t.broadcast_to(x, (64, 128)),
        (normal(128),),
    ),
    Function("np.roll", lambda x: np.roll(x, 3, axis=1), lambda t, x: t.roll(x, 3, 1)),
    Function("np.flip", lambda x: np.flip(x, axis=1), lambda t, x: t.flip(x, [1])),
    Function("np.tile", lambda x: np.tile(x, (2, 1)), lambda t, x: t.tile(x, (2, 1))),
    Function("np.pad", lambda x: np.pad(x, 1), lambda t, x: t.nn.functional.pad(x, (1, 1, 1, 1))),
    # indices
    Function("x[3]", lambda x: x[3], lambda t, x: x[3]),
    Function("x[:, 2:5]", lambda x: x[:, 2:5], lambda t, x: x[:, 2:5]),
    Function("x[..., 0]", lambda x: x[..., 0], lambda t, x: x[..., 0]),
    Function("x[permutation]", lambda x, i: x[i], lambda t, x, i: x[i], constants=(ROWS,)),
    Function("x[mask]", lambda x, i: x[i], lambda t, x, i: x[i], constants=(CHOSEN,)),
    Function(
        "np.take_along_axis",
        lambda x, order: np.take_along_axis(x, order, axis=1),
        lambda t, x, order: t.take_along_dim(x, order, 1),
        constants=(ORDER,),
    ),
    # products and linear algebra
    Function("x @ y", np.matmul, lambda t, x, y: x @ y, (MATRIX, normal(128, 64))),
    Function("x @ vector", np.matmul, lambda t, x, y: x @ y, (MATRIX, normal(128))),
    Function("np.dot, vectors", np.dot, lambda t, x, y: t.dot(x, y), (normal(8192), normal(8192))),
    Function("np.outer", np.outer, lambda t, x, y: t.outer(x, y), (normal(64), normal(128))),
    Function(
        "np.einsum",
        lambda x, y: np.einsum("bij,bjk->bik", x, y),
        lambda t, x, y: t.einsum("bij,bjk->bik", x, y),
        (normal(8, 32, 32), normal(8, 32, 32)),
    ),
    Function("np.cross", np.cross, lambda t, x, y: t.linalg.cross(x, y), (normal(2730, 3),) * 2),
    Function("np.linalg.inv", np.linalg.inv, lambda t, x: t.linalg.inv(x), SQUARE),
    Function(
        "np.linalg.solve",
        np.linalg.solve,
        lambda t, x, y: t.linalg.solve(x, y),
        (*SQUARE, MATRIX),
        by_hand=by_hand.solve,
    ),
    Function(
        "np.linalg.slogdet",
        lambda x: np.linalg.slogdet(x)[1],
        lambda t, x: t.linalg.slogdet(x)[1],
        SQUARE,
    ),
    Function(
        "np.linalg.cholesky",
        lambda x: np.linalg.cholesky((x + x.T) / 2),
        lambda t, x: t.linalg.cholesky((x + x.T) / 2),
        DEFINITE,
    ),
    # layers
    Function("nn.relu", "relu", lambda t, x: t.relu(x)),
    Function("nn.sigmoid", "sigmoid", lambda t, x: t.sigmoid(x), by_hand=by_hand.sigmoid),
    Function("nn.gelu", "gelu", lambda t, x: t.nn.functional.gelu(x), by_hand=by_hand.gelu),
    Function(
        "nn.softplus",
        "softplus",
        lambda t, x: t.nn.functional.softplus(x),
        by_hand=by_hand.softplus,
    ),
    Function("nn.softmax", "softmax", lambda t, x: t.softmax(x, -1)),
    Function("nn.logsumexp", "logsumexp", lambda t, x: t.logsumexp(x, -1)),
    Function(
        "softmax in plain NumPy",
        composed_softmax,
        lambda t, x: composed_softmax_in_torch(x),
    ),
    Function(
        "nn.cross_entropy",
        "cross_entropy",
        lambda t, x, labels: t.nn.functional.cross_entropy(x, labels),
        constants=(LABELS,),
    ),
    Function(
        "nn.layer_norm",
        "layer_norm",
        lambda t, x, w, b: t.nn.functional.layer_norm(x, (128,), w, b),
        (MATRIX, normal(128), normal(128)),
        by_hand=by_hand.layer_norm,
    ),
    Function(
        "nn.conv2d",
        "conv2d",
        lambda t, x, w, b: t.nn.functional.conv2d(x, w, b),
        (normal(8, 3, 18, 18), normal(8, 3, 3, 3), normal(8)),
    ),
]

WORKLOADS = [function.workload() for function in FUNCTIONS]
