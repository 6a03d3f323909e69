"""Activations and losses against PyTorch's of the same name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tape_ad import nn
from tape_ad.rules.nn.rectifiers import RECTIFIERS
from tests.oracle.comparison import compared, in_both_precisions, normal
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")
F: Any = torch.nn.functional

# Activations

EXTREME = np.array([-1e4, -200.0, -30.0, 30.0, 200.0, 1e4])

ACTIVATIONS: list[tuple[Callable[..., Any], Any, dict[str, Any]]] = [
    *((getattr(nn, name), getattr(F, name), {}) for name in ("relu", "sigmoid", "tanh")),
    *((ours, getattr(F, ours.__name__), {}) for ours in RECTIFIERS if ours is not nn.glu),
    (nn.leaky_relu, F.leaky_relu, {"negative_slope": 0.3}),
    (nn.elu, F.elu, {"alpha": 0.3}),
    (nn.gelu, F.gelu, {"approximate": "tanh"}),
    (nn.softplus, F.softplus, {"beta": 2.0, "threshold": 1.0}),
]


@in_both_precisions
@pytest.mark.parametrize(
    ("ours", "theirs", "options"), ACTIVATIONS, ids=lambda x: getattr(x, "__name__", None)
)
def test_activation(ours: Any, theirs: Any, options: dict[str, Any], dtype: Any) -> None:
    ordinary = normal(3, 4, dtype=dtype) * 3
    for x in (ordinary, EXTREME.astype(dtype), np.zeros(2, dtype)):
        compared(lambda t: ours(t, **options), lambda t: theirs(t, **options), [x], dtype)


@in_both_precisions
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(nn.softmax, F.softmax), (nn.log_softmax, F.log_softmax), (nn.glu, F.glu)],
    ids=["softmax", "log_softmax", "glu"],
)
def test_activation_along_an_axis(ours: Any, theirs: Any, axis: int, dtype: Any) -> None:
    for scale in (1, 1e4):
        x = normal(4, 6, dtype=dtype) * scale
        compared(lambda t: ours(t, axis=axis), lambda t: theirs(t, dim=axis), [x], dtype)


# Losses

REDUCTIONS = pytest.mark.parametrize("reduction", ["mean", "sum", "none"])


@in_both_precisions
@REDUCTIONS
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("targets", "ignore_index"),
    [([0, 2, 1, 1, 2], -100), ([0, -100, 1, -100, 2], -100), ([0, 2, 1, 1, 2], 1)],
)
def test_cross_entropy_of_class_numbers(
    targets: list[int],
    ignore_index: int,
    weighted: bool,
    label_smoothing: float,
    reduction: str,
    dtype: Any,
) -> None:
    options: dict[str, Any] = {
        "ignore_index": ignore_index,
        "label_smoothing": label_smoothing,
        "reduction": reduction,
    }
    weight = np.array([0.5, 2.0, 1.5], dtype) if weighted else None
    their_weight = torch.tensor(weight) if weighted else None
    for scale in (1, 1e3):
        compared(
            lambda x: nn.cross_entropy(x, np.array(targets), weight, **options),
            lambda x: F.cross_entropy(x, torch.tensor(targets), their_weight, **options),
            [normal(5, 3, dtype=dtype) * scale],
            dtype,
        )


@in_both_precisions
@REDUCTIONS
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_entropy_of_probabilities(
    weighted: bool, label_smoothing: float, reduction: str, dtype: Any
) -> None:
    options: dict[str, Any] = {"label_smoothing": label_smoothing, "reduction": reduction}
    weight = np.array([0.5, 2.0, 1.5], dtype) if weighted else None
    their_weight = torch.tensor(weight) if weighted else None
    targets = nn.softmax(normal(5, 3, dtype=dtype, seed=1))
    compared(
        lambda x, t: nn.cross_entropy(x, t, weight, **options),
        lambda x, t: F.cross_entropy(x, t, their_weight, **options),
        [normal(5, 3, dtype=dtype), targets],
        dtype,
    )


@in_both_precisions
@REDUCTIONS
@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
def test_cross_entropy_of_sequences_has_its_classes_last(
    label_smoothing: float, reduction: str, dtype: Any
) -> None:
    options: dict[str, Any] = {"label_smoothing": label_smoothing, "reduction": reduction}
    targets = np.array([[0, 2, -100, 1], [1, 1, 0, -100]])
    compared(
        lambda x: nn.cross_entropy(x, targets, **options),
        lambda x: F.cross_entropy(x.transpose(1, 2), torch.tensor(targets), **options),
        [normal(2, 4, 3, dtype=dtype)],
        dtype,
    )


@in_both_precisions
@REDUCTIONS
@pytest.mark.parametrize("weighted", [False, True])
def test_nll_loss(weighted: bool, reduction: str, dtype: Any) -> None:
    targets = np.array([0, 2, -100, 1, 1])
    weight = np.array([0.5, 2.0, 1.5], dtype) if weighted else None
    their_weight = torch.tensor(weight) if weighted else None
    compared(
        lambda x: nn.nll_loss(x, targets, weight, reduction=reduction),
        lambda x: F.nll_loss(x, torch.tensor(targets), their_weight, reduction=reduction),
        [normal(5, 3, dtype=dtype)],
        dtype,
    )


@in_both_precisions
@REDUCTIONS
@pytest.mark.parametrize("weighted", [False, True])
def test_binary_cross_entropy_with_logits(weighted: bool, reduction: str, dtype: Any) -> None:
    ours, theirs = {}, {}
    if weighted:
        ours = {
            "weight": np.array([[1.0], [3.0]], dtype),
            "pos_weight": np.array([2.0, 1, 4], dtype),
        }
        theirs = {name: torch.tensor(value) for name, value in ours.items()}
    for scale in (1, 1e4):
        compared(
            lambda x, t: nn.binary_cross_entropy_with_logits(x, t, reduction=reduction, **ours),
            lambda x, t: F.binary_cross_entropy_with_logits(x, t, reduction=reduction, **theirs),
            [normal(2, 3, dtype=dtype) * scale, nn.sigmoid(normal(2, 3, dtype=dtype, seed=1))],
            dtype,
        )


@pytest.mark.filterwarnings("ignore:reduction. 'mean'")  # PyTorch's opinion of its own default
@in_both_precisions
@REDUCTIONS
@pytest.mark.parametrize(
    ("ours", "theirs", "options"),
    [
        (nn.mse_loss, F.mse_loss, {}),
        (nn.l1_loss, F.l1_loss, {}),
        (nn.huber_loss, F.huber_loss, {}),
        (nn.huber_loss, F.huber_loss, {"delta": 0.3}),
        (nn.kl_div, F.kl_div, {"log_target": True}),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_loss_of_two_arrays(
    ours: Any, theirs: Any, options: dict[str, Any], reduction: str, dtype: Any
) -> None:
    options = options | {"reduction": reduction}
    compared(
        lambda x, t: ours(x, t, **options),
        lambda x, t: theirs(x, t, **options),
        [normal(4, 3, dtype=dtype), normal(4, 3, dtype=dtype, seed=1)],
        dtype,
    )


@in_both_precisions
@pytest.mark.parametrize("reduction", ["batchmean", "sum", "none"])
def test_kl_div_of_probabilities(reduction: str, dtype: Any) -> None:
    compared(
        lambda x, t: nn.kl_div(x, t, reduction=reduction),
        lambda x, t: F.kl_div(x, t, reduction=reduction),
        [
            nn.log_softmax(normal(4, 3, dtype=dtype)),
            nn.softmax(normal(4, 3, dtype=dtype, seed=1)),
        ],
        dtype,
    )
    one_hot = np.eye(3, dtype=dtype)
    compared(
        lambda x: nn.kl_div(x, one_hot, reduction=reduction),
        lambda x: F.kl_div(x, torch.tensor(one_hot), reduction=reduction),
        [normal(3, 3, dtype=dtype)],
        dtype,
    )
