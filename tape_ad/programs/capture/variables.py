"""A place where a function looks something up, and the quick question whether all is as it was."""

import ast
import copy
import dis
import functools
import inspect
import keyword
import operator
import re
import types
import weakref
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, TypeGuard

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.capture.constants import PADDED, contents
from tape_ad.record.messages.callers import Place, tree_of, variables_bound, variables_read

LOOKUPS = frozenset(
    (
        *("getattr", "hasattr", "vars", "globals", "__dict__", "attrgetter", "methodcaller"),
        *("__getattribute__", "import_module", "__import__", "modules", "__match_args__"),
        *("getattr_static", "getmembers"),
    )
)
"""Names of what looks up a name that is given as text."""
WHOLE = frozenset(
    ("vars", "__dict__", "dir", "getmembers", "asdict", "astuple", "fields", "fields_dict")
)
"""Names of what gives all attributes of an object."""
PATTERN = "match a:\n case b(c): pass"
OTHER_PATTERNS = "match a:\n case [c, b]: pass\n case {'b': c}: pass\n case None: pass\nb"


@frozen
class Names:
    """The names in a function's code, with those of functions inside it.

    Attributes
    ----------
    read : frozenset of str
        All that it looks up: variables of the module, attributes, and what stands as text where
        something looks up text.
    outside : frozenset of str
        Those of them that are variables of the module.
    bound : frozenset of str
        The variables outside that it binds, as a counter does.
    doubtful : frozenset of str
        Those that it looks up where they may be missing.
    texts : frozenset of str
        Those that stand as text in it.
    by_text : bool
        Whether it may look up any text.
    whole : bool
        Whether it may look at all attributes of an object.
    """

    read: frozenset[str]
    outside: frozenset[str]
    bound: frozenset[str]
    doubtful: frozenset[str]
    texts: frozenset[str]
    by_text: bool
    whole: bool


@functools.lru_cache(maxsize=1024)
def names_in(code: types.CodeType) -> Names:
    """Find the names in a function's code."""
    codes = list(codes_in(code))
    names = frozenset(name for each in codes for name in each.co_names)
    if not all(looks_by_patterns().isdisjoint(each.co_code[::2]) for each in codes):
        names |= {"__match_args__"}
    by_text = not LOOKUPS.isdisjoint(names)
    every = frozenset(text for each in codes for text in texts_in(each.co_consts))
    texts = every if by_text else frozenset()
    doubtful = frozenset(name for each in codes if each.co_exceptiontable for name in each.co_names)
    return Names(
        names | texts,
        frozenset(variables_read(code)),
        frozenset(variables_bound(code)),
        doubtful | texts,
        every,
        by_text,
        not WHOLE.isdisjoint(names),
    )


def codes_in(code: types.CodeType) -> Iterator[types.CodeType]:
    """Give a function's code and that of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


@functools.lru_cache(maxsize=1024)
def asks_identity(code: types.CodeType) -> bool:
    """Tell whether code asks by ``is`` for something else than a constant or a global variable.

    What a dataclass writes to compare its objects asks for these alone.
    """
    if (code.co_filename, code.co_name) == ("<string>", "__eq__"):
        return False
    identities, attributes = operations("a is b"), operations("a.b")
    known = operations("None", "1", "'text'", "variable")
    before = -1
    for each in dis.get_instructions(code):
        if each.opcode in identities and before not in known:
            return True
        if each.opcode not in attributes:  # of an attribute, what matters is whose it is
            before = each.opcode
    return False


@functools.lru_cache(maxsize=1024)
def asks_type(code: types.CodeType) -> bool:
    """Tell whether code may compare what `type` gives."""
    asked = {each.opcode for each in dis.get_instructions(code)}
    comparing = operations("a is b", "a == b", "a in b")
    return "type" in code.co_names and not asked.isdisjoint(comparing)


@functools.cache
def operations(*examples: str) -> frozenset[int]:
    """List the operations of expressions of `a` and `b` that simpler ones of them have not."""

    def used(expression: str) -> set[int]:
        _, code = codes_in(compile(f"lambda a, b: [{expression}]", "<example>", "eval"))
        return {each.opcode for each in dis.get_instructions(code)}

    simpler = map(used, ("a", "a, b", "-a", "a + b", "a + a"))
    return frozenset(set().union(*map(used, examples)).difference(*simpler))


@functools.cache
def looks_by_patterns() -> frozenset[int]:
    """List the operations of a pattern like ``Point(x=0)``, which looks up attributes by text."""

    def used(statement: str) -> set[int]:
        code = compile(statement, "<example>", "exec")
        return {each.opcode for each in dis.get_instructions(code)}

    return frozenset(used(PATTERN) - used(OTHER_PATTERNS))


def texts_in(constants: Any) -> Iterator[str]:
    """Give the names in strings, as of ``getattr(x, "name")`` and ``attrgetter("one.other")``."""
    for each in constants:
        if isinstance(each, (tuple, frozenset)):
            yield from texts_in(each)
        elif isinstance(each, str):
            yield from (part for part in (each, *each.split(".")) if is_dotted(part))


def is_dotted(text: str) -> bool:
    """Tell whether a text is a name, or several with dots between, as those of modules are."""
    return all(map(str.isidentifier, text.split(".")))


@functools.lru_cache(maxsize=1024)
def names_used(code: types.CodeType) -> frozenset[str]:
    """Find the names whose values go into more than a count, or a call whose value is thrown away.

    The one is ``self.step += 1``, and the other ``log.append(step)``. Any other counts as a use, as
    all names do where there is no source.
    """
    codes, read = list(codes_in(code)), variables_read(code)
    cells = {name for each in codes for name in (*each.co_freevars, *each.co_cellvars)}
    names = cells.union(*[each.co_names for each in codes])
    tree = tree_of(code)
    written = names - {"__class__"}  # a cell that ``super()`` has without naming it
    if tree is None or not {*map(unmangled, written)} <= {*re.findall(r"\w+", ast.unparse(tree))}:
        return frozenset(names)  # or where it is that of something else by now
    local = {name for each in codes for name in each.co_varnames} - cells - read
    whole = [tree] if isinstance(tree, ast.expr) else []
    parts = [*whole, *(each for each in ast.walk(tree) if isinstance(each, ast.stmt))]
    used = {word for each in parts for word in words_used(each, local)}
    return frozenset(name for name in names if unmangled(name) in used)


def unmangled(name: str) -> str:
    """Give the name that a class's code has for one of its private attributes."""
    return re.sub("^_[^_].*?(?=__)", "", name)


BRANCHES = (
    *(ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr, ast.comprehension),
    *(ast.Await, ast.Yield, ast.YieldFrom),
)
"""What makes more of a call than a call."""


def words_used(part: ast.AST, local: set[str]) -> Iterator[str]:
    """Give the names whose values a statement uses itself, but for a function's own variables."""
    parts, bound = list(expressions_in(part)), ""
    match part:
        case ast.expr():
            parts = [part]
        case ast.Expr(ast.Call() as call):
            parts = parts if any(isinstance(each, BRANCHES) for each in ast.walk(call)) else []
        case ast.Assign([target], value) | ast.AugAssign(target, _, value):
            parts = [value]
            own = isinstance(target, ast.Name) and target.id in local
            bound = "" if own or isinstance(target, ast.Subscript) else ast.unparse(target)
        case ast.Assign(_, value):
            parts = [value]
    for each in (each for part in parts for each in ast.walk(part)):
        match each:
            case ast.Name(word) if word not in local and word != bound:
                yield word
            case ast.Attribute(attr=word) if ast.unparse(each) != bound:
                yield word


def expressions_in(node: ast.AST) -> Iterator[ast.expr]:
    """Give the expressions of a statement, but for those of the statements in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif not isinstance(child, ast.stmt):
            yield from expressions_in(child)


ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult)
"""Operators that ask nothing of the numbers in their operands."""
REPEATED = (
    *(ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)
"""What has parts that run several times, or at another time than what is around it."""
UNNAMED = "_"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SHAPES = frozenset({"shape", "ndim", "size", "dtype"})
"""Attributes of an array that tell nothing of its numbers."""


def operands_alone(
    code: types.CodeType, words: set[str], places: Container[Place], leaves: Container[Place]
) -> set[str] | None:
    """Find which names are there, None if not as operands of arithmetic at some places alone.

    These may be views: ``x * w[1:]`` is at a place where memory of ``w`` itself is read. At places
    that are `leaves` as well, they may be arguments: of ``ta.grad(loss)(w)``. Variables of a
    function's own are others, which are given what another name stands for.
    """
    tree = tree_of(code)
    if tree is None:
        return None
    tree, names = without_locals(code, tree), []
    for node in nodes_run_once(tree):
        match node:
            case ast.BinOp(left, operator, right) if isinstance(operator, ARITHMETIC):
                names += [name_of(left), name_of(right)] if extent(node) in places else []
            case ast.Call(args=args) if extent(node) in places and extent(node) in leaves:
                given = [name_of(each) for arg in args for each in displayed(arg)]
                names += [name for name in given if given.count(name) == 1]
            case ast.Attribute(value, attr=name) if name in SHAPES:
                names.append(name_of(value))
    every = re.findall(r"\w+", ast.unparse(tree))
    plain = {word: unmangled(word) for word in words}
    if any(names.count(word) != every.count(word) for word in plain.values()):
        return None
    return {word for word in words if plain[word] in names}


def is_name(node: ast.AST) -> TypeGuard[ast.Name]:
    """Tell whether a part of the source is a bare name."""
    return isinstance(node, ast.Name)


def extent(node: ast.expr) -> Place:
    """Give the place of an expression."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def without_locals(code: types.CodeType, tree: ast.AST) -> ast.AST:
    """Give the source of a function with its own variables unnamed, without functions in it."""
    tree = copy.deepcopy(tree)
    own = inspect.getargs(code)
    names = {*own.args, own.varargs, own.varkw}
    parts: list[ast.AST] = [tree]  # what a lambda gives
    if isinstance(tree, FUNCTIONS):
        parts = [*tree.body]
        once = nodes_run_once(ast.Module(tree.body, []))
        names |= {each.id for each in once if is_name(each) and isinstance(each.ctx, ast.Store)}
    for node in [each for each in ast.walk(tree) if each is not tree]:
        if isinstance(node, ast.Lambda):  # which has code of its own
            node.body = ast.Constant(None)
        elif isinstance(node, FUNCTIONS):
            node.body = [ast.Pass()]
    for node in [each for part in parts for each in ast.walk(part)]:
        if is_name(node) and node.id in names:
            node.id = UNNAMED
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.arg = UNNAMED
        elif isinstance(node, ast.Dict):  # whose keys may be texts, which name nothing outside
            node.keys = [None if isinstance(key, ast.Constant) else key for key in node.keys]
    return tree


def displayed(node: ast.expr) -> Iterator[ast.expr]:
    """Give what is in a list, a tuple or a dict that is written out; else the expression itself."""
    match node:
        case ast.List(parts) | ast.Tuple(parts) | ast.Dict(values=parts):
            for each in parts:
                yield from displayed(each)
        case _:
            yield node


def name_of(node: ast.expr) -> str:
    """Give the name of an array that an expression may show a part of, such as ``w.T[0]``."""
    match node:
        case ast.Name(name):
            return name
        case ast.Subscript(value) | ast.Call(ast.Attribute(value)) | ast.Attribute(value, attr="T"):
            return name_of(value)
        case ast.Attribute(attr=name):
            return name
    return ""


def nodes_run_once(node: ast.AST) -> Iterator[ast.AST]:
    """Give the parts of a function's source that are in no loop and in no function within it."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, REPEATED):
            yield from nodes_run_once(child)


MISSING: Any = object()
NUMBERS = frozenset({int, float, complex})
ENTRY, ATTRIBUTE, CELL = "entry", "attribute", "cell"
CONTENTS, VALUES, OBJECTS, BYTES = "contents", "values", "objects", "bytes"
CALLED, CONTEXT, PRESENT, SUBCLASSES = "called", "context", "present", "subclasses"
"""What a variable is of what holds it."""
WHOLES = frozenset({CONTENTS, VALUES, OBJECTS, SUBCLASSES})
"""The kinds whose values are tuples of all that is in a container."""

READERS: dict[str, Callable[[Any, Any], Any]] = {
    ENTRY: lambda holder, name: holder[name],
    ATTRIBUTE: getattr,
    CELL: lambda holder, name: holder.cell_contents,
    CONTENTS: lambda holder, name: tuple(holder),
    VALUES: lambda holder, name: tuple(holder.values()),
    OBJECTS: lambda holder, name: tuple(holder.flat),
    BYTES: lambda holder, name: bytes(holder),
    CALLED: lambda holder, name: holder() is not None,
    CONTEXT: lambda holder, name: holder.get(),
    PRESENT: lambda holder, name: tuple(sorted(name & holder)),
    SUBCLASSES: lambda holder, name: tuple(holder.__subclasses__()),
}
TESTS = {
    ENTRY: "r{i}[k{i}] is v{i}",
    ATTRIBUTE: "r{i}.{name} is v{i}",
    CELL: "r{i}.cell_contents is v{i}",
    CONTENTS: "len(r{i}) == len(v{i}) and all(map(same_object, r{i}, v{i}))",
    VALUES: "len(r{i}) == len(v{i}) and all(map(same_object, r{i}.values(), v{i}))",
    OBJECTS: "r{i}.size == len(v{i}) and all(map(same_object, r{i}.flat, v{i}))",
    BYTES: "bytes(r{i}) == v{i}",
    CALLED: "(r{i}() is not None) is v{i}",
    CONTEXT: "r{i}.get() is v{i}",
    PRESENT: "r{i}.isdisjoint(k{i})",
    SUBCLASSES: "tuple(r{i}.__subclasses__()) == v{i}",
}
GONE = (AttributeError, LookupError, ReferenceError, RuntimeError, TypeError, ValueError)
"""What it raises to look at a place that is empty, or that another thread is changing."""


@define(eq=False, repr=False)
class Variable:
    """A place where a function looks something up, and what was there.

    Attributes
    ----------
    holder : dict, list, cell or object
    name : any
        The key, index or attribute, if it has one.
    title : str
        What the user calls it.
    kind : str
        `ENTRY` of a dict or list, `ATTRIBUTE` of an object, what a `CELL` holds, or the `CONTENTS`
        of a container: its elements, or the keys of a dict, which has `VALUES` as well; the
        `OBJECTS` of an array of them, the `BYTES` of a buffer, whether a weak reference that is
        `CALLED` gives something, what a `CONTEXT` variable is set to, or which of the names, all
        of them missing so far, are `PRESENT` among the keys of a dict; the `SUBCLASSES` of a class.
    value : any
        `MISSING` where there was nothing.
    """

    holder: Any
    name: Any
    title: str
    kind: str = ENTRY
    value: Any = MISSING

    def now(self) -> Any:
        """Give what is there now."""
        try:
            return READERS[self.kind](self.holder, self.name)
        except GONE:
            return MISSING

    def restore(self) -> None:
        """Bind it to what was there before."""
        if self.kind == ENTRY:
            self.holder[self.name] = self.value
        elif self.kind == ATTRIBUTE:
            setattr(self.holder, self.name, self.value)
        elif self.kind == CELL:
            self.holder.cell_contents = self.value

    def named(self) -> str:
        """Give its title, for an error, or the name that has appeared."""
        appeared = self.now() if self.kind == PRESENT else ()
        return f"{self.title}{appeared[0]}" if appeared else self.title

    def holds(self) -> bool:
        """Tell whether the same is there as before; of numbers, an equal one."""
        now = self.now()
        if self.kind in WHOLES and now is not MISSING and self.value is not MISSING:
            return len(now) == len(self.value) and all(map(alike, now, self.value))
        return alike(now, self.value)


@define(eq=False, repr=False)
class WatchedArray:
    """An array that a function reads, but not by a call that is noted, and what was in it.

    Attributes
    ----------
    array : ndarray
        Or a weak proxy of one.
    titles : list of str
        What the user calls it.
    contents : bytes
    within : bool
        Whether it is in an object of a library, which a call of the program may be given.
    read : bool
        Whether the program reads it as well.
    changes : int
        How often other numbers have made no other program.
    now : callable
        Gives what is in it now.
    """

    array: Any
    titles: list[str] = field(factory=list)
    contents: bytes = b""
    within: bool = False
    read: bool = False
    changes: int = 0
    now: Callable[[], bytes] = field(init=False)

    @now.default
    def _(self) -> Callable[[], bytes]:
        array = self.array
        if type(array) in weakref.ProxyTypes:
            return self.left
        array = np.ndarray.view(array, np.ndarray)  # of a masked array, what is masked as well
        padded = array.dtype.char in PADDED
        return functools.partial(contents, array) if padded else array.tobytes

    def left(self) -> bytes:
        """Give the contents of an array that is referred to weakly, the last where it is gone."""
        try:
            return contents(self.array)
        except ReferenceError:
            return self.contents

    @property
    def title(self) -> str:
        """What the user calls it first of all."""
        return self.titles[0]

    def named(self) -> str:
        """Name the variable for a message."""
        return self.title

    def holds(self) -> bool:
        """Tell whether the same numbers are in it as before."""
        return self.now() == self.contents


def word_of(title: str) -> str:
    """Give the name by which code reaches something: of ``model.log[0]`` that is ``log``."""
    return title.partition("[")[0].rpartition(".")[2]


def alike(one: Any, two: Any) -> bool:
    """Tell whether two things are one object, or Python numbers of one kind and sign."""
    if one is two:
        return True
    if type(one) is not type(two):
        return False
    return (type(one) in NUMBERS and repr(one) == repr(two)) or (type(one) is bytes and one == two)


def guarded_replay(
    variables: list[Variable],
    numbers: Sequence[WatchedArray],
    replay: Callable[..., Any],
    hold: Callable[[], bool],
    stale: Any,
) -> Callable[..., Any]:
    """Make a replay that gives `stale` where a variable, or a number in an array, has changed.

    Variables are mostly the very same as they were; `hold` looks at those that are not.
    """
    bound: dict[str, Any] = {"same_object": operator.is_, "gone": GONE}
    bound |= {"numbers": numbers, "replay": replay, "hold": hold, "stale": stale}
    tests = []
    for i, variable in enumerate(variables):
        bound[f"r{i}"], bound[f"v{i}"] = variable.holder, variable.value
        bound[f"k{i}"] = variable.name
        by_text = variable.kind == ATTRIBUTE and keyword.iskeyword(variable.name)
        if variable.value is MISSING or by_text:
            bound[f"r{i}"] = variable.now
            tests.append(f"r{i}() is v{i}")
            continue
        tests.append(TESTS[variable.kind].format(i=i, name=variable.name))
    looking = [
        "    for each in numbers:",
        "        if each.now() != each.contents:",  # as `holds`, without a call of ours
        "            return stale",
    ]
    names, code = "*inputs", getattr(replay, "__code__", None)
    if code is not None and not code.co_flags & inspect.CO_VARARGS:  # which nothing is packed for
        names = ", ".join(code.co_varnames[: code.co_argcount])
    lines = [
        f"def guarded({names}):",
        *(looking if numbers else ()),
        "    try:",
        f"        same = {' and '.join(tests)}",
        "    except gone:",
        "        same = False",
        f"    return replay({names}) if same or hold() else stale",
    ]
    exec(compile("\n".join(lines), "<variables of a function>", "exec"), bound)  # noqa: S102 - written above
    guarded: Callable[..., Any] = bound.pop("guarded")  # no cycle of it and its names
    return guarded
