"""Gradients by nested dicts, lists and tuples, and by several arguments."""

from typing import Any

import autograd.numpy as np
from autograd import grad, grad_and_aux, make_vjp, value_and_grad
from autograd.builtins import dict as make_dict
from autograd.builtins import isinstance as is_instance
from autograd.builtins import list as make_list


def run() -> Any:
    nested = {"w": [np.ones((2, 2)), {"b": np.array([1.0, 2.0])}], "s": (2.0, -1.0)}

    def function(tree: Any) -> Any:
        total = np.sum(np.dot(tree["w"][0], tree["w"][1]["b"]) ** 2)
        scale, shift = tree["s"]
        assert is_instance(tree, dict)
        assert is_instance(scale, float)
        assert len(tree["w"]) == 2
        assert sorted(tree) == ["s", "w"]
        return total * scale + np.sin(shift)

    def several(x: Any, y: Any) -> Any:
        return make_dict(a=make_list([x * y, x]), b=np.array([x, y, x * y]))

    vjp, value = make_vjp(several, argnum=(0, 1))(2.0, 3.0)
    return [
        value_and_grad(function)(nested),
        value,
        vjp({"a": [1.0, 10.0], "b": np.array([1.0, 2.0, 3.0])}),
        grad(lambda x, y, z: x * y**2 * z, argnum=[0, 2])(1.0, 2.0, 3.0),
        grad_and_aux(lambda x: (np.sum(x**2), x + 1))(np.array([1.0, 2.0])),
    ]
