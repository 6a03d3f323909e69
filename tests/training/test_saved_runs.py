"""Checkpoints: a run that was stopped and resumed is the run that went through, bit for bit."""

import copy
import functools
import json
import operator
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import optim
from tape_ad.errors import DamagedFileError, StoreMismatchError, TapeError
from tape_ad.training import batches, load_checkpoint, save_checkpoint
from tape_ad.training.saved_runs import generator_of

Array = np.ndarray[Any, Any]

KINDS = ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"]
SUFFIXES = [".npz", ".safetensors"]
X = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
Y = np.tanh(X @ np.arange(5, dtype=np.float32))[:, None]


def fresh() -> dict[str, Array]:
    rng = np.random.default_rng(1)
    return {
        "hidden/weight": rng.normal(size=(5, 7)).astype(np.float32),
        "step": rng.normal(size=(7, 1)).astype(np.float32),
        "bias": np.zeros((), np.float32),
    }


def epoch(
    params: dict[str, Array], optimizer: optim.Optimizer, rng: dict[str, np.random.Generator]
) -> int:
    steps = 0
    for x, y in batches(X, Y, size=16, rng=rng["order"]):
        kept = rng["dropout"].random((len(x), 7)) < 0.8
        p = ta.ComputationRecord().bind(params)
        hidden = np.tanh(x @ p["hidden/weight"]) * kept.astype(np.float32)
        loss = np.mean((hidden @ p["step"] + p["bias"] - y) ** 2)
        optimizer.step(params, loss.grad().wrt(p))
        steps += 1
    return steps


def generators(kind: Any = np.random.PCG64) -> dict[str, np.random.Generator]:
    return {"order": np.random.Generator(kind(2)), "dropout": np.random.Generator(kind(3))}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "make",
    [
        lambda **state: optim.SGD(lr=0.05, **state),
        lambda **state: optim.SGD(lr=0.05, momentum=0.9, nesterov=True, **state),
        lambda **state: optim.Adam(lr=0.01, amsgrad=True, **state),
        lambda **state: optim.AdamW(lr=0.01, **state),
        lambda **state: optim.RMSprop(momentum=0.5, centered=True, **state),
        lambda **state: optim.Adagrad(lr_decay=0.1, **state),
    ],
    ids=["SGD", "Nesterov", "Adam", "AdamW", "RMSprop", "Adagrad"],
)
def test_stopped_and_resumed_is_the_same_bit_for_bit(
    tmp_path: Path, make: Any, suffix: str
) -> None:
    through, optimizer, rng = fresh(), make(), generators()
    for _ in range(6):
        epoch(through, optimizer, rng)

    params, first, rng, step = fresh(), make(), generators(), 0
    for _ in range(2):
        step += epoch(params, first, rng)
    save_checkpoint(tmp_path / f"run{suffix}", params, first.state, step, rng)
    epoch(params, first, rng)  # what came after the checkpoint was lost

    saved = load_checkpoint(tmp_path / f"run{suffix}", like=fresh())
    assert saved.step == 6
    resumed, second = saved.params, make(state=saved.state)
    for _ in range(4):
        epoch(resumed, second, saved.rng)
    assert resumed.keys() == through.keys()
    for name, array in through.items():
        assert resumed[name].tobytes() == array.tobytes()
    assert second.state.keys() == optimizer.state.keys()


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_generator_of_numpys_goes_on_where_it_stood(
    tmp_path: Path, kind: str, suffix: str
) -> None:
    rng = generators(getattr(np.random, kind))
    rng["order"].integers(0, 5, size=3, dtype=np.uint8)  # leaves half a draw in the buffer
    path = tmp_path / f"run{suffix}"
    save_checkpoint(path, {}, {}, 0, rng)
    loaded = load_checkpoint(path).rng
    assert loaded.keys() == rng.keys()
    for name, generator in rng.items():
        assert (
            loaded[name].integers(0, 2**31, 9).tolist() == generator.integers(0, 2**31, 9).tolist()
        )
        assert loaded[name].normal(size=9).tolist() == generator.normal(size=9).tolist()


def test_another_store_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    save_checkpoint(path, {"w": np.ones(3)}, {}, 0, {})
    with pytest.raises(StoreMismatchError) as raised:
        load_checkpoint(path, like={"w": np.ones(4)})
    assert str(raised.value) == (
        f"the store in {str(path)!r} has 'w' as an array of shape (3,) and dtype float64, but "
        "shape (4,) and dtype float64 are expected"
    )


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    ta.parameters.save(path, {"params/w": np.ones(3)})
    with pytest.raises(ValueError, match=r"is no checkpoint: it has no number of steps taken$"):
        load_checkpoint(path)
    ta.parameters.save(path, {"w": np.ones(3), "step": np.array(3)})
    with pytest.raises(ValueError, match=r"is no checkpoint: it has an entry 'w'$"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", "{}", '{"bit_generator": "os.system"}', '{"bit_generator": "PCG64"}'),
        *('{"bit_generator": ["PCG64"]}', "[" * 100_000, '{"dtype": "O", "array": [{}]}'),
        *('{"dtype": "<u4", "array": [NaN]}', '{"dtype": "<u4", "array": [4294967296]}'),
        *('{"dtype": [], "array": []}', '{"dtype": "<u4", "array": 3}'),
    ],
)
def test_a_damaged_generator_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.npz"
    state = np.frombuffer(text.encode(), np.uint8)
    ta.parameters.save(path, {"step": np.array(3), "rng/order": state})
    with pytest.raises(DamagedFileError, match=r"is damaged: the generator 'order' cannot be read"):
        load_checkpoint(path)


def leaves(state: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """List the numbers and lists in a state as JSON, each behind the way to it."""
    for key, value in state.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def replaced(state: Any, path: tuple[str, ...], value: Any) -> bytes:
    """Write a state as JSON with another value in one place."""
    changed = copy.deepcopy(state)
    functools.reduce(operator.getitem, path[:-1], changed)[path[-1]] = value
    return json.dumps(changed).encode()


def saved_state(folder: Path, kind: str) -> Any:
    """Give the state of a generator as a checkpoint holds it."""
    save_checkpoint(
        folder / "run.npz", {}, {}, 0, {"order": generators(getattr(np.random, kind))["order"]}
    )
    return json.loads(ta.parameters.load(folder / "run.npz")["rng/order"].tobytes())


def test_a_position_beyond_the_key_is_refused(tmp_path: Path) -> None:
    text = replaced(saved_state(tmp_path, "MT19937"), ("state", "pos"), 10**9)
    state = np.frombuffer(text, np.uint8)
    ta.parameters.save(tmp_path / "run.npz", {"step": np.array(3), "rng/order": state})
    with pytest.raises(TapeError) as caught:
        load_checkpoint(tmp_path / "run.npz")
    assert str(caught.value).endswith(
        "the generator 'order' cannot be read: the state of MT19937 has an impossible pos"
    )


HOSTILE: list[Any] = [
    *(-1, 2, 5, 625, 10**9, 2**31, 2**32, 2**64, 2**128, 2**200, 0.5, True, None, "1", [], {}),
    *([1] * n for n in (2, 3, 4, 5, 623, 624, 625)),
]

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from tape_ad.errors import DamagedFileError
from tape_ad.training.saved_runs import generator_of

read = refused = 0
for line in Path(sys.argv[1]).read_bytes().splitlines():
    try:
        rng = generator_of(np.frombuffer(line, np.uint8))
    except ValueError:
        refused += 1
    else:
        rng.integers(0, 9, 2000, np.uint8), rng.normal(size=2000)
        read += 1
print(read, refused)
"""


@pytest.mark.parametrize("kind", KINDS)
def test_no_state_at_all_crashes_the_interpreter(tmp_path: Path, kind: str) -> None:
    state = saved_state(tmp_path, kind)
    places = list(leaves(state))
    texts = [replaced(state, path, value) for path, _ in places for value in HOSTILE]
    rng = np.random.default_rng(0)
    for _ in range(300):  # and texts with some bytes changed
        damaged = np.frombuffer(json.dumps(state).encode(), np.uint8).copy()
        at = rng.integers(0, len(damaged), 3)
        damaged[at] = rng.choice(np.frombuffer(b'0123456789-.[]{},:e"', np.uint8), 3)
        texts.append(damaged.tobytes())
    (tmp_path / "states").write_bytes(b"\n".join(texts))
    result = subprocess.run(  # noqa: S603 - the program is written above
        [sys.executable, "-c", PROGRAM, str(tmp_path / "states")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    read, refused = map(int, result.stdout.split())
    assert read + refused == len(texts)
    assert refused > len(places) * 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_lacks_nothing_and_has_nothing_more(tmp_path: Path, kind: str) -> None:
    state = saved_state(tmp_path, kind)
    for changed in (state | {"more": 1}, {k: v for k, v in state.items() if k != "state"}):
        text = np.frombuffer(json.dumps(changed).encode(), np.uint8)
        with pytest.raises(ValueError, match="has other entries than state"):
            generator_of(text)


def test_a_number_of_steps_is_whole(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        save_checkpoint(tmp_path / "run.npz", {}, {}, 1.5, {})  # type: ignore[arg-type]  # refused
    assert not list(tmp_path.iterdir())


def test_a_legacy_generator_is_refused_and_the_old_checkpoint_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    save_checkpoint(path, {"w": np.ones(3)}, {}, 5, {})
    legacy: Any = np.random.RandomState(0)  # what is refused
    with pytest.raises(TypeError, match=r"^a checkpoint keeps generators .* got RandomState$"):
        save_checkpoint(path, {"w": np.zeros(3)}, {}, 6, {"order": legacy})
    assert load_checkpoint(path).step == 5
