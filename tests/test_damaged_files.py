"""Files that are damaged or are something else: a clear error, and nothing in them is run."""

import io
import itertools
import json
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tape_ad.errors import DamagedFileError
from tape_ad.parameters import load, save
from tape_ad.training import load_checkpoint

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


@pytest.mark.parametrize(
    "array",
    [
        np.array(["a"]),
        np.array([b"a"]),
        np.array(["2020-01-01"], "M8[s]"),
        np.array([1], "m8[s]"),
        np.zeros(2, [("a", float)]),
        np.zeros(2, [("\N{LATIN SMALL LETTER A WITH DIAERESIS}", float)]),
        np.zeros(2, "V3"),
    ],
    ids=lambda array: array.dtype.str,
)
def test_what_is_no_number_is_refused(
    tmp_path: Path, array: Array, recwarn: pytest.WarningsRecorder
) -> None:
    np.savez(tmp_path / "p.npz", w=array)
    recwarn.clear()  # NumPy says that such names need the third version of its format
    with pytest.raises(
        DamagedFileError, match=r"entry 'w\.npy' has dtype .*a store holds arrays of"
    ):
        load(tmp_path / "p.npz")


def test_a_small_file_of_large_arrays_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
    with archive, archive.open("w.npy", "w") as entry:
        np.lib.format.write_array(entry, np.broadcast_to(0.0, (2**25 + 1,)))
    assert path.stat().st_size < 2**20
    with pytest.raises(DamagedFileError, match=r"bytes, more than the 268435456 that are allowed"):
        load(path)
    with pytest.raises(DamagedFileError, match=r"write load\(path, max_bytes=268435592\)"):
        load_checkpoint(path)


def test_how_much_may_be_loaded_is_for_the_caller_to_say(tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        path = tmp_path / f"p{suffix}"
        save(path, {"w": np.zeros(1000)})
        with pytest.raises(DamagedFileError, match="more than the 8000 that are allowed"):
            load(path, max_bytes=8000)
        assert load(path, max_bytes=9000)["w"].shape == (1000,)


def test_an_array_that_says_it_is_longer_than_its_entry_takes_no_memory(tmp_path: Path) -> None:
    for shape in (b"(10**9,)}  ", b"(True,), } "):
        whole = npy_bytes(np.arange(4.0)).replace(b"(4,), }    ", shape, 1)
        with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
            archive.writestr("w.npy", whole)
        with pytest.raises(DamagedFileError, match="is damaged, or is not what its suffix says"):
            load(tmp_path / "p.npz")


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 99999999999999999999), }",
        b"{[]: 1}",
        b"{'descr': (), 'fortran_order': False, 'shape': (1,), }",
    ],
)
def test_a_hostile_header_of_numpys(tmp_path: Path, header: bytes) -> None:
    length = struct.pack("<H", len(header) + 1)
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as archive:
        archive.writestr("w.npy", b"\x93NUMPY\x01\x00" + length + header + b"\n" + bytes(8))
    with pytest.raises(DamagedFileError):
        load(tmp_path / "p.npz")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_what_is_unpacked_all_at_once_is_refused(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "p.npz", "w", method) as archive:
        archive.writestr("w.npy", npy_bytes(np.arange(4.0)))
    with pytest.raises(DamagedFileError, match="is not packed as NumPy packs arrays"):
        load(tmp_path / "p.npz")


@pytest.mark.parametrize("limit", [float("nan"), "1G", -1, 1e9])
def test_a_limit_is_a_number_of_bytes(tmp_path: Path, limit: Any) -> None:
    save(tmp_path / "p.npz", {"w": np.zeros(1)})
    with pytest.raises(ValueError, match="max_bytes counts bytes, got"):
        load(tmp_path / "p.npz", max_bytes=limit)


@pytest.mark.parametrize("dtype", ["BF16", "F8_E4M3"])
def test_numbers_that_numpy_does_not_have(tmp_path: Path, dtype: str) -> None:
    length = {"BF16": 4, "F8_E4M3": 2}[dtype]
    write_safetensors(
        tmp_path / "p.safetensors",
        json.dumps({"w": {"dtype": dtype, "shape": [2], "data_offsets": [0, length]}}),
        bytes(length),
    )
    with pytest.raises(DamagedFileError, match="holds numbers that NumPy has no dtype for"):
        load(tmp_path / "p.safetensors")


@pytest.mark.parametrize(("dtype", "length"), [("BF16", 4), ("F8_E4M3", 2), ("F8_E5M2", 2)])
def test_numbers_that_another_library_has_given_numpy(
    tmp_path: Path, dtype: str, length: int
) -> None:
    write_safetensors(
        tmp_path / "p.safetensors",
        json.dumps({"w": {"dtype": dtype, "shape": [2], "data_offsets": [0, length]}}),
        bytes(length),
    )
    pytest.importorskip("ml_dtypes")
    with pytest.raises(DamagedFileError, match="holds numbers that NumPy has no dtype for"):
        load(tmp_path / "p.safetensors")


@pytest.mark.parametrize(
    "header", ["[" * 100_000, '{"a":' * 100_000, '{"__metadata__": {"a": 3}}', "9" * 100_000, ""]
)
def test_a_hostile_header(tmp_path: Path, header: str) -> None:
    write_safetensors(tmp_path / "p.safetensors", header, b"")
    with pytest.raises(DamagedFileError):
        load(tmp_path / "p.safetensors")


def write_safetensors(path: Path, header: str, data: bytes) -> None:
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + data)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "9" * 10_000,
        '{"bit_generator": ' + "9" * 10_000 + "}",
        '{"array": [1e999], "dtype": "<u4"}',
        '{"bit_generator": "' + "x" * 100_000 + '"}',
    ],
)
def test_a_hostile_state_of_a_generator(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.npz"
    save(path, {"step": np.array(1), "rng/a": np.frombuffer(text.encode(), np.uint8)})
    with pytest.raises(DamagedFileError, match="the generator 'a' cannot be read") as raised:
        load_checkpoint(path)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_that_no_file_holds(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"p{suffix}"
    save(path, {"w" * 65_531: np.zeros(1)})
    assert list(load(path)) == ["w" * 65_531]
    with pytest.raises(
        ValueError, match=r"may take 65531 bytes, the one that begins with 'w{40}' "
    ):
        save(path, {"w" * 65_532: np.zeros(1)})
    with pytest.raises(ValueError, match="is no text: surrogates not allowed"):
        save(path, {"w\ud800": np.zeros(1)})
    assert list(load(path)) == ["w" * 65_531]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    left, fresh, other = (tmp_path / name for name in (".tape_ad-1.tmp", ".tape_ad-2.tmp", "a.tmp"))
    for path in (left, fresh, other):
        path.write_bytes(b"half")
    for path in (left, other):
        os.utime(path, (0, 0))
    save(tmp_path / "p.npz", {"w": np.zeros(1)})
    assert sorted(path.name for path in tmp_path.iterdir()) == [fresh.name, other.name, "p.npz"]


def test_a_process_that_is_killed_while_it_saves(tmp_path: Path) -> None:
    save(tmp_path / "p.npz", {"w": np.zeros(1)})
    program = (
        "import os, sys, numpy as np; from tape_ad import parameters; "
        "parameters.bring_to_disk = os.fsync = lambda _: os.kill(os.getpid(), 9); "
        "parameters.save(sys.argv[1], {'w': np.ones(1)})"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "p.npz")]
    done = subprocess.run(command, check=False)  # noqa: S603 - the program above
    assert done.returncode == -9
    assert load(tmp_path / "p.npz")["w"] == 0
    (left,) = tmp_path.glob("*.tmp")
    os.utime(left, (0, 0))
    save(tmp_path / "q.npz", {"w": np.zeros(1)})
    assert not list(tmp_path.glob("*.tmp"))
