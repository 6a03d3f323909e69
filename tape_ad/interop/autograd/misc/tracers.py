"""Graphs of a function's calls."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tape_ad.interop.autograd.tracer import Node, trace

__all__ = ["FullGraphNode", "const_graph", "const_graph_unary", "full_graph"]

Function = Callable[..., Any]


class FullGraphNode(Node):
    """A call: its value, and its recipe ``(fun, args, kwargs, [(argnum, parent), ...])``."""

    def __init__(
        self,
        value: Any,
        fun: Function,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        parent_argnums: tuple[int, ...],
        parents: tuple[Any, ...],
    ) -> None:
        self.value = value
        self.recipe = (fun, args, kwargs, list(zip(parent_argnums, parents, strict=True)))

    def initialize_root(self) -> None:
        """Fill the node of the arguments."""
        none: Iterable[Any] = []
        self.value = None
        self.recipe = (lambda x: x, (), {}, list(none))


def full_graph(fun: Function, *args: Any, **kwargs: Any) -> Any:
    """Run a function, and give the node of its result; see `FullGraphNode`."""
    return trace(FullGraphNode.new_root(), lambda values: fun(*values, **kwargs), args)[1]


def const_graph_unary(fun: Function) -> Function:
    """Give the function itself: `tape_ad.compile` is what keeps a graph, and guards it."""
    return fun


def const_graph(fun: Function, *args: Any, **kwargs: Any) -> Function:
    """Fix the first arguments of a function.

    HIPS autograd keeps the graph of the first call for all others too, whatever the branches. Here
    each call runs the function; `tape_ad.compile` keeps graphs, one for each way through it.
    """
    return functools.wraps(fun)(functools.partial(fun, *args, **kwargs))
