"""Checkpoints: a run that was stopped and resumed is the run that went through, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import optim
from tape_ad.errors import StoreMismatchError
from tape_ad.training import batches, load_checkpoint, save_checkpoint

Array = np.ndarray[Any, Any]

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
    for x, y in batches(X, Y, 16, rng["order"]):
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
@pytest.mark.parametrize("kind", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
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
    "text", ["", "{", "[]", "{}", '{"bit_generator": "os.system"}', '{"bit_generator": "PCG64"}']
)
def test_a_damaged_generator_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.npz"
    state = np.frombuffer(text.encode(), np.uint8)
    ta.parameters.save(path, {"step": np.array(3), "rng/order": state})
    with pytest.raises(ValueError, match=r"is damaged: a generator's state cannot be read$"):
        load_checkpoint(path)


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
