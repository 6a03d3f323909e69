"""Learn to read real handwritten digits with a ReLU network.

The data is the 1,797 images of 8 by 8 pixels that come with scikit-learn. The parameters are a
plain dict; every step has a fresh record. Writes digits.png (how it went) and digits.npz (the
parameters). Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits

import tape_ad as ta

BATCH = 64
HELD_OUT = 360
GOAL = 0.96  # of the held-out images, to be read correctly

Array = np.ndarray[Any, Any]
Data = tuple[Array, Array, Array, Array]

hidden = ta.nn.Linear("hidden", 64, 128, dtype=np.float32)  # a layer holds names and shapes ...
output = ta.nn.Linear("output", 128, 10, dtype=np.float32)


def network(store: dict[str, Any], images: Array) -> Any:
    """Compute the logits: as a handle from a bound store, as a plain array from a plain one."""
    return output(store, ta.nn.relu(hidden(store, images)))


def train_step(params: dict[str, Array], sgd: ta.optim.SGD, images: Array, labels: Array) -> float:
    rec = ta.ComputationRecord()
    p = rec.bind(params)
    loss = ta.nn.cross_entropy(network(p, images), labels)
    sgd.step(params, loss.grad().wrt(p))
    return float(loss)


def accuracy(params: dict[str, Array], images: Array, labels: Array) -> float:
    return float(np.mean(np.argmax(network(params, images), axis=1) == labels))


def load_data(rng: np.random.Generator) -> Data:
    """Load the digits, shuffled: images and labels to learn from, then the held-out ones."""
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images = digits.data[order].astype(np.float32) / 16  # grey levels 0..16
    labels = digits.target[order]
    return images[HELD_OUT:], labels[HELD_OUT:], images[:HELD_OUT], labels[:HELD_OUT]


def train(
    params: dict[str, Array], data: Data, epochs: int, rng: np.random.Generator
) -> tuple[list[float], list[float]]:
    """Train in place; give the loss of every mini-batch, and of every epoch on the held-out images."""
    images, labels, held_out, held_out_labels = data
    sgd = ta.optim.SGD(lr=0.3, momentum=0.9)
    batch_losses, epoch_losses = [], []
    with progress_bar() as bar:
        task = bar.add_task("", total=epochs, loss=np.nan, accuracy=np.nan)
        for _ in range(epochs):
            order = rng.permutation(len(labels))
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                batch_losses.append(train_step(params, sgd, images[batch], labels[batch]))
            loss = float(ta.nn.cross_entropy(network(params, held_out), held_out_labels))
            epoch_losses.append(loss)
            correct = accuracy(params, held_out, held_out_labels)
            bar.update(task, advance=1, loss=loss, accuracy=correct)
    return batch_losses, epoch_losses


def draw(
    path: Path,
    batch_losses: list[float],
    epoch_losses: list[float],
    data: Data,
    probabilities: Array,
) -> None:
    """Draw the loss curves, and the images that the network is least sure of."""
    _, _, images, labels = data
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    [[left, right]] = figure.subfigures(1, 2, squeeze=False)

    axes = left.subplots()
    per_epoch = len(batch_losses) // len(epoch_losses)
    each_epoch = np.arange(1, len(epoch_losses) + 1)
    means = np.reshape(batch_losses, (len(epoch_losses), per_epoch)).mean(axis=1)
    axes.semilogy(
        np.arange(len(batch_losses)) / per_epoch, batch_losses, color="0.8", label="each mini-batch"
    )
    axes.semilogy(each_epoch - 0.5, means, "o-", markersize=4, label="mean of an epoch's batches")
    axes.semilogy(each_epoch, epoch_losses, "s-", markersize=4, label="held-out images")
    axes.set_title("A ReLU network learns handwritten digits")
    axes.set_xlabel(f"epoch ({per_epoch} steps of {BATCH} images each)")
    axes.set_ylabel("cross-entropy [nats per image]")
    axes.locator_params(axis="x", integer=True)
    axes.grid(alpha=0.3)
    axes.legend()

    right.suptitle("Its least certain readings of held-out images; mistakes in red")
    hardest = np.argsort(probabilities.max(axis=1))
    for i, picture in zip(hardest, right.subplots(4, 6).flat, strict=False):
        guess = int(np.argmax(probabilities[i]))
        picture.imshow(images[i].reshape(8, 8), cmap="gray_r")
        if guess == labels[i]:
            picture.set_title(f"{guess} ({probabilities[i, guess]:.0%})", fontsize=10)
        else:
            picture.set_title(f"{guess}, but is {labels[i]}", fontsize=10, color="crimson")
        picture.set_axis_off()
    figure.savefig(path, dpi=120)


def progress_bar() -> Progress:
    what = TextColumn("epoch {task.completed}/{task.total}")
    how = TextColumn("loss {task.fields[loss]:.4f}, held-out accuracy {task.fields[accuracy]:.3f}")
    return Progress(what, BarColumn(), how, TimeElapsedColumn())


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a ReLU network on handwritten digits.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    parser.add_argument("--epochs", type=int, default=20)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    data = load_data(rng)
    _, _, held_out, held_out_labels = data
    params: dict[str, Array] = {}  # ... and this dict holds the data
    hidden.init(params, rng)
    output.init(params, rng)
    batch_losses, epoch_losses = train(params, data, options.epochs, rng)
    trained = accuracy(params, held_out, held_out_labels)

    parameters, picture = options.out / "digits.npz", options.out / "digits.png"
    ta.parameters.save(parameters, params)
    loaded = ta.parameters.load(parameters)
    reached = accuracy(loaded, held_out, held_out_labels)
    draw(picture, batch_losses, epoch_losses, data, ta.nn.softmax(network(loaded, held_out)))
    print(f"held-out accuracy {reached:.4f} ({HELD_OUT} images), with the parameters loaded again")
    print(f"wrote {parameters} and {picture}")

    if reached != trained:
        sys.exit(f"the parameters that were loaded are not those that reached {trained:.4f}")
    if reached < GOAL:
        sys.exit(f"the goal of {GOAL} was missed")


if __name__ == "__main__":
    main()
