"""Saving and loading: every bit comes back, and a failure leaves the old file as it was."""

import os
import stat
import sys
import types
from collections import OrderedDict, UserDict
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.base.trees import named
from tape_ad.errors import ConversionError, DtypeError, StoreMismatchError
from tape_ad.parameters import load, save

Array = np.ndarray[Any, Any]

SUFFIXES = [".npz", ".safetensors"]

NAMES = {
    name: np.arange(3.0) + i
    for i, name in enumerate(
        [
            *("file", "args", "kwds", "allow_pickle", "self", "path", "params", "arr_0"),
            *("hidden.weight", "encoder/0/bias", "/absolute", "../up", "a\\b", "w.npy", "w"),
            *("größe", "重み", "🦀", " ", "", "a\nb", '"quoted"', "x" * 300),
        ]
    )
}

NUMBERS = {
    "float16": np.array([1.5, -0.0, np.inf], np.float16),
    "float32": np.linspace(0, 1, 7, dtype=np.float32).reshape(7, 1),
    "float64": np.array([np.nan, -np.nan, -0.0, 5e-324, np.inf]),
    "complex64": np.array([1 - 2j], np.complex64),
    "int64": np.array([-(2**63), 2**63 - 1]),
    "uint8": np.arange(4, dtype=np.uint8),
    "bool": np.array([True, False]),
    "0-d": np.array(2.5),
    "0-d int": np.array(3, np.int32),
    "empty": np.zeros((0, 3), np.float32),
    "strided": np.arange(20.0)[::3],
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "transposed": np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
    "broadcast": np.broadcast_to(np.float32(1.5), (2, 2)),
}


def assert_same(loaded: dict[str, Array], saved: dict[str, Array]) -> None:
    assert loaded.keys() == saved.keys()
    for name, array in saved.items():
        assert type(loaded[name]) is np.ndarray
        assert loaded[name].dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
        assert loaded[name].shape == array.shape
        native = array.dtype.newbyteorder("=")
        assert loaded[name].astype(native).tobytes() == array.astype(native).tobytes()
        assert loaded[name].flags.writeable


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("params", [NAMES, NUMBERS, {}], ids=["names", "numbers", "nothing"])
def test_every_bit_comes_back(tmp_path: Path, params: dict[str, Array], suffix: str) -> None:
    path = tmp_path / f"params{suffix}"
    save(path, params)
    assert_same(load(path), params)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_big_endian_arrays_keep_their_values(tmp_path: Path, suffix: str) -> None:
    params = {"big": np.arange(6, dtype=">f8").reshape(2, 3).T, "half": np.array([1.5], ">f2")}
    save(tmp_path / f"p{suffix}", params)
    assert_same(load(tmp_path / f"p{suffix}"), params)


def test_npz_keeps_byte_order_memory_layout_and_long_types(tmp_path: Path) -> None:
    params = {
        "big": np.arange(3, dtype=">f4"),
        "fortran": np.asfortranarray(np.eye(3)),
        "c": np.array([1j]),
        "long": np.array([1], np.longdouble),
    }
    save(tmp_path / "p.npz", params)
    loaded = load(tmp_path / "p.npz")
    assert loaded["big"].dtype == np.dtype(">f4")
    assert loaded["fortran"].flags.f_contiguous
    assert loaded["c"].dtype == np.complex128
    assert loaded["long"].dtype == np.longdouble


def test_numpy_reads_what_we_write_and_we_read_what_numpy_writes(tmp_path: Path) -> None:
    params = {"hidden.weight": np.eye(2), "step": np.array(3)}
    save(tmp_path / "ours.npz", params)
    with np.load(tmp_path / "ours.npz") as archive:
        assert_same({name: archive[name] for name in archive.files}, params)
    np.savez_compressed(tmp_path / "theirs.npz", w=params["hidden.weight"], step=params["step"])
    theirs = {"w": params["hidden.weight"], "step": params["step"]}
    assert_same(load(tmp_path / "theirs.npz"), theirs)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_numbers_become_arrays(tmp_path: Path, suffix: str) -> None:
    save(tmp_path / f"p{suffix}", {"a": 2.5, "c": np.float32(1)})
    expected = {"a": np.array(2.5), "c": np.array(1, np.float32)}
    assert_same(load(tmp_path / f"p{suffix}"), expected)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_tree_comes_back_as_one_like_it(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"p{suffix}"
    tree = {"hidden": [{"w": np.eye(2)}, {"w": np.ones(3)}], "out": (np.zeros(1), 2.0)}
    save(path, tree)
    names = ["hidden.0.w", "hidden.1.w", "out.0", "out.1"]
    assert sorted(load(path)) == names
    loaded = load(path, like=tree)
    assert type(loaded["out"]) is tuple
    assert_same(named(loaded), {name: np.asarray(a) for name, a in named(tree).items()})
    with pytest.raises(StoreMismatchError, match=r"missing \['hidden.2.w'\]"):
        load(path, like={**tree, "hidden": [*tree["hidden"], {"w": np.ones(1)}]})
    with pytest.raises(ConversionError, match=r"'out.0' is a handle"):
        save(path, ta.ComputationRecord().bind(tree) | {"hidden": []})


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_lists_are_not_joined_to_arrays_whatever_mapping_they_are_in(
    tmp_path: Path, suffix: str
) -> None:
    path, layers = tmp_path / f"p{suffix}", [np.ones(2), np.zeros(2)]
    tree = OrderedDict(layers=layers)
    save(path, tree)
    loaded = load(path, like=tree)
    assert type(loaded) is OrderedDict
    assert_same(named(loaded), {"layers.0": layers[0], "layers.1": layers[1]})
    with pytest.raises(DtypeError, match=r"^the parameter 'layers' is a list, and not an array"):
        save(path, UserDict(tree))


def test_a_path_is_given_first(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"a path comes first, and not a dict: save\(path, params"):
        save(cast("Any", {"w": np.ones(1)}), tmp_path / "p.npz")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_writing_to_what_was_loaded_leaves_the_file_alone(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"p{suffix}"
    save(path, {"w": np.zeros(3)})
    load(path)["w"][:] = 1
    np.testing.assert_array_equal(load(path)["w"], [0.0, 0.0, 0.0])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_paths_may_be_strings_and_links(tmp_path: Path, suffix: str) -> None:
    target, link = tmp_path / f"target{suffix}", tmp_path / f"link{suffix}"
    link.symlink_to(target)
    save(str(link), {"w": np.zeros(1)})
    save(str(link), {"w": np.ones(1)})
    assert link.is_symlink()
    np.testing.assert_array_equal(load(str(target))["w"], [1.0])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_permissions_are_those_of_the_file_before(tmp_path: Path, suffix: str) -> None:
    path, ordinary = tmp_path / f"p{suffix}", tmp_path / "ordinary"
    ordinary.touch()
    save(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)
    path.chmod(0o640)
    save(path, {})
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_store_may_be_any_mapping(tmp_path: Path, suffix: str) -> None:
    store = types.MappingProxyType({"w": np.arange(3.0), "b": np.ones(())})
    save(tmp_path / f"p{suffix}", store)
    assert_same(load(tmp_path / f"p{suffix}", like=store), dict(store))


def test_the_file_is_on_the_disk_before_it_gets_its_name_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def fsync(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        seen.append((kind, (tmp_path / "p.npz").exists()))

    monkeypatch.setattr(os, "fsync", fsync)
    save(tmp_path / "p.npz", {"w": np.ones(1)})
    assert seen == [("file", False), ("folder", True)]


# What is loaded is compared with what is expected


def test_a_store_like_the_expected_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    save(path, {"w": np.ones((2, 3), ">f4"), "n": np.array(3)})
    loaded = load(path, like={"n": 0, "w": np.zeros((2, 3), np.float32)})
    assert loaded["w"].sum() == 6


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("like", "message"),
    [
        (
            {"w": np.ones((2, 3)), "v": np.ones(1), "u": np.ones(1)},
            "does not have the names that are expected: missing ['u', 'v'], unknown ['b']",
        ),
        (
            {"w": np.ones((3, 2)), "b": np.ones(3)},
            "has 'w' as an array of shape (2, 3) and dtype float64, but shape (3, 2) and dtype "
            "float64 are expected",
        ),
        (
            {"w": np.ones((2, 3)), "b": np.ones(3, np.float32)},
            "has 'b' as an array of shape (3,) and dtype float64, but shape (3,) and dtype "
            "float32 are expected",
        ),
    ],
    ids=["names", "shape", "dtype"],
)
def test_another_store_than_the_expected_one_is_refused(
    tmp_path: Path, like: dict[str, Array], message: str, suffix: str
) -> None:
    path = tmp_path / f"p{suffix}"
    save(path, {"w": np.ones((2, 3)), "b": np.ones(3)})
    with pytest.raises(StoreMismatchError) as raised:
        load(path, like=like)
    assert str(raised.value) == f"the store in {str(path)!r} {message}"


# What is refused, and what is left behind


def refused(path: Path, params: Any, kind: type[Exception]) -> str:
    """Save over an old file, which has to stay as it was; give the message of the error."""
    save(path, {"old": np.ones(1)})
    with pytest.raises(kind) as raised:
        save(path, params)
    np.testing.assert_array_equal(load(path)["old"], [1.0])
    assert list(path.parent.iterdir()) == [path]
    return str(raised.value)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_handle_is_refused(tmp_path: Path, suffix: str) -> None:
    params = ta.ComputationRecord().bind({"w": np.ones(2)})
    assert refused(tmp_path / f"p{suffix}", params, ConversionError) == (
        "the parameter 'w' is a handle, and a file cannot hold one; save the plain store that "
        "rec.bind was given, or .data for its value"
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (np.array([None]), "object"),
        (np.array(["text"]), "<U4"),
        (np.array(["2000-01-01"], "M8[D]"), "datetime64[D]"),
    ],
)
def test_what_is_not_a_number_is_refused(
    tmp_path: Path, value: Any, dtype: str, suffix: str
) -> None:
    params = {"first": np.ones(1), "w": value}
    assert refused(tmp_path / f"p{suffix}", params, DtypeError) == (
        f"the parameter 'w' has dtype {dtype}; a store holds arrays of numbers"
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_masked_array_is_refused(tmp_path: Path, suffix: str) -> None:
    params = {"w": np.ma.masked_array([1.0, 2.0], [False, True])}
    assert refused(tmp_path / f"p{suffix}", params, DtypeError) == (
        "the parameter 'w' is a masked array, whose mask would be lost; save .filled(...) of it"
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", [3, "a\0b"])
def test_a_name_that_no_file_can_hold_is_refused(tmp_path: Path, name: Any, suffix: str) -> None:
    assert refused(tmp_path / f"p{suffix}", {name: np.ones(1)}, ValueError) == (
        f"a parameter's name must be a string without NUL, got {name!r}"
    )


def test_safetensors_keeps_a_name_for_itself(tmp_path: Path) -> None:
    params = {"__metadata__": np.ones(1)}
    assert refused(tmp_path / "p.safetensors", params, ValueError) == (
        "safetensors files keep the name '__metadata__' for themselves"
    )
    save(tmp_path / "p.npz", params)
    assert_same(load(tmp_path / "p.npz"), params)


def test_safetensors_lacks_some_dtypes(tmp_path: Path) -> None:
    message = refused(tmp_path / "p.safetensors", {"w": np.array([1j])}, ValueError)
    assert message.startswith("safetensors cannot hold this store: ")
    assert "complex128" in message


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failure_while_writing_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    save(tmp_path / f"p{suffix}", {})
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device"):
        save(tmp_path / f"p{suffix}", {"w": np.ones(1)})
    assert load(tmp_path / f"p{suffix}") == {}
    assert list(tmp_path.iterdir()) == [tmp_path / f"p{suffix}"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_that_is_not_there(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(FileNotFoundError):
        save(tmp_path / "nowhere" / f"p{suffix}", {"w": np.ones(1)})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["params.npy", "params", "params.npz.gz", ".npz"])
def test_another_suffix_is_refused(tmp_path: Path, name: str) -> None:
    path = str(tmp_path / name)
    message = f"the suffix of {path!r} names no format; end it in .npz or .safetensors"
    with pytest.raises(ValueError, match=r"names no format") as saving:
        save(path, {})
    with pytest.raises(ValueError, match=r"names no format") as loading:
        load(path)
    assert str(saving.value) == str(loading.value) == message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_that_is_not_there(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / f"p{suffix}")


def test_the_library_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.safetensors"
    save(path, {"w": np.ones(1)})
    before = path.read_bytes()
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    message = (
        "the .safetensors format needs the extra safetensors: pip install "
        "'tape-ad[safetensors]', or use .npz"
    )
    with pytest.raises(ImportError) as saving:
        save(path, {"w": np.zeros(1)})
    with pytest.raises(ImportError) as loading:
        load(path)
    assert str(saving.value) == str(loading.value) == message
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
