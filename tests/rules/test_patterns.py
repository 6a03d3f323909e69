"""Every map of a row's node says which elements depend on which, and misses none."""

import importlib
import math
import pkgutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.compat.autograd.primitives import Primitive
from tape_ad.core.arena import Released
from tape_ad.core.conforming import conform
from tape_ad.linear_maps import LinearMap
from tape_ad.linear_maps.patterns import pattern_of
from tape_ad.rules.plain_maps import PlainMap
from tape_ad.transforms.blocks import Block, BlockPartial, Use
from tape_ad.transforms.custom_rules import Custom
from tape_ad.transforms.recomputation import Recomputed, Repeated
from tape_ad.transforms.tracing import Trace
from tests.rules.checks import recorded
from tests.rules.rows import ROWS
from tests.rules.table import Case, cases
from tests.sampling import some

Array = Any
LARGE = 4_000
"""Up to how many entries the matrix of a map is made."""


def edges(record: ta.ComputationRecord) -> Iterator[tuple[LinearMap, Any, Any]]:
    """Give the maps of a record, with the nodes on both sides."""
    for node in record:
        for parent, linear in record.edges(node.index):
            yield linear, record[parent], node


def matrix(linear: LinearMap, parent: Any, node: Any) -> Array:
    """Push all unit vectors: where the result is not 0, an element depends on another."""
    size = math.prod(parent.shape)
    units = np.eye(size, dtype=parent.dtype).reshape((size, *parent.shape))
    missing = len(node.shape) - len(parent.shape)
    if missing > 0 and linear.broadcasts:
        units = units.reshape((size,) + (1,) * missing + parent.shape)
    pushed = conform(linear.push(units), node.shape, node.dtype, 1)
    return pushed.reshape((size, math.prod(node.shape))).T


REAL = [case for case in cases(ROWS) if case.kind == "real"]


@pytest.mark.parametrize("case", some(REAL, 6), ids=repr)
def test_a_pattern_misses_nothing(case: Case) -> None:
    run = recorded(case.row, case.primals())
    for linear, parent, node in edges(run.record):
        shape = math.prod(node.shape), math.prod(parent.shape)
        if math.prod(shape) > LARGE:
            continue
        pattern = pattern_of(linear, parent.shape, node.shape)
        known = np.zeros(shape, bool)
        known[pattern.rows, pattern.columns] = True
        with np.errstate(all="ignore"):
            entries = matrix(linear, parent, node)
        assert known[np.abs(entries) > 1e-12 * np.max(np.abs(entries), initial=0)].all(), (
            node,
            linear,
        )


def maps() -> list[type]:
    """List every class of maps that the library has."""
    found: dict[type, None] = {}
    for module in pkgutil.walk_packages(ta.__path__, "tape_ad."):
        if module.name.startswith("tape_ad.distributed.") and not find_spec("distributed"):
            continue  # the modules in there need Dask, and have no maps
        for each in vars(importlib.import_module(module.name)).values():
            own = isinstance(each, type) and each.__module__ == module.name
            if own and hasattr(each, "push") and hasattr(each, "pull"):
                found[each] = None
    return list(found)


NO_PATTERN = {
    *(LinearMap, Block, Use, Trace, PlainMap),  # no maps themselves
    *(BlockPartial, Custom, Primitive, Recomputed, Repeated),  # a user's functions
    Released,
}
"""Of these, all depends on all."""


def test_every_map_says_its_pattern() -> None:
    silent = {each for each in maps() if getattr(each, "pattern", None) is None}
    assert silent == NO_PATTERN
