"""Layers that come down to a few calls of NumPy, written as those."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tape_ad.programs.engines.numpy.arguments import Arguments
from tape_ad.programs.engines.out_support import is_c
from tape_ad.programs.program.program import Call
from tape_ad.rules.nn.activations import relu, sigmoid
from tape_ad.rules.nn.affine import linear, two_linear
from tape_ad.rules.nn.steps import reach

__all__ = ["LAYERS"]


def rectified(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `relu`, in one precision with zeros that are there, as it does."""
    (x,) = call.args
    maximum, name = arguments.names.function(np.maximum), arguments.one(x)
    if x.dtype == np.float32 and is_c(x):
        return [f"{target}[...] = 0", f"{maximum}({name}, {target}, out={target})"]
    return [f"{maximum}({name}, {arguments.names.number(0, x.dtype)}, out={target})"]


def logistic(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `sigmoid`: e / (1 + e)."""
    (x,) = call.args
    names = arguments.names
    minimum, exp, add, divide = map(names.function, (np.minimum, np.exp, np.add, np.divide))
    limit, one = names.number(reach(x.dtype), x.dtype), names.number(1, x.dtype)
    return [
        f"{minimum}({arguments.one(x)}, {limit}, out={target})",
        f"{exp}({target}, {target})",
        f"{divide}({target}, {add}({one}, {target}), {target})",
    ]


def affine(arguments: Arguments, call: Call, target: str) -> list[str]:
    """Write `linear`, and `two_linear`."""
    *products, bias = map(arguments.one, call.args)
    matmul, add = arguments.names.function(np.matmul), arguments.names.function(np.add)
    lines = [f"{matmul}({products[0]}, {products[1]}, {target})"]
    if len(products) > 2:
        lines.append(f"{add}({target}, {matmul}({products[2]}, {products[3]}), {target})")
    return [*lines, f"{add}({target}, {bias}, {target})"]


LAYERS: Mapping[Any, Callable[[Arguments, Call, str], list[str]]] = {
    relu: rectified,
    sigmoid: logistic,
    linear: affine,
    two_linear: affine,
}
