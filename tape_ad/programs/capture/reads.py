"""Whether calls that are noted are all that reads an array that a function finds elsewhere.

Then it may change between replays without another look at it.
"""

import ast
import copy
import inspect
import re
import sys
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.programs.capture.code_names import unmangled
from tape_ad.record.messages.callers import Place, place_of, tree_of, user_frame
from tape_ad.record.record import ComputationRecord

# Where the calls are from that read it

LEAF = ComputationRecord._leaf.__code__
DIFFERENTIATING = frozenset({"tape_ad.transforms.gradients", "tape_ad.record.record"})
"""The modules whose functions do nothing else with such an argument."""


@define(eq=False, repr=False)
class Reads:
    """Where calls that are noted read some arrays.

    Attributes
    ----------
    arrays : sequence of ndarray
        What is asked about.
    """

    arrays: Sequence[Any] = ()
    _noted: dict[tuple[int, CodeType, Place, bool], set[int]] = field(factory=dict)
    _calls: Counter[CodeType] = field(factory=Counter)
    _numbers: dict[int, int] = field(factory=dict)

    def note(self, array: Any) -> None:
        """Note that a call reads an array."""
        for each in self.arrays:
            if np.may_share_memory(each, array):
                frame = user_frame()
                at = id(each), frame.f_code, place_of(frame.f_code, frame.f_lasti)
                for as_leaf in {False, makes_leaf(frame)}:
                    calls = self._noted.setdefault((*at, as_leaf), set())
                    calls.add(self._numbers.get(id(frame), 0))

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count how often each function is called in a ``with`` block.

        That is unknown where it is profiled and traced as well, as by a debugger.
        """
        watch = sys.setprofile if sys.getprofile() is None else sys.settrace
        if not self.arrays or (watch is sys.settrace and sys.gettrace() is not None):
            yield
            return

        def count(frame: FrameType, event: str, arg: Any) -> None:
            if event == "call":
                self._calls[frame.f_code] += 1
                self._numbers[id(frame)] = self._calls[frame.f_code]  # as another had that id

        watch(count)
        try:
            yield
        finally:
            watch(None)

    def always_at(self, array: Any, code: CodeType, *, as_leaf: bool = False) -> set[Place]:
        """Give the places at which each call of a function reads an array by a call that is noted.

        A function may be called with plain arrays as well, of which nothing is noted. With
        `as_leaf`, the places at which it is given to what makes a leaf of it.
        """
        asked = id(array), code, as_leaf, self._calls[code]
        return {
            place
            for (at, of, place, leaf), calls in self._noted.items()
            if (at, of, leaf, len(calls)) == asked
        }


def makes_leaf(user: FrameType) -> bool:
    """Tell whether a frame of the user's has just called what makes a leaf of an argument."""
    frame: FrameType | None = sys._getframe(1)
    leaf, module = False, ""
    while frame is not None and frame is not user:
        leaf = leaf or frame.f_code is LEAF
        module, frame = str(frame.f_globals.get("__name__")), frame.f_back
    return leaf and module in DIFFERENTIATING


# What else the source does with it


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
    code: CodeType, words: set[str], places: Container[Place], leaves: Container[Place]
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


def extent(node: ast.expr) -> Place:
    """Give the place of an expression."""
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def without_locals(code: CodeType, tree: ast.AST) -> ast.AST:
    """Give the source of a function with its own variables unnamed, without functions in it."""
    tree = copy.deepcopy(tree)
    own = inspect.getargs(code)
    names = {*own.args, own.varargs, own.varkw}
    parts: list[ast.AST] = [tree]  # what a lambda gives
    if isinstance(tree, FUNCTIONS):
        parts = [*tree.body]
        once = nodes_run_once(ast.Module(tree.body, []))
        named = [each for each in once if isinstance(each, ast.Name)]
        names |= {each.id for each in named if isinstance(each.ctx, ast.Store)}
    for node in [each for each in ast.walk(tree) if each is not tree]:
        if isinstance(node, ast.Lambda):  # which has code of its own
            node.body = ast.Constant(None)
        elif isinstance(node, FUNCTIONS):
            node.body = [ast.Pass()]
    for node in [each for part in parts for each in ast.walk(part)]:
        if isinstance(node, ast.Name) and node.id in names:
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
