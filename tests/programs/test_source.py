import builtins
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special

import tape_ad as ta
from tape_ad import nn
from tape_ad.base.trees import flatten
from tape_ad.errors import CaptureError
from tape_ad.programs.engines.numpy.source import source_of
from tape_ad.programs.program import Program, interpret
from tests.programs.building import Builder, same_bits

RNG = np.random.default_rng(0)
X, W, B = RNG.normal(size=(6, 4)), RNG.normal(size=(4, 3)), RNG.normal(size=3)
LABELS = RNG.integers(3, size=6)
TABLE = RNG.normal(size=(7, 6))
ODD = np.asfortranarray(RNG.normal(size=(5, 6)))
SPECIAL = np.array([np.nan, -np.inf, -0.0, 5e-324, 1.0, 0.1])


def network(w: Any, b: Any, x: Any) -> Any:
    h = nn.relu(nn.linear(x, w, b))
    return nn.cross_entropy(nn.linear(h, w.T @ w, b), LABELS) + np.sum(nn.sigmoid(h))


def branching(w: Any, b: Any, x: Any) -> Any:
    total = np.sum(x @ w + b)
    return total * 2 if total > -1e9 else total


def constants(w: Any, b: Any, x: Any) -> Any:
    return np.sum(TABLE @ x) + np.sum(ODD @ x @ w) + np.nansum(np.abs(SPECIAL) * x[:, 0])


def updating(w: Any, b: Any, x: Any) -> Any:
    y = np.zeros_like(x)
    y[1:, ::2] = x[:-1, ::2] * 2
    y[[0, 0]] += 1.0
    return np.sum(y[::-1] ** 3) + np.sum(x[[0, 0, 2], [1, 1, 3]])


def layers(w: Any, b: Any, x: Any) -> Any:
    return np.sum(nn.softmax(x) * nn.log_softmax(x)) + nn.logsumexp(x @ w + b)


def special(w: Any, b: Any, x: Any) -> Any:
    return np.sum(scipy.special.gammaln(np.abs(x) + 1.5)) + np.sum(scipy.special.expit(x @ w))


def picking(w: Any, b: Any, x: Any) -> Any:
    order = np.argsort(x[:, 0])
    return np.sum(np.take(x, order[[0, 0, 1]], axis=0) ** 3 * w.T) + np.sum(
        x[order][:3, 1] ** 2 * b
    )


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "picking": ta.value_and_grad(picking, 2),
    "picking, twice": ta.hessian(picking, 2),
    "network": ta.value_and_grad(network),
    "branching": ta.value_and_grad(branching),
    "constants": ta.grad(constants),
    "updating": ta.value_and_grad(lambda w, b, x: updating(w, b, x) + np.sum(w) * np.sum(b)),
    "hessian": ta.hessian(lambda w, b, x: np.sum(np.tanh(x @ w + b) ** 2)),
    "layers": layers,
    "powers": ta.grad(lambda w, b, x: sum(np.sum(np.tanh(x @ w) ** i) for i in range(30))),
    "special": special,
    "structure": lambda w, b, x: {"sums": [np.sum(w), (np.sum(b), None)], "x": x[::2], "n": 3},
}


def program_of(function: Callable[..., Any], *args: Any) -> Program:
    fast = ta.compile(function)
    for _ in range(3):
        fast(*args)
    program: Program = fast.programs[0]
    return program


def run(source: str, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a module where tape_ad cannot be imported, and give the function in it."""
    found = builtins.__import__

    def guarded(name: str, *args: Any, **kwargs: Any) -> Any:
        assert not name.startswith("tape_ad")
        return found(name, *args, **kwargs)

    namespace: dict[str, Any] = {"__name__": "shipped"}
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", guarded)
        exec(compile(source, "shipped.py", "exec"), namespace)  # noqa: S102 - what the test is about
    functions: list[Callable[..., Any]] = [f for f in namespace.values() if hasattr(f, "__code__")]
    return functions[-1]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_source_gives_the_bits_of_the_function(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = program_of(FUNCTIONS[name], W, B, X)
    shipped = run(source_of(program), monkeypatch)
    for args in ((W, B, X), (W * 0.5, B + 1, X * 1.25)):
        given, wanted = shipped(*args), interpret(program, args)
        for one, other in zip(flatten(given), flatten(wanted), strict=True):
            same_bits(one, other)


def test_the_source_runs_in_a_process_without_tape_ad(tmp_path: Path) -> None:
    function = FUNCTIONS["network"]
    (tmp_path / "shipped.py").write_text(source_of(program_of(function, W, B, X)))
    np.savez(tmp_path / "arguments.npz", w=W, b=B, x=X)
    code = (
        "import sys; sys.modules['tape_ad'] = None; sys.path.insert(0, '.')\n"
        "import numpy as np, shipped\n"
        "a = np.load('arguments.npz')\n"
        "value, gradient = shipped.network(a['w'], a['b'], a['x'])\n"
        "print(value.hex(), gradient.tobytes().hex())"
    )
    out = subprocess.run(  # noqa: S603 - the code stands above
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    value, gradient = function(W, B, X)
    assert out.stdout.split() == [value.hex(), gradient.tobytes().hex()]


def test_arguments_keep_their_names_and_shapes_stand_beside_them() -> None:
    source = source_of(program_of(FUNCTIONS["network"], W, B, X))
    assert "def network(\n    w,  # float64[4,3]\n    b,  # float64[3]\n" in source


def test_another_branch_is_an_error_that_names_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = run(source_of(program_of(FUNCTIONS["branching"], W, B, X)), monkeypatch)
    with pytest.raises(ValueError, match=r"captured where line \d+ of test_source.py got True"):
        shipped(W, B - 1e12, X)


def test_what_is_not_numpys_is_an_error_that_names_the_call() -> None:
    b = Builder()
    x = b.input(X, "x")
    offset = 2.0

    def own(x: Any) -> Any:
        return x + offset

    with pytest.raises(CaptureError, match="the call of own cannot be written as NumPy alone"):
        source_of(b.program((b(own, x),)))


@pytest.mark.parametrize(
    "constant",
    [
        SPECIAL,
        SPECIAL.astype(np.float32),
        RNG.normal(size=(10, 10)),
        np.asfortranarray(RNG.normal(size=(10, 10))),
        RNG.normal(size=(10, 10))[::2, ::-3],
        np.broadcast_to(RNG.normal(size=(10, 1)), (10, 4)),
        np.broadcast_to(np.nan, (3, 4)),
        np.full((30, 2), -0.0),
        np.zeros((0, 3)),
        np.array(0.1),
        np.array([1 + 2j, complex(-0.0, np.nan)]),
        np.array([True, False]),
        np.arange(100, dtype=np.uint8),
        np.arange(5, dtype=">f8"),
        np.arange(30, dtype=np.longdouble) / 3,
    ],
    ids=lambda array: f"{array.dtype}{array.shape}{array.strides}",
)
def test_constants_come_back_with_bits_and_layout(
    constant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    b = Builder()
    b.input(X, "x")
    shipped = run(source_of(b.program((b.constant(constant),))), monkeypatch)
    same_bits(shipped(X)[0], constant)


@pytest.mark.parametrize(
    "number",
    [np.float32(0.1), np.float64(np.nan), np.int8(-3), np.complex64(1 - 2j), np.bool(True)],
    ids=repr,
)
def test_scalars_come_back_with_their_bits(number: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    b = Builder()
    x = b.input(np.ones(3, np.float32), "x")
    program = b.program((b(np.multiply, x, number),))
    shipped = run(source_of(program), monkeypatch)
    same_bits(shipped(np.ones(3, np.float32))[0], np.ones(3, np.float32) * number)
