"""Handles in trees of arguments and results, and the plain arrays that are behind them."""

import itertools
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from tape_ad.base.errors import RecordMismatchError, UnsupportedArgumentError
from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.record.arena import innermost
from tape_ad.record.primals import primal
from tape_ad.record.tensor import Tensor

Function = Callable[..., Any]


def records_of(value: Any) -> list[Any]:
    """List the records of a handle and of the handles that it holds, from the outside in."""
    found = []
    while type(value) is Tensor:
        found.append(value.record)
        value = value.data
    return found[::-1]


def nested(records: Any) -> list[Any]:
    """List each of some records once, from the outside in.

    Raises
    ------
    RecordMismatchError
        Where one is not within another.
    """
    found = sorted({id(record): record for record in records}.values(), key=attrgetter("level"))
    for outer, inner in itertools.pairwise(found):
        if innermost(outer, inner) is not inner:
            raise RecordMismatchError(
                "there are handles of two records of which neither is within the other; make one "
                "with ComputationRecord(within=...), or pass .data of its handle as a constant"
            )
    return found


def outside(record: Any, value: Any) -> Any:
    """Give what a value is where a record, and all within it, is not known of."""
    while type(value) is Tensor and value.record.level >= record.level:
        value = value.data
    return value


def up_to(record: Any, value: Any) -> Any:
    """Give what a value is where records within another are not known of."""
    while type(value) is Tensor and value.record.level > record.level:
        value = value.data
    return value


def any_handle(tree: Any) -> bool:
    """Tell whether there is a handle in a tree.

    Examples
    --------
    >>> any_handle({"x": [1.0, np.ones(2)]})
    False
    """
    return any(type(leaf) is Tensor for leaf in flatten(tree))


def handles_in(tree: Any) -> tuple[list[Any], Function]:
    """List the handles in a tree, and give the function that puts other values in their places."""
    leaves = flatten(tree)
    places = [i for i, leaf in enumerate(leaves) if type(leaf) is Tensor]

    def filled(values: Any) -> Any:
        own = list(leaves)
        for place, value in zip(places, values, strict=True):
            own[place] = value
        return unflatten(tree, own) if places else tree

    return [leaves[place] for place in places], filled


def plain(tree: Any) -> Any:
    """Copy a tree with plain arrays in place of handles; one without them stays as it is.

    The arrays are copies, so that code of others may write to them.
    """
    return map_leaves(copied_primal, tree) if any_handle(tree) else tree


def copied_primal(leaf: Any, path: str) -> Any:
    """Copy the array behind a handle."""
    value = primal(leaf)
    return value.copy() if value is not leaf and isinstance(value, np.ndarray) else value


def as_constant_handle(value: Any, *trees: Any) -> Any:
    """Make of a plain result a handle that depends on nothing, if there are handles in trees.

    So a call with handles gives a handle, and its gradient is zero where it does not depend on
    them.
    """
    if type(value) is Tensor:
        return value
    record: Any = None
    for leaf in flatten(trees):
        if type(leaf) is Tensor and (record is None or leaf.record.level > record.level):
            record = leaf.record
    return value if record is None else record.constant(value)


def refuse_handles(name: str, arguments: dict[str, Any]) -> None:
    """Refuse handles where there is no derivative.

    Raises
    ------
    UnsupportedArgumentError
    """
    for argument, value in arguments.items():
        if any_handle(value):
            raise UnsupportedArgumentError(
                f"{name}: the argument {argument}= may not be a handle, for there is no derivative "
                "with respect to it; pass .data of it"
            )
