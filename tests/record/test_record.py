"""The record: leaves, looking inside, printing, bytes, and the check for mutated inputs."""

import copy
import gc
import pickle
import tracemalloc
import weakref
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import (
    ConversionError,
    DtypeError,
    RecordMismatchError,
)

# Leaves


@pytest.mark.parametrize(
    "dtype", ["f2", "f4", "f8", "g", "F", "D", "G", ">f8", ">f4"], ids=lambda name: f"dtype-{name}"
)
def test_a_leaf_keeps_floating_and_complex_dtypes_and_the_array_itself(dtype: str) -> None:
    data = np.ones((2, 3), dtype)
    leaf: Any = ta.ComputationRecord().tensor(data)
    assert leaf.data is data
    assert leaf.dtype == np.dtype(dtype)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "u8", "i8"])
def test_integers_and_bools_become_float64(dtype: str) -> None:
    leaf: Any = ta.ComputationRecord().tensor(np.ones(2, dtype))
    np.testing.assert_array_equal(leaf.data, np.ones(2), strict=True)
    np.testing.assert_array_equal(np.sum(leaf * leaf).grad().wrt(leaf), [2.0, 2.0], strict=True)


@pytest.mark.parametrize(
    ("data", "shape", "dtype"),
    [
        (3, (), "f8"),
        (3.5, (), "f8"),
        (True, (), "f8"),
        (2j, (), "c16"),
        ([1, 2], (2,), "f8"),
        ([[1.0], [2.0]], (2, 1), "f8"),
        ((1, 2j), (2,), "c16"),
        ([], (0,), "f8"),
        (range(3), (3,), "f8"),
        (np.float32(2), (), "f4"),
        (np.int8(2), (), "f8"),
        (np.complex64(2), (), "c8"),
    ],
)
def test_a_leaf_from_an_array_like(data: Any, shape: tuple[int, ...], dtype: str) -> None:
    leaf: Any = ta.ComputationRecord().tensor(data)
    assert isinstance(leaf.data, np.ndarray) is (shape != () or data is True)
    assert leaf.shape == shape
    assert leaf.dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    "data",
    [
        np.array([1, None], dtype=object),
        [object()],
        "abc",
        ["a", "b"],
        b"abc",
        None,
        np.array(["2020-01-01"], "M8[D]"),
        np.array([1], "m8[s]"),
        np.zeros(2, dtype=[("a", "f8")]),
    ],
    ids=["object", "list", "str", "strings", "bytes", "None", "datetime", "timedelta", "struct"],
)
def test_data_without_a_derivative_is_refused(data: Any) -> None:
    rec: Any = ta.ComputationRecord()
    with pytest.raises(
        DtypeError,
        match=r"the data of a leaf (has dtype|cannot be differentiated)",
    ):
        rec.tensor(data)
    assert len(rec) == 0


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(DtypeError, match=r"MaskedArray.*\.filled"):
        ta.ComputationRecord().tensor(np.ma.masked_array([1.0], mask=[True]))


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_matrices_are_refused() -> None:
    with pytest.raises(DtypeError, match=r"matrix.*plain array"):
        ta.ComputationRecord().tensor(np.matrix([[1.0]]))


def test_a_subclass_without_arithmetic_of_its_own_is_taken_as_a_plain_array(tmp_path: Any) -> None:
    data = np.memmap(tmp_path / "x", dtype="f8", mode="w+", shape=3)
    assert type(ta.ComputationRecord().tensor(data).data) is np.ndarray


def test_no_operation_writes_to_the_callers_array() -> None:
    data = np.arange(6.0).reshape(2, 3)
    data.flags.writeable = False
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(data)
    out = np.sum(np.exp(x) @ x.T) + np.sum(x[0]) + np.max(x)
    out.grad().wrt(x)
    np.testing.assert_array_equal(data, np.arange(6.0).reshape(2, 3))


def test_a_handle_of_the_same_record_is_no_leaf() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(1.0)
    with pytest.raises(RecordMismatchError, match="handle of this very record"):
        rec.tensor(x)


def test_a_handle_of_an_unrelated_record_is_no_leaf() -> None:
    x: Any = ta.ComputationRecord().tensor(1.0)
    with pytest.raises(RecordMismatchError, match=r"another record.*\.data.*within="):
        ta.ComputationRecord().tensor(x)


def test_a_handle_of_an_inner_record_is_no_leaf_of_the_outer() -> None:
    outer: Any = ta.ComputationRecord()
    inner: Any = ta.ComputationRecord(within=outer).tensor(1.0)
    with pytest.raises(RecordMismatchError, match="another record"):
        outer.tensor(inner)


@pytest.mark.parametrize("within", [1, "outer", np.zeros(2)])
def test_within_takes_a_record(within: Any) -> None:
    with pytest.raises(TypeError, match="within= takes a ComputationRecord, got"):
        ta.ComputationRecord(within=within)


# Looking inside


def test_the_program_is_printed_a_line_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"w": np.ones((3, 2), np.float32), "b": 1.5})
    x = np.ones((4, 3), np.float32)
    np.mean(np.maximum(x @ p["w"] + p["b"], 0) * 1j)
    print(rec)  # noqa: T201 - printing is what is tested
    assert capsys.readouterr().out == (
        "%0: float32[3,2] = leaf w\n"
        "%1: float64[] = leaf b\n"
        "%2: float32[4,2] = matmul float32[4,3], %0\n"
        "%3: float64[4,2] = add %2, %1\n"
        "%4: float64[4,2] = maximum %3, 0\n"
        "%5: complex128[4,2] = multiply %4, 1j\n"
        "%6: complex128[] = mean %5\n"
    )


def test_an_empty_record() -> None:
    rec: Any = ta.ComputationRecord()
    assert len(rec) == 0
    assert str(rec) == ""
    assert rec.nbytes == 0
    assert list(rec) == []
    assert repr(rec) == "<ComputationRecord: 0 nodes, 0 leaves, 0 bytes>"


def test_repr_counts() -> None:
    outer: Any = ta.ComputationRecord()
    rec: Any = ta.ComputationRecord(within=outer)
    x = rec.tensor(np.ones(10))
    np.exp(x)
    assert repr(rec) == "<ComputationRecord: 2 nodes, 1 leaves, 80 bytes, within another>"


def test_a_node_tells_what_it_is() -> None:
    rec: Any = ta.ComputationRecord()
    x, y = rec.tensor(np.ones((2, 3))), rec.tensor(np.ones(3, np.float32))
    x * y
    node = rec[2]
    assert isinstance(node, ta.Node)
    assert (node.index, node.function, node.parents) == (2, np.multiply, (0, 1))
    assert (node.shape, node.dtype) == ((2, 3), np.dtype("f8"))
    assert node.nbytes == 6 * 8 + 3 * 4
    assert str(node) == "%2: float64[2,3] = multiply %0, %1"
    assert rec[0].function is None
    assert rec[0].parents == ()
    assert rec[0].nbytes == 0


def test_negative_indices_count_from_the_end() -> None:
    rec: Any = ta.ComputationRecord()
    np.exp(rec.tensor(1.0))
    assert rec[-1] == rec[1]
    assert rec[-2].index == 0
    assert rec[np.int64(1)].function is np.exp


@pytest.mark.parametrize("index", [2, -3, 100])
def test_an_index_out_of_range(index: int) -> None:
    rec: Any = ta.ComputationRecord()
    np.exp(rec.tensor(1.0))
    with pytest.raises(IndexError):
        rec[index]


def test_a_parent_used_twice_stands_twice() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(3.0)
    x * x
    assert rec[1].parents == (0, 0)


def test_iteration_gives_the_nodes_in_order() -> None:
    rec: Any = ta.ComputationRecord()
    np.sin(np.exp(rec.tensor(1.0)))
    assert [node.function for node in rec] == [None, np.exp, np.sin]


def test_bytes_of_a_shared_array_are_counted_once() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(100))
    y = x * 2.0
    assert rec.nbytes == 0  # a Python number is no array
    y * y
    assert rec[2].nbytes == 800
    assert rec.nbytes == 800
    y * x
    assert rec[3].nbytes == 1600
    assert rec.nbytes == 1600


def test_bytes_of_views_are_those_of_the_array_they_keep_alive() -> None:
    rec: Any = ta.ComputationRecord()
    base = np.ones((10, 10))
    x, row = rec.tensor(np.ones(10)), base[0]
    x * row
    x * base[1]
    assert rec.nbytes == base.nbytes


def test_an_operation_keeps_only_what_its_partial_needs() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(1000))
    np.sum((x + 1.0) - np.ones(1000))
    assert rec.nbytes == 0


# The primal lives in the handle


def test_an_array_that_no_partial_needs_goes_with_its_handle() -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(10))
    y = x + 1.0
    array = weakref.ref(y.data)
    z = y + 1.0
    del y
    assert array() is None
    np.testing.assert_array_equal(z.grad(seed=np.ones(10)).wrt(x), np.ones(10))


def test_an_array_that_a_partial_needs_stays() -> None:
    rec: Any = ta.ComputationRecord()
    y = np.exp(rec.tensor(np.ones(10)))
    array = weakref.ref(y.data)
    del y
    assert array() is not None
    del rec
    assert array() is None


def test_a_dropped_record_is_freed_without_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        rec: Any = ta.ComputationRecord()
        x = rec.tensor(np.ones(10))
        loss = np.sum(np.exp(x) * x)
        grads = loss.grad()
        seen = weakref.ref(rec)
        del rec, x, loss
        assert seen() is None
        assert repr(grads).startswith("<Gradients of node %3: 2 handles reached\n  %0 ")
        assert len(grads) == 0
    finally:
        gc.enable()


def bytes_per_node(n: int) -> float:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        rec: Any = ta.ComputationRecord()
        y = rec.tensor(np.ones(1))
        for _ in range(n):
            y = np.sin(y)
        return (tracemalloc.get_traced_memory()[0] - before) / n
    finally:
        tracemalloc.stop()


def test_memory_is_proportional_to_the_chain() -> None:
    # Python and NumPy keep some thousands of freed objects, which cost a chain nothing.
    few, many = bytes_per_node(20_000), bytes_per_node(100_000)
    assert many < 1.2 * few
    assert many < 1000


def test_a_chain_of_a_million_nodes() -> None:
    n = 1_000_000
    rec: Any = ta.ComputationRecord()
    x = y = rec.tensor(1.0)
    for _ in range(n):
        y = y + 1e-6
    gradient = (y * y).grad().wrt(x)
    assert len(rec) == n + 2
    assert gradient == pytest.approx(4.0, rel=1e-9)
    del rec, x, y  # freed without recursion too


# Records do not meet


def test_handles_of_two_records_do_not_mix() -> None:
    x, y = ta.ComputationRecord().tensor(1.0), ta.ComputationRecord().tensor(2.0)
    with pytest.raises(RecordMismatchError, match=r"np\.multiply got handles of two records"):
        x * y


def test_a_record_is_neither_copied_nor_pickled() -> None:
    rec = ta.ComputationRecord()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(ConversionError, match="a record cannot be copied or pickled"):
            copied(rec)


def test_a_record_tells_its_own_handles() -> None:
    rec = ta.ComputationRecord()
    x: Any = rec.tensor(1.0)
    assert x in rec
    assert x not in ta.ComputationRecord()
    with pytest.raises(TypeError):
        rec[0:1]  # type: ignore[index]  # what a user may try
