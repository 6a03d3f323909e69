"""What the code of a function names, and what it asks."""

import ast
import dis
import functools
import re
import types
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from tape_ad.record.messages.callers import tree_of, variables_bound, variables_read

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
