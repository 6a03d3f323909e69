"""What people write who come from other libraries: an error that says the way here."""

import inspect
import operator
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from scipy import linalg
from scipy.optimize import minimize

import tape_ad as ta
from tape_ad import nn, optim
from tape_ad.errors import GrowthWarning, RecordMismatchError, TapeError
from tape_ad.record.messages.migration_hints import MIGRATION_HINTS, MigrationHint
from tests.shorthand import told

X: Any = ta.ComputationRecord().tensor(np.arange(3.0))
THINGS = {
    "tape_ad": ta,
    "tape_ad.nn": nn,
    "tape_ad.optim": optim,
    "tape_ad.training": ta.training,
    "Tensor": X,
    "ComputationRecord": X.record,
    "Optimizer": optim.Adam(1e-3),
    "Layer": nn.Linear("hidden", 2, 3),
}
ANY_RECORD: Any = X.record
LAYERS: Any = nn
OPTIMIZERS: Any = optim
RULE: Any = ta.custom_rule
COMPILE: Any = ta.compile
HANDLES: Any = ta.Tensor
MODEL: Any = nn.Sequential(nn.Linear("hidden", 2, 2), np.tanh)
STORE = nn.init(MODEL, np.random.default_rng(0))


@frozen
class Doubled(nn.Layer):
    inner: nn.Linear

    def __call__(self, store: Any, x: Any, /, *, rng: Any = None, training: bool = False) -> Any:
        return self.inner(store, 2 * x)


OWN: Any = Doubled(MODEL.layers[0])
PACKAGES = [
    *("interop", "nn", "optim", "parameters", "scipy", "testing", "training"),
    *(f"interop.{name}" for name in ("array_api", "autograd", "dask", "sklearn")),
    *(f"scipy.{name}" for name in ta.scipy.__all__),
]
NAMES = [
    (place, name) for place, names in MIGRATION_HINTS.items() if place in THINGS for name in names
]


@pytest.mark.parametrize(("place", "name"), NAMES)
def test_what_another_library_has_says_what_to_write_here(place: str, name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(THINGS[place], name)
    assert str(caught.value).endswith(f"; here, {MIGRATION_HINTS[place][name]}")
    assert name not in dir(THINGS[place])
    assert not hasattr(THINGS[place], name)


def test_what_scipy_has_and_a_room_has_not() -> None:
    signal = pytest.importorskip("tape_ad.scipy.signal")
    solvers = pytest.importorskip("tape_ad.scipy.sparse.linalg")
    for package, name, words in (
        (signal, "place_poles", "here, solve np.poly"),
        (solvers, "lsqr", "here, ta.scipy.sparse.linalg.spsolve"),
    ):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; {words}"):
            getattr(package, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'no_such_function'$"):
        signal.no_such_function  # noqa: B018 - asking for it is what is tested


@pytest.mark.parametrize("cls", [ta.Tensor, ta.ComputationRecord, optim.Optimizer, nn.Layer])
def test_a_habit_takes_no_attribute_away(cls: type) -> None:
    for base in cls.__mro__[:-1]:
        inherited = {name for above in base.__mro__[1:] for name in vars(above)}
        assert [
            n for n, v in vars(base).items() if isinstance(v, MigrationHint) and n in inherited
        ] == []
    assert float((X.dot(X)).data) == 5.0


def test_other_names_are_absent_as_ever() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tape_ad' has no attribute 'foo'$"):
        ta.foo  # noqa: B018 - it raises
    with pytest.raises(AttributeError, match=r"^module 'tape_ad.nn' has no attribute 'foo'$"):
        nn.foo  # noqa: B018 - it raises


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: X.sum(dim=0), r"np\.sum\(\) got an unexpected .* 'dim'.*; here, axis="),
        (lambda: X.mean(0, keepdim=True), r"np\.mean\(\) .* 'keepdim'.*; here, keepdims="),
        (lambda: X.sum(foo=0), r"np\.sum\(\) got an unexpected keyword argument 'foo'"),
        (lambda: LAYERS.Linear(2, 3), r"write Linear\('hidden', 2, 3\)"),
        (lambda: LAYERS.Conv2d(1, 2, 3), r"write Conv2d\('hidden', 1, 2, 3\)"),
        (
            lambda: OPTIMIZERS.Adam({"w": np.ones(2)}, lr=0.1),
            r"Adam holds no parameters; write Adam",
        ),
        (lambda: OPTIMIZERS.SGD([np.ones(2)], 0.1), r"SGD holds no parameters"),
        (lambda: OPTIMIZERS.SGD(iter([np.ones(2)])), r"SGD holds no parameters"),
        (lambda: np.sum(X).grad()[X], r"by grads\.wrt\(handle\), not by grads\[handle\]"),
        (lambda: RULE(pull=3), r"pull= is a function, not 3"),
        (lambda: HANDLES([1.0, 2.0]), r"made by a record: .* x = rec\.tensor\(array\)"),
        (lambda: np.sum(X).grad(retain_graph=True), r"'retain_graph'; here, leave it out"),
        (lambda: np.sum(X).grad(create_graph=True), r"'create_graph'; here, ComputationRecord\(wi"),
        (lambda: ANY_RECORD.tensor(1.0, requires_grad=True), r"'requires_grad'; here, leave it"),
        (lambda: ANY_RECORD.tensor(1.0, foo=True), r"unexpected keyword argument 'foo'$"),
        (lambda: ANY_RECORD.tensor(1.0, dtype=float), r"'dtype'; here, make the array so"),
        (lambda: COMPILE(np.sin, static_argnums=1), r"'static_argnums'; here, leave it out"),
        (lambda: list(range(X[0])), r"write int\(t\.data\), as in range\(int\(t\.data\)\)"),
        (lambda: [1, 2][X[0]], r"write int\(t\.data\)"),
        (lambda: np.sum(X).grad(foo=True), r"unexpected keyword argument 'foo'$"),
        (
            lambda: LAYERS.Sequential([nn.Linear("a", 2, 2)]),
            r"not a list of them; .* Seq.*\(\*layers",
        ),
        (lambda: LAYERS.Linear("a", 2, 2)(np.ones(2)), r"its input: layer\(p, x\), where p is rec"),
        (lambda: MODEL(np.ones(2)), r"its input: layer\(p, x\), where p is rec"),
        (lambda: MODEL(np.ones(2), STORE), r"its input: layer\(p, x\), where p is rec"),
        (lambda: OWN(np.ones(2)), r"its input: layer\(p, x\), where p is rec"),
        (lambda: LAYERS.Parameter(np.ones(2)), r"a plain array, in a dict that rec\.bind"),
        (lambda: LAYERS.init(MODEL), r"rng = np\.random\.default_rng\(0\), got None"),
        (
            lambda: OPTIMIZERS.SGD(0.1).step(),
            r"optimizer\.step\(params, loss\.grad\(\)\.wrt\(p\)\)",
        ),
        (lambda: OPTIMIZERS.SGD(0.1).step(STORE), r"optimizer\.step\(params, loss\.grad"),
        (lambda: np.sum(X).grad()["w"], r"not by grads\['w'\]; write grads\.wrt\(p\)\['w'\]"),
        (lambda: LAYERS.Linear("a", 2, 2).parameters(), r"params = ta\.nn\.init\(layer, rng\)"),
    ],
)
def test_a_call_in_another_librarys_manner_says_what_to_write(
    call: Callable[[], Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words):
        call()


def gradients_of_one_record(times: int, step: Callable[[Any, Any], Any]) -> None:
    rec = ta.ComputationRecord()
    x = rec.tensor(np.arange(3.0))
    y = x * x
    for _ in range(times):
        step(rec, y).grad()


def test_a_record_that_is_kept_over_a_loop_warns_once() -> None:
    with pytest.warns(GrowthWarning, match="100 gradients .* make a fresh one for every") as caught:
        gradients_of_one_record(250, lambda _, y: np.sum(y * 2) + 1)
    assert [Path(each.filename).name for each in caught] == [Path(__file__).name]


def test_a_record_that_gives_many_gradients_of_one_computation_does_not_warn() -> None:
    gradients_of_one_record(250, lambda _, y: y[0])  # warnings are errors
    gradients_of_one_record(99, lambda _, y: np.sum(y * 2) + 1)


def test_a_flag_that_is_set_says_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"no \.requires_grad; .* rec\.constant\(array\)"):
        X.requires_grad = True


def test_a_gradient_that_is_set_says_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"grads = loss\.grad\(\) once"):
        X.grad = None


def test_what_may_be_missing_is_in_the_signature_as_needed() -> None:
    for function in (nn.Linear.__call__, optim.SGD.step, nn.init, Doubled.__call__):
        names = list(inspect.signature(function).parameters.values())[1:3]
        assert all(
            each.default is inspect.Parameter.empty for each in names[: 2 - (function is nn.init)]
        )


@pytest.mark.parametrize(
    "layer",
    [
        *(nn.Linear("a", 2, 3), nn.Embedding("a", 5, 2), nn.LayerNorm("a", 2), nn.Flatten()),
        *(nn.GroupNorm("a", 1, 2), nn.BatchNorm1d("a", 2), nn.MultiHeadAttention("a", 4, 2)),
        *(nn.Conv2d("a", 1, 2, 3), nn.ConvTranspose2d("a", 1, 2, 3), nn.LSTMCell("a", 2, 3)),
        *(nn.LSTM("a", 2, 3), nn.GRU("a", 2, 3), nn.RNN("a", 2, 3)),
        nn.TransformerEncoderLayer("a", 4, 2, 8),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_a_layer_that_is_given_its_input_first_says_what_to_write(layer: Any) -> None:
    store, x = nn.init(layer, np.random.default_rng(0)), np.ones((1, 1, 4, 4))
    words = r"a layer is called with its parameters before its input: layer\(p, x\)"
    with pytest.raises(TypeError, match=words):
        layer(x)
    with pytest.raises(TypeError, match=words):
        layer(x, store)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("import tape_ad.numpy as np", "here, NumPy's own functions .* import numpy as np"),
        ("from tape_ad import numpy as np", "here, NumPy's own functions .* import numpy as np"),
        ("from tape_ad import jit", r"tape_ad has no jit; here, ta\.compile"),
        ("import tape_ad.nn.functional as F", r"nn has no functional; here, the functions"),
        ("from tape_ad.optim.lr_scheduler import StepLR", r"optimizer\.lr = schedule\(step\)"),
        ("from tape_ad.stats import norm", r"ta\.scipy\.stats"),
    ],
)
def test_an_import_of_what_others_have_says_what_to_write(line: str, words: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=words):
        exec(line, {})  # noqa: S102 - the lines are what is tested


@pytest.mark.parametrize("line", ["import tape_ad.numbers", "import nothing_of_the_kind"])
def test_an_import_of_what_nobody_has_is_pythons_error(line: str) -> None:
    with pytest.raises(ModuleNotFoundError, match="No module named"):
        exec(line, {})  # noqa: S102 - the lines are what is tested


def test_a_layer_may_have_annotations_that_name_nothing_yet() -> None:
    class Later(nn.Layer):
        def __call__(self, store: "NotThere", x: "NotThere", *, rng: Any = None) -> Any:  # type: ignore[name-defined,override]  # noqa: F821 - what is tested
            return x

    names = list(inspect.signature(Later().__call__).parameters)
    assert names == ["store", "x", "rng"]


def test_functions_of_pytorch_say_what_to_write() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"torch\.sin takes no handles; write np\.sin\(t\), or t"):
        torch.sin(X)
    one = torch.ones(3, dtype=torch.float64)
    np.testing.assert_array_equal((one * X).data, X.data)
    np.testing.assert_array_equal((X * one).data, X.data)


def test_functions_of_jax_say_what_to_write() -> None:
    jax = pytest.importorskip("jax")
    for function in (jax.numpy.sin, jax.jit(lambda x: x), jax.numpy.atleast_1d):
        with pytest.raises(TapeError, match=r"JAX takes no handles \(line \d+ of test_m.*np\.sin"):
            function(X)
    one = jax.numpy.ones(3)
    np.testing.assert_array_equal((one * X).data, X.data)
    np.testing.assert_array_equal((X * one).data, X.data)
    assert not hasattr(X, "__jax_array__")  # to those who only look


def test_a_handle_given_as_seed_may_be_meant_to_be_asked_about() -> None:
    y: Any = ta.ComputationRecord().tensor(np.arange(3.0))
    with pytest.raises(RecordMismatchError, match=r"t\.grad\(\)\.wrt\(x\)"):
        np.sum(X).grad(y)


@pytest.mark.parametrize("lr", [1e-3, np.float32(1e-3), np.array(1e-3)])
def test_a_number_of_any_kind_is_a_learning_rate(lr: Any) -> None:
    assert optim.Adam(lr).lr == pytest.approx(1e-3)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_room_lists_what_it_is_for(name: str) -> None:
    extras = {"interop.dask": "distributed", "interop.sklearn": "sklearn"}
    if name in extras:
        pytest.importorskip(extras[name])
    package = operator.attrgetter(name)(ta)
    names = set(dir(package))
    assert names >= set(package.__all__)
    for each in names:
        found = getattr(package, each)
        inner = isinstance(found, ModuleType) and found.__name__.startswith("tape_ad.")
        assert not isinstance(found, ModuleType) or inner
        assert getattr(found, "__module__", "") not in ("typing", "collections.abc")


def test_only_public_names_are_listed() -> None:
    show = "import tape_ad; print(*dir(tape_ad)); import tape_ad.scipy.stats; print(*dir(tape_ad))"
    done = subprocess.run(  # noqa: S603 - the command is written here
        [sys.executable, "-c", show], capture_output=True, text=True, check=True
    )
    fresh, later = done.stdout.splitlines()
    assert fresh == later
    assert set(fresh.split()) == {*ta.__all__, "__version__"}
    assert [n for n in dir(X.record) if n[0] != "_"] == [
        *("bind", "check_inputs", "constant", "debug_nans", "nbytes", "profile", "show", "tensor"),
        *("trace_source", "within"),
    ]
    names = [n for n in dir(X) if n[:2] != "__"]
    assert not any(n[0] == "_" for n in names)
    assert {"data", "grad", "item", "dot", "sum", "T"} <= set(names)
    assert not {"mark", "earlier", "snapshot", "fill", "backward"} & set(names)


@pytest.mark.parametrize(
    "use",
    [
        lambda grad: 0.1 * grad,
        lambda grad: np.ones(2) - grad,
        lambda grad: np.ones(2) * grad,
        lambda grad: grad @ np.ones(2),
        lambda grad: -grad,
        lambda grad: grad[0],
        np.asarray,
        np.sum,
    ],
)
def test_a_gradient_that_is_used_as_a_value_says_how_it_is_asked_for(
    use: Callable[[Any], Any],
) -> None:
    with pytest.raises(TypeError, match=r"grads\.wrt\(p\)"):
        use(X.grad)


@pytest.mark.parametrize("name", ["data", "zero_", "shape"])
def test_what_arrays_have_is_not_asked_of_the_method(name: str) -> None:
    with pytest.raises(AttributeError, match=r"grads\.wrt\(p\)"):
        getattr(X.grad, name)


def test_the_method_is_a_method() -> None:
    assert X.grad.__name__ == "grad"
    assert list(inspect.signature(X.grad).parameters) == ["seed", "release", "unknown"]
    assert "bound method Tensor.grad" in repr(X.grad)


def test_a_record_may_stand_in_a_with_statement() -> None:
    with ta.ComputationRecord() as record:
        t = record.tensor(3.0)
    assert (t * t).grad().wrt(t) == 6.0


def test_a_total_over_records_says_to_add_numbers() -> None:
    other: Any = ta.ComputationRecord().tensor([1.0, 2.0])
    with pytest.raises(RecordMismatchError, match=r"total \+= loss\.data"):
        X + other


JOIN: Any = np.stack
CHECKPOINT: Any = ta.checkpoint


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: np.sum(X).grad().w, r"gradients have no \.w; .*grads\.wrt\(p\)"),
        (lambda: X.record["w"], r"rec\.bind\(params\) returned: p\['w'\]"),
        (lambda: X.record[100_000], r"no node 100000 in a record of \d"),
        (lambda: JOIN(X, X), r"write np\.stack\(\[t, \.\.\.\], axis=\.\.\.\)"),
        (lambda: CHECKPOINT(np.sin, X), r"write checkpoint\(f\)\(x\)"),
        (lambda: np.random.default_rng(0).normal(X, 1.0), r"rng\.standard_normal\(shape\)"),
        (lambda: np.random.default_rng(0).poisson(X), r"rng\.standard_normal\(shape\)"),
        (lambda: np.vectorize(lambda v: v**2)(X), r"whole arrays, with np\.where"),
        (lambda: linalg.lu_factor(X * np.eye(3)), r"^lu_factor of scipy\.linalg .*tape_ad\.scipy"),
    ],
)
def test_what_a_newcomer_writes_says_what_to_write(mistake: Callable[[], Any], words: str) -> None:
    with pytest.raises((TapeError, TypeError, AttributeError, IndexError), match=words):
        mistake()


@pytest.mark.parametrize("method", ["BFGS", "Nelder-Mead", "Powell"])
def test_what_to_write_for_a_search_of_scipys(method: str) -> None:
    with pytest.raises((TapeError, ValueError)) as caught:
        minimize(lambda v: np.sum(ta.ComputationRecord().tensor(v) ** 2), X.data, method=method)
    assert told(caught.value).startswith("minimize of scipy.optimize turns")
    assert "write tape_ad.scipy.optimize in place of" in told(caught.value)
