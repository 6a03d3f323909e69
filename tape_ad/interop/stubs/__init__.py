"""NumPy's stubs with overloads for handles, written to `typings/` by ``python -m`` with its name.

NumPy's own stubs cannot say that ``np.mean(t)`` is a handle where `t` is one: they list what each
function takes, and what it gives for that. So the stubs of the NumPy that is installed are copied
into a folder of the project to be checked, and each function that has a rule gets overloads for
handles beside its own. mypy reads the folder with ``mypy_path = "typings"``, pyright by itself.

A handle is no array-like to a checker, as it is none to `numpy.asarray`. So plain arrays meet the
overloads of NumPy, as they did before.
"""

import ast
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from tape_ad.extend.rules import RULES, Entry, Filled, Refused
from tape_ad.interop.stubs.functions import (
    MIXED,
    PURE,
    File,
    gives_plain,
    handle_tuples,
    overloads,
    ufunc_overloads,
)
from tape_ad.rules import load_lazy_tables

__all__ = ["write_stubs"]


HEADER = f"""\
# mypy: ignore-errors
# pyright: basic, reportGeneralTypeIssues=false, reportOverlappingOverload=false
# ruff: noqa
# NumPy's own, of release {np.__version__}, with overloads for handles, by tape_ad.interop.stubs.
"""
IMPORTS = f"""\
from collections.abc import Sequence as _Several
from typing import Any as _Anything, Literal as _OneOf, NamedTuple as _Named, TypeAlias as _Alias
from typing import overload
from numpy.typing import ArrayLike as _Arrays, NDArray as _Plain
from tape_ad.record.tensor import Tensor as _Tensor
{MIXED}: _Alias = _Several[_Tensor | _Arrays]
"""

MARKER = """\
class AsArray: ...  # what a handle's __array__ returns: no array, as it raises an error
"""

LEFT_OUT = frozenset({"_pyinstaller", "conftest.py", "core", "distutils", "doc", "f2py", "tests"})
"""What of NumPy has no types to tell, or is imported by no program that is checked."""

PLACES: Mapping[str, re.Pattern[str]] = {
    "numpy": re.compile(r"(_core/(?!defch|strings|rec|_umath)|lib/(?!_sci)).*|__init__.pyi"),
    "numpy.fft": re.compile("fft/.*"),
    "numpy.lib.scimath": re.compile("lib/_?scimath.*"),
    "numpy.lib.stride_tricks": re.compile("lib/_?stride.*"),
    "numpy.linalg": re.compile("linalg/_?linalg.*"),
}
"""The files that may have the functions of a module."""

LISTS: Mapping[str, str] = {
    r"SupportsLenAndGetItem\[ArrayLike\]": "_Several[ArrayLike]",
    r"\barrays: _ArrayLike\[(\w+)\]": r"arrays: _Several[_ArrayLike[\1]] | _Plain[\1]",
}
"""What mypy takes a list of handles and arrays for, and in its place what it does not."""

OPERATORS: Mapping[str, str] = {
    **dict.fromkeys(("add", "sub", "mul", "truediv", "mod", "pow", "matmul"), "_Tensor"),
    **dict.fromkeys(("lt", "le", "gt", "ge"), "_Plain[bool_]"),
}
"""What the operators of plain arrays give for a handle."""


@frozen
class Edit:
    """Lines to be put before a line of a file, counted from 1."""

    line: int
    text: str


def write_stubs(folder: Path) -> list[str]:
    """Write NumPy's stubs, with overloads for handles, into a folder.

    Parameters
    ----------
    folder : Path
        Its subfolder `numpy` and its file `_tape_ad_stubs.pyi` are replaced.

    Returns
    -------
    list of str
        The functions that take handles now, as ``numpy.linalg.svd``.
    """
    load_lazy_tables()
    source, target = Path(np.__file__).parent, folder / "numpy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "_tape_ad_stubs.pyi").write_text(MARKER, encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    found: list[str] = []
    for path in stub_files(source):
        place = path.relative_to(source)
        text, names = rewritten(path.read_text(encoding="utf-8"), place.as_posix())
        found += names
        written = target / place.with_suffix(".pyi")
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text, encoding="utf-8")
    return sorted(set(found))


def stub_files(source: Path) -> Iterator[Path]:
    """Go through what checkers read of a package: its stubs, and the modules that have none."""
    for path in sorted(source.rglob("*.py*")):
        if LEFT_OUT.intersection(path.relative_to(source).parts):
            continue
        if path.suffix == ".pyi" or (
            path.suffix == ".py" and not path.with_suffix(".pyi").exists()
        ):
            yield path


def rewritten(text: str, place: str) -> tuple[str, list[str]]:
    """Add the overloads for handles to one file; list the functions that got any."""
    file = File(text)
    edits: list[Edit] = []
    names: list[str] = []
    for module, function, entry in looked_for(place):
        name = function.__name__
        nodes = definitions(file.tree.body, name)
        if nodes:
            plain = gives_plain(function, entry)
            edits += around(nodes, overloads(file, nodes, plain), first=isinstance(entry, Filled))
            names.append(f"{module}.{name}")
    if place == "__init__.pyi":
        edits += operator_edits(file)
        names += [f"numpy.{ufunc.__name__}" for ufunc in RULES if isinstance(ufunc, np.ufunc)]
    if place == "_typing/_ufunc.pyi":
        for kind in classes(file):
            for method, texts in ufunc_overloads(kind).items():
                nodes = definitions(kind.body, method)
                if nodes and "NoReturn" not in ast.unparse(nodes[-1]):
                    edits += around(nodes, texts, first=True)
    if not edits:
        return HEADER + text, names
    for written, instead in LISTS.items():
        text = re.sub(written, instead, text)
    lines = text.splitlines()
    for edit in sorted(edits, key=lambda edit: edit.line, reverse=True):
        lines[edit.line - 1 : edit.line - 1] = edit.text.splitlines()
    return "\n".join([HEADER + IMPORTS, *lines, *handle_tuples(file), ""]), names


def looked_for(place: str) -> Iterator[tuple[str, Any, Entry]]:
    """List the functions with a rule that may be in a file, but for the ufuncs."""
    for function, entry in RULES.items():
        if not isinstance(function, np.ufunc) and not isinstance(entry, Refused):
            module = str(getattr(function, "__module__", ""))
            if module in PLACES and PLACES[module].fullmatch(place):
                yield module, function, entry


def classes(file: File) -> list[ast.ClassDef]:
    """List the classes of a file."""
    return [node for node in file.tree.body if isinstance(node, ast.ClassDef)]


def definitions(body: Iterable[ast.stmt], name: str) -> list[ast.FunctionDef]:
    """Find the overloads of a function."""
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]


def around(nodes: list[ast.FunctionDef], added: Iterable[str], *, first: bool) -> Iterator[Edit]:
    """Put further overloads behind those that there are, or first: before any that takes objects.

    A list of handles alone goes first everywhere, as mypy takes one for an array-like, and one that
    may hold handles last, as it may hold none.
    """
    indent = " " * nodes[0].col_offset
    ahead: list[str] = []
    behind: list[str] = []
    for text in added:
        early = (first or PURE in text) and MIXED not in text
        (ahead if early else behind).append(f"{indent}@overload\n{indent}{text}")
    start = min([nodes[0].lineno, *(each.lineno for each in nodes[0].decorator_list)])
    end = nodes[-1].end_lineno or start
    if not nodes[0].decorator_list and (ahead or behind):
        ahead.append(f"{indent}@overload")
    yield Edit(start, "\n".join(ahead))
    yield Edit(end + 1, "\n".join(behind))


def operator_edits(file: File) -> Iterator[Edit]:
    """Let the operators of plain arrays give handles, also where the array's dtype is unknown."""
    array = next(node for node in classes(file) if node.name == "ndarray")
    for name, returned in OPERATORS.items():
        nodes = definitions(array.body, f"__{name}__")
        if nodes:
            text = f"def __{name}__(self, x: _Tensor, /) -> {returned}: ..."
            yield from around(nodes, [text], first=True)
