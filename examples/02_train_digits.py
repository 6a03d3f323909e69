"""Learn to read real handwritten digits with a ReLU network.

The data is the 1,797 images of 8 by 8 pixels that come with scikit-learn. The parameters are a
plain dict; every step has a fresh record. Writes digits.png (how it went) and digits.npz (the
parameters). It takes five seconds. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from matplotlib.figure import Figure
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sklearn.datasets import load_digits

import tape_ad as ta

BATCH = 64
HELD_OUT = 360
GOAL = 0.96  # of the held-out images, to be read correctly

Array = np.ndarray[Any, Any]

hidden = ta.nn.Linear("hidden", 64, 128, dtype=np.float32)  # a layer holds names and shapes ...
output = ta.nn.Linear("output", 128, 10, dtype=np.float32)


@frozen
class Digits:
    """Images, float32 of shape (n, 64), and the numbers that they show, int of shape (n,)."""

    images: Array
    labels: Array

    def __getitem__(self, key: Any) -> "Digits":
        return Digits(self.images[key], self.labels[key])


def load(rng: np.random.Generator) -> tuple[Digits, Digits]:
    """Load the digits and shuffle them: those to learn from, and those to be held out."""
    bunch = load_digits()
    grey_levels = bunch.data.astype(np.float32) / 16
    shuffled = Digits(grey_levels, bunch.target)[rng.permutation(len(grey_levels))]
    return shuffled[HELD_OUT:], shuffled[:HELD_OUT]


def network(store: dict[str, Any], images: Array) -> Any:
    """Compute the logits: as a handle from a bound store, as a plain array from a plain one."""
    return output(store, ta.nn.relu(hidden(store, images)))


def loss(store: dict[str, Any], digits: Digits) -> Any:
    return ta.nn.cross_entropy(network(store, digits.images), digits.labels)


def train_step(params: dict[str, Array], sgd: ta.optim.SGD, batch: Digits) -> float:
    rec = ta.ComputationRecord()  # the graph of this step alone, gone when the function returns
    p = rec.bind(params)  # handles, under the names of the parameters
    value = loss(p, batch)
    sgd.step(params, value.grad().wrt(p))
    return float(value.item())


def accuracy(params: dict[str, Array], digits: Digits) -> float:
    return float(np.mean(np.argmax(network(params, digits.images), axis=1) == digits.labels))


def progress_bar() -> Progress:
    what = TextColumn("epoch {task.completed}/{task.total}")
    how = TextColumn("{task.fields[reached]}")  # nothing is reached before the first epoch
    return Progress(what, BarColumn(), how, TimeElapsedColumn())


def train(
    params: dict[str, Array],
    digits: Digits,
    held_out: Digits,
    epochs: int,
    rng: np.random.Generator,
) -> tuple[list[float], list[float]]:
    """Train in place; give the loss of each mini-batch, and each epoch's on the held-out images."""
    sgd = ta.optim.SGD(lr=0.3, momentum=0.9)
    of_batches, of_epochs = [], []
    with progress_bar() as bar, ta.training.blas_threads():  # these matrices are too small for two
        task = bar.add_task("", total=epochs, reached="")
        for _ in range(epochs):
            order = rng.permutation(len(digits.labels))
            for start in range(0, len(order), BATCH):
                batch = digits[order[start : start + BATCH]]
                of_batches.append(train_step(params, sgd, batch))
            of_epochs.append(float(loss(params, held_out)))
            correct = accuracy(params, held_out)
            reached = f"held-out loss {of_epochs[-1]:.4f}, accuracy {correct:.3f}"
            bar.update(task, advance=1, reached=reached)
    return of_batches, of_epochs


def draw(
    path: Path,
    of_batches: list[float],
    of_epochs: list[float],
    held_out: Digits,
    probabilities: Array,
) -> None:
    """Draw the loss curves, and the images that the network is least sure of."""
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    [[left, right]] = figure.subfigures(1, 2, squeeze=False)

    axes = left.subplots()
    per_epoch = len(of_batches) // len(of_epochs)
    each_epoch = np.arange(1, len(of_epochs) + 1)
    means = np.reshape(of_batches, (len(of_epochs), per_epoch)).mean(axis=1)
    axes.semilogy(
        np.arange(len(of_batches)) / per_epoch, of_batches, color="0.8", label="each mini-batch"
    )
    axes.semilogy(each_epoch - 0.5, means, "o-", markersize=4, label="mean of an epoch's batches")
    axes.semilogy(each_epoch, of_epochs, "s-", markersize=4, label="held-out images")
    axes.set_title("A ReLU network learns handwritten digits")
    axes.set_xlabel(f"epoch ({per_epoch} steps of {BATCH} images each)")
    axes.set_ylabel("cross-entropy [nats per image]")
    axes.locator_params(axis="x", integer=True)
    axes.grid(alpha=0.3)
    axes.legend()

    right.suptitle("Its least certain readings of held-out images; mistakes in red")
    hardest = np.argsort(probabilities.max(axis=1))
    for i, picture in zip(hardest, right.subplots(4, 6).flat, strict=False):
        guess, label = int(np.argmax(probabilities[i])), held_out.labels[i]
        picture.imshow(held_out.images[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        right_or_not = "" if guess == label else f", not {label}"
        picture.set_title(
            f"{guess}{right_or_not} ({probabilities[i, guess]:.0%})",
            fontsize=9,
            color="crimson" if right_or_not else "black",
        )
        picture.set_axis_off()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a ReLU network on handwritten digits.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    parser.add_argument("--epochs", type=int, default=20)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    rng = np.random.default_rng(0)
    digits, held_out = load(rng)
    params: dict[str, Array] = {}  # ... and this dict holds the data
    hidden.init(params, rng)
    output.init(params, rng)
    losses = train(params, digits, held_out, options.epochs, rng)
    trained = accuracy(params, held_out)

    parameters, picture = options.out / "digits.npz", options.out / "digits.png"
    ta.parameters.save(parameters, params)
    loaded = ta.parameters.load(parameters)
    reached = accuracy(loaded, held_out)
    print(f"held-out accuracy {reached:.4f} ({HELD_OUT} images), with the parameters loaded again")
    draw(picture, *losses, held_out, ta.nn.softmax(network(loaded, held_out.images)))
    print(f"wrote {parameters} and {picture}")

    if reached != trained:
        sys.exit(f"the parameters that were loaded are not those that reached {trained:.4f}")
    if reached < GOAL:
        sys.exit(f"the goal of {GOAL} was missed")


if __name__ == "__main__":
    main()
