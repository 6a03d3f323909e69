"""What is timed: each workload written for tape_ad, for plain NumPy and for PyTorch.

The programs of a workload do the same arithmetic, each in the way that a user of its library
would. They return the value and its gradients, for `disagreements` to compare; a program without
gradients is NumPy's forward pass alone.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from attrs import field, frozen

import tape_ad as ta
from tape_ad import nn, optim

try:
    import torch
except ImportError:  # the extra `bench` brings it
    torch = None  # type: ignore[assignment]  # asked for with `is None` before every use

__all__ = ["OURS", "TORCH", "Workload", "disagreements", "torch", "workloads"]

OURS = "tape_ad"
FORWARD = "NumPy, forward pass only"
BY_HAND = "NumPy, gradients by hand"
TORCH = "PyTorch eager"

Outcome = tuple[Any, Sequence[Any]]
Program = Callable[[], Outcome]
Batch = tuple[np.ndarray, np.ndarray]


@frozen
class Workload:
    """One computation in several libraries.

    Attributes
    ----------
    title : str
    programs : dict of str to callable
        By library; ours is first. PyTorch is absent where it is not installed.
    targets : dict of str to float
        The most that our time may be, in units of the time of another library.
    tolerance : float
        By how much values and gradients may differ, relative to the largest element.
    rounds, calls : int
        How often to time: calls in a row in each of the rounds.
    array_bytes : int
        The size of the input; 0 where memory is not looked at.
    memory_target : float
        The most that our peak of memory may be, in units of `array_bytes`.
    """

    title: str
    programs: dict[str, Program]
    targets: dict[str, float]
    tolerance: float
    rounds: int
    calls: int
    array_bytes: int = field(default=0, kw_only=True)
    memory_target: float = field(default=0.0, kw_only=True)


def workloads() -> list[Workload]:
    """Make all workloads, with their data."""
    return [chain(), training_step(), million()]


def disagreements(workload: Workload, calls: int = 3) -> list[str]:
    """Run the programs side by side, and say where their values and gradients differ.

    Several calls, because a training step has to leave the same parameters behind.
    """
    found = []
    for call in range(calls):
        outcomes = {name: program() for name, program in workload.programs.items()}
        value, gradients = outcomes.pop(OURS)
        for name, (other_value, other_gradients) in outcomes.items():
            pairs = [("value", value, other_value)]
            if other_gradients:
                numbered = zip(itertools.count(), gradients, other_gradients, strict=False)
                pairs += [(f"gradient {i}", ours, theirs) for i, ours, theirs in numbered]
                if len(gradients) != len(other_gradients):
                    found.append(f"{name} has {len(other_gradients)} gradients")
            for what, ours, theirs in pairs:
                apart = distance(np.asarray(ours), np.asarray(theirs))
                if not apart <= workload.tolerance:
                    found.append(f"{name}, {what} of call {call}: {apart:.1e} apart")
    return found


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference, relative to the largest element; inf where shapes or dtypes differ."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))


def chain() -> Workload:
    """900 operations on one element, one after the other: nothing but overhead."""
    start, iterations = np.array([0.9]), 300

    def ours() -> Outcome:
        rec = ta.ComputationRecord()
        x = rec.tensor(start)
        y = x
        for _ in range(iterations):
            y = np.sin(y) * x + 0.5
        return y.data, [y.grad(seed=np.ones(1)).wrt(x)]

    def forward() -> Outcome:
        x = start
        y = x
        for _ in range(iterations):
            y = np.sin(y) * x + 0.5
        return y, []

    programs: dict[str, Program] = {OURS: ours, FORWARD: forward}
    if torch is not None:
        x = torch.tensor(start, requires_grad=True)

        def eager() -> Outcome:
            y = x
            for _ in range(iterations):
                y = torch.sin(y) * x + 0.5
            return y.detach(), torch.autograd.grad(y, x)

        programs[TORCH] = eager
    return Workload(
        "900-node chain y = sin(y) * x + 0.5, one float64",
        programs,
        {FORWARD: 11.0, TORCH: 0.5},
        1e-6,
        rounds=300,
        calls=1,
    )


def training_step() -> Workload:
    """One step of a 64-128-10 ReLU network on a batch of 64: SGD with momentum, float32."""
    rng = np.random.default_rng(0)
    rate, momentum = 0.001, 0.9  # slow: the loss stays in one range for all of the run
    store = {
        "w1": rng.normal(0, (2 / 64) ** 0.5, (64, 128)).astype(np.float32),
        "b1": np.zeros(128, np.float32),
        "w2": rng.normal(0, (2 / 128) ** 0.5, (128, 10)).astype(np.float32),
        "b2": np.zeros(10, np.float32),
    }
    batches = [
        (rng.random((64, 64), dtype=np.float32), rng.integers(10, size=64)) for _ in range(28)
    ]
    programs = {
        OURS: our_step(copied(store), itertools.cycle(batches), rate, momentum),
        BY_HAND: hand_written_step(copied(store), itertools.cycle(batches), rate, momentum),
    }
    if torch is not None:
        programs[TORCH] = eager_step(copied(store), itertools.cycle(batches), rate, momentum)
    return Workload(
        "training step, 64-128-10 ReLU, batch 64, float32",
        programs,
        {BY_HAND: 1.25},
        1e-4,
        rounds=300,
        calls=10,
    )


def copied(store: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array.copy() for name, array in store.items()}


def our_step(
    params: dict[str, np.ndarray], batches: Iterator[Batch], rate: float, momentum: float
) -> Program:
    optimizer = optim.SGD(rate, momentum)

    def step() -> Outcome:
        x, y = next(batches)
        rec = ta.ComputationRecord()
        p = rec.bind(params)
        hidden = nn.relu(x @ p["w1"] + p["b1"])
        loss = nn.cross_entropy(hidden @ p["w2"] + p["b2"], y)
        gradients = loss.grad().wrt(p)
        optimizer.step(params, gradients)
        return loss.data, list(gradients.values())

    return step


def hand_written_step(
    params: dict[str, np.ndarray], batches: Iterator[Batch], rate: float, momentum: float
) -> Program:
    velocity = {name: np.zeros_like(array) for name, array in params.items()}
    rows = np.arange(64)

    def step() -> Outcome:
        x, y = next(batches)
        hidden = x @ params["w1"]
        hidden += params["b1"]
        np.maximum(hidden, 0, out=hidden)
        logits = hidden @ params["w2"]
        logits += params["b2"]
        logits -= logits.max(axis=1, keepdims=True)
        correct = logits[rows, y]
        p = np.exp(logits, out=logits)
        total = p.sum(axis=1, keepdims=True)
        loss = np.log(total).mean() - correct.mean()

        p /= total
        p[rows, y] -= 1
        p /= len(x)
        d_hidden = p @ params["w2"].T
        d_hidden *= hidden > 0
        gradients = {
            "w1": x.T @ d_hidden,
            "b1": d_hidden.sum(axis=0),
            "w2": hidden.T @ p,
            "b2": p.sum(axis=0),
        }
        for name, gradient in gradients.items():
            velocity[name] *= momentum
            velocity[name] += gradient
            params[name] -= rate * velocity[name]
        return loss, list(gradients.values())

    return step


def eager_step(
    store: dict[str, np.ndarray], batches: Iterator[Batch], rate: float, momentum: float
) -> Program:
    params = {name: torch.tensor(array, requires_grad=True) for name, array in store.items()}
    optimizer = torch.optim.SGD(params.values(), rate, momentum)
    as_tensors = ((torch.from_numpy(x), torch.from_numpy(y)) for x, y in batches)  # no copies

    def step() -> Outcome:
        x, y = next(as_tensors)
        optimizer.zero_grad()
        hidden = torch.relu(torch.addmm(params["b1"], x, params["w1"]))
        loss = torch.nn.functional.cross_entropy(torch.addmm(params["b2"], hidden, params["w2"]), y)
        loss.backward()
        optimizer.step()
        return loss.detach(), [array.grad for array in params.values()]

    return step


def million() -> Workload:
    """sum(tanh(x) * exp(-x*x)) on a million elements: nothing but traffic and arithmetic."""
    data = np.random.default_rng(0).normal(size=1_000_000)

    def ours() -> Outcome:
        rec = ta.ComputationRecord()
        x = rec.tensor(data)
        total = np.sum(np.tanh(x) * np.exp(-x * x))
        return total.data, [total.grad().wrt(x)]

    def by_hand() -> Outcome:
        x = data
        t, e = np.tanh(x), np.exp(-x * x)
        gradient = t * t
        np.subtract(1, gradient, out=gradient)
        t *= e
        total = np.sum(t)
        gradient *= e
        t *= x
        t *= 2
        gradient -= t
        return total, [gradient]

    programs: dict[str, Program] = {OURS: ours, BY_HAND: by_hand}
    if torch is not None:
        x = torch.tensor(data, requires_grad=True)

        def eager() -> Outcome:
            total = torch.sum(torch.tanh(x) * torch.exp(-x * x))
            return total.detach(), torch.autograd.grad(total, x)

        programs[TORCH] = eager
    return Workload(
        "sum(tanh(x) * exp(-x*x)), 10^6 float64",
        programs,
        {TORCH: 0.75},
        1e-6,
        rounds=60,
        calls=1,
        array_bytes=data.nbytes,
        memory_target=8.0,
    )
