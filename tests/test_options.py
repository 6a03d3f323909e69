"""Every option of the public functions is used: nonsense in its place is an error."""

import functools
import importlib
import inspect
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import tape_ad as ta
import tape_ad.scipy.integrate
import tape_ad.scipy.optimize
from tape_ad import nn, optim, parameters, testing, training
from tape_ad.base.naming import function_name
from tape_ad.base.trees import flatten
from tape_ad.extend import facts, rules
from tape_ad.interop import autograd
from tape_ad.nn import initializers
from tape_ad.scipy import integrate, optimize
from tests.rules.rows import CONSTANTS, ROWS
from tests.rules.table import Row, cases
from tests.sampling import some
from tests.scipy.option_calls import FACES

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
    training.batches: lambda **options: list(training.batches(X, X, size=2, **options)),
}


filled: Any = nn.init


def layer(kind: Any, x: Array, *sizes: int) -> Call:
    """Give what makes a layer, fills its store, and calls it."""

    def made(**options: Any) -> Array:
        name = () if kind in (nn.AvgPool1d, nn.AvgPool2d, nn.MaxPool1d, nn.MaxPool2d) else ("l",)
        one = kind(*name, *sizes, **options)
        store = nn.init(one, np.random.default_rng(0))
        return one(store, x)

    return made


def initialized(function: Any) -> Call:
    return lambda **options: function(np.random.default_rng(0), (3, 3), **options)


def cell(kind: Any) -> Call:
    def made(**options: Any) -> Array:
        one = kind("l", 3, 2, **options)
        return one(nn.init(one, np.random.default_rng(0)), np.ones((1, 3)))

    return made


def saved_and(load: Call, save: Call) -> Call:
    """Give what saves a store, and reads the file again."""

    def read(**options: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            save(f"{folder}/p.npz", {"w": X})
            return load(f"{folder}/p.npz", **options)

    return read


def threads(**options: Any) -> None:
    with training.blas_threads(**options):
        pass


LAYERS: dict[Any, Call] = {
    nn.AvgPool1d: layer(nn.AvgPool1d, SEQUENCE, 2),
    nn.AvgPool2d: layer(nn.AvgPool2d, IMAGE, 2),
    nn.MaxPool1d: layer(nn.MaxPool1d, SEQUENCE, 2),
    nn.MaxPool2d: layer(nn.MaxPool2d, IMAGE, 2),
    nn.BatchNorm1d: layer(nn.BatchNorm1d, np.ones((2, 3)), 3),
    nn.BatchNorm2d: layer(nn.BatchNorm2d, IMAGE, 2),
    nn.Conv1d: layer(nn.Conv1d, SEQUENCE, 2, 2, 3),
    nn.Conv2d: layer(nn.Conv2d, IMAGE, 2, 2, 3),
    nn.ConvTranspose1d: layer(nn.ConvTranspose1d, SEQUENCE, 2, 2, 3),
    nn.ConvTranspose2d: layer(nn.ConvTranspose2d, IMAGE, 2, 2, 3),
    nn.Embedding: layer(nn.Embedding, [0, 1], 3, 2),
    nn.GRU: layer(nn.GRU, np.ones((2, 1, 3)), 3, 2),
    nn.LSTM: layer(nn.LSTM, np.ones((2, 1, 3)), 3, 2),
    nn.RNN: layer(nn.RNN, np.ones((2, 1, 3)), 3, 2),
    nn.GroupNorm: layer(nn.GroupNorm, np.ones((2, 4)), 2, 4),
    nn.TransformerEncoderLayer: layer(nn.TransformerEncoderLayer, np.ones((1, 2, 4)), 4, 2),
    nn.LayerNorm: layer(nn.LayerNorm, X, 3),
    nn.Linear: layer(nn.Linear, X, 3, 2),
    nn.MultiHeadAttention: layer(nn.MultiHeadAttention, np.ones((1, 2, 4)), 4, 2),
    nn.Dropout: lambda **options: nn.Dropout(**options)({}, X, rng=np.random.default_rng(0)),
    nn.Flatten: lambda **options: nn.Flatten(**options)({}, IMAGE),
    nn.GRUCell: cell(nn.GRUCell),
    nn.LSTMCell: cell(nn.LSTMCell),
    nn.RNNCell: cell(nn.RNNCell),
    nn.init: lambda **options: filled(
        nn.Linear("l", 3, 2),
        np.random.default_rng(0),
        **{"store": nn.init(nn.Linear("l", 3, 2), np.random.default_rng(0)), "keep": True}
        | options,
    ),
    **{
        function: initialized(function)
        for function in map(initializers.__dict__.get, initializers.__all__)
        if inspect.isfunction(function) and "rng" in inspect.signature(function).parameters
    },
    initializers.calculate_gain: lambda **options: initializers.calculate_gain(
        "leaky_relu", **options
    ),
    nn.avg_pool1d: lambda **options: nn.avg_pool1d(SEQUENCE, 2, **options),
    nn.avg_pool2d: lambda **options: nn.avg_pool2d(IMAGE, 2, **options),
    nn.max_pool1d: lambda **options: nn.max_pool1d(SEQUENCE, 2, **options),
    nn.max_pool2d: lambda **options: nn.max_pool2d(IMAGE, 2, **options),
    nn.conv1d: lambda **options: nn.conv1d(SEQUENCE, np.ones((2, 2, 3)), **options),
    nn.conv2d: lambda **options: nn.conv2d(IMAGE, np.ones((2, 2, 3, 3)), **options),
    nn.conv_transpose1d: lambda **options: nn.conv_transpose1d(
        SEQUENCE, np.ones((2, 2, 3)), **options
    ),
    nn.conv_transpose2d: lambda **options: nn.conv_transpose2d(
        IMAGE, np.ones((2, 2, 3, 3)), **options
    ),
    nn.group_norm: lambda **options: nn.group_norm(np.ones((2, 4)), 2, **options),
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
    optim.LBFGS: lambda **options: optim.LBFGS(**options).minimize(
        {"w": X.copy()}, lambda p: total(p["w"])
    ),
    optim.Cosine: lambda **options: optim.Cosine(0.1, 5, **options)(2),
    optim.StepDecay: lambda **options: optim.StepDecay(0.1, 2, **options)(4),
    optim.WarmUp: lambda **options: optim.WarmUp(lambda step: 0.1, 5, **options)(2),
    training.blas_threads: threads,
    training.load_checkpoint: saved_and(
        training.load_checkpoint,
        lambda path, store: training.save_checkpoint(path, store, {}, 1, {}),
    ),
    parameters.load: saved_and(parameters.load, parameters.save),
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

OBJECTIVES: dict[Any, Call] = {
    optimize.scipy_objective: lambda **options: optimize.scipy_objective(
        lambda x, s: s * total(x), X, **{"args": (1.0,)} | options
    ).fun(X),
    optimize.structure: lambda **options: optimize.structure(
        lambda x, s: s * square(x), X, **{"args": (1.0,)} | options
    ),
}

CALLS = (
    TRANSFORMS
    | LAYERS
    | OBJECTIVES
    | {function: through(call) for function, call in SOLVERS.items()}
)


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


APART = frozenset(
    {
        *(("odeint", name) for name in ("rtol", "atol", "tcrit")),
        *(("root_scalar", name) for name in ("fprime", "fprime2", "x0", "x1")),
    }
)
"""Options that ODEPACK has an error of its own for, and that SciPy reads for another method alone;
a state is read by `load_state`."""

TRUTHS = frozenset({"full_output", "check_finite", "col_deriv", "printmessg"})
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


UNTRIED = {
    ta.Node: "what a record shows of itself, which nobody makes",
    ta.custom_rule: "a decorator of functions, each of which is tried by what it is given",
    nn.Parameter: "what a layer says of a parameter, tried by its store",
    training.gradient_histograms: "a drawing by matplotlib",
    training.keep_freed_memory: "for the whole process",
    training.progress: "a line of rich's",
}
"""Functions with options that no call is written for, and why."""


def test_every_public_function_with_options_is_called() -> None:
    modules = (ta, nn, optim, training, parameters, testing, initializers)
    public = [getattr(module, name) for module in modules for name in module.__all__]
    assert [
        function
        for function in public
        if inspect.isfunction(function) or inspect.isclass(function)
        if any(each.default is not each.empty for each in own_parameters(function))
        and function not in CALLS
        and function not in UNTRIED
    ] == []


def own_parameters(function: Any) -> list[inspect.Parameter]:
    """List the parameters of a function; none of what does not say."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


# Methods

MATRIX = np.arange(6.0).reshape(2, 3)

METHOD_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "astype": (float,),
    "clip": (0.0, 3.0),
    "dot": (np.ones(3),),
    "repeat": (2,),
    "reshape": (3, 2),
    "take": ([0],),
    "to_device": ("cpu",),
}
"""What methods of handles are given beside options."""


def methods() -> Iterator[Any]:
    """List the options of all public methods of handles, steps of optimizers, and pages."""
    for name in dir(ta.Tensor):
        method = inspect.getattr_static(ta.Tensor, name)
        if inspect.isfunction(method) and (name == "grad" or name[0] != "_"):
            given = METHOD_ARGUMENTS.get(name, ())
            for each in own_parameters(method)[1 + len(given) :]:
                if each.default is not each.empty:
                    call = functools.partial(called_on_handle, name, given)
                    yield pytest.param(call, each.name, id=f"{name}-{each.name}")
    for kind in (optim.SGD, optim.Adagrad, optim.Adam, optim.AdamW, optim.RMSprop):
        yield pytest.param(functools.partial(updated, kind), "lr", id=f"{kind.__name__}-lr")
    for option in ("path", "gradients"):
        yield pytest.param(shown, option, id=f"show-{option}")


def called_on_handle(name: str, given: tuple[Any, ...], **options: Any) -> Any:
    x = ta.ComputationRecord().tensor(MATRIX[:1] if name == "squeeze" else MATRIX)
    return getattr(x, name)(*given, **({"seed": MATRIX} if name == "grad" else {}) | options)


def updated(kind: Any, **options: Any) -> Any:
    optimizer = kind(lr=0.1)
    return optimizer.update({"w": X}, {"w": X}, {}, **options)


def shown(**options: Any) -> Any:
    record = ta.ComputationRecord()
    np.sum(record.tensor(X))
    with tempfile.TemporaryDirectory() as folder:
        record.show(**{"path": f"{folder}/page.html"} | options)


@pytest.mark.parametrize(("call", "name"), list(methods()))
def test_nonsense_for_a_method_is_an_error(call: Call, name: str) -> None:
    call()
    for nonsense in (Nonsense(), *([] if name in ("where", "copy") else ["nonsense"])):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            call(**{name: nonsense})


# Of functions of NumPy and SciPy: where theirs finds an option to be nonsense, so do ours

HANDLES_HAVE_NONE = frozenset(
    {
        *("subok", "like", "device"),  # for subclasses and other arrays
        *("workers", "plan"),  # for how an FFT is computed
        *("overwrite_input", "overwrite_a", "overwrite_b", "overwrite_ab", "overwrite_data"),
        "overwrite_x",
        "optimize",  # for the order of products
    }
)
"""Options that say how to compute, and not what; no handle is written to."""

UNUSED = frozenset(
    {
        ("reshape", "copy"),  # "nonsense" is taken for a yes
        ("full_like", "order"),  # of a handle for a number
        ("affine_transform", "offset"),  # in which SciPy does not look either, beside such a matrix
    }
)

FIRST_ROWS = {row.function: row for row in reversed([*ROWS, *CONSTANTS])}
"""One row of the table for each function."""

CRASHING = "distance_transform_cdt"  # of SciPy, where a metric is nonsense


def nonsense_for_rows() -> Iterator[tuple[Row, str]]:
    """List the options of functions of the table, with a row for each."""
    for function, row in FIRST_ROWS.items():
        known = isinstance(function, np.ufunc) or function_name(function) == CRASHING
        for each in () if known else own_parameters(function):
            name = each.name
            apart = (function_name(function), name) in UNUSED or name in HANDLES_HAVE_NONE
            if each.default is not each.empty and not apart:
                yield row, name


def refused(row: Row, name: str, values: list[Any]) -> bool:
    """Tell whether a call with nonsense for an option is an error."""
    signature = inspect.signature(row.function)

    def called(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind_partial(*args, **{k: v for k, v in kwargs.items() if k != name})
        return row.function(
            *args, **kwargs | {name: Nonsense()} if name not in bound.arguments else kwargs
        )

    try:
        row.apply(values, called)
    except Exception:
        return True
    return False


@pytest.mark.filterwarnings("ignore")
def test_an_option_that_numpy_and_scipy_look_at_is_looked_at() -> None:
    silent = []
    for row, name in some(nonsense_for_rows(), 6):
        case = next(iter(cases([row])))
        values = case.primals()
        rec = ta.ComputationRecord()
        handles = case.filled([rec.tensor(x) for x in case.leaves()])
        if refused(row, name, values) and not refused(row, name, handles):
            silent.append(f"{row.function.__module__}.{row}: {name}")
    assert silent == []


# Of functions of `tape_ad.scipy` without a row: where SciPy's find an option to be nonsense

HOW = HANDLES_HAVE_NONE | {
    *("check_finite", "copy", "permc_spec", "use_umfpack", "overwrite_A", "tree_options"),
    *("band", "epsfcn"),  # for differences, where there is an exact Jacobian
    "fill_value",  # which is not asked for within
    *("maxit", "quiet"),  # how long SVDs go on, and whether FITPACK speaks
    *("seed", "random_state"),  # older names of `rng`
}
"""Options that say how to compute, and not what."""


def is_error(call: Call, f: Any, t: Array, home: Any, option: Any) -> bool:
    try:
        call(f, t, home, **option)
    except Exception:
        return True
    return False


def home_of(name: str, front: str = "tape_ad.") -> Any:
    return importlib.import_module(f"{front}scipy.{name.rpartition('.')[0]}")


def is_present(name: str) -> bool:
    """Tell whether this release of SciPy has a function, and one that is copied if it is."""
    function = name.rpartition(".")[2]
    try:
        return hasattr(home_of(name), function) and hasattr(home_of(name, ""), function)
    except ImportError:
        return False


PRESENT = list(filter(is_present, FACES))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", some(PRESENT, 9))
def test_an_option_that_scipys_function_looks_at_is_looked_at(name: str) -> None:
    homes = [home_of(name, ""), home_of(name)]
    theirs, ours = (getattr(home, name.rpartition(".")[2]) for home in homes)
    call, silent = FACES[name], []
    assert not is_error(call, theirs, X, homes[0], {})
    assert not is_error(call, ours, ta.ComputationRecord().tensor(X), homes[1], {})
    for each in own_parameters(theirs):
        if each.default is each.empty or each.name in HOW:
            continue
        for value in (Nonsense(), *(["nonsense"] if not isinstance(each.default, bool) else [])):
            option, t = {each.name: value}, ta.ComputationRecord().tensor(X)
            if is_error(call, theirs, X, homes[0], option):
                silent += [] if is_error(call, ours, t, homes[1], option) else [each.name]
    assert silent == []


DRAWN = frozenset(
    {
        *("stats.bws_test", "stats.sobol_indices", "stats.multiscale_graphcorr", "stats.dunnett"),
        *("stats.monte_carlo_test", "stats.permutation_test", "integrate.qmc_quad"),
        *("optimize.basinhopping", "optimize.check_grad", "optimize.differential_evolution"),
        *("optimize.dual_annealing", "optimize.shgo", "linalg.clarkson_woodruff_transform"),
        *("optimize.fsolve", "sparse.linalg.splu", "sparse.linalg.spilu", "linalg.schur"),
        *("interpolate.generate_knots", "interpolate.bisplrep", "linalg.qz", "linalg.ordqz"),
    }
)
"""Functions that draw, that tell how they went, or in which another value ends the process."""


def other_values(function: Any, option: inspect.Parameter) -> list[Any]:
    """List values that an option may have, from its default and from what the docstring quotes."""
    text = (function.__doc__ or "").partition(f"{option.name} :")[2][:1000]
    words = sorted(set(re.findall(r"['\"`]([a-z][\w-]{2,20})['\"`]", text)))
    match option.default:
        case bool() as default:
            return [not default]
        case int() | float() as default:
            return [default + 1, 2 * default + 0.5]
        case None:
            return [*words, 1, 0.5, True, np.array([0.7, 1.3]), X + 1, np.linspace(1.0, 2.0, 8)]
    return words


def values_of(call: Call, *args: Any, **options: Any) -> Any:
    """Give the arrays of a result; None where there is an error, or none are of numbers."""
    try:
        result = call(*args, **options)
    except Exception:
        return None
    arrays = [np.asarray(x.data if isinstance(x, ta.Tensor) else x) for x in flatten(result)]
    return arrays if all(x.dtype.kind in "bifc" for x in arrays) else None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", some([name for name in PRESENT if name not in DRAWN], 18))
def test_an_option_of_another_value_gives_what_scipys_function_gives(name: str) -> None:
    homes = [home_of(name, ""), home_of(name)]
    theirs, ours = (getattr(home, name.rpartition(".")[2]) for home in homes)
    for each in own_parameters(theirs):
        if each.default is each.empty or each.name in HOW | {"rng", "callback", "full_output"}:
            continue
        for value in other_values(theirs, each):
            handle = ta.ComputationRecord().tensor(X)
            expected = values_of(FACES[name], theirs, X, homes[0], **{each.name: value})
            found = values_of(FACES[name], ours, handle, homes[1], **{each.name: value})
            if expected is not None and found is not None:
                for one, two in zip(found, expected, strict=True):
                    np.testing.assert_allclose(
                        one, two, rtol=1e-6, atol=1e-8, err_msg=f"{each.name}={value!r}"
                    )


PACKAGES = (
    *("special", "linalg", "fft", "sparse", "sparse.linalg", "stats", "signal", "signal.windows"),
    *("ndimage", "interpolate", "integrate", "optimize", "optimize.elementwise", "spatial"),
    *("spatial.distance", "spatial.transform"),
)
NOT_TRIED = {
    *("convex_hull_plot_2d", "delaunay_plot_2d", "voronoi_plot_2d"),  # drawings by matplotlib
    *("show_options", "interp2d"),  # a print, and what is no more
    "ScipyObjective",  # which scipy_objective makes
    *("fmin_tnc", "direct"),  # SciPy's code in C ends the process, or is deaf to signals
}


@pytest.mark.skipif(
    scipy.__version__[:4] != "1.17", reason="other releases have functions more or fewer"
)
def test_every_function_of_scipy_with_options_has_a_call() -> None:
    without = []
    for package in PACKAGES:
        theirs, ours = home_of(f"{package}.", ""), home_of(f"{package}.")
        for name in ours.__all__:
            function, original = getattr(ours, name), getattr(theirs, name, None)
            options = [
                each
                for each in own_parameters(original or function)
                if each.default is not each.empty
            ]
            known = f"{package}.{name}" in FACES or name in NOT_TRIED or function is original
            if options and not known and not {function, original} & {*CALLS, *FIRST_ROWS}:
                without.append(f"{package}.{name}")
    assert without == []


# Of what other packages are written with

EXTENDING: dict[Any, Call] = {
    facts.Facts: facts.Facts,
    facts.along: facts.along,
    rules.overridable: lambda **options: rules.overridable(square, **options),
    rules.arguments_of: lambda **options: rules.arguments_of(square, "x", **options)(X),
    rules.rule: lambda **options: rules.rule(lambda out, x: 2 * x, **options),
    rules.constants: lambda **options: rules.constants(square, **options),
    rules.Derivation: lambda **options: rules.Derivation(square, **options),
    autograd.hessian_vector_product: lambda **options: autograd.hessian_vector_product(
        total, **options
    )(X, X),
    autograd.vector_jacobian_product: lambda **options: autograd.vector_jacobian_product(
        square, **options
    )(X, X),
    autograd.make_ggnvp: lambda **options: autograd.make_ggnvp(square, **options)(X)(X),
}


@pytest.mark.parametrize("function", EXTENDING, ids=lambda function: function.__name__)
def test_what_packages_are_written_with_looks_at_its_options(function: Any) -> None:
    for each in own_parameters(function):
        if each.default is not each.empty and each.name != "saves":  # which a call is asked
            with pytest.raises((TypeError, ValueError, AttributeError)):
                EXTENDING[function](**{each.name: 3.5})


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
