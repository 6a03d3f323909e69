"""Parameters to and from PyTorch: names and layouts of a module's ``state_dict``."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tape_ad.errors import StoreMismatchError
from tape_ad.extend.packages import extra, listed
from tape_ad.nn.layers import Embedding
from tape_ad.nn.normalization import LayerNorm
from tape_ad.nn.stores import Layer, check_shape, distinct, stored

__all__ = ["from_state_dict", "to_state_dict"]

Plain = np.ndarray[Any, Any]


def to_state_dict(
    layer: Any, store: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Write the parameters of layers as PyTorch's modules of these names have them.

    A dense matrix is (inputs, outputs) here, and (outputs, inputs) there; so any weight of two axes
    is transposed, but for those of `Embedding` and `LayerNorm`.

    Parameters
    ----------
    layer : Layer, or a list, tuple or dict of layers
    store : dict of str to array
        It may have more than the layers need.
    names : mapping of str to str, optional
        For a layer's name the path of its module, ``{"hidden": "0", "out": "2"}`` for a
        ``torch.nn.Sequential`` of three; the name itself where it is left out, and ``""`` for a
        module that is one layer.

    Returns
    -------
    dict of str to torch.Tensor
        What ``module.load_state_dict`` takes; copies.

    Raises
    ------
    MissingParameterError, StoreMismatchError
        When a parameter is not in the store, or has another shape, or two would have one name.
    MissingExtraError
        Where PyTorch is not installed.

    Examples
    --------
    The module of a layer that is called ``"net"``::

        module = torch.nn.LSTM(3, 4).double()
        module.load_state_dict(ta.interop.torch.to_state_dict(layer, store, {"net": ""}))
    """
    with extra("torch", "tape_ad.interop.torch"):
        import torch  # noqa: PLC0415 - an extra, imported where it is used
    names = names or {}
    values = {name: value for name, _, value in stored(layer, store)}
    return {
        theirs: torch.tensor(np.array(values[ours]).T if turned else np.array(values[ours]))
        for ours, theirs, turned, _ in matched(layer, names)
    }


def from_state_dict(
    layer: Any, state_dict: Mapping[str, Any], names: Mapping[str, str] | None = None
) -> dict[str, Plain]:
    """Make a store of what a PyTorch module's ``state_dict`` has for layers.

    Parameters
    ----------
    layer : Layer, or a list, tuple or dict of layers
    state_dict : mapping of str to torch.Tensor, or to array
        What ``module.state_dict()`` gives, or is read from a file; it must have the parameters of
        the layers and nothing else.
    names : mapping of str to str, optional
        For a layer's name the path of its module; the name itself where it is left out, and
        ``""`` for a module that is one layer.

    Returns
    -------
    dict of str to array
        Copies, of the dtypes that they have there.

    Raises
    ------
    StoreMismatchError
        When names or shapes are not those of the layers.

    Examples
    --------
    >>> import numpy as np, tape_ad as ta
    >>> layer = ta.nn.Linear("hidden", 3, 2)
    >>> state = {"0.weight": np.ones((2, 3)), "0.bias": np.zeros(2)}
    >>> store = ta.interop.torch.from_state_dict(layer, state, {"hidden": "0"})
    >>> store["hidden.weight"].shape
    (3, 2)
    """
    found = list(matched(layer, names or {}))
    wanted = {theirs for _, theirs, _, _ in found}
    if wanted != state_dict.keys():
        raise StoreMismatchError(
            f"the state's names are not those of the layers: missing "
            f"{sorted(wanted - state_dict.keys())}, unknown {sorted(state_dict.keys() - wanted)}; "
            "names={'a layer': 'the path of its module'} says what belongs together"
        )
    store = {}
    for ours, theirs, turned, shape in found:
        given = state_dict[theirs]
        value = np.array(given.detach().cpu().numpy() if hasattr(given, "detach") else given)
        store[ours] = np.ascontiguousarray(value.T) if turned else value
        check_shape(ours, store[ours], shape)
    return store


def matched(
    layer: Any, names: Mapping[str, str]
) -> Iterator[tuple[str, str, bool, tuple[int, ...]]]:
    """Yield each parameter's name here and there, whether it is transposed, and its shape here.

    Raises
    ------
    StoreMismatchError
        When two parameters have one name there.
    """
    ours: dict[str, str] = {}
    for each in distinct(layer):
        for name, parameter in each.own_parameters.items():
            turned = len(parameter.shape) == 2 and not isinstance(each, (Embedding, LayerNorm))
            theirs = renamed(each, name, names)
            other = ours.setdefault(theirs, name)
            if other != name:
                raise StoreMismatchError(
                    f"both {other!r} and {name!r} would be {theirs!r}; let names= give each layer "
                    "a module of its own"
                )
            yield name, theirs, turned, parameter.shape


def renamed(layer: Layer, name: str, names: Mapping[str, str]) -> str:
    """Put a module's path in the place of its layer's name, or of what that begins with."""
    own: str = getattr(layer, "name", "")
    for ours, theirs in names.items():
        if own == ours or own.startswith(f"{ours}."):
            return f"{theirs}{name.removeprefix(ours)}".removeprefix(".")
    return name


__dir__ = listed(__all__)
