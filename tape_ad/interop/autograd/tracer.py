"""Handles as HIPS autograd's boxes: what asks about them, and graphs of a program's own nodes."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, ClassVar, NoReturn, Self

from tape_ad import ComputationRecord, Tensor
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.extend.trees import flatten, map_leaves
from tape_ad.interop.autograd.primitives import notrace_primitive, primitive, register_notrace
from tape_ad.interop.autograd.tuples import subval, subvals
from tape_ad.interop.autograd.values import as_number, given_back, plain, value_of
from tape_ad.transforms.tracing import fresh_record, run_in

__all__ = [
    "Box",
    "JVPNode",
    "Node",
    "VJPNode",
    "getval",
    "isbox",
    "new_box",
    "notrace_primitive",
    "primitive",
    "register_notrace",
    "subval",
    "subvals",
    "toposort",
    "trace",
]

Tensor._value = property(value_of)  # type: ignore[attr-defined]  # a name of HIPS autograd's
Tensor._node = property(lambda handle: handle)  # type: ignore[attr-defined]  # as above


class BoxType(type):
    """Lets ``isinstance(handle, Box)`` answer yes."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is Tensor


class Box(metaclass=BoxType):
    """What every handle is an instance of.

    HIPS autograd lets programs subclass it for types of their own. Here dicts, lists, tuples, attrs
    classes and dataclasses are opened, and arrays in them become handles.
    """

    types: ClassVar[frozenset[type]] = frozenset({Tensor})

    @classmethod
    def register(cls, value_type: type) -> NoReturn:
        """Refuse another type of boxes, as handles cannot hold it.

        Raises
        ------
        UnsupportedArgumentError
        """
        raise UnsupportedArgumentError(
            f"{cls.__name__} cannot stand for {value_type.__name__}, as only arrays are handles; "
            "make that type an attrs class or a dataclass, which are opened like a dict"
        )


def isbox(x: Any) -> bool:
    """Tell whether a value is a handle."""
    return type(x) is Tensor


def getval(x: Any) -> Any:
    """Give the plain array or number behind a handle of any nesting; anything else as it is."""
    return plain(x)


def new_box(value: Any, trace: Any, node: Any) -> Tensor:
    """Make a handle of a record of its own, as the root of what `core.backward_pass` goes back to.

    Parameters
    ----------
    value : array
    trace : any
        What HIPS autograd nests by; it is not looked at.
    node : VJPNode
        A root, from ``VJPNode.new_root()``.

    Raises
    ------
    UnsupportedArgumentError
        For a node of another kind: see `trace` for a graph of such nodes.
    """
    if not isinstance(node, VJPNode):
        raise UnsupportedArgumentError(
            "new_box makes handles for VJPNode.new_root() alone; write trace(start_node, fun, x) "
            "for a graph of nodes of your own, and a primitive for a derivative of your own"
        )
    record = RootedRecord(within=fresh_record([value]).within)
    record.root = record.tensor(value)
    return record.root


class RootedRecord(ComputationRecord):
    """A record that was made for one handle, by hand."""

    root: Tensor


class Node:
    """A node of a graph that `trace` makes for a program of its own; subclass it.

    A subclass has ``__init__(self, value, fun, args, kwargs, parent_argnums, parents)``, which gets
    each call, and ``initialize_root(self, ...)`` for where the graph starts.
    """

    def __init__(
        self,
        value: Any,
        fun: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        parent_argnums: tuple[int, ...],
        parents: tuple[Any, ...],
    ) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no __init__ for calls")

    def initialize_root(self, *args: Any, **kwargs: Any) -> None:
        """Fill the node that a graph starts from."""
        raise NotImplementedError(f"{type(self).__name__} has no initialize_root")

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Self:
        """Make a node that a graph starts from."""
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root


class VJPNode(Node):
    """What HIPS autograd's reverse sweep goes over; here, what `new_box` is told to make."""

    def initialize_root(self) -> None:
        """Fill the node that a graph starts from, with nothing."""


class JVPNode(Node):
    """What HIPS autograd's forward sweep goes over; here a name for `register_notrace` alone."""


class NodeRecord(ComputationRecord):
    """A record that makes a program's own nodes beside its own, by index."""

    kind: type[Node] | None
    nodes: dict[int, Node]

    def note(
        self,
        function: Any,
        operands: tuple[Any, ...],
        options: Mapping[str, Any],
        data: Any,
        *edges: Any,
    ) -> Tensor:
        """Append a node, and tell the program's class of the call."""
        handle = super().note(function, operands, options, data, *edges)
        if self.kind is not None and not isinstance(function, (type(None), str)):
            use = options.get("use")
            function = getattr(function, "tape_ad_public", function)
            function = getattr(function, "primitive", function)
            args = operands if use is None else use.arguments(operands)[0]
            self.nodes[handle.index] = self.node(function, args, options, data)
        return handle

    def node(self, function: Any, args: Any, options: Any, data: Any) -> Node:
        """Make the program's node for a call."""
        kwargs = {} if "use" in options else dict(options)
        argnums = tuple([i for i, arg in enumerate(args) if self.parents_in(arg)])
        parents = tuple([self.nodes[self.parents_in(args[i])[0]] for i in argnums])
        values = map_leaves(self.value, tuple(args))
        kind: Any = self.kind
        made: Node = kind(given_back(data), function, values, kwargs, argnums, parents)
        return made

    def parents_in(self, tree: Any) -> list[int]:
        """List the nodes that stand in an argument."""
        return [leaf.index for leaf in flatten(tree) if leaf in self]

    def value(self, leaf: Any, path: str = "") -> Any:
        """Give what is behind a handle of this record."""
        return value_of(leaf) if leaf in self else leaf


def trace(start_node: Node, fun: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    """Run a function, and make a graph of nodes of the class of `start_node` of its calls.

    Parameters
    ----------
    start_node : Node
        It stands for the argument, for all arrays in it where it is a structure.
    fun : callable
        Of one argument.
    x : array or tree

    Returns
    -------
    value : any
        What `fun` gives.
    end_node : Node or None
        The node of that; None, with a warning, where it does not depend on the argument.
    """
    outer = fresh_record(flatten(x))
    record = NodeRecord(within=outer.within)
    record.by_transform = True
    record.kind = None  # until the program makes calls
    numbers = map_leaves(as_number, record.bind(x))
    record.nodes = dict.fromkeys(range(len(record)), start_node)
    record.kind = type(start_node)
    end = run_in(record, fun, (numbers,), {})
    if end not in record:
        warnings.warn("Output seems independent of input.", stacklevel=2)
        return end, None
    return value_of(end), record.nodes[end.index]


def toposort(
    end_node: Any, parents: Callable[[Any], Iterable[Any]] = attrgetter("parents")
) -> Iterator[Any]:
    """Yield a node and all that it depends on, each before its parents."""
    children: Counter[Any] = Counter()
    found, seen = [end_node], {end_node}
    for node in found:  # which grows
        for parent in parents(node):
            children[parent] += 1
            if parent not in seen:
                seen.add(parent)
                found.append(parent)
    free = [end_node]
    while free:
        node = free.pop()
        yield node
        for parent in parents(node):
            children[parent] -= 1
            if not children[parent]:
                free.append(parent)
