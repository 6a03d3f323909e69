"""Every map of a row's node says which elements depend on which, and misses none."""

import importlib
import math
import pkgutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import TapeError
from tape_ad.interop.autograd.extend import Primitive
from tape_ad.record.arena import Released
from tape_ad.record.spaces import unbroadcast
from tape_ad.rules.maps import Deferred, LinearMap, broadcasts
from tape_ad.rules.maps.patterns import ALL, READS, dense, pattern_of
from tape_ad.rules.plain_maps import PlainMap
from tape_ad.transforms.blocks import Block, BlockPartial, Use
from tape_ad.transforms.compiled_nodes import OfCompiled
from tape_ad.transforms.custom_rules import Custom
from tape_ad.transforms.opaque import Recorded
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
    if missing > 0 and broadcasts(linear):
        units = units.reshape((size,) + (1,) * missing + parent.shape)
    pushed = unbroadcast(linear.push(units), node.shape, node.dtype, 1)
    return pushed.reshape((size, math.prod(node.shape))).T


REAL = [case for case in cases(ROWS) if case.kind == "real"]


@pytest.mark.parametrize("case", some(REAL, 9), ids=repr)
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


def namespace(held: Any, names: Iterable[str]) -> SimpleNamespace:
    """Make something that has some attributes of a map, and of its attributes, and no others."""
    own: dict[str, Any] = {}
    inner: dict[str, list[str]] = {}
    for name in names:
        first, _, further = name.partition(".")
        if further:
            inner.setdefault(first, []).append(further)
        else:
            own[name] = getattr(held, name)
    own |= {name: namespace(getattr(held, name), further) for name, further in inner.items()}
    return SimpleNamespace(**own)


@pytest.mark.parametrize("case", some(REAL, 18), ids=repr)
def test_a_pattern_reads_what_it_says(case: Case) -> None:
    for linear, parent, node in edges(recorded(case.row, case.primals()).record):
        maker: Any = getattr(type(linear), "pattern", dense)
        names = READS[maker]
        if ALL not in names and type(linear) is not Deferred:
            found = maker(namespace(linear, names), parent.shape, node.shape)
            known = pattern_of(linear, parent.shape, node.shape)
            np.testing.assert_array_equal(found.rows, known.rows)
            np.testing.assert_array_equal(found.columns, known.columns)


def drawn(case: Case, purpose: str) -> list[Array]:
    """Draw other numbers for the differentiable operands."""
    rng = np.random.default_rng(zlib.crc32(f"{case} {purpose}".encode()))
    return [case.row.operands[i].sample(rng, float) for i in case.row.differentiable]


ANOTHER: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "turned around": lambda x, rng: x.reshape(-1)[::-1].reshape(x.shape),
    "in another order": lambda x, rng: rng.permutation(x.ravel().copy()).reshape(x.shape),
    "moved along the first axis": lambda x, rng: np.roll(x, 1, axis=0) if x.ndim else x,
    "with the other sign": lambda x, rng: -x,
    "all equal": lambda x, rng: np.full(x.shape, x.reshape(-1)[0]) if x.size else x,
    "some equal": lambda x, rng: rng.choice(x.reshape(-1)[:2], x.shape) if x.size else x,
    "zero": lambda x, rng: np.zeros(x.shape),
    "zero in places": lambda x, rng: np.where(rng.random(x.shape) < 0.5, x, 0.0),
    "whole": lambda x, rng: np.round(2 * x),
}
"""What is made of the elements of an operand: other orders, ties and kinks."""


def points(case: Case) -> Iterator[list[Array]]:
    """List points for the differentiable operands, in the domain or not, the row's own first."""
    yield case.leaves()
    yield drawn(case, "another point")
    rng = np.random.default_rng(0)
    for change in ANOTHER.values():
        yield [change(leaf, rng) for leaf in case.leaves()]


def real_outputs(case: Case) -> Callable[..., list[Array]]:
    """Make the function of a row's operands that lists real arrays."""

    def outputs(*leaves: Array) -> list[Array]:
        return [
            part
            for out in case.apply(leaves)
            for part in ((out.real, out.imag) if np.iscomplexobj(out) else (out,))
        ]

    return outputs


OUTSIDE = (ArithmeticError, ValueError, IndexError, RuntimeError, TapeError)
"""What functions raise outside of their domains: errors of LAPACK and ours are among them."""


@pytest.mark.parametrize("case", some(REAL, 30), ids=repr)
@pytest.mark.filterwarnings("ignore")  # of points outside of the domain
def test_a_pattern_is_that_of_the_point(case: Case) -> None:
    numbers = tuple(range(len(case.row.differentiable)))
    jacobian = ta.sparse_jacobian(real_outputs(case), numbers, "forward")
    for leaves in points(case):
        with np.errstate(all="ignore"):
            try:
                sides = jacobian.traced(tuple(leaves), {})
                whole = sides.pushed(np.eye(sides.columns)).T
            except OUTSIDE:
                continue
            found = jacobian(*leaves).toarray()
        known = np.isfinite(whole)
        allowed = 1e-9 * np.max(np.abs(whole[known]), initial=1.0)
        np.testing.assert_allclose(found[known], whole[known], rtol=0, atol=allowed)


def maps() -> list[type]:
    """List every class of maps that the library has."""
    found: dict[type, None] = {}
    for module in pkgutil.walk_packages(ta.__path__, "tape_ad."):
        if module.name.startswith("tape_ad.interop.dask.") and not find_spec("distributed"):
            continue  # the modules in there need Dask, and have no maps
        for each in vars(importlib.import_module(module.name)).values():
            own = isinstance(each, type) and each.__module__ == module.name
            if own and hasattr(each, "push") and hasattr(each, "pull"):
                found[each] = None
    return list(found)


NO_PATTERN = {
    *(LinearMap, Block, Use, Trace, PlainMap),  # no maps themselves
    *(BlockPartial, Custom, OfCompiled, Primitive, Recorded, Recomputed, Repeated),  # functions
    Released,
}
"""Of these, all depends on all."""


def test_every_map_says_its_pattern() -> None:
    silent = {each for each in maps() if getattr(each, "pattern", None) is None}
    assert silent == NO_PATTERN


def test_every_map_says_what_its_pattern_reads() -> None:
    said = (getattr(each, "pattern", None) for each in maps())
    assert {each for each in said if each is not None} <= set(READS)


def test_what_patterns_read_is_noted_once() -> None:
    def noted() -> int:
        for function in (np.linalg.det, lambda x: np.linalg.eigvalsh(x).sum()):
            ta.grad(function)(np.diag([1.0, 2.0]))
        return len(READS)

    assert noted() == noted()
