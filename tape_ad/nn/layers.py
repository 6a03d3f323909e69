"""Layers: what a parameter is called and which shape it has. The data stays in the store."""

from typing import Any

import numpy as np
from attrs import Attribute, field, frozen

__all__ = ["Linear"]


def _at_least_one(instance: Any, attribute: "Attribute[int]", value: int) -> None:
    if value < 1:
        raise ValueError(f"Linear: {attribute.name} must be at least 1, got {value}")


def _named(instance: Any, attribute: "Attribute[str]", value: str) -> None:
    if not isinstance(value, str) or not value:
        raise ValueError(f"Linear: the name must be a string that is not empty, got {value!r}")


def _floating(instance: Any, attribute: "Attribute[np.dtype[Any]]", value: np.dtype[Any]) -> None:
    if value.kind != "f":
        raise ValueError(f"Linear: the dtype must be a floating one, got {value}")


@frozen
class Linear:
    """The affine layer ``x @ weight + bias``: a name and two shapes, and no data.

    Its parameters live in a store, a flat dict from names to arrays, as ``"{name}.weight"`` of
    shape (in_features, out_features) and ``"{name}.bias"`` of shape (out_features,).

    Parameters
    ----------
    name : str
        What its parameters' names begin with.
    in_features, out_features : int
        The lengths of the last axis of the input and of the output.
    bias : bool
        Whether there is a bias.
    dtype : floating dtype
        What `init` makes the parameters of.

    Examples
    --------
    >>> import tape_ad as ta
    >>> layer = ta.nn.Linear("hidden", 3, 2)
    >>> params = {}
    >>> layer.init(params, np.random.default_rng(0))
    >>> {name: array.shape for name, array in params.items()}
    {'hidden.weight': (3, 2), 'hidden.bias': (2,)}
    >>> p = ta.ComputationRecord().bind(params)
    >>> layer(p, np.ones((5, 3))).shape
    (5, 2)
    """

    name: str = field(validator=_named)
    in_features: int = field(converter=int, validator=_at_least_one)
    out_features: int = field(converter=int, validator=_at_least_one)
    bias: bool = True
    dtype: np.dtype[Any] = field(
        default=np.dtype(np.float64), converter=np.dtype, validator=_floating
    )
    _weight: tuple[str, tuple[int, ...]] = field(init=False, repr=False, eq=False)
    _bias: tuple[str, tuple[int, ...]] = field(init=False, repr=False, eq=False)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each parameter, by its name in the store."""
        weight = {f"{self.name}.weight": (self.in_features, self.out_features)}
        return weight | ({f"{self.name}.bias": (self.out_features,)} if self.bias else {})
