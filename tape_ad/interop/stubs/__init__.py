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
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.extend.rules import RULES, Constant, Entry, Filled, Refused, Rule
from tape_ad.rules import load_lazy_tables

__all__ = ["MIXED", "File", "overloads", "write_stubs"]


MIXED = "_Mixed"
"""What an overload calls a sequence of handles and plain arrays."""

PURE = "_Tensor | _Several[_Tensor]"
"""A handle, or a sequence of nothing else."""

ARRAY = re.compile(r"Array|Like_co|Supports(Real|Imag)|Has(Real|Imag)|ConvertibleTo|Complex|Float")
"""What the type of a parameter mentions that may be a handle."""

NO_ARRAY = frozenset(
    {"axes", "axis", "casting", "decimals", "dtype", "hermitian", "indices_or_sections", "keepdims"}
    | {"mode", "num", "ord", "order", "out", "range", "rcond", "shape", "side", "tol", "where"}
)
"""The parameters that are no handles, though some of them may be arrays."""

SEQUENCE = re.compile(r"(?<!Nested)Sequence\[(_?Array|NDArray)|LenAndGetItem|Iterable\[_?Array")
"""What the type of a parameter mentions that takes several arrays."""

WHOLE = re.compile(r"\b(intp|int_|int32|int64|signedinteger|bool|bool_)\b")
"""What the type of an output mentions that is plain: places, counts, ranks."""

RESULTS: Mapping[str, str] = {
    "broadcast_arrays": "tuple[_Tensor, ...]",
    "gradient": "_Anything",  # a list where there are several axes
}
"""What is not to be seen from NumPy's own overloads."""

WRITTEN: Mapping[str, str] = {
    "meshgrid": "def meshgrid(*xi: _Tensor | _Arrays, **options: _Anything) -> "
    "tuple[_Tensor, ...]: ..."
}
"""Overloads of functions whose own list a type for each number of arguments."""


@frozen
class File:
    """One file of stubs, as text and parsed."""

    text: str
    tree: ast.Module = field(init=False)
    variables: frozenset[str] = field(init=False)
    """The type variables, which an overload for handles cannot use."""
    tuples: Mapping[str, ast.ClassDef] = field(init=False)
    """The named tuples, which functions return."""

    @tree.default
    def _parsed(self) -> ast.Module:
        return ast.parse(self.text)

    @variables.default
    def _declared(self) -> frozenset[str]:
        assigned = [node for node in self.tree.body if isinstance(node, ast.Assign)]
        called = re.compile(r"(\w+\.)?(TypeVar|ParamSpec)\b")
        names = [ast.unparse(n.targets[0]) for n in assigned if called.match(ast.unparse(n.value))]
        for node in self.tree.body:  # and as Python 3.12 has them
            names += [each.name for each in getattr(node, "type_params", ())]
        return frozenset(names)

    @tuples.default
    def _named(self) -> Mapping[str, ast.ClassDef]:
        kinds = [node for node in self.tree.body if isinstance(node, ast.ClassDef)]
        return {node.name: node for node in kinds if "NamedTuple" in map(ast.unparse, node.bases)}

    def depends(self, text: str) -> bool:
        """Tell whether a type mentions a type variable."""
        return not self.variables.isdisjoint(re.findall(r"\w+", text))

    def without_variables(self, text: str) -> str:
        """Leave out of a union what mentions a type variable."""
        return " | ".join(part for part in parts(text) if not self.depends(part)) or "_Arrays"


def gives_plain(function: Callable[..., Any], entry: Entry) -> bool:
    """Tell of which functions a handle gives plain arrays; `numpy.sign` does for a real one."""
    if function is np.sign:
        return True
    if isinstance(entry, Rule):
        return bool(entry.makers) and not any(entry.makers)
    return isinstance(entry, Constant)


def overloads(file: File, nodes: list[ast.FunctionDef], plain: bool) -> list[str]:
    """Write the overloads for handles: for each kind of result, one for each place of a handle."""
    if nodes[0].name in WRITTEN:
        return [WRITTEN[nodes[0].name]]
    groups: dict[str, list[ast.FunctionDef]] = {}
    for node in nodes:
        returned = ast.unparse(node.returns) if plain and node.returns else result(file, node)
        if not file.depends(returned):
            groups.setdefault(returned, []).append(node)
    written = [
        text
        for returned, group in groups.items()
        for text in Merged.of(file, group).overloads(returned, plain)
    ]
    return list(dict.fromkeys(written))


# What a function gives


def result(file: File, node: ast.FunctionDef) -> str:
    """Say what a function gives for handles, by what it gives for arrays."""
    if node.name in RESULTS:
        return RESULTS[node.name]
    text = ast.unparse(node.returns) if node.returns else ""
    several = re.match(r"_(\d)Tuple\[|_Tuple(\d)\[", text)
    name = text.split("[")[0]
    if name in file.variables or "Any" in parts(text):
        return "_Tensor"
    if several:
        return f"tuple[{', '.join(['_Tensor'] * int(several[1] or several[2]))}]"
    if name in file.tuples:
        return f"_{name}OfHandles"
    if name == "tuple" and isinstance(node.returns, ast.Subscript):
        inner = node.returns.slice
        items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
        return f"tuple[{', '.join(map(of_handle, items))}]"
    return "list[_Tensor]" if name == "list" else "_Tensor"


def of_handle(annotation: ast.expr) -> str:
    """Type one of several outputs of a call with a handle."""
    text = ast.unparse(annotation)
    return text if text == "..." or WHOLE.search(text) else "_Tensor"


def handle_tuples(file: File) -> Iterator[str]:
    """Write the named tuples that functions of handles return."""
    for name, node in file.tuples.items():
        fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
        lines = [f"    {ast.unparse(f.target)}: {of_handle(f.annotation)}" for f in fields]
        yield "\n".join([f"class _{name}OfHandles(_Named):", *lines])


# What it takes


def annotations(node: ast.FunctionDef) -> dict[str, str]:
    """Give the types of the parameters by name, in order."""
    args = node.args
    starred = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *starred]
    return {arg.arg: ast.unparse(arg.annotation) if arg.annotation else "" for arg in every}


def defaulted(node: ast.FunctionDef) -> set[str]:
    """Name the parameters that may be left out."""
    args = node.args
    positional = [*args.posonlyargs, *args.args]
    named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    given = positional[len(positional) - len(args.defaults) :]
    return {arg.arg for arg in given} | {arg.arg for arg, value in named if value is not None}


def parts(text: str) -> list[str]:
    """Split a type at its outer bars.

    Examples
    --------
    >>> parts("None | dict[int | str, float]")
    ['None', 'dict[int | str, float]']
    """
    found: list[str] = []
    node = ast.parse(text, mode="eval").body if text else None
    while isinstance(node, ast.BinOp):
        found.insert(0, ast.unparse(node.right))
        node = node.left
    return [ast.unparse(node), *found] if node is not None else []


@frozen
class Merged:
    """Several overloads that return alike, as one.

    Attributes
    ----------
    file : File
    node : ast.FunctionDef
        The one of them whose parameters it has.
    types : mapping of str to str
        What any of them takes for each parameter.
    optional : frozenset of str
        The parameters that any of them can do without.
    arrays : list of str
        The parameters that may be handles.
    """

    file: File
    node: ast.FunctionDef
    types: Mapping[str, str]
    optional: frozenset[str]
    arrays: list[str]

    @classmethod
    def of(cls, file: File, group: list[ast.FunctionDef]) -> "Merged":
        """Merge them, but for those that ask for an array to write to, where others do not."""
        group = [n for n in group if "None" in annotations(n).get("out", "None")] or group
        node = max(group, key=lambda each: (len(each.args.defaults), len(annotations(each))))
        types = {}
        for name in annotations(node):
            texts = [annotations(each).get(name, "") for each in group]
            types[name] = " | ".join(dict.fromkeys(part for text in texts for part in parts(text)))
        first = next(iter(types))
        arrays = [
            name
            for name, text in types.items()
            if name not in NO_ARRAY and (name == first or ARRAY.search(text))
        ]
        return cls(file, node, types, frozenset().union(*map(defaulted, group)), arrays)

    def overloads(self, returned: str, plain: bool) -> Iterator[str]:
        """Write one for each place of a handle; those before it are none.

        What gives plain arrays gives a number for a number, which a handle is not.
        """
        args = self.node.args
        names = [arg.arg for arg in [*args.posonlyargs, *args.args]]
        for chosen in self.arrays:
            if plain and not re.search("Array|Any", self.types[chosen]):
                continue
            several = SEQUENCE.search(self.types[chosen])
            for handle in (PURE, MIXED) if several else ("_Tensor",):
                types = self.with_handle(chosen, handle)
                place = names.index(chosen) if chosen in names else None
                yield self.written(types, chosen, place, None, returned)
                named = place and place >= len(args.posonlyargs) and args.vararg is None
                if named and chosen in self.optional:
                    yield self.written(types, chosen, None, place, returned)

    def with_handle(self, chosen: str, handle: str) -> dict[str, str]:
        """Give the types of the parameters where one of them is a handle."""
        types = {}
        ahead = True
        for name, text in self.types.items():
            types[name] = self.file.without_variables(text) if text else "_Anything"
            if name == chosen:
                types[name], ahead = handle, False
            elif name == "out":
                types[name] = "_Tensor | None"
            elif name in self.arrays and not ahead:
                several = " | _Several[_Tensor | _Arrays]" if SEQUENCE.search(text) else ""
                types[name] += " | _Tensor" + several
        return types

    def written(
        self,
        types: Mapping[str, str],
        chosen: str,
        required: int | None,
        star: int | None,
        returned: str,
    ) -> str:
        """Write an overload.

        Parameters
        ----------
        types
        chosen : str
            The parameter that is a handle.
        required : int or None
            Up to which place all have to be given.
        star : int or None
            From which place on all have to be named.
        returned : str
        """
        args = self.node.args
        names = [arg.arg for arg in [*args.posonlyargs, *args.args]]
        optional = set(self.optional) - {chosen} - set(names[: (required or 0) + 1])
        if required is None:
            optional |= self.optional - {chosen}
        if star is None:  # none that can be left out before one that cannot
            for i, name in enumerate(names):
                if set(names[i:]) - optional:
                    optional.discard(name)

        def shown(name: str) -> str:
            return f"{name}: {types[name]}" + (" = ..." if name in optional else "")

        listed: list[str] = []
        for i, name in enumerate(names):
            listed += ["*"] * (i == star) + [shown(name)] + ["/"] * (i == len(args.posonlyargs) - 1)
        if args.vararg is not None:
            name = args.vararg.arg
            listed.append(f"*{name}: {'_Tensor | _Arrays' if name in self.arrays else '_Anything'}")
        elif args.kwonlyargs and star is None:
            listed.append("*")
        listed += [shown(arg.arg) for arg in args.kwonlyargs]
        if args.kwarg is not None:
            listed.append(f"**{args.kwarg.arg}: _Anything")
        return f"def {self.node.name}({', '.join(listed)}) -> {returned}: ..."


PAIRS: Mapping[str, str] = {
    "divmod": "tuple[_Plain[_Anything], _Tensor]",
    "frexp": "tuple[_Tensor, _Plain[_Anything]]",
    "modf": "tuple[_Tensor, _Plain[_Anything]]",
}
"""What the ufuncs with two outputs give for handles."""

OPTIONS = "/, out: _Anything = ..., *, where: _Anything = ..., **options: _Anything"
ALONG = "axis: _Anything = ..., dtype: _Anything = ..., **options: _Anything"


def ufunc_overloads(kind: ast.ClassDef) -> dict[str, list[str]]:
    """Write the overloads of the methods of one class; some of its ufuncs give plain arrays."""
    found: dict[str, list[str]] = {}
    for returned, names in by_result(kind.name).items():
        me = f"self: {kind.name}[_OneOf[{', '.join(map(repr, names))}]{others(kind)}]"
        for method, text in of_methods(me, returned, "Nin2" in kind.name):
            found.setdefault(method, []).append(text)
    return found


def by_result(kind: str) -> dict[str, list[str]]:
    """Sort the names of the ufuncs of a class by what they give for handles."""
    found: dict[str, list[str]] = {}
    for function, entry in RULES.items():
        if not isinstance(function, np.ufunc) or isinstance(entry, Refused):
            continue
        general = "G" * (function.signature is not None)
        if kind == f"_{general}UFunc_Nin{function.nin}_Nout{function.nout}":
            plain = "_Plain[_Anything]" if gives_plain(function, entry) else "_Tensor"
            returned = PAIRS.get(function.__name__, plain)
            found.setdefault(returned, []).append(function.__name__)
    return found


def others(kind: ast.ClassDef) -> str:
    """Write what stands for the class's parameters behind the name of the ufunc."""
    count = len(getattr(kind, "type_params", ()))  # as stubs for Python 3.12 have them
    for generic in (base.slice for base in kind.bases if isinstance(base, ast.Subscript)):
        count = len(generic.elts) if isinstance(generic, ast.Tuple) else 1
    return ", _Anything" * (count - 1)


def of_methods(me: str, returned: str, two: bool) -> Iterator[tuple[str, str]]:
    """Write the overloads of a ufunc's methods, each behind the method's name."""
    if not two:
        yield "__call__", f"def __call__({me}, x1: _Tensor, {OPTIONS}) -> {returned}: ..."
        return
    for x, y in (("_Tensor", "_Tensor | _Arrays"), ("_Arrays", "_Tensor")):
        yield "__call__", f"def __call__({me}, x1: {x}, x2: {y}, {OPTIONS}) -> {returned}: ..."
        yield (
            "outer",
            f"def outer({me}, A: {x}, B: {y}, /, **options: _Anything) -> {returned}: ...",
        )
    for method, more in (("reduce", ""), ("accumulate", ""), ("reduceat", "indices: _Arrays, ")):
        text = f"def {method}({me}, array: _Tensor, /, {more}{ALONG}) -> {returned}: ..."
        yield method, text


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
