"""What is in a store of parameters; save it to ``.npz`` or ``.safetensors``, and load it again."""

import contextlib
import math
import os
import shutil
import struct
import sys
import time
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar, overload
from uuid import uuid4

import numpy as np
from attrs import frozen

from tape_ad.base.errors import (
    ConversionError,
    DamagedFileError,
    DtypeError,
    StoreMismatchError,
    extra,
)
from tape_ad.base.trees import by_name, is_leaf, unflatten, with_names
from tape_ad.record.inspection.pages.figures import Summary
from tape_ad.record.primals import primal
from tape_ad.record.tensor import Tensor

Plain = np.ndarray[Any, Any]
Tree = TypeVar("Tree")


def summary(params: Any) -> Summary:
    """Describe a store: the name, shape, dtype, number of elements and range of each array.

    Parameters
    ----------
    params : nested structure of arrays
        A dict of str to array, or any other; plain, or bound to a record.

    Returns
    -------
    Summary
        It shows as a table where it is the last line of a cell or of an interactive session;
        elsewhere, print it.

    Examples
    --------
    >>> summary({"hidden": {"w": np.eye(2), "b": np.zeros(2)}, "scale": np.float32(0.5)})
    name       shape    dtype     count   values
    ────────────────────────────────────────────
    hidden.w   (2, 2)   float64       4   0 to 1
    hidden.b   (2,)     float64       2   0
    scale      ()       float32       1   0.5
    ────────────────────────────────────────────
    all                               7
    """
    arrays = []
    for name, leaf in with_names(params):
        value = primal(leaf)
        arrays.append((name, value if hasattr(value, "dtype") else np.asarray(value)))
    return Summary.of(arrays, "all", sum(array.size for _, array in arrays))


def save(path: str | os.PathLike[str], params: Any) -> None:
    """Save a store of parameters, or another tree of arrays, all of it or nothing.

    The file is written under another name in the same folder, brought to the disk, and only then
    given its own name; when anything goes wrong, a file that was there is still there, whole. What
    a process that was killed left unfinished is removed by the next one that saves in that folder
    an hour later or more.

    Parameters
    ----------
    path : str or path-like
        Its suffix says the format: ``.npz``, which `numpy.load` reads too, or ``.safetensors``,
        which needs the extra ``safetensors`` and keeps neither byte order nor memory layout.
    params : dict of str to array, or another tree of arrays
        Arrays of numbers or bools, or Python's numbers, under any names. What is nested has dots
        in its name: ``"hidden.w"``, and ``"hidden.0"`` in a list.

    Raises
    ------
    ValueError
        For another suffix, or a name or a dtype that the format does not have.
    ConversionError
        When the store holds handles.
    DtypeError
        When an entry is not an array of numbers or bools.
    ImportError
        When the safetensors library is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(folder + "/net.npz", {"hidden.weight": np.ones((2, 2), np.float32)})
    ...     load(folder + "/net.npz")
    {'hidden.weight': array([[1., 1.], [1., 1.]], dtype=float32)}

    A tree comes back as one where `load` is given another like it:

    >>> tree = {"hidden": [np.ones(2), np.zeros(1)]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(folder + "/net.npz", tree)
    ...     list(load(folder + "/net.npz")), load(folder + "/net.npz", like=tree)
    (['hidden.0', 'hidden.1'], {'hidden': [array([1., 1.]), array([0.])]})
    """
    chosen = format_of(path)
    named = by_name(params)
    arrays = {checked_name(name): checked_array(name, named[name]) for name in named}
    target = Path(os.path.realpath(path))  # a link stays a link
    remove_left_behind(target.parent)
    temporary = target.with_name(f"{UNFINISHED}{uuid4().hex}.tmp")
    try:
        with temporary.open("xb") as file:
            chosen.write(file, arrays)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
        bring_to_disk(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


@overload
def load(
    path: str | os.PathLike[str], *, like: None = None, max_bytes: int | None = None
) -> dict[str, Plain]: ...
@overload
def load(
    path: str | os.PathLike[str], *, like: Mapping[str, float | Plain], max_bytes: int | None = None
) -> dict[str, Plain]: ...
@overload
def load(path: str | os.PathLike[str], *, like: Tree, max_bytes: int | None = None) -> Tree: ...
def load(path: str | os.PathLike[str], *, like: Any = None, max_bytes: int | None = None) -> Any:
    """Load a store of parameters.

    Parameters
    ----------
    path : str or path-like
        A ``.npz`` or ``.safetensors`` file, from `save` or from elsewhere. Nothing in it is ever
        run: pickled objects are refused.
    like : dict of str to array, or another tree of arrays, optional
        A store, freshly initialised for example, that the loaded one has to have the names,
        shapes and dtypes of.
    max_bytes : int, optional
        How many bytes the arrays may take together. When left out, it is 64 times the bytes of the
        file, or 256 MiB if that is more: a compressed file that holds little but zeros can be a
        thousand times smaller than its arrays, as can one that was made to fill the memory.

    Returns
    -------
    dict of str to ndarray, or a tree like that of `like`
        The arrays, writable, bit for bit what was saved.

    Raises
    ------
    ValueError
        For another suffix.
    DamagedFileError
        For a file that is damaged or is not what its suffix says, that holds other things than
        arrays of numbers or bools, or more than `max_bytes` of them.
    StoreMismatchError
        When the store is not like the one given.
    FileNotFoundError
        When there is no such file.
    ImportError
        When the safetensors library is not installed.
    """
    chosen = format_of(path)
    if max_bytes is not None and not (type(max_bytes) is int and max_bytes >= 0):
        raise ValueError(f"max_bytes counts bytes, got {max_bytes!r}")
    with Path(path).open("rb") as file:
        if max_bytes is None:
            max_bytes = max(64 * os.fstat(file.fileno()).st_size, 2**28)
        try:
            arrays = chosen.read(file, max_bytes)
        except DAMAGE as error:
            raise DamagedFileError(
                f"{os.fspath(path)!r} is damaged, or is not what its suffix says: {error}"
            ) from error
    if like is None:
        return arrays
    wanted = by_name(like)
    check_like(arrays, wanted, f"the store in {os.fspath(path)!r}")
    return arrays if wanted is like else unflatten(like, [arrays[name] for name in wanted])


def check_like(params: Mapping[str, Any], like: Mapping[str, Any], what: str) -> None:
    """Check that one store has the names, shapes and dtypes of another.

    Parameters
    ----------
    params : mapping of str to array
    like : mapping of str to array
        What they are compared with.
    what : str
        What to call `params` in the error.

    Raises
    ------
    StoreMismatchError
        It names every name that one of them lacks, or else the first array that differs.
    """
    missing, unknown = sorted(like.keys() - params.keys()), sorted(params.keys() - like.keys())
    if missing or unknown:
        raise StoreMismatchError(
            f"{what} does not have the names that are expected: missing {missing}, "
            f"unknown {unknown}"
        )
    for name in like:
        expected, found = shape_and_dtype(like[name]), shape_and_dtype(params[name])
        if expected != found:
            raise StoreMismatchError(
                f"{what} has {name!r} as an array of shape {found[0]} and dtype {found[1]}, but "
                f"shape {expected[0]} and dtype {expected[1]} are expected"
            )


def shape_and_dtype(value: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Give what a store is compared by; the order of bytes does not count."""
    array = value if hasattr(value, "dtype") else np.asarray(value)
    return array.shape, array.dtype.newbyteorder("=")


UNFINISHED = ".tape_ad-"
"""What the name of a file begins with until it is whole."""

STALE = 3600.0
"""Seconds after the last write to an unfinished file, until nobody is taken to write it."""


def remove_left_behind(folder: Path) -> None:
    """Remove the unfinished files of processes that were killed."""
    for left in folder.glob(f"{UNFINISHED}*.tmp"):
        with contextlib.suppress(OSError):  # another process may be removing it as well
            if time.time() - left.stat().st_mtime > STALE:
                left.unlink()


def bring_to_disk(folder: Path) -> None:
    """Bring a changed folder to the disk, where the system has a way to do that."""
    with contextlib.suppress(OSError):  # some cannot open a folder, and some cannot sync one
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_npz(file: IO[bytes], arrays: Mapping[str, Plain]) -> None:
    """Write what `numpy.savez` would write, under names that are its own keywords too."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def read_npz(file: IO[bytes], max_bytes: int) -> dict[str, Plain]:
    """Read what `numpy.savez` or `write_npz` wrote."""
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        check_size(sum(info.file_size for info in entries), max_bytes)
        for info in entries:
            name = info.filename.removesuffix(".npy")
            if name == info.filename or info.comment:  # a comment may have swallowed an entry
                raise ValueError(f"its entry {info.filename!r} is not an array alone")
            if info.compress_type not in METHODS:  # of others, zipfile unpacks all at once
                raise ValueError(f"its entry {info.filename!r} is not packed as NumPy packs arrays")
            if name in arrays:
                raise ValueError(f"it has two entries {info.filename!r}")
            with archive.open(info) as entry:
                check_header(entry, info)
            with archive.open(info) as entry:
                arrays[name] = np.lib.format.read_array(entry, allow_pickle=False)
                if entry.read():  # to the end, where the checksum is compared
                    raise ValueError(f"its entry {info.filename!r} is longer than its array")
    return arrays


def check_size(found: int, max_bytes: int) -> None:
    """Refuse arrays that take more memory than was allowed, before any is made.

    Raises
    ------
    ValueError
    """
    if found > max_bytes:
        raise ValueError(
            f"its arrays take {found} bytes, more than the {max_bytes} that are allowed; if it is "
            f"to be trusted, write load(path, max_bytes={found})"
        )


def check_header(entry: IO[bytes], info: zipfile.ZipInfo) -> None:
    """Refuse what is no array of numbers, and one that says it is longer than its entry.

    Raises
    ------
    ValueError
    """
    version = np.lib.format.read_magic(entry)
    if version not in HEADERS:
        raise ValueError(f"its entry {info.filename!r} has a format of another kind, {version}")
    shape, _, dtype = HEADERS[version](entry)
    if dtype.hasobject:
        return  # which NumPy refuses itself
    if dtype.kind not in NUMBERS:
        raise ValueError(
            f"its entry {info.filename!r} has dtype {dtype}; a store holds arrays of numbers"
        )
    if any(type(length) is not int or length > sys.maxsize for length in shape):
        raise ValueError(f"its entry {info.filename!r} has no shape, but {shape}")
    if math.prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"its entry {info.filename!r} is shorter than its array")


HEADERS: Mapping[tuple[int, int], Callable[[IO[bytes]], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""NumPy's readers by version; it writes others for the names of a structured dtype alone."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of numpy.savez and savez_compressed
NUMBERS = "biufc"
"""The kinds of dtypes that a store holds."""


def write_safetensors(file: IO[bytes], arrays: Mapping[str, Plain]) -> None:
    """Write by the safetensors library, whose data is little-endian and in C order."""
    library = import_safetensors()
    if "__metadata__" in arrays:
        raise ValueError("safetensors files keep the name '__metadata__' for themselves")
    plain = {
        name: np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
        for name, array in arrays.items()
    }
    try:
        file.write(library.numpy.save(plain))
    except library.SafetensorError as error:
        raise ValueError(f"safetensors cannot hold this store: {error}") from error


def read_safetensors(file: IO[bytes], max_bytes: int) -> dict[str, Plain]:
    """Read by the safetensors library, which makes sure that the arrays fill the file."""
    check_size(os.fstat(file.fileno()).st_size, max_bytes)
    library = import_safetensors()
    try:
        arrays: dict[str, Plain] = library.numpy.load_file(file.name)
    except library.SafetensorError as error:
        raise ValueError(str(error)) from error
    except (TypeError, AttributeError) as error:  # of bfloat16 and of floats of 8 bits
        raise ValueError(f"it holds numbers that NumPy has no dtype for: {error}") from error
    for name, array in arrays.items():
        if array.dtype.isbuiltin != 1:  # which another library has given NumPy, if it is imported
            raise ValueError(
                f"it holds numbers that NumPy has no dtype for: {name!r} has dtype {array.dtype}"
            )
    return arrays


def import_safetensors() -> Any:
    """Import the library that only this format needs."""
    with extra("safetensors", "the .safetensors format", instead=".npz"):
        import safetensors.numpy
    return safetensors


@frozen
class Format:
    """How to write and read one kind of file."""

    write: Callable[[IO[bytes], Mapping[str, Plain]], None]
    read: Callable[[IO[bytes], int], dict[str, Plain]]


FORMATS = {
    ".npz": Format(write_npz, read_npz),
    ".safetensors": Format(write_safetensors, read_safetensors),
}

DAMAGE = (
    *(ValueError, EOFError, RuntimeError, OSError),  # from NumPy and zipfile, by what is damaged
    *(MemoryError, SyntaxError, tokenize.TokenError, IndexError, TypeError),  # by a header's words
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


def format_of(path: str | os.PathLike[str]) -> Format:
    """Choose the format by the suffix."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"a path comes first, and not a {type(path).__name__}: save(path, params), load(path)"
        )
    suffix = Path(path).suffix
    if suffix not in FORMATS:
        raise ValueError(
            f"the suffix of {os.fspath(path)!r} names no format; end it in .npz or .safetensors"
        )
    return FORMATS[suffix]


def checked_name(name: Any) -> str:
    """Check that a name can be written to a file."""
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(f"a parameter's name must be a string without NUL, got {name!r}")
    try:
        length = len(name.encode())
    except UnicodeEncodeError as error:
        raise ValueError(f"the parameter's name {name!r} is no text: {error.reason}") from error
    if length > LONGEST_NAME:
        raise ValueError(
            f"a parameter's name may take {LONGEST_NAME} bytes, the one that begins with "
            f"{name[:40]!r} takes {length}"
        )
    return name


LONGEST_NAME = 2**16 - 1 - len(".npy")
"""Bytes that an archive's entry has for a name."""


def checked_array(name: str, value: Any) -> Plain:
    """Check that an entry is numbers, and no handle."""
    if type(value) is Tensor:
        raise ConversionError(
            f"the parameter {name!r} is a handle, and a file cannot hold one; save the plain store "
            "that rec.bind was given, or .data for its value"
        )
    if not is_leaf(value):
        raise DtypeError(
            f"the parameter {name!r} is a {type(value).__name__}, and not an array; save what is "
            "nested in dicts, lists and tuples as a dict: dict(params)"
        )
    if isinstance(value, np.ma.MaskedArray):
        raise DtypeError(
            f"the parameter {name!r} is a masked array, whose mask would be lost; save "
            ".filled(...) of it"
        )
    array = np.asarray(value)
    if array.dtype.kind not in NUMBERS:
        raise DtypeError(
            f"the parameter {name!r} has dtype {array.dtype}; a store holds arrays of numbers"
        )
    return array
