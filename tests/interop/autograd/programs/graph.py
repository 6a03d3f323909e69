"""The graph of a function's calls, by a class of nodes of the program's own."""

from typing import Any

import autograd.numpy as np
from autograd.tracer import Node, getval, isbox, trace


class Listing(Node):
    def __init__(
        self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any
    ) -> None:
        self.names = [name for parent in parents for name in parent.names]
        self.names.append(fun.__name__)
        self.parents = parents
        self.value = value

    def initialize_root(self, names: Any = ()) -> None:
        self.names = list(names)
        self.parents = []


def run() -> Any:
    seen: list[Any] = []

    def function(x: Any) -> Any:
        seen.append((isbox(x), getval(x)))
        return np.exp(np.sin(x) * 2.0)

    value, node = trace(Listing.new_root(["x"]), function, 1.5)
    return value, node.value, node.names, len(node.parents), seen
