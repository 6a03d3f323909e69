"""Optimizers, clipping and schedules against PyTorch's, over 50 steps and more."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import optim
from tape_ad.optim.schedules import Schedule
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")

Array = np.ndarray[Any, Any]

STEPS = 50

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {}),
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.05, "momentum": 0.9}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {}),
    ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-4}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", {}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.2, "amsgrad": True}),
    ("RMSprop", {}),
    ("RMSprop", {"lr": 0.05, "alpha": 0.9, "eps": 1e-3}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.05, "centered": True, "momentum": 0.5}),
    ("Adagrad", {}),
    ("Adagrad", {"lr": 0.5, "lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.5, "initial_accumulator_value": 0.3, "eps": 1e-3}),
]


def shown(setting: Any) -> str:
    return setting if isinstance(setting, str) else ",".join(f"{k}={v}" for k, v in setting.items())


def store(dtype: str) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    params = {"w": rng.normal(size=(3, 4)), "b": rng.normal(size=4), "s": rng.normal(size=())}
    if dtype.startswith("complex"):
        params = {name: p + 1j * rng.normal(size=p.shape) for name, p in params.items()}
    return {name: np.asarray(p, dtype) for name, p in params.items()}


def gradients_of_a_step(step: int, params: dict[str, Array]) -> dict[str, Array]:
    """Draw gradients of very different sizes, with zeros among them."""
    rng = np.random.default_rng(1000 + step)
    gradients = {}
    for name, p in params.items():
        g: Any = rng.normal(size=p.shape) * 10.0 ** rng.integers(-4, 3, size=p.shape)
        if p.dtype.kind == "c":
            g = g + 1j * rng.normal(size=p.shape)
        gradients[name] = np.asarray(np.where(rng.random(p.shape) < 0.2, 0, g), p.dtype)
    return gradients


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float64", 1e-12), ("float32", 2e-5), ("complex128", 1e-12)]
)
@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=shown)
def test_fifty_steps_are_pytorchs(
    name: str, settings: dict[str, Any], dtype: str, tolerance: float
) -> None:
    params = store(dtype)
    theirs = {key: torch.tensor(p, requires_grad=True) for key, p in params.items()}
    ours = getattr(optim, name)(**settings)
    reference = getattr(torch.optim, name)(list(theirs.values()), **settings)
    for step in range(STEPS):
        gradients = gradients_of_a_step(step, params)
        ours.step(params, gradients)
        for key, g in gradients.items():
            theirs[key].grad = torch.tensor(g)
        reference.step()
        for key, p in params.items():
            expected = theirs[key].detach().numpy()
            np.testing.assert_allclose(p, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(("name", "settings"), SETTINGS, ids=shown)
def test_the_state_is_pytorchs(name: str, settings: dict[str, Any]) -> None:
    params = store("float64")
    theirs = {key: torch.tensor(p, requires_grad=True) for key, p in params.items()}
    ours = getattr(optim, name)(**settings)
    reference = getattr(torch.optim, name)(list(theirs.values()), **settings)
    for step in range(3):
        gradients = gradients_of_a_step(step, params)
        ours.step(params, gradients)
        for key, g in gradients.items():
            theirs[key].grad = torch.tensor(g)
        reference.step()
    for key, tensor in theirs.items():
        for kind, value in reference.state[tensor].items():
            if value is not None and kind != "step":
                found = ours.state[f"{kind}.{key}"]
                np.testing.assert_allclose(found, value.numpy(), rtol=1e-12)


@pytest.mark.parametrize("limit", [0.5, 3.0, 1e6])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_clipping_by_norm_is_pytorchs(dtype: str, limit: float) -> None:
    gradients = gradients_of_a_step(0, store(dtype))
    theirs = {
        key: torch.zeros(g.shape, dtype=torch.tensor(g).dtype) for key, g in gradients.items()
    }
    for key, g in gradients.items():
        theirs[key].grad = torch.tensor(g)
    expected = torch.nn.utils.clip_grad_norm_(theirs.values(), limit)
    clipped = optim.clip_by_global_norm(gradients, limit)
    np.testing.assert_allclose(optim.global_norm(gradients), expected.item(), rtol=1e-14)
    for key, tensor in theirs.items():
        np.testing.assert_allclose(clipped[key], tensor.grad.numpy(), rtol=1e-13)


def test_clipping_by_value_is_pytorchs() -> None:
    gradients = gradients_of_a_step(0, store("float64"))
    theirs = {key: torch.zeros(g.shape) for key, g in gradients.items()}
    for key, g in gradients.items():
        theirs[key].grad = torch.tensor(g, dtype=torch.float32)
    torch.nn.utils.clip_grad_value_(theirs.values(), 0.25)
    clipped = optim.clip_by_value(gradients, 0.25)
    for key, tensor in theirs.items():
        np.testing.assert_allclose(clipped[key], tensor.grad.numpy(), rtol=1e-6)


def step_lr(optimizer: Any, schedulers: Any) -> Any:
    return schedulers.StepLR(optimizer, step_size=7, gamma=0.3)


def cosine(optimizer: Any, schedulers: Any) -> Any:
    return schedulers.CosineAnnealingLR(optimizer, T_max=49, eta_min=0.01)


def constant(optimizer: Any, schedulers: Any) -> Any:
    return schedulers.ConstantLR(optimizer, factor=1.0)


def warm_up_and_cosine(optimizer: Any, schedulers: Any) -> Any:
    parts = [
        schedulers.LinearLR(optimizer, total_iters=10),
        schedulers.CosineAnnealingLR(optimizer, T_max=40),
    ]
    return schedulers.SequentialLR(optimizer, parts, milestones=[10])


@pytest.mark.parametrize(
    ("schedule", "make"),
    [
        (optim.Constant(0.4), constant),
        (optim.StepDecay(0.4, step_size=7, gamma=0.3), step_lr),
        (optim.Cosine(0.4, steps=49, eta_min=0.01), cosine),
        (optim.WarmUp(optim.Cosine(0.4, steps=40), steps=10), warm_up_and_cosine),
    ],
    ids=["constant", "step", "cosine", "warm-up"],
)
@pytest.mark.filterwarnings("ignore:The epoch parameter in:UserWarning")  # PyTorch's own
def test_schedules_are_pytorchs(schedule: Schedule, make: Any) -> None:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.4)
    scheduler = make(optimizer, torch.optim.lr_scheduler)
    expected = []
    for _ in range(STEPS):
        expected.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    found = [schedule(step) for step in range(STEPS)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_lbfgs_ends_where_pytorchs_does_within_fifty_iterations() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    params = {"w": np.zeros((4, 2)), "b": np.zeros(2)}

    def loss(p: dict[str, Any]) -> Any:
        return ta.nn.cross_entropy(x @ p["w"] + p["b"], y) + 0.01 * np.sum(p["w"] ** 2)

    exact: dict[str, Any] = {
        "max_iter": STEPS,
        "max_eval": 200,
        "tolerance_grad": 1e-9,
        "tolerance_change": 1e-16,
    }
    result = optim.LBFGS(**exact).minimize(params, loss)

    w, b = torch.zeros(4, 2, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    theirs = [w.requires_grad_(), b.requires_grad_()]
    reference = torch.optim.LBFGS(theirs, line_search_fn="strong_wolfe", **exact)

    def closure() -> Any:
        reference.zero_grad()
        logits = torch.tensor(x) @ w + b
        value = torch.nn.functional.cross_entropy(logits, torch.tensor(y)) + 0.01 * (w**2).sum()
        value.backward()
        return value

    reference.step(closure)
    np.testing.assert_allclose(params["w"], w.detach().numpy(), atol=1e-7)
    np.testing.assert_allclose(params["b"], b.detach().numpy(), atol=1e-7)
    np.testing.assert_allclose(result.loss, closure().item(), rtol=1e-14)
