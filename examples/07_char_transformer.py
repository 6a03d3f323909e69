"""Train a small causal transformer on text that comes with Python, letter by letter.

Two layers of four heads, 64 wide, read the documentation in the standard library and learn to guess
the next letter. Prints what it writes on its own, and saves char_transformer.npz. It takes three
quarters of a minute. Needs the extra: pip install 'tape-ad[examples]'.
"""

import argparse
import ast
import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta
from tape_ad import nn, optim, training

MODULES = ("argparse", "collections", "datetime", "decimal", "difflib", "doctest", "logging",
           "optparse", "pathlib", "pickle", "random", "statistics", "tarfile", "textwrap",
           "threading", "turtle", "typing", "unittest.case", "urllib.parse", "zipfile")  # fmt: skip
CONTEXT = 64  # letters
BATCH = 16
WIDTH = 64
HEADS = 4
LAYERS = 2
GOAL = 2.2  # nats per letter, held out; guessing blindly costs log(number of letters), about 4.5

Array = np.ndarray[Any, Any]
Params = dict[str, Array]


@frozen
class Block(nn.Layer):
    """A layer of a transformer: attention, then a network of each letter's own, both residual."""

    first: nn.LayerNorm
    attention: nn.MultiHeadAttention
    second: nn.LayerNorm
    inner: nn.Linear
    outer: nn.Linear

    @classmethod
    def named(cls, name: str, dtype: Any) -> "Block":
        """Make one whose parameters' names begin with `name`."""
        return cls(
            nn.LayerNorm(f"{name}.first", WIDTH, dtype=dtype),
            nn.MultiHeadAttention(f"{name}.attention", WIDTH, HEADS, dtype=dtype),
            nn.LayerNorm(f"{name}.second", WIDTH, dtype=dtype),
            nn.Linear(f"{name}.inner", WIDTH, 4 * WIDTH, dtype=dtype),
            nn.Linear(f"{name}.outer", 4 * WIDTH, WIDTH, dtype=dtype),
        )

    def __call__(self, store: Any, x: Any, *, rng: Any = None, training: bool = False) -> Any:
        """Keep the shape: (n, length, WIDTH)."""
        x = x + self.attention(store, self.first(store, x), is_causal=True)
        return x + self.outer(store, nn.relu(self.inner(store, self.second(store, x))))


@frozen
class Transformer(nn.Layer):
    """From letters, int of shape (n, length), to logits of the letter that follows each."""

    letters: nn.Embedding
    places: nn.Embedding
    blocks: tuple[Block, ...]
    norm: nn.LayerNorm
    output: nn.Linear

    @classmethod
    def over(cls, alphabet: int, dtype: Any = np.float32) -> "Transformer":
        """Make one for so many kinds of letters."""
        return cls(
            nn.Embedding("letters", alphabet, WIDTH, dtype=dtype),
            nn.Embedding("places", CONTEXT, WIDTH, dtype=dtype),
            tuple(Block.named(f"blocks.{i}", dtype) for i in range(LAYERS)),
            nn.LayerNorm("norm", WIDTH, dtype=dtype),
            nn.Linear("output", WIDTH, alphabet, dtype=dtype),
        )

    def __call__(self, store: Any, x: Any, *, rng: Any = None, training: bool = False) -> Any:
        """Compute the logits, of shape (n, length, kinds of letters)."""
        h = self.letters(store, x) + self.places(store, np.arange(x.shape[-1]))
        for block in self.blocks:
            h = block(store, h)
        return self.output(store, self.norm(store, h))


def read_text() -> str:
    """Collect the docstrings of some modules, as they stand in their source."""
    docstrings = []
    for name in MODULES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue  # not in every version of Python
        tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        nodes = (node for node in ast.walk(tree) if isinstance(node, documented))
        docstrings += [text for node in nodes if (text := ast.get_docstring(node))]
    return "\n\n".join(docstrings).encode("ascii", "ignore").decode()


def windows(text: Array) -> tuple[Array, Array]:
    """View every stretch of CONTEXT letters, and the letters that follow each of its letters."""
    stretches = np.lib.stride_tricks.sliding_window_view(text, CONTEXT + 1)
    return stretches[:, :-1], stretches[:, 1:]


def train(model: Transformer, params: Params, text: Array, steps: int) -> None:
    """Train in place on stretches of text drawn at random."""
    rng = np.random.default_rng(0)
    inputs, targets = windows(text)
    optimizer = optim.AdamW(betas=(0.9, 0.99), weight_decay=0.1)
    schedule = optim.WarmUp(optim.Cosine(8e-3, steps, eta_min=4e-4), steps=50)
    with training.progress(steps, "train") as report:
        for step in range(steps):
            rows = rng.integers(0, len(inputs), BATCH)
            p = ta.ComputationRecord().bind(params)
            loss = nn.cross_entropy(model(p, inputs[rows]), targets[rows])
            gradients = optim.clip_by_global_norm(loss.grad(release=True).wrt(p), 1.0)
            optimizer.lr = schedule(step)
            optimizer.step(params, gradients)
            report(loss=loss.item())


def loss_of(model: Transformer, params: Params, text: Array) -> float:
    """Compute the mean loss over a text, cut into stretches that do not overlap."""
    inputs, targets = windows(text)
    logits = model(params, inputs[::CONTEXT])
    return float(nn.cross_entropy(logits, targets[::CONTEXT]))


def write(model: Transformer, params: Params, start: Array, length: int) -> Array:
    """Let the model write, with one letter drawn after the other."""
    rng = np.random.default_rng(1)
    text = start
    for _ in range(length):
        logits = model(params, text[None, -CONTEXT:])[0, -1]
        probabilities = nn.softmax(logits / 0.5).astype(np.float64)
        letter = rng.choice(len(probabilities), p=probabilities / probabilities.sum())
        text = np.append(text, letter)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a transformer on Python's documentation.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=Path(), help="where files go")
    parser.add_argument("--steps", type=int, default=1600)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)

    text = read_text()
    alphabet, numbers = np.unique(list(text), return_inverse=True)
    held_out = len(numbers) // 20
    model = Transformer.over(len(alphabet))
    params: Params = nn.init(model, np.random.default_rng(0))
    for name in ("letters.weight", "places.weight"):
        params[name] *= np.float32(0.1)  # it learns faster from small vectors than from N(0, 1)
    print(f"{len(text)} letters, {len(alphabet)} kinds; {sum(a.size for a in params.values())} "
          "parameters")  # fmt: skip
    start = time.perf_counter()
    with ta.training.blas_threads():  # these matrices are too small for two
        train(model, params, numbers[:-held_out], options.steps)
        seconds = time.perf_counter() - start
        reached = loss_of(model, params, numbers[-held_out:])
        written = write(model, params, np.searchsorted(alphabet, list("Return the ")), 300)
    print(f"held-out loss {reached:.3f} nats per letter after {seconds:.1f} s. It writes:\n")
    print("".join(alphabet[written]))
    ta.parameters.save(options.out / "char_transformer.npz", params)
    print(f"\nwrote {options.out / 'char_transformer.npz'}")
    if reached > GOAL:
        sys.exit(f"the goal of {GOAL} was missed")


if __name__ == "__main__":
    main()
