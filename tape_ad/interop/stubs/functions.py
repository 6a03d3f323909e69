"""The overloads of functions, which are made from those that NumPy has for plain arrays."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.extend.rules import RULES, Constant, Entry, Refused, Rule

__all__ = ["MIXED", "PURE", "File", "gives_plain", "handle_tuples", "overloads", "ufunc_overloads"]

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
    "tuple[_Tensor, ...]: ...",
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
