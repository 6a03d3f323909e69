"""Functions of many arrays: the work grows as the number of arrays does, and not as its square."""

import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tape_ad as ta

FEW, MANY = 50, 200

Function = Callable[[Any], Any]

JOINS: dict[str, Function] = {
    "stack": np.stack,
    "stack, axis": lambda parts: np.stack(parts, axis=-1),
    "concatenate": np.concatenate,
    "concatenate, flat": lambda parts: np.concatenate(parts, axis=None),
    "hstack": np.hstack,
    "vstack": np.vstack,
    "dstack": np.dstack,
    "column_stack": np.column_stack,
    "block": lambda parts: np.block([[part] for part in parts]),
    "block, row": lambda parts: np.block(list(parts)),
}
SPLITS: dict[str, Function] = {
    "array_split": lambda x: np.array_split(x, len(x) - 1),
    "split": lambda x: np.split(x, len(x)),
    "iteration": list,
    "elements": lambda x: [x[i, 0] for i in range(len(x))],
}
if hasattr(np, "unstack"):  # since NumPy 2.1
    SPLITS["unstack"] = lambda x: list(np.unstack(x))


def cubes(x: Any) -> Any:
    return np.sum(x * x * x)


DERIVATIVES: dict[str, Callable[[Function, list[Any]], Any]] = {
    "grad": lambda f, at: ta.grad(lambda x: cubes(f(x)))(at),
    "jvp": lambda f, at: ta.jvp(f, (at,), (at,))[1],
    "jvp of a stack": lambda f, at: ta.jvp(f, (at,), ([np.stack([x, x]) for x in at],))[1],
    "vjp of a stack": lambda f, at: ta.vjp(f, at)[1](np.ones((2, *np.shape(f(at)))))[0],
    "hvp": lambda f, at: ta.hvp(lambda x: cubes(f(x)), at, at),
    "hvp of a stack": lambda f, at: ta.hvp(
        lambda x: cubes(f(x)), at, [np.stack([x, x]) for x in at]
    ),
    "jvp of grad": lambda f, at: ta.jvp(ta.grad(lambda x: cubes(f(x))), (at,), (at,))[1],
    "grad of jvp": lambda f, at: ta.grad(lambda x: ta.jvp(lambda y: cubes(f(y)), (x,), (at,))[1])(
        at
    ),
    "jvp of jvp": lambda f, at: ta.jvp(
        lambda x: ta.jvp(lambda y: cubes(f(y)), (x,), (at,))[1], (at,), (at,)
    )[1],
}


def work(function: Callable[[int], Any], k: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Count calls of Python functions, the arguments in ``*args``, and elements of `np.zeros`."""
    done = 0
    zeros = np.zeros

    def counted(*args: Any, **options: Any) -> Any:
        nonlocal done
        array = zeros(*args, **options)
        done += array.size
        return array

    def look(frame: Any, event: str, arg: Any) -> None:
        nonlocal done
        if event == "call":
            done += 1
            if frame.f_code.co_flags & inspect.CO_VARARGS:
                arguments = frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount
                done += len(frame.f_locals[frame.f_code.co_varnames[arguments]])

    function(k)  # what is made at the first call and kept
    with monkeypatch.context() as patch:
        patch.setattr(np, "zeros", counted)
        before = sys.getprofile()
        sys.setprofile(look)
        try:
            function(k)
        finally:
            sys.setprofile(before)
    return done


def parts(k: int) -> list[Any]:
    return list(np.linspace(0.5, 1.5, 2 * k).reshape(k, 1, 2))


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", JOINS)
def test_the_work_of_a_join_is_linear(
    name: str, derivative: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    derive, join = DERIVATIVES[derivative], JOINS[name]
    few, many = (work(lambda k: derive(join, parts(k)), k, monkeypatch) for k in (FEW, MANY))
    assert FEW < few < many < 5 * few  # if it grew as the square, 16 times


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("stack", [(), (3,)], ids=["one", "stack"])
def test_the_work_of_reading_an_array_part_by_part_is_linear(
    name: str, stack: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def swept(k: int) -> None:
        x = np.concatenate(parts(k))
        _, pull = ta.vjp(lambda x: sum(np.sum(part * part) for part in SPLITS[name](x)), x)
        pull(np.ones(stack))

    few, many = (work(swept, k, monkeypatch) for k in (FEW, MANY))
    assert FEW < few < many < 5 * few


def test_what_a_long_join_holds_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(k: int) -> None:
        rec = ta.ComputationRecord()
        np.stack(list(rec.bind(parts(k))))
        assert rec.nbytes == 0
        assert rec[-1].nbytes == 0

    few, many = (work(counted, k, monkeypatch) for k in (FEW, MANY))
    assert FEW < few < many < 5 * few


@pytest.mark.parametrize("name", JOINS)
@pytest.mark.parametrize("stack", [(), (2,), (2, 3)], ids=str)
@pytest.mark.parametrize("number", range(4))
def test_only_one_of_the_operands_moves(name: str, stack: tuple[int, ...], number: int) -> None:
    rng = np.random.default_rng(3)
    join, held = JOINS[name], rng.normal(size=(5, 1, 2))
    t = rng.normal(size=(*stack, 1, 2))
    pushed = ta.jvp(lambda x: join([*held[:number], x, *held[number:]]), (held[0],), (t,))[1]
    for i in np.ndindex(stack):
        others = np.zeros((5, 1, 2))
        expected = join([*others[:number], t[i], *others[number:]])
        np.testing.assert_array_equal(pushed[i], expected)


def test_an_operand_that_is_joined_with_itself() -> None:
    x, t = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    pushed = ta.jvp(lambda x: np.concatenate([x, np.ones(1), x]), (x,), (t,))[1]
    np.testing.assert_array_equal(pushed, [3.0, 5.0, 0.0, 3.0, 5.0])
    pulled = ta.vjp(lambda x: np.stack([x, x], axis=1), x)[1](np.array([[1.0, 2.0], [3.0, 4.0]]))
    np.testing.assert_array_equal(pulled[0], [3.0, 7.0])


def test_operands_of_several_precisions() -> None:
    x, y = np.ones(2, np.float32), np.ones(3)
    out, pushed = ta.jvp(lambda x, y: np.concatenate([x, y]), (x, y), (x, y))
    assert out.dtype == pushed.dtype == np.float64
    out, pushed = ta.jvp(lambda x: np.concatenate([x, y]), (x,), (x,))
    assert out.dtype == pushed.dtype == np.float64
    np.testing.assert_array_equal(pushed, [1, 1, 0, 0, 0])
