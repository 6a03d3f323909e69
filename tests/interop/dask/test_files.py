"""Files that workers open: their gradient is that of the whole, and one that is broken is named."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("distributed")

import tape_ad as ta
from tape_ad.errors import PartitionError

PARAMS = {"w": np.array([0.1, -0.2, 0.3]), "b": np.array(0.05)}
ROWS = (40, 7, 53)  # of files
X = np.random.default_rng(0).normal(size=(sum(ROWS), 3))
Y = np.tanh(X @ [1.0, 2.0, 3.0])


def loss(p: Any, x: Any, y: Any) -> Any:
    return np.mean((np.tanh(x @ p["w"] + p["b"]) - y) ** 2)


def loss_of_pair(p: Any, pair: Any) -> Any:
    return loss(p, *pair)


def columns(frame: Any) -> Any:
    return frame[["a", "b", "c"]].to_numpy(), frame["y"].to_numpy()


def assert_gradient_of_the_whole(found: Any) -> None:
    """Compare with the formula, in NumPy alone."""
    prediction = np.tanh(X @ PARAMS["w"] + PARAMS["b"])
    slope = 2 * (prediction - Y) * (1 - prediction**2) / len(X)
    np.testing.assert_allclose(found[0], np.mean((prediction - Y) ** 2), rtol=1e-14)
    np.testing.assert_allclose(found[1]["w"], slope @ X, rtol=1e-12)
    np.testing.assert_allclose(found[1]["b"], slope.sum(), rtol=1e-12)


def write_arrays(folder: Path) -> list[Path]:
    files = [folder / f"{i}.npy" for i in range(len(ROWS))]
    for file, x in zip(files, np.split(X, np.cumsum(ROWS)[:-1]), strict=True):
        np.save(file, x)
    return files


def write_frames(folder: Path) -> list[Path]:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    files = [folder / f"{i}.parquet" for i in range(len(ROWS))]
    whole = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y})
    for file, stop, rows in zip(files, np.cumsum(ROWS), ROWS, strict=True):
        whole[stop - rows : stop].to_parquet(file)
    return files


def write_zarr(path: Path, array: Any, chunks: Any, version: int = 3) -> Path:
    zarr = pytest.importorskip("zarr", "3")
    zarr.create_array(
        str(path), shape=array.shape, chunks=chunks, dtype=array.dtype, zarr_format=version
    )[...] = array
    return path


def rubbish(file: Path) -> None:
    file.write_bytes(b"rubbish")


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-50])


@pytest.mark.parametrize("keep", [False, True])
def test_parquet_is_read_by_workers(client: Any, tmp_path: Path, keep: bool) -> None:
    files = write_frames(tmp_path)
    step = ta.interop.dask.value_and_grad(loss_of_pair, columns=columns, keep=keep)
    assert_gradient_of_the_whole(step(PARAMS, files))
    assert_gradient_of_the_whole(step(PARAMS, str(tmp_path / "*.parquet")))


def test_a_data_frame_of_dask_over_parquet(client: Any, tmp_path: Path) -> None:
    write_frames(tmp_path)
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.read_parquet(tmp_path / "*.parquet")
    frame = frame.assign(y=np.tanh(frame["a"] + 2 * frame["b"] + 3 * frame["c"]))
    step = ta.interop.dask.value_and_grad(loss_of_pair, columns=columns)
    assert_gradient_of_the_whole(step(PARAMS, frame))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("width", [2, 3])
def test_zarr_is_read_by_workers(client: Any, tmp_path: Path, version: int, width: int) -> None:
    x = write_zarr(tmp_path / "x.zarr", X, (30, width), version)
    y = write_zarr(tmp_path / "y.zarr", Y, (30,), version)
    step = ta.interop.dask.value_and_grad(
        lambda p, *data: (loss(p, *data), len(data[0])), has_aux=True
    )
    (value, rows), slopes = step(PARAMS, x, str(y))
    assert rows == [30, 30, 30, 10]
    assert_gradient_of_the_whole((value, slopes))


@pytest.mark.parametrize("damage", [Path.unlink, rubbish, cut_off])
@pytest.mark.parametrize("write", [write_arrays, write_frames])
def test_a_file_that_cannot_be_read_is_named(
    client: Any, tmp_path: Path, write: Callable[[Path], list[Path]], damage: Callable[[Path], None]
) -> None:
    files = write(tmp_path)
    damage(files[1])
    step = ta.interop.dask.value_and_grad(lambda p, data: p["b"] * 2, columns=columns)
    with pytest.raises(PartitionError, match=r"reading partition 1 of 3 .*/1\.\w+ ") as caught:
        step(PARAMS, files)
    assert caught.value.__cause__ is not None


def test_a_column_that_is_missing_is_named_with_its_file(client: Any, tmp_path: Path) -> None:
    files = write_frames(tmp_path)
    pd = pytest.importorskip("pandas")
    pd.read_parquet(files[2]).drop(columns="y").to_parquet(files[2])
    step = ta.interop.dask.value_and_grad(loss_of_pair, columns=columns)
    with pytest.raises(PartitionError, match=r"reading partition 2 of 3 .*/2\.parquet ") as caught:
        step(PARAMS, files)
    assert "KeyError: 'y'" in str(caught.value)


@pytest.mark.parametrize("damage", [rubbish, cut_off])
def test_a_chunk_that_cannot_be_read_is_named(
    client: Any, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = write_zarr(tmp_path / "x.zarr", X, (30, 3))
    damage(path / "c" / "1" / "0")
    step = ta.interop.dask.value_and_grad(lambda p, x: np.mean(x @ p["w"]))
    with pytest.raises(PartitionError, match=r"partition 1 of 4 .*x\.zarr \(rows 30 to 60\)"):
        step(PARAMS, path)


@pytest.mark.parametrize("damage", [Path.unlink, rubbish])
def test_a_zarr_array_without_its_description_is_named(
    client: Any, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = write_zarr(tmp_path / "x.zarr", X, (30, 3))
    damage(path / "zarr.json")
    step = ta.interop.dask.value_and_grad(lambda p, x: np.mean(x @ p["w"]))
    with pytest.raises(PartitionError, match=r"x\.zarr cannot be opened: ") as caught:
        step(PARAMS, path)
    assert caught.value.__cause__ is not None


def test_a_zarr_array_without_rows(client: Any, tmp_path: Path) -> None:
    empty = write_zarr(tmp_path / "empty.zarr", X[:0], (30, 3))
    number = write_zarr(tmp_path / "number.zarr", np.array(1.0), ())
    step = ta.interop.dask.value_and_grad(lambda p, x: np.mean(x @ p["w"]))
    with pytest.raises(ValueError, match="no rows in any partition"):
        step(PARAMS, empty)
    with pytest.raises(TypeError, match=r"number\.zarr has no axes"):
        step(PARAMS, number)


@pytest.mark.parametrize("missing", ["pandas", "pyarrow"])
def test_without_what_reads_parquet_the_extra_is_named(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    files = write_frames(tmp_path)
    monkeypatch.setitem(sys.modules, missing, None)
    step = ta.interop.dask.value_and_grad(loss_of_pair, columns=columns)
    with pytest.raises(PartitionError, match=r"partition 0 of 3") as caught:
        step(PARAMS, files)
    assert isinstance(caught.value.__cause__, ImportError)
    assert "a Parquet file needs the extra files: pip install 'tape-ad[files]'" in str(caught.value)


def test_without_what_reads_zarr_the_extra_is_named(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zarr", None)
    step = ta.interop.dask.value_and_grad(loss)
    with pytest.raises(ImportError, match=r"a Zarr array needs the extra files: pip install"):
        step(PARAMS, "x.zarr")
