"""Parameters carried over to PyTorch's modules and back."""

from typing import Any

import numpy as np
import pytest

from tape_ad import nn
from tape_ad.errors import MissingParameterError, StoreMismatchError
from tape_ad.interop.torch import from_state_dict, to_state_dict
from tests.oracle.oracles import oracle

torch: Any = oracle("torch")

X = np.random.default_rng(3).normal(size=(2, 3, 6))

PAIRS: dict[str, tuple[Any, Any]] = {
    "dense": (nn.Linear("net", 6, 4), lambda: torch.nn.Linear(6, 4)),
    "LSTM": (
        nn.LSTM("net", 6, 4, num_layers=2, batch_first=True, bidirectional=True),
        lambda: torch.nn.LSTM(6, 4, 2, batch_first=True, bidirectional=True),
    ),
    "transformer": (
        nn.TransformerEncoderLayer("net", 6, 2, 5, dropout=0.0),
        lambda: torch.nn.TransformerEncoderLayer(6, 2, 5, 0.0, batch_first=True),
    ),
    "convolutions": (
        nn.Sequential(
            nn.Conv1d("net.0", 3, 4, 2),
            nn.BatchNorm1d("net.1", 4),
            nn.ConvTranspose1d("net.2", 4, 2, 3),
            nn.GroupNorm("net.3", 1, 2),
        ),
        lambda: torch.nn.Sequential(
            torch.nn.Conv1d(3, 4, 2),
            torch.nn.BatchNorm1d(4),
            torch.nn.ConvTranspose1d(4, 2, 3),
            torch.nn.GroupNorm(1, 2),
        ),
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_a_module_with_our_parameters_gives_what_the_layer_gives(pair: Any) -> None:
    layer, make = pair
    module = make().double().eval()
    store = nn.init(layer, np.random.default_rng(0))
    module.load_state_dict(to_state_dict(layer, store, {"net": ""}))
    ours, theirs = layer(store, X), module(torch.tensor(X))
    if isinstance(ours, tuple):
        ours, theirs = ours[0], theirs[0]
    np.testing.assert_allclose(ours, theirs.detach(), rtol=1e-10, atol=1e-12)
    back = from_state_dict(layer, module.state_dict(), {"net": ""})
    assert back.keys() == store.keys()
    for name, value in store.items():
        np.testing.assert_array_equal(back[name], value)
        assert back[name].dtype == value.dtype
        assert not np.shares_memory(back[name], value)


def test_embeddings_stay_as_they_are_and_names_may_be_paths() -> None:
    layers = [nn.Embedding("words", 5, 3), nn.Linear("head", 3, 3)]
    store = nn.init(layers, np.random.default_rng(0))
    state = to_state_dict(layers, store, {"words": "model.words"})
    assert list(state) == ["model.words.weight", "head.weight", "head.bias"]
    np.testing.assert_array_equal(state["model.words.weight"], store["words.weight"])
    np.testing.assert_array_equal(state["head.weight"], store["head.weight"].T)


def test_the_weight_of_a_normalization_is_no_dense_matrix() -> None:
    layer = nn.LayerNorm("norm", (3, 6))
    store = nn.init(layer, np.random.default_rng(0))
    store["norm.weight"] = np.random.default_rng(1).normal(size=(3, 6))
    module = torch.nn.LayerNorm((3, 6)).double()
    module.load_state_dict(to_state_dict(layer, store, {"norm": ""}))
    np.testing.assert_allclose(layer(store, X), module(torch.tensor(X)).detach(), rtol=1e-10)
    back = from_state_dict(layer, module.state_dict(), {"norm": ""})
    np.testing.assert_array_equal(back["norm.weight"], store["norm.weight"])


def test_what_does_not_fit_is_refused() -> None:
    layer = nn.Linear("a", 2, 3)
    with pytest.raises(MissingParameterError, match=r"'a\.weight'"):
        to_state_dict(layer, {})
    weight, bias = np.ones((3, 2)), np.ones(3)
    with pytest.raises(StoreMismatchError, match=r"missing \['a\.bias'\], unknown \['b'\]"):
        from_state_dict(layer, {"a.weight": weight, "b": bias})
    layers = [layer, nn.Linear("b", 2, 3)]
    with pytest.raises(StoreMismatchError, match=r"both 'a.weight' and 'b.weight' would be 'w.w"):
        to_state_dict(layers, nn.init(layers, np.random.default_rng(0)), {"a": "w", "b": "w"})
    with pytest.raises(StoreMismatchError, match="has shape"):
        from_state_dict(layer, {"a.weight": weight.T, "a.bias": bias})
