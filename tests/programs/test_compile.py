"""`compile`: what it takes, what it gives, and which call does what."""

import copy
import functools
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import CaptureError, CompileWarning

X = np.array([0.5, -1.5, 2.0])
Y = np.array([1.0, 3.0, -2.0])


def counting(function: Any) -> tuple[Any, list[int]]:
    """Compile a function, and note in a list each time that it runs itself."""
    runs: list[int] = []

    @functools.wraps(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        runs.append(1)
        return function(*args, **kwargs)

    return ta.compile(counted, engine="numpy"), runs


# Which call does what


def test_two_calls_capture_and_later_ones_replay() -> None:
    fast, runs = counting(lambda x: np.sum(x * x))
    values = [fast(X * scale) for scale in range(5)]
    assert values == [np.sum((X * scale) ** 2) for scale in range(5)]
    assert len(runs) == 2


def test_a_path_first_taken_later_is_captured_twice_as_well() -> None:
    fast, runs = counting(lambda x: x + 1 if x > 0 else x - 1)
    values = [fast(np.float64(x)) for x in (1, 2, 3, -1, -2, -3, 4, -4)]
    assert values == [2, 3, 4, -2, -3, -4, 5, -5]
    assert len(runs) == 4
    assert len(fast.programs) == 2


def test_paths_that_alternate_from_the_first_call_on_are_replayed() -> None:
    fast, runs = counting(lambda x: x + 1 if x > 0 else x - 1)
    values = [fast(np.float64(x)) for x in (1, -1, 2, -2, 3, -3)]
    assert values == [2, -2, 3, -3, 4, -4]
    assert len(runs) == 4


def test_shapes_and_dtypes_have_programs_of_their_own() -> None:
    fast, runs = counting(lambda x: x * 0.1)
    for x in (X, X[:2], X.astype(np.float32), X.reshape(1, 3)) * 4:
        got = fast(x)
        assert np.array_equal(got, x * 0.1)
        assert got.dtype == x.dtype
    assert len(runs) == 8
    assert len(fast.programs) == 4


def test_clear_forgets_all() -> None:
    fast, runs = counting(lambda x: x + 1)
    fast(X), fast(X), fast(X)
    fast.clear()
    assert fast.programs == ()
    assert np.array_equal(fast(X), X + 1)
    assert len(runs) == 3


def test_a_function_that_does_something_else_at_its_first_call_is_replayed() -> None:
    seen: list[int] = []
    prepared: set[str] = set()

    def function(x: Any) -> Any:
        seen.append(1)
        if "at once" in prepared:
            return np.exp(x) * 1.0
        prepared.add("at once")
        return np.exp(x)

    fast = ta.compile(function)
    for _ in range(5):
        assert np.array_equal(fast(X), np.exp(X))
    assert len(seen) == 3


def test_a_function_that_never_does_the_same_twice_is_refused() -> None:
    functions = iter([np.exp, np.sin, np.cos, np.tan, np.tanh, np.sinh])

    @ta.compile(engine="numpy")
    def fast(x: Any) -> Any:
        return next(functions)(x)

    for _ in range(4):
        fast(X)
    with pytest.raises(CaptureError, match="something else at each of 5 calls"):
        fast(X)


def test_more_kinds_of_arguments_than_are_kept_warn_once() -> None:
    fast = ta.compile(lambda function, x: function(x))

    def calls() -> None:
        for _ in range(300):
            assert fast(lambda x: x + 1, 1.0) == 2.0

    with pytest.warns(CompileWarning, match="more than 256 kinds of arguments") as caught:
        calls()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert len(fast.programs) == 256


# What can be compiled


class Model:
    """A class with methods and an operator."""

    def __init__(self, scale: float) -> None:
        self.scale = np.array(scale)

    @ta.compile
    def method(self, x: Any, *, shift: float = 1.0) -> Any:
        """Scale and shift."""
        return self.scale * x + shift

    @staticmethod
    @ta.compile
    def fixed(x: Any) -> Any:
        return x + 1

    @classmethod
    @ta.compile
    def of_class(cls, x: Any) -> Any:
        return x + len(cls.__name__)

    absolute = ta.compile(np.absolute)
    summed = ta.compile(functools.partial(np.sum, axis=0))

    def __call__(self, x: Any) -> Any:
        return self.scale * x


def test_methods_are_bound() -> None:
    two, three = Model(2.0), Model(3.0)
    for _ in range(4):
        assert np.array_equal(two.method(X), 2 * X + 1)
        assert np.array_equal(three.method(X, shift=2.0), 3 * X + 2)
        assert np.array_equal(two.fixed(X), X + 1)
        assert np.array_equal(two.absolute(X), np.abs(X))
        assert two.summed(X) == np.sum(X)
        assert np.array_equal(Model.of_class(X), X + 5)
        assert np.array_equal(Model.method(two, X), 2 * X + 1)
    two.method.check(X)
    assert two.method.__doc__ == "Scale and shift."
    assert list(inspect.signature(two.method).parameters) == ["x", "shift"]
    assert "compiled method" in repr(two.method)
    assert len(Model.method.programs) == 2


def kind_of(parameter: Any) -> str:
    """Name a case without an address in memory, by which two workers would know it apart."""
    return getattr(parameter, "__name__", type(parameter).__name__)


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (functools.partial(np.add, 1.0), X + 1),
        (Model(2.0), 2 * X),
        (np.exp, np.exp(X)),
        (np.sum, np.sum(X)),
        (np.add.reduce, np.add.reduce(X)),
        (Model(2.0).__call__, 2 * X),
        (abs, abs(X)),
        (ta.compile(np.sin, engine="numpy"), np.sin(X)),
        (np.linalg.norm, np.linalg.norm(X)),
        (ta.nn.relu, ta.nn.relu(X)),
        (ta.grad(lambda x: np.sum(np.sin(x))), np.cos(X)),
    ],
    ids=kind_of,
)
def test_whatever_can_be_called_can_be_compiled(function: Any, wanted: Any) -> None:
    fast = ta.compile(function, engine="numpy")
    for _ in range(4):
        assert np.array_equal(fast(X), wanted)
    assert len(fast.programs) == 1
    fast.check(X)


def named(x: Any, *, scale: float = 2.0) -> Any:
    """Scale."""
    return x * scale


def test_name_docstring_and_signature_are_the_functions() -> None:
    fast = ta.compile(named)
    assert fast.__name__ == "named"
    assert fast.__doc__ == "Scale."
    assert fast.__wrapped__ is named
    assert inspect.signature(fast) == inspect.signature(named)
    assert repr(fast) == "<compiled named: 0 programs>"


def test_attributes_of_a_function_stay_and_do_not_get_in_the_way() -> None:
    def function(x: Any) -> Any:
        return x + 1

    function.note, function.engine = "kept", "other"  # type: ignore[attr-defined]  # of its own
    fast = ta.compile(function)
    assert (fast.note, fast.engine) == ("kept", "auto")


def test_compiling_twice_shares_nothing() -> None:
    inner = ta.compile(named)
    inner(X)
    outer = ta.compile(inner)
    assert outer.programs == ()
    for _ in range(3):
        assert np.array_equal(outer(X), 2 * X)
    assert len(outer.programs) == 1


module_level = ta.compile(named)


@ta.compile(max_programs=3)
def decorated(x: Any) -> Any:
    return x + 1


def test_copies_and_pickles_are_of_the_function_alone() -> None:
    decorated(X)
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    assert copy.deepcopy(decorated) is decorated
    again = pickle.loads(pickle.dumps(module_level))
    assert np.array_equal(again(X), 2 * X)
    assert (again.engine, again.max_programs) == ("auto", 16)
    assert len(copy.copy(again).programs) == 0


# What cannot


def generator(x: Any) -> Any:
    yield x


async def coroutine(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (3.0, r"got a float; write compile\(f\)\(x\)"),
        (X, "got a ndarray"),
        (Model, "the class Model; compile one of its methods"),
        (staticmethod(named), "write @staticmethod above @ta.compile"),
        (classmethod(named), "write @classmethod above @ta.compile"),
        (generator, r"bit by bit \(yield\)"),
        (coroutine, r"bit by bit \(async\)"),
    ],
    ids=kind_of,
)
def test_what_is_no_function_of_arrays_is_refused(function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        ta.compile(function)


@pytest.mark.parametrize("number", [0, -1, 1.5, True, None, "16"], ids=repr)
def test_a_bound_that_is_none_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match="max_programs is a number of programs from 1 on"):
        ta.compile(named, max_programs=number)


def test_engines_that_are_not_there_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no engine 'nump'"):
        ta.compile(engine="nump")


def test_arguments_without_a_hash_are_refused_by_name() -> None:
    fast = ta.compile(lambda x, options: x)
    with pytest.raises(CaptureError, match=r"the argument options\['k'\] is a set, which has no"):
        fast(X, {"k": {1}})


def test_errors_of_a_call_are_the_functions() -> None:
    fast: Any = ta.compile(named)
    with pytest.raises(TypeError, match="unexpected keyword argument 'scal'"):
        fast(X, scal=1.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        fast()


# What is not captured


def test_handles_are_told_of_where_they_run_the_function() -> None:
    def function(x: Any) -> Any:
        x[0] = 1.0
        return np.sum(x * x)

    fast = ta.compile(function)
    for _ in range(3):
        ta.grad(lambda x: fast(x * 2))(X)
    assert fast.programs == ()
    assert "ran by itself 3 times: the argument x is a tape_ad.Tensor" in fast.explain()


def test_handles_from_elsewhere_are_refused_and_may_be_arguments() -> None:
    closed = ta.compile(lambda y, x: y * x)

    def function(x: Any) -> Any:
        return np.sum(ta.compile(lambda y: y * x)(X))

    with pytest.raises(CaptureError, match="pass handles from elsewhere as arguments"):
        ta.grad(function)(X)
    assert np.array_equal(ta.grad(lambda x: np.sum(closed(X, x)))(X), X)


def test_a_handle_of_a_record_that_has_ended_is_the_error_that_it_is_without_compile() -> None:
    kept: list[Any] = []
    fast = ta.compile(lambda x, y: x * y)

    def keeping(x: Any) -> Any:
        kept.append(x)
        return np.sum(x)

    ta.grad(keeping)(X)
    with pytest.raises(ta.errors.RecordMismatchError):
        ta.grad(lambda y: np.sum(fast(kept[0], y)))(X)


def test_within_another_capture_it_is_its_function() -> None:
    inner = ta.compile(lambda x: x * 2)
    outer = ta.compile(lambda x: inner(x) + inner(x + 1))
    for _ in range(4):
        assert np.array_equal(outer(X), 4 * X + 2)
    assert inner.programs == ()
    assert len(outer.programs[0]) == 4


def test_a_function_may_call_itself() -> None:
    @ta.compile
    def power(x: Any, n: int) -> Any:
        return x if n == 1 else x * power(x, n - 1)

    for _ in range(4):
        assert np.array_equal(power(X, 3), X * X * X)
    assert len(power.programs) == 1


@pytest.mark.parametrize("function", [np.any, np.sum, np.argmax])
def test_the_copy_of_a_number_is_one(function: Any) -> None:
    fast = ta.compile(lambda x: function(x > 0).copy(), engine="numpy")
    for point in (X, X, X, -X):
        assert fast(point) == function(point > 0)
        assert type(fast(point)) is type(function(point > 0))


@pytest.mark.parametrize("seed", [3, np.int64(3)])
def test_a_generator_is_seeded_with_an_int(seed: Any) -> None:
    fast = ta.compile(lambda x, seed: x * np.random.default_rng(seed).normal())
    with pytest.raises(CaptureError, match=r"write np.random.default_rng\(int\(seed\)\)"):
        fast(X, seed)
    fast = ta.compile(lambda x, seed: x * np.random.default_rng(int(seed)).normal())
    for each in (3, 3, 3, 4, 4):
        assert np.array_equal(fast(X, each), X * np.random.default_rng(each).normal())
