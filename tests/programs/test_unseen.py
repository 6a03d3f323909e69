"""The list of changes that a compiled function does not see: they are not seen."""

import abc
import configparser
import ctypes
import decimal
import functools
import os
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

X, RATES = np.array([0.5, -1.5]), [2.0]
PAGE = (Path(__file__).parents[2] / "docs" / "what-is-captured.md").read_text(encoding="utf-8")

Case = tuple[Callable[..., Any], tuple[Any, ...], Callable[[], Any]]


class Model:
    """An attribute whose name is put together, and one that a comparison looks up."""

    scale = hidden = 2.0

    def __eq__(self, other: object) -> bool:
        return self.hidden == other

    __hash__ = None  # type: ignore[assignment]  # as of any class that has an ``__eq__``


def unseen() -> dict[str, Case]:
    """Make a function for each entry of the list, and a change that it does not see."""
    large, nested = np.ones(9000), [2.0]
    deep, many, settings = [[[[[[[nested]]]]]]], [2.0] * 5000, configparser.ConfigParser()
    settings.read_dict({"model": {"scale": "2"}})
    model, parts, pointed = Model(), ["sca", "le"], ctypes.c_double(2.0)
    library: Any = types.ModuleType("tape_ad.of_library")
    library.factor = 2.0

    class Listed:
        __bool__: Any

    listed, matrix, stock = Listed(), np.ones((1, 2)), [2.0, 3.0]
    given = [X.copy()]
    kept = functools.lru_cache(lambda: stock.pop(0))

    class Abstract(abc.ABC):  # noqa: B024 - which has no methods here
        pass

    os.environ["TAPE_AD_FACTOR"] = "2"
    RATES[0] = 2.0
    return {
        "what plain NumPy computes from a larger array": (
            lambda x: x * np.exp(large)[:2],
            (X,),
            lambda: large.fill(3.0),
        ),
        "what lies more than six containers and objects deep": (
            lambda x: x * deep[0][0][0][0][0][0][0][0],
            (X,),
            lambda: nested.__setitem__(0, 3.0),
        ),
        "in a container of more than 4,096 elements": (
            lambda x: x * many[4500],
            (X,),
            lambda: many.__setitem__(4500, 3.0),
        ),
        "what else is in an object of a library": (
            lambda x: x * settings.getfloat("model", "scale"),
            (X,),
            lambda: settings.set("model", "scale", "3"),
        ),
        "an attribute whose name is put together at run time": (
            lambda x: x * getattr(model, "".join(parts)),
            (X,),
            lambda: setattr(model, "scale", 3.0),
        ),
        "whether an argument owns its memory": (
            lambda x: x[0] * (2 if x[0].flags.owndata else 3),
            (given,),
            lambda: given.__setitem__(0, np.stack([X, X])[0]),
        ),
        "what `eval` or `exec` is given as text": (
            lambda x: eval("RATES[0] * x"),  # noqa: S307 - of nobody's text but ours
            (X,),
            lambda: RATES.__setitem__(0, 3.0),
        ),
        "what `==`, `<`, `hash`, `repr` or `str` of your objects looks up": (
            lambda x: x * (2 if model == 2.0 else 3),
            (X,),
            lambda: setattr(model, "hidden", 3.0),
        ),
        "a special method that their class did not have": (
            lambda x: x * (2 if listed else 3),
            (X,),
            lambda: setattr(Listed, "__bool__", lambda _: False),
        ),
        "its shape or dtype, set in place": (
            lambda x: x * matrix.shape[0],
            (X,),
            lambda: matrix.__setattr__("shape", (2, 1)),
        ),
        "a class registered with an abstract one": (
            lambda x: x * (2 if isinstance(model, Abstract) else 3),
            (X,),
            lambda: Abstract.register(Model),
        ),
        "what is replaced in a library's module that is no argument": (
            lambda x: x * library.factor,
            (X,),
            lambda: setattr(library, "factor", 3.0),
        ),
        "`dir` of a class or module": (
            lambda x: x * len(dir(Listed)),
            (X,),
            lambda: setattr(Listed, "scale", 3.0),
        ),
        "the cache of `functools.lru_cache`, when it is cleared": (
            lambda x: x * kept(),
            (X,),
            kept.cache_clear,
        ),
        "a `ctypes` object": (
            lambda x: x * pointed.value,
            (X,),
            lambda: setattr(pointed, "value", 3.0),
        ),
        "the context of `decimal`": (
            lambda x: x * float(decimal.Decimal(1) / 3),
            (X,),
            lambda: setattr(decimal.getcontext(), "prec", 2),
        ),
        "the environment": (
            lambda x: x * float(os.environ["TAPE_AD_FACTOR"]),
            (X,),
            lambda: os.environ.__setitem__("TAPE_AD_FACTOR", "3"),
        ),
    }


def assert_said(entry: str) -> None:
    """Check that the page lists that among what is not seen."""
    listed = PAGE.split("**Not seen** is a change of")[1].split("\n\nWhat is not seen")[0]
    assert entry in " ".join(listed.split())


@pytest.mark.filterwarnings("ignore:Setting the shape")  # of the newest NumPy
@pytest.mark.parametrize("entry", unseen())
def test_what_the_page_says_not_to_be_seen(entry: str) -> None:
    function, args, change = unseen()[entry]
    assert_said(entry)
    fast = ta.compile(function, engine="numpy")
    with decimal.localcontext():
        for _ in range(4):
            assert np.array_equal(fast(*args), function(*args))
        change()
        assert not np.array_equal(fast(*args), function(*args))
        fast.clear()
        assert np.array_equal(fast(*args), function(*args))


def test_what_is_captured_is_of_the_same_type() -> None:
    fast = ta.compile(lambda x, y: (x is y, type(x) is np.ndarray, isinstance(x, np.ndarray), x))
    other = X + 1
    for y in (other, X, other, other, X, X, other):
        assert fast(X, y)[:3] == (y is X, True, True)
    assert len(fast.programs) == 1
    assert "one array is given twice" in fast.explain()


def test_types_of_numbers() -> None:
    fast = ta.compile(lambda n: n * 2 if type(n) is float else n * 3)
    assert [fast(n) for n in (1.0, 2.0, 3, 4, 5.0, 6)] == [2.0, 4.0, 9, 12, 10.0, 18]


def test_a_column_that_is_replaced() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0]})
    fast = ta.compile(lambda x: x * frame["a"].to_numpy(), engine="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas' own
        for _ in range(4):
            before = fast(X)
        frame["a"] = [3.0, 4.0]
        assert np.array_equal(fast(X), before)
