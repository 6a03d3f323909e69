"""Values and gradients over distributed data are those of one process."""

import io
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import urlopen

import numpy as np
import pytest

pytest.importorskip("distributed")

import dask.array as da
import dask.bag as db
from dask.base import persist
from dask.delayed import delayed as task

import tape_ad as ta
from tape_ad.errors import PartitionError
from tape_ad.interop.dask import steps
from tape_ad.interop.dask.partitions import data_of

PARAMS = {"w": np.array([0.1, -0.2, 0.3]), "b": np.array(0.05)}
ROWS = (30, 7, 0, 23, 40)  # of partitions
X = np.random.default_rng(0).normal(size=(sum(ROWS), 3))
Y = np.tanh(X @ [1.0, 2.0, 3.0])


def loss(p: Any, x: Any, y: Any) -> Any:
    return np.mean((np.tanh(x @ p["w"] + p["b"]) - y) ** 2)


def total(p: Any, x: Any, y: Any) -> Any:
    return np.sum((np.tanh(x @ p["w"] + p["b"]) - y) ** 2)


def parts() -> list[tuple[Any, Any]]:
    return [
        (X[stop - rows : stop], Y[stop - rows : stop])
        for rows, stop in zip(ROWS, np.cumsum(ROWS), strict=True)
    ]


def arrays() -> tuple[Any, Any]:
    return da.from_array(X, chunks=(ROWS, 2)), da.from_array(Y, chunks=(ROWS,))


def delayed() -> tuple[Any, Any]:
    pairs = [(task(x), task(y)) for x, y in parts()]
    return [x for x, _ in pairs], [y for _, y in pairs]


def assert_same_bits(one: Any, other: Any) -> None:
    assert one[0].tobytes() == other[0].tobytes()
    for name in PARAMS:
        assert one[1][name].tobytes() == other[1][name].tobytes()


def assert_close(one: Any, other: Any) -> None:
    np.testing.assert_allclose(one[0], other[0], rtol=1e-14)
    for name in PARAMS:
        np.testing.assert_allclose(one[1][name], other[1][name], rtol=1e-12)


@pytest.mark.parametrize(("function", "reduce"), [(loss, "mean"), (total, "sum")])
def test_it_is_the_gradient_of_the_whole(client: Any, function: Any, reduce: Any) -> None:
    found = ta.interop.dask.value_and_grad(function, reduce)(PARAMS, *arrays())
    assert_close(found, ta.value_and_grad(function)(PARAMS, X, Y))
    assert all(not slope.flags.writeable for slope in found[1].values())


def test_all_kinds_of_data_give_the_same_bits(client: Any, tmp_path: Path) -> None:
    step = ta.interop.dask.value_and_grad(loss)
    expected = step(PARAMS, *arrays())
    for i, (x, y) in enumerate(parts()):
        np.save(tmp_path / f"x-{i}.npy", x)
        np.save(tmp_path / f"y-{i}.npy", y)
    held = [client.submit(np.asarray, x) for x, _ in parts()]
    lazy = arrays()[0] * 2 / 2
    files = [tmp_path / f"x-{i}.npy" for i in range(len(ROWS))]
    kinds = {
        "delayed": delayed(),
        "persisted": persist(*arrays()),
        "lazy": (lazy, arrays()[1]),
        "shared": (lazy + 0 * lazy.sum(), arrays()[1]),
        "futures": (held, delayed()[1]),
        "a pattern of files": (str(tmp_path / "x-*.npy"), tmp_path / "y-*.npy"),
        "a list of files": (files, arrays()[1]),
    }
    for data in kinds.values():
        assert_same_bits(step(PARAMS, *data), expected)


def test_data_that_are_kept_change_no_bit(client: Any) -> None:
    expected = ta.interop.dask.value_and_grad(loss)(PARAMS, *arrays())
    step = ta.interop.dask.value_and_grad(loss, keep=True)
    data = persist(*arrays())
    for _ in range(3):
        assert_same_bits(step(PARAMS, *data), expected)


def test_compiled_losses_are_the_same_but_for_rounding(client: Any) -> None:
    step = ta.interop.dask.value_and_grad(loss, compile=True)
    for _ in range(3):
        assert_close(step(PARAMS, *arrays()), ta.value_and_grad(loss)(PARAMS, X, Y))
    assert_same_bits(step(PARAMS, *arrays()), step(PARAMS, *delayed()))


def test_bags_are_lists(client: Any) -> None:
    bag = db.from_sequence(range(20), npartitions=6).map(float)
    step = ta.interop.dask.value_and_grad(lambda p, items: p * np.mean(np.array(items)))
    value, slope = step(2.0, bag)
    assert (value, slope) == (19.0, 9.5)


@pytest.mark.parametrize("option", ["reduce", "has_aux", "columns", "keep", "compile"])
def test_nonsense_for_an_option_is_an_error(option: str) -> None:
    nonsense = np.zeros(2)  # which is neither true nor false
    with pytest.raises((TypeError, ValueError)):
        steps.value_and_grad(np.sum, **{option: nonsense})  # type: ignore[arg-type]  # nonsense


def test_data_frames_are_what_columns_makes_of_them(client: Any, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"x": X[:, 0], "y": Y})
    for i in range(2):
        frame[50 * i : 50 * i + 50].to_parquet(tmp_path / f"{i}.parquet")
    step = ta.interop.dask.value_and_grad(
        lambda p, data: np.mean((p * data["x"] - data["y"]) ** 2),
        columns=lambda frame: {name: frame[name].to_numpy() for name in ("x", "y")},
    )
    value, slope = step(0.5, dd.from_pandas(frame, npartitions=2))
    again, _ = step(0.5, str(tmp_path / "*.parquet"))
    off = 0.5 * X[:, 0] - Y
    np.testing.assert_allclose([value, again], np.mean(off**2), rtol=1e-14)
    np.testing.assert_allclose(slope, np.mean(2 * off * X[:, 0]), rtol=1e-12)
    with pytest.raises(TypeError, match="columns="):
        ta.interop.dask.value_and_grad(loss)(0.5, dd.from_pandas(frame, npartitions=2))


def test_what_else_the_loss_gives_comes_by_partition(client: Any) -> None:
    step = ta.interop.dask.value_and_grad(lambda p, x, y: (loss(p, x, y), len(x)), has_aux=True)
    (value, counts), _ = step(PARAMS, *arrays())
    assert counts == [30, 7, None, 23, 40]
    np.testing.assert_allclose(value, loss(PARAMS, X, Y), rtol=1e-14)


class Pair(NamedTuple):
    a: Any
    note: str


def test_structures_and_dtypes_stay(client: Any) -> None:
    params = {"x": [Pair(np.array([2.0], np.float32), "kept"), None], "z": np.array([1 + 2j])}

    def f(p: Any, x: Any) -> Any:
        pair = p["x"][0]
        return np.mean(x) * np.sum(pair.a) + np.sum(np.abs(p["z"]) ** 2)

    x = da.ones(10, chunks=4, dtype=np.float32)
    value, slopes = ta.interop.dask.value_and_grad(f)(params, x)
    expected = ta.value_and_grad(f)(params, np.ones(10, np.float32))
    np.testing.assert_allclose(value, expected[0], rtol=1e-14)
    assert value.dtype == expected[0].dtype
    assert isinstance(slopes["x"][0], Pair)
    assert slopes["x"][0].note == "kept"
    assert slopes["x"][1] is None
    assert slopes["x"][0].a.dtype == np.float32
    np.testing.assert_allclose(slopes["x"][0].a, expected[1]["x"][0].a)
    np.testing.assert_allclose(slopes["z"], expected[1]["z"])


def test_half_precision_does_not_overflow(client: Any) -> None:
    x = da.ones(100_000, chunks=40_000, dtype=np.float16)
    params = np.array([3.0], np.float16)
    value, slope = ta.interop.dask.value_and_grad(lambda p, x: np.sum(p) * x[0])(params, x)
    assert value == 3
    assert slope.dtype == np.float16
    assert slope == [1]


def test_an_exception_names_its_partition(client: Any) -> None:
    def f(p: Any, x: Any, y: Any) -> Any:
        if len(x) == 23:
            raise ZeroDivisionError("a fault of the user's")
        return loss(p, x, y)

    with pytest.raises(PartitionError, match="computing partition 3 of 5") as caught:
        ta.interop.dask.value_and_grad(f)(PARAMS, *arrays())
    assert "in f\n" in str(caught.value)
    assert "ZeroDivisionError: a fault of the user's" in str(caught.value)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


class UnsendableError(Exception):
    def __init__(self, one: int, other: int) -> None:
        super().__init__("cannot be made again")


def test_an_exception_that_cannot_be_sent_is_told(client: Any) -> None:
    def f(p: Any, x: Any, y: Any) -> Any:
        raise UnsendableError(1, 2)

    with pytest.raises(PartitionError, match="cannot be made again") as caught:
        ta.interop.dask.value_and_grad(f)(PARAMS, *arrays())
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("keep", [False, True])
def test_data_that_went_away_and_come_back(client: Any, tmp_path: Path, keep: bool) -> None:
    for i, (x, _) in enumerate(parts()):
        np.save(tmp_path / f"{i}.npy", x)
    files = [tmp_path / f"{i}.npy" for i in range(len(ROWS))]
    step = ta.interop.dask.value_and_grad(loss, keep=keep)
    files[1].rename(tmp_path / "away")
    with pytest.raises(PartitionError, match=r"reading partition 1 of 5 .*1\.npy") as caught:
        step(PARAMS, files, arrays()[1])
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    (tmp_path / "away").rename(files[1])
    y = arrays()[1]
    expected = ta.interop.dask.value_and_grad(loss)(PARAMS, *arrays())
    assert_same_bits(step(PARAMS, files, y), expected)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_nan_names_its_partition(client: Any) -> None:
    y = Y.copy()
    y[35] = np.nan
    data = arrays()[0], da.from_array(y, chunks=(ROWS,))
    with pytest.warns(RuntimeWarning, match="the loss is nan on partition 1 of 5") as caught:
        value, slopes = ta.interop.dask.value_and_grad(loss)(PARAMS, *data)
    assert caught[0].filename == __file__
    assert np.isnan(value)
    assert np.isnan(slopes["w"]).all()


def test_what_cannot_be_divided_is_refused(client: Any) -> None:
    step = ta.interop.dask.value_and_grad(loss)
    x, y = arrays()
    with pytest.raises(TypeError, match="needs data"):
        step(PARAMS)
    with pytest.raises(TypeError, match=r"a NumPy array; dask\.array\.from_array"):
        step(PARAMS, X, Y)
    with pytest.raises(TypeError, match="not list"):
        step(PARAMS, [], y)
    with pytest.raises(TypeError, match="no axes"):
        step(PARAMS, x.sum(), y)
    with pytest.raises(ValueError, match=r"\[5, 2\] partitions"):
        step(PARAMS, x, y.rechunk(50))
    with pytest.raises(PartitionError, match=r"\[30, 40\] rows here"):
        step(PARAMS, x, da.from_array(Y, chunks=(ROWS[::-1],)))
    with pytest.raises(ValueError, match="no rows in any partition"):
        step(PARAMS, x[:0], y[:0])
    with pytest.raises(FileNotFoundError, match="no file matches"):
        step(PARAMS, "nowhere/*.npy", y)
    with pytest.raises(TypeError, match=r"not of \.csv"):
        step(PARAMS, ["a.csv"], y)
    with pytest.raises(ValueError, match="'mean' or 'sum'"):
        ta.interop.dask.value_and_grad(loss, "median")  # type: ignore[arg-type]  # which is meant
    with pytest.raises(TypeError, match="takes a function"):
        ta.interop.dask.value_and_grad(3)  # type: ignore[arg-type]  # the same
    with pytest.raises(PartitionError, match="returned an array of shape"):
        ta.interop.dask.value_and_grad(lambda p, x, y: p["w"])(PARAMS, x, y)


def test_large_parameters_are_a_task_of_their_own(client: Any) -> None:
    params = np.ones((100, 100))
    x = da.ones((10, 100), chunks=(3, 100))
    value, slope = ta.interop.dask.value_and_grad(lambda p, x: np.mean(x @ p))(params, x)
    np.testing.assert_allclose(value, 100)
    np.testing.assert_allclose(slope, np.full((100, 100), 0.01))


def test_long_steps_have_more_blocks_and_the_same_bits(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "LONG", 0.0)
    x = da.random.default_rng(0).normal(size=(64, 3), chunks=(1, 3))
    step = ta.interop.dask.value_and_grad(loss)
    found = [step(PARAMS, x, x.sum(axis=1)) for _ in range(3)]
    data = x, x.sum(axis=1)
    found += [step(PARAMS, *data) for _ in range(2)]
    for other in found[1:]:
        assert_same_bits(other, found[0])
    assert len(step._known[0].ranges) == 8


def test_a_slow_partition_changes_no_bit(client: Any) -> None:
    def slow(p: Any, x: Any, y: Any) -> Any:
        time.sleep(0.05 if len(x) == ROWS[0] else 0)  # so that the first comes last
        return loss(p, x, y)

    data = persist(*arrays())
    expected = ta.interop.dask.value_and_grad(loss)(PARAMS, *data)
    assert_same_bits(ta.interop.dask.value_and_grad(slow)(PARAMS, *data), expected)


def test_the_dashboard_stands_beside_the_bar(client: Any) -> None:
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), width=200)
    step = ta.interop.dask.value_and_grad(loss)
    with ta.training.progress(2, f"see {step.dashboard}", console=console) as report:
        report(loss=step(PARAMS, *arrays())[0])
        report(loss=step(PARAMS, *arrays())[0])
    assert f"see {client.dashboard_link}: step 2/2: loss " in console.file.getvalue()
    with urlopen(str(step.dashboard)) as page:  # noqa: S310 - this scheduler's own
        assert page.status == 200


def test_what_partitions_share_is_held_and_not_they(client: Any) -> None:
    x = da.from_array(X, chunks=(3, 3))
    lazy = x @ np.ones(3)  # whose one constant they share
    assert not data_of((x, lazy), None, client).placed
    assert data_of((x, lazy), None, client).futures
    assert data_of((x.persist(),), None, client).placed
    assert data_of((lazy[:-3] + lazy[3:],), None, client).placed  # of chunks that two of them share


def test_data_go_to_workers_once(client: Any) -> None:
    step = ta.interop.dask.value_and_grad(loss)
    data = arrays()
    step(PARAMS, *data)
    before = {key for key in client.cluster.scheduler.tasks if str(key).startswith("partitions-")}
    step(PARAMS, *data)
    after = {key for key in client.cluster.scheduler.tasks if str(key).startswith("partitions-")}
    assert before == after
    assert before
    step.close()


def test_nothing_is_left_on_the_scheduler(client: Any) -> None:
    tasks = client.cluster.scheduler.tasks
    before = set(tasks)
    step = ta.interop.dask.value_and_grad(loss, keep=True)
    step(PARAMS, *arrays())
    assert set(tasks) - before
    step.close()

    def left() -> list[str]:
        client.submit(int).result()  # behind what the scheduler is told, mostly
        return [key for key in set(tasks) - before if not str(key).startswith("int-")]

    assert not all(left() for _ in range(100))
