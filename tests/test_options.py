"""Every option of the public functions is used: nonsense in its place is an error."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
import tape_ad.scipy.integrate
import tape_ad.scipy.optimize
from tape_ad import nn, optim, testing, training
from tape_ad.scipy import integrate, optimize

Array = Any
Call = Callable[..., Any]

X = np.array([0.3, 1.2, 2.0])
SEQUENCE, IMAGE = np.ones((1, 2, 6)), np.ones((1, 2, 5, 5))
THREE = np.ones((1, 2, 3))


class Nonsense:
    """What no option can be, and what cannot be looked at without noticing."""

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("this is nonsense")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __len__ = __iter__ = _refuse
    __getitem__ = __call__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __rtruediv__ = __pow__ = __rpow__ = __neg__ = __array__ = __contains__ = __enter__ = _refuse


def square(x: Array) -> Array:
    return x**2


def total(x: Array) -> Array:
    return np.sum(x**2)


def of(transform: Call, f: Call) -> Call:
    """Give what makes a function by a transform, and calls it."""
    return lambda **options: transform(f, **options)(X)


def recorded(**options: Any) -> Array:
    x = ta.ComputationRecord(**options).tensor(X)
    return total(x).grad().wrt(x)


def without_nan(**options: Any) -> Array:
    with ta.debug_nans(**options):
        return ta.grad(total)(X)


def stepped(kind: Any) -> Call:
    """Give what takes a step of an optimizer."""
    return lambda **options: kind(**options).step({"w": X.copy()}, {"w": X})


def first_of(result: Any) -> Array:
    """Give the numbers of what a solver returns."""
    for name in ("x", "y", "root"):
        result = getattr(result, name, result)
    return first_of(result[0]) if isinstance(result, tuple) else np.sum(result)


def through(call: Call) -> Call:
    """Give the derivative of what a solver finds, by a number that it is told."""
    return lambda **options: ta.grad(lambda s: first_of(call(s, **options)))(1.1)


TRANSFORMS: dict[Any, Call] = {
    ta.ComputationRecord: recorded,
    ta.debug_nans: without_nan,
    ta.grad: of(ta.grad, total),
    ta.value_and_grad: of(ta.value_and_grad, total),
    ta.hessian: of(ta.hessian, total),
    ta.jacobian: of(ta.jacobian, square),
    ta.sparse_jacobian: of(ta.sparse_jacobian, square),
    ta.sparse_hessian: of(ta.sparse_hessian, total),
    ta.sparsity: of(ta.sparsity, square),
    ta.batched: of(ta.batched, square),
    ta.compile: of(ta.compile, square),
    ta.hessian_diag: lambda **options: ta.hessian_diag(total, X, **options),
    ta.vjp: lambda **options: ta.vjp(square, X, **options),
    ta.jvp: lambda **options: ta.jvp(square, (X,), (X,), **options),
    ta.linearize: lambda **options: ta.linearize(square, X, **options),
    ta.checkpoint_sequential: lambda **options: ta.grad(
        lambda x: np.sum(ta.checkpoint_sequential(square, 4, x, **options))
    )(X),
    testing.check_grads: lambda **options: testing.check_grads(square, (X,), **options),
    training.batches: lambda **options: list(training.batches(X, X, 2, **options)),
}

LAYERS: dict[Any, Call] = {
    nn.avg_pool1d: lambda **options: nn.avg_pool1d(SEQUENCE, 2, **options),
    nn.avg_pool2d: lambda **options: nn.avg_pool2d(IMAGE, 2, **options),
    nn.max_pool1d: lambda **options: nn.max_pool1d(SEQUENCE, 2, **options),
    nn.max_pool2d: lambda **options: nn.max_pool2d(IMAGE, 2, **options),
    nn.conv1d: lambda **options: nn.conv1d(SEQUENCE, np.ones((2, 2, 3)), **options),
    nn.conv2d: lambda **options: nn.conv2d(IMAGE, np.ones((2, 2, 3, 3)), **options),
    nn.cross_entropy: lambda **options: nn.cross_entropy(np.ones((1, 3)), [1], **options),
    nn.nll_loss: lambda **options: nn.nll_loss(np.ones((1, 3)), [1], **options),
    nn.binary_cross_entropy_with_logits: lambda **options: nn.binary_cross_entropy_with_logits(
        X, X, **options
    ),
    nn.huber_loss: lambda **options: nn.huber_loss(X, X, **options),
    nn.kl_div: lambda **options: nn.kl_div(X, X, **options),
    nn.l1_loss: lambda **options: nn.l1_loss(X, X, **options),
    nn.mse_loss: lambda **options: nn.mse_loss(X, X, **options),
    nn.dropout: lambda **options: nn.dropout(X, **{"rng": np.random.default_rng(0)} | options),
    nn.embedding: lambda **options: nn.embedding([0, 1], np.ones((3, 2)), **options),
    nn.layer_norm: lambda **options: nn.layer_norm(X, 3, **options),
    nn.log_softmax: lambda **options: nn.log_softmax(X, **options),
    nn.logsumexp: lambda **options: nn.logsumexp(X, **options),
    nn.softmax: lambda **options: nn.softmax(X, **options),
    nn.scaled_dot_product_attention: lambda **options: nn.scaled_dot_product_attention(
        THREE, THREE, THREE, **options
    ),
    nn.elu: lambda **options: nn.elu(-X, **options),
    nn.gelu: lambda **options: nn.gelu(X, **options),
    nn.glu: lambda **options: nn.glu(np.ones(4), **options),
    nn.leaky_relu: lambda **options: nn.leaky_relu(-X, **options),
    nn.softplus: lambda **options: nn.softplus(X, **options),
    optim.SGD: stepped(optim.SGD),
    optim.Adagrad: stepped(optim.Adagrad),
    optim.Adam: stepped(optim.Adam),
    optim.AdamW: stepped(optim.AdamW),
    optim.RMSprop: stepped(optim.RMSprop),
}

SOLVERS: dict[Any, Call] = {
    optimize.minimize: lambda s, **options: optimize.minimize(
        lambda x, s: np.sum((x - s) ** 2), X, **{"args": (s,)} | options
    ),
    optimize.minimize_scalar: lambda s, **options: optimize.minimize_scalar(
        lambda x, s: (x - s) ** 2, **{"args": (s,)} | options
    ),
    optimize.root: lambda s, **options: optimize.root(
        lambda x, s: x**2 - s, X, **{"args": (s,)} | options
    ),
    optimize.root_scalar: lambda s, **options: optimize.root_scalar(
        lambda x, s: x**2 - s, bracket=(0, 3), **{"args": (s,)} | options
    ),
    optimize.fixed_point: lambda s, **options: optimize.fixed_point(
        lambda x, s: np.cos(s * x), 0.5, **{"args": (s,)} | options
    ),
    optimize.least_squares: lambda s, **options: optimize.least_squares(
        lambda x, s: x - s, X, **{"args": (s,), "loss": "huber"} | options
    ),
    optimize.leastsq: lambda s, **options: optimize.leastsq(
        lambda x, s: x - s, X, **{"args": (s,)} | options
    ),
    optimize.curve_fit: lambda s, **options: optimize.curve_fit(
        lambda x, a: a * x, X, 2 * X * s, **options
    ),
    optimize.linprog: lambda s, **options: optimize.linprog(
        [1.0, 2.0], **{"A_ub": -np.eye(2), "b_ub": s * np.array([-1.0, -1.0])} | options
    ),
    optimize.lsq_linear: lambda s, **options: optimize.lsq_linear(np.eye(3), s * X, **options),
    optimize.isotonic_regression: lambda s, **options: optimize.isotonic_regression(
        s * X, **options
    ),
    integrate.solve_ivp: lambda s, **options: integrate.solve_ivp(
        lambda t, y: -y, (0.0, 1.0), s * X, **options
    ),
    integrate.odeint: lambda s, **options: integrate.odeint(
        lambda y, t: -y, s * X, [0.0, 1.0], **options
    ),
    integrate.quad_vec: lambda s, **options: integrate.quad_vec(
        lambda x: s * x * X, 0.0, 1.0, **options
    ),
    integrate.dblquad: lambda s, **options: integrate.dblquad(
        lambda y, x, s: x * y * s, 0.0, 1.0, 0.0, 1.0, **{"args": (s,)} | options
    ),
    integrate.trapezoid: lambda s, **options: integrate.trapezoid(s * X, **options),
    integrate.simpson: lambda s, **options: integrate.simpson(s * X, **options),
    integrate.romb: lambda s, **options: integrate.romb(s * X, **options),
}

CALLS = TRANSFORMS | LAYERS | {function: through(call) for function, call in SOLVERS.items()}


def options() -> Iterator[tuple[Any, str, Any]]:
    """List all options that have a default, with what is none for each.

    Of a text where True or False is meant, Python only knows that it is not empty.
    """
    for function in CALLS:
        for each in inspect.signature(function).parameters.values():
            apart = each.name == "state" or (function.__name__, each.name) in APART
            if each.default is not each.empty and not apart:
                yield function, each.name, Nonsense()
                if not isinstance(each.default, bool) and each.name not in TRUTHS:
                    yield function, each.name, "nonsense"


APART = frozenset({("odeint", "rtol"), ("odeint", "atol")})
"""Options that ODEPACK has an error of its own for; a state is read by `load_state`."""

TRUTHS = frozenset({"full_output", "check_finite", "col_deriv"})
"""Options that say yes or no, though their default is a number or None."""


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_a_call_without_options_is_right(function: Any) -> None:
    CALLS[function]()


@pytest.mark.parametrize(
    ("function", "name", "nonsense"),
    [
        pytest.param(*each, id=f"{each[0].__name__}-{each[1]}-{type(each[2]).__name__}")
        for each in options()
    ],
)
@pytest.mark.filterwarnings("ignore")  # some warn first
def test_nonsense_is_an_error(function: Any, name: str, nonsense: Any) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError, IndexError, KeyError)):
        CALLS[function](**{name: nonsense})


@pytest.mark.parametrize("x0", [X, {"a": X}], ids=["array", "tree"])
@pytest.mark.parametrize("jac", ["garbage", "cs", 3.0])
def test_minimize_refuses_another_jac(x0: Any, jac: Any) -> None:
    with pytest.raises(ValueError, match=r"minimize: jac is a function, True, '2-point'"):
        optimize.minimize(
            lambda x: np.sum((x["a"] if isinstance(x, dict) else x) ** 2), x0, jac=jac
        )


def test_complex_parameters_are_refused_and_not_cut() -> None:
    objective = optimize.scipy_objective(total, X)
    with pytest.raises(ta.errors.DtypeError, match="leave jac out"):
        objective.fun(X + 1e-20j)
