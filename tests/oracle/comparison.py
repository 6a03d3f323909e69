"""What the comparisons with PyTorch are made of."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tests.oracle.oracles import oracle

__all__ = [
    "compared",
    "in_both_precisions",
    "layers_compared",
    "near",
    "normal",
    "transposed",
]

Array = np.ndarray[Any, Any]

TOLERANCES = {np.float64: 1e-12, np.float32: 2e-5}
"""How far values and gradients may be apart, relative to the largest element."""

in_both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["f64", "f32"])


def near(actual: Any, expected: Any, dtype: Any) -> None:
    expected = expected.detach().numpy()
    assert actual.shape == expected.shape
    assert actual.dtype == expected.dtype == dtype
    scale = np.max(np.abs(expected), initial=1.0)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCES[dtype] * scale)


def normal(*shape: int, dtype: Any, seed: int = 0) -> Array:
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def compared(
    ours: Callable[..., Any], theirs: Callable[..., Any], inputs: Sequence[Array], dtype: Any
) -> None:
    """Compare all outputs, and the gradient of their weighted sum with respect to all inputs."""
    torch = oracle("torch")
    record = ta.ComputationRecord()
    handles = [record.tensor(x) for x in inputs]
    tensors = [torch.tensor(x, requires_grad=True) for x in inputs]
    outs, expected = ours(*handles), theirs(*tensors)
    outs, expected = (x if isinstance(x, (tuple, list)) else [x] for x in (outs, expected))
    plain = ours(*inputs)
    plain = plain if isinstance(plain, (tuple, list)) else [plain]
    loss: Any = 0.0
    their_loss: Any = 0.0
    for i, (out, value, other) in enumerate(zip(outs, plain, expected, strict=True)):
        near(out.data, other, dtype)
        np.testing.assert_array_equal(value, out.data)
        assert not isinstance(value, ta.Tensor)
        seed = normal(*out.shape, dtype=dtype, seed=i)
        loss, their_loss = (
            loss + np.sum(out * seed),
            their_loss + (other * torch.tensor(seed)).sum(),
        )
    their_loss.backward()
    for gradient, tensor in zip(loss.grad().wrt(handles), tensors, strict=True):
        near(gradient, tensor.grad, dtype)


def layers_compared(
    layer: Any,
    theirs: Any,
    inputs: Sequence[Array],
    dtype: Any,
    *,
    call: Callable[..., Any] | None = None,
    their_call: Callable[..., Any] | None = None,
) -> None:
    """Give PyTorch's module our parameters, and compare as `compared` does, parameters included."""
    torch = oracle("torch")
    store = nn.init(layer, np.random.default_rng(1))
    params, statistics = nn.partition(layer, store)
    names = list(params)
    state = {name.removeprefix("layer."): transposed(name, store[name]) for name in store}
    theirs = theirs.to(torch.tensor(np.zeros(0, dtype)).dtype)
    theirs.load_state_dict({name: torch.tensor(value) for name, value in state.items()})

    def our_function(*operands: Any) -> Any:
        values = dict(zip(names, operands, strict=False))
        return (call or layer)(values | statistics, *operands[len(names) :])

    def their_function(*operands: Any) -> Any:
        values = {
            name.removeprefix("layer."): transposed(name, value)
            for name, value in zip(names, operands, strict=False)
        }
        arguments = operands[len(names) :]
        if their_call is not None:
            return their_call(values, *arguments)
        return torch.func.functional_call(theirs, values, arguments)

    compared(our_function, their_function, [*params.values(), *inputs], dtype)


def transposed(name: str, value: Any) -> Any:
    """Turn a dense matrix, (inputs, outputs) here, into PyTorch's (outputs, inputs)."""
    dense = r"(in_proj_weight|out_proj\.weight|weight_(ih|hh)(_l\d.*)?|(dense|linear\d)\.weight)$"
    return value.T if re.search(dense, name) else value
