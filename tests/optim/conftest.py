"""The optimizers that every test which takes a `maker` is run with."""

from collections.abc import Callable
from typing import Any

import pytest

from tape_ad.optim import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop

Maker = Callable[..., Optimizer]

MAKERS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "SGD": (SGD, {}),
    "SGD, momentum": (SGD, {"momentum": 0.9}),
    "SGD, everything": (SGD, {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    "Adam": (Adam, {}),
    "Adam, everything": (Adam, {"amsgrad": True, "weight_decay": 0.01}),
    "AdamW": (AdamW, {}),
    "RMSprop": (RMSprop, {}),
    "RMSprop, everything": (RMSprop, {"momentum": 0.9, "centered": True, "weight_decay": 0.01}),
    "Adagrad": (Adagrad, {"lr_decay": 0.1, "initial_accumulator_value": 0.1}),
}


@pytest.fixture(params=MAKERS, name="maker")
def each_optimizer(request: pytest.FixtureRequest) -> Maker:
    kind, settings = MAKERS[request.param]
    return lambda lr=0.1, state=None: kind(lr=lr, state=state or {}, **settings)
