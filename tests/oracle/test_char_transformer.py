"""The gradients of the transformer in examples/ against PyTorch's."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

import tape_ad as ta
from tape_ad import nn
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")

EXAMPLE = Path(__file__).parents[2] / "examples" / "07_char_transformer.py"


def example() -> Any:
    spec = importlib.util.spec_from_file_location("char_transformer", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loss_of_pytorch(p: dict[str, Any], x: Any, y: Any, heads: int, layers: int) -> Any:
    """Compute the same loss, with a store of torch.Tensors."""
    f = torch.nn.functional

    def linear(h: Any, name: str) -> Any:
        return h @ p[f"{name}.weight"] + p[f"{name}.bias"]

    def norm(h: Any, name: str) -> Any:
        return f.layer_norm(h, h.shape[-1:], p[f"{name}.weight"], p[f"{name}.bias"])

    def attention(h: Any, name: str) -> Any:
        packed = h @ p[f"{name}.in_proj_weight"] + p[f"{name}.in_proj_bias"]
        q, k, v = (
            each.reshape(*h.shape[:2], heads, -1).transpose(1, 2) for each in packed.chunk(3, -1)
        )
        out = f.scaled_dot_product_attention(q, k, v, is_causal=True)
        return linear(out.transpose(1, 2).reshape(h.shape), f"{name}.out_proj")

    h = p["letters.weight"][x] + p["places.weight"][: x.shape[-1]]
    for i in range(layers):
        name = f"blocks.{i}"
        h = h + attention(norm(h, f"{name}.first"), f"{name}.attention")
        inner = torch.relu(linear(norm(h, f"{name}.second"), f"{name}.inner"))
        h = h + linear(inner, f"{name}.outer")
    logits = linear(norm(h, "norm"), "output")
    return f.cross_entropy(logits.flatten(0, 1), y.flatten())


def test_the_gradients_of_the_transformer_are_pytorchs() -> None:
    module = example()
    rng = np.random.default_rng(0)
    model = module.Transformer.over(20, np.float64)
    drawn = nn.init(model, rng)
    params = {name: a + 0.1 * rng.normal(size=a.shape) for name, a in drawn.items()}  # no bias is 0
    text = rng.integers(0, 20, size=(3, module.CONTEXT + 1))
    x, y = text[:, :-1], text[:, 1:]
    p = ta.ComputationRecord().bind(params)
    loss = nn.cross_entropy(model(p, x), y)
    gradients = loss.grad().wrt(p)

    theirs = {name: torch.tensor(array, requires_grad=True) for name, array in params.items()}
    their_loss = loss_of_pytorch(
        theirs, torch.tensor(x), torch.tensor(y), module.HEADS, module.LAYERS
    )
    their_loss.backward()
    np.testing.assert_allclose(loss.item(), their_loss.item(), rtol=1e-13)
    for name, tensor in theirs.items():
        expected = tensor.grad.numpy()
        scale = np.max(np.abs(expected))
        np.testing.assert_allclose(gradients[name], expected, rtol=0, atol=1e-12 * scale)
