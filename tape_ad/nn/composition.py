"""Layers composed of layers: `Sequential`, `Residual` and `Flatten`."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.extend.arrays import Array, as_array
from tape_ad.nn.checks import check_step
from tape_ad.nn.stores import Layer

__all__ = ["Flatten", "Residual", "Sequential"]


@frozen
class Flatten(Layer):
    """All axes from one on made one, as between images and a dense layer.

    Parameters
    ----------
    start_dim : int
        The first of the axes that are merged.

    Examples
    --------
    >>> Flatten()({}, np.zeros((5, 3, 2, 2))).shape
    (5, 12)
    """

    start_dim: int = 1

    def __call__(
        self,
        store: Mapping[str, Any],
        x: Array,
        *,
        rng: np.random.Generator | None = None,
        training: bool = False,
    ) -> Array:
        """Reshape: (n, ...) -> (n, k)."""
        x = as_array(x)
        kept = x.shape[: self.start_dim]
        return np.reshape(x, (*kept, math.prod(x.shape[self.start_dim :])))


Step = Layer | Callable[[Array], Array]


def run(
    step: Step,
    store: Mapping[str, Any],
    x: Array,
    rng: np.random.Generator | None,
    training: bool,
) -> Array:
    """Call a layer, or a plain function of its input."""
    if isinstance(step, Layer):
        return step(store, x, rng=rng, training=training)
    return step(x)


@frozen(init=False)
class Sequential(Layer):
    """One layer after another; a function of one array, such as `relu`, counts as a layer.

    Parameters
    ----------
    *layers : Layer, or callable

    Examples
    --------
    >>> import tape_ad as ta
    >>> model = ta.nn.Sequential(
    ...     ta.nn.Linear("encoder.0", 4, 8), ta.nn.relu, ta.nn.Linear("encoder.2", 8, 2)
    ... )
    >>> params = ta.nn.init(model, np.random.default_rng(0))
    >>> list(params)
    ['encoder.0.weight', 'encoder.0.bias', 'encoder.2.weight', 'encoder.2.bias']
    >>> model(params, np.ones((5, 4))).shape
    (5, 2)
    """

    layers: tuple[Step, ...]

    def __init__(self, *layers: Step) -> None:
        for step in layers:
            check_step("Sequential takes", step)
        self.__attrs_init__(layers)

    def __call__(
        self,
        store: Mapping[str, Any],
        x: Array,
        *,
        rng: np.random.Generator | None = None,
        training: bool = False,
    ) -> Array:
        """Call each layer with what the one before gives."""
        for step in self.layers:
            x = run(step, store, x, rng, training)
        return x


@frozen
class Residual(Layer):
    """``x + layer(x)``, for a layer that keeps the shape.

    Parameters
    ----------
    layer : Layer, or callable

    Notes
    -----
    He, Zhang, Ren & Sun, "Deep residual learning for image recognition",
    https://arxiv.org/abs/1512.03385.

    Examples
    --------
    >>> Residual(np.tanh)({}, np.zeros(3))
    array([0., 0., 0.])
    """

    layer: Step

    def __attrs_post_init__(self) -> None:
        check_step("Residual takes", self.layer)

    def __call__(
        self,
        store: Mapping[str, Any],
        x: Array,
        *,
        rng: np.random.Generator | None = None,
        training: bool = False,
    ) -> Array:
        """Add what the layer gives to its input."""
        return x + run(self.layer, store, x, rng, training)
