"""How layers and functions of two arrays are called, for type checkers: handles in, handles out."""

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, Protocol, cast, overload

import numpy as np

from tape_ad import Tensor
from tape_ad.extend.arrays import Array
from tape_ad.nn.initializers import Plain

Params = Mapping[str, Any]
"""Parameters by their names: arrays, or handles."""

Rng = np.random.Generator | None
"""What a layer draws from, where it does."""

Options = ParamSpec("Options")


class LayerCall(Protocol):
    """How a layer is called: where its store or its input has handles, it gives a handle."""

    @overload
    def __call__(
        self, store: Mapping[str, Tensor], x: Any, *, rng: Rng = None, training: bool = False
    ) -> Tensor: ...
    @overload
    def __call__(
        self, store: Params, x: Tensor, *, rng: Rng = None, training: bool = False
    ) -> Tensor: ...
    @overload
    def __call__(
        self, store: Mapping[str, Plain], x: Plain, *, rng: Rng = None, training: bool = False
    ) -> Plain: ...
    @overload
    def __call__(
        self, store: Params, x: Any, *, rng: Rng = None, training: bool = False
    ) -> Any: ...


class LayerMethod(Protocol):
    """What a class has for `LayerCall`."""

    def __get__(self, layer: Any, owner: Any = None, /) -> LayerCall: ...


def layer_call(method: Callable[..., Array]) -> LayerMethod:
    """Say to checkers what a layer gives for what; at run time the method stays as it is."""
    return cast("LayerMethod", method)


class PairCall(Protocol[Options]):
    """How a function of two arrays is called: it gives a handle where one of them is one."""

    __name__: str

    @overload
    def __call__(
        self, x: Tensor, y: Any, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> Tensor: ...
    @overload
    def __call__(
        self, x: Any, y: Tensor, /, *args: Options.args, **kwargs: Options.kwargs
    ) -> Tensor: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...


def of_two(function: Callable[Concatenate[Any, Any, Options], Any]) -> PairCall[Options]:
    """Say to checkers what a function of two arrays gives; at run time it stays as it is."""
    pair: PairCall[Options] = function
    return pair
