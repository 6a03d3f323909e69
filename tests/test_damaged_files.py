"""Files that are damaged or are something else: a clear error, and nothing in them is run."""

import io
import itertools
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tape_ad.parameters import load, save

Array = np.ndarray[Any, Any]

SUFFIXES = [".npz", ".safetensors"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [b"", b"PK", b"not parameters at all", b"\x93NUMPY" * 20])
def test_another_kind_of_file_is_refused(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"p{suffix}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is damaged, or is not what its suffix says: ") as raised:
        load(path)
    assert repr(str(path)) in str(raised.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"p{suffix}"
    save(path, {"w": np.arange(4.0), "b": np.zeros(2, np.float32)})
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is damaged, or is not what its suffix says"):
            load(path)


def test_a_flipped_bit_in_an_npz_is_noticed_or_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    params = {"w": np.arange(4.0), "b": np.zeros(2, np.float32)}
    save(path, params)
    whole = path.read_bytes()
    harmless = 0
    for position, bit in itertools.product(range(len(whole)), (0, 7)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << bit
        path.write_bytes(damaged)
        try:
            loaded = load(path)
        except ValueError as error:
            assert "is damaged, or is not what its suffix says" in str(error)  # noqa: PT017  # many
        else:
            assert loaded.keys() == params.keys()
            assert all(loaded[name].tobytes() == params[name].tobytes() for name in params)
            harmless += 1
    assert harmless < len(whole)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive, archive.open("w.npy", "w") as entry:
        np.lib.format.write_array(entry, np.array([print]), allow_pickle=True)
    with pytest.raises(ValueError, match="Object arrays cannot be loaded when allow_pickle=False"):
        load(tmp_path / "p.npz")


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.writestr("letter.txt", "dear reader")
    with pytest.raises(ValueError, match=r"says: its entry 'letter\.txt' is not an array alone$"):
        load(tmp_path / "p.npz")


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.writestr("w.npy", npy_bytes(np.ones(1)))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("w.npy", npy_bytes(np.zeros(1)))
    with pytest.raises(ValueError, match=r"says: it has two entries 'w\.npy'$"):
        load(tmp_path / "p.npz")


def npy_bytes(array: Array) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"(4,)", b"(((("),
        (b"(4,)", b"(-4)"),
        (b"'<f8'", b"'|O8'"),
        (b"(4,), }", b"(9**9,)"),
        (b"(4,), }        ", b"(99999999999,)}"),
        (b"False", b"'No' "),
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    whole = npy_bytes(np.arange(4.0))
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.writestr("w.npy", whole.replace(old, new, 1))
    with pytest.raises(ValueError, match="is damaged, or is not what its suffix says"):
        load(tmp_path / "p.npz")


def test_bytes_after_an_array_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive, archive.open("w.npy", "w") as entry:
        np.lib.format.write_array(entry, np.ones(3))
        entry.write(b"more")
    with pytest.raises(ValueError, match=r"says: its entry 'w\.npy' is longer than its array$"):
        load(tmp_path / "p.npz")
