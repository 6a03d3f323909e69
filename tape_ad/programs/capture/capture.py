"""Running a function once, while every call on its arguments is noted."""

import operator
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.overridable import CAPTURES, CAPTURING, SHAPED_BY_VALUES, TYPED_BY_VALUES
from tape_ad.base.errors import CaptureError
from tape_ad.base.memory import pause_collection, resume_collection
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves, structure_of, unflatten
from tape_ad.programs.capture import answering  # noqa: F401 - which says how captured arrays answer
from tape_ad.programs.capture.comparison import Comparison
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.capture.memories import is_index, is_of_memory, noting_in
from tape_ad.programs.capture.op_facts import (
    FACTS,
    WRITING,
    by_name,
    check_capturable,
    check_warnings,
    decides,
    is_whole,
    leaves_given,
    masked,
    overwrites,
    settled,
    type_of,
)
from tape_ad.programs.capture.opaque_calls import call_foreign
from tape_ad.programs.capture.traced_arrays import Captured, as_index, holds_captured, is_captured
from tape_ad.programs.capture.traced_scalars import CapturedNumber
from tape_ad.programs.capture.tracers import NUMBERS, Noting, failure_of
from tape_ad.programs.capture.writing import call_into
from tape_ad.programs.program.program import Call, Guard, Program, Step, Value
from tape_ad.record.messages.callers import caller

__all__ = ["CAPTURING", "Capture"]

Function = Callable[..., Any]

AS_THEY_ARE = frozenset(
    {int, float, complex, bool, str, type(None), type(Ellipsis), np.float64, np.float32, type}
)
ARRAYS = (np.ndarray, np.generic)


@define(eq=False, repr=False)
class Capture:
    """What is noted while a function runs.

    Attributes
    ----------
    name : str
        The function's.
    comparison : Comparison
        With earlier captures, if there were any.
    constants : Constants
    inputs : list of Value
    steps : list of Call and Guard
    ended : bool
        Whether the function has returned.
    in_numpy : dict
        Whether functions with rules of their own are made of NumPy calls, by their ids.
    """

    name: str
    comparison: Comparison
    constants: Constants
    inputs: list[Value] = field(factory=list, init=False)
    steps: list[Step] = field(factory=list, init=False)
    ended: bool = field(default=False, init=False)
    in_numpy: dict[int, Any] = field(factory=dict, init=False)
    _errors: Mapping[str, Any] = field(factory=np.geterr, init=False)
    _filters: Any = field(factory=lambda: warnings.filters, init=False)
    _thread: int = field(factory=get_ident, init=False)
    _answers: dict[Any, Any] = field(factory=dict, init=False)
    _other_errors: Mapping[str, Any] | None = field(default=None, init=False)
    _failure: BaseException | None = field(default=None, init=False)

    def input(self, leaf: Any, name: str) -> Any:
        """Make what stands for an array or a number among the arguments."""
        value = Value.like(leaf, name=name)
        self.inputs.append(value)
        if type(leaf) in NUMBERS:
            return CapturedNumber(leaf, value, self)
        return Captured(leaf, value, self)

    def boxed(self, tree: Any) -> Any:
        """Make what stands for the plain arrays in a tree, which are constants."""
        kind: Any = type(tree)
        if kind is np.ndarray:
            return self.constant_box(tree)
        if kind is tuple or kind is list:
            boxes = [self.boxed(each) for each in tree]
            return tree if all(map(operator.is_, boxes, tree)) else kind(boxes)
        if kind is dict:
            return {key: self.boxed(each) for key, each in tree.items()}
        return tree

    def constant_box(self, array: Any) -> Captured:
        """Make what stands for an array or a number that does not depend on an argument."""
        return Captured(array, self.constants.value_of(array), self)

    def run(self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call the function, and note what it does."""
        before = CAPTURING.get()
        try:  # twice, for an interrupt may come before the first instruction of one
            try:
                pause_collection(self)  # it would look into a program that only grows
                CAPTURES.append(self)
                CAPTURING.set(self)
                return function(*args, **kwargs)
            except TypeError as error:
                if "SeedSequence" not in str(error):
                    raise
                raise self.refusal(
                    "it seeds a generator of random numbers with an argument, which NumPy takes "
                    "for none; write np.random.default_rng(int(seed)), for which there is a "
                    "program for each seed, or draw outside and pass what is drawn"
                ) from error
            finally:
                self.end(before)
        finally:
            self.end(before)

    def end(self, before: Any) -> None:
        """Put back what was there before the function ran."""
        CAPTURING.set(before)
        if self in CAPTURES:
            CAPTURES.remove(self)
        resume_collection(self)
        self.ended = True

    def foreign(
        self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any], shielded: int
    ) -> Any:
        """Call a function of the user's; see `call_foreign`."""
        return call_foreign(self, function, args, kwargs, shielded)

    # Calls

    def call(self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Compute a function at once, and note the call.

        Raises
        ------
        CaptureError
            When it cannot be replayed.
        """
        self.check_usable(function)
        if len(args) > 1:
            args, kwargs = by_name(function, args, kwargs)
        if kwargs and kwargs.get("out") is not None:
            return call_into(self, function, args, kwargs)
        if function in WRITING or overwrites(function, args, kwargs):
            raise self.refusal(
                f"{called(function)} ({caller()}) writes to its argument; write x[...] = value"
            )
        deciding = decides(function)
        if deciding:
            args = tuple([settled(arg) for arg in args])
        if kwargs:
            kwargs = {option: settled(arg) for option, arg in kwargs.items()}
        concrete_args, noted_args = self.all_of(args)
        concrete_kwargs, noted_kwargs = self.both(kwargs) if kwargs else (kwargs, kwargs)
        try:
            out = function(*concrete_args, **concrete_kwargs)
        except Exception as error:
            self.note_failure(function, noted_args, noted_kwargs, error)
            raise
        if function in FACTS or out is NotImplemented:
            return out  # about shapes and dtypes, which are the same at each replay
        if type(out) is str:
            return self.note_text(function, noted_args, noted_kwargs, out)
        result: Any
        if isinstance(out, ARRAYS) or type(out) in NUMBERS:
            result = self.box(out, args, kwargs, concrete_args)
            values: tuple[Value, ...] = (result.value,)
        else:
            check_capturable(self, function, out)
            if any(isinstance(each, (tuple, list)) for each in out):
                leaves = self.call(leaves_given, (function, args, dict(kwargs)), {})
                return unflatten(out, leaves)
            boxes = [self.box(each, args, kwargs, ()) for each in out]
            values = tuple([box.value for box in boxes])
            result = out._make(boxes) if hasattr(out, "_make") else type(out)(boxes)
        several = type(result) is not Captured and type(result) is not CapturedNumber
        self.note(Call(function, noted_args, noted_kwargs, values, several, self.errors()))
        shaped = function in SHAPED_BY_VALUES or masked(function, args, kwargs)
        self.rely_on(
            np.shape,
            shaped or (deciding and any(map(is_whole, (*args, *kwargs.values())))),
            result,
            several,
        )
        self.rely_on(type_of, function in TYPED_BY_VALUES, result, several)
        return result

    def check_usable(self, function: Function) -> None:
        """Refuse a call after the function has returned, or from another thread.

        Raises
        ------
        CaptureError
        """
        if self.ended:
            raise CaptureError(
                f"an array of {self.name}, which has been captured and has returned, is used in "
                f"{called(function)} ({caller()}); return what is needed later"
            )
        if get_ident() != self._thread:
            raise self.refusal(
                f"{called(function)} ({caller()}) is called in another thread, where no order of "
                "calls is fixed; use a loop in its place, and the threads of NumPy or of "
                "compile(f, threads=...), or compile what a thread does"
            )

    def rely_on(self, question: Function, does: bool, result: Any, several: bool) -> None:
        """Guard a fact about results, if it depends on values."""
        if does:
            for box in result if several else (result,):
                self.ask(question, box)

    def whole(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Note a helper as one call; NotImplemented if nothing is captured, or with a handle."""
        leaves = flatten((args, kwargs))
        others = any(hasattr(leaf, "record") or hasattr(leaf, "batch_here") for leaf in leaves)
        if others or not any(map(holds_captured, leaves)):
            return NotImplemented
        return self.call(function, args, kwargs)

    def note(self, step: Step) -> None:
        """Append a step, if an earlier capture has the same in its place."""
        self.steps.append(step)
        self.comparison.check(self, step)

    def note_failure(self, function: Any, args: Any, kwargs: Any, error: Exception) -> None:
        """Note a call that has failed, as a function may catch that and go another way."""
        self.note_text(failure_of, (function, args, dict(kwargs)), {}, type(error).__name__)

    def note_text(self, function: Any, args: Any, kwargs: Any, text: str) -> str:
        """Note a call that gives a text, which is guarded, as Python may do anything with that."""
        box = Captured(text, Value(str), self)
        self.note(Call(function, args, kwargs, (box.value,), errors=self.errors()))
        answer: str = self.ask(str, box)
        return answer

    def errors(self) -> Mapping[str, Any] | None:
        """Give the `numpy.errstate` that holds now, if it is not the one at the beginning."""
        if warnings.filters is not self._filters:
            check_warnings(self, self._filters)
        now = np.geterr()
        if now == self._errors:
            return None
        if self._other_errors != now:
            self._other_errors = now  # one for all calls in a row
        return self._other_errors

    def box(self, out: Any, args: Any, kwargs: Any, concrete: Sequence[Any]) -> Any:
        """Make what stands for a result of some arguments.

        `concrete` has the arrays of the arguments, where none is inside a structure.
        """
        kind = type(out)
        if kind in NUMBERS:
            return CapturedNumber(out, Value(kind), self)
        if kind is not np.ndarray:
            return Captured(out, Value.like(out), self)
        if out.base is None and concrete and not any(out is each for each in concrete):
            return Captured(out, Value.like(out), self)
        operands = noting_in((args, kwargs))
        if out.base is None and not any(out is each.data for each in operands):
            return Captured(out, Value.like(out), self)
        for operand in operands:
            if type(operand) is Captured and is_of_memory(out, operand.data):
                origin = operand if operand.origin is None else operand.origin
                owner: Value | None = operand.value.owner or operand.value
                box = Captured(out, Value.like(out, owner), self, origin)
                origin.views.append(weakref.ref(box))
                others = [each for each in operands if each is not operand]
                box.chosen_by = (*operand.chosen_by, *filter(is_index, others))
                return box
        return Captured(
            out, Value.like(out, self.constants.owner_of(out, flatten((args, kwargs)))), self
        )

    def all_of(self, args: tuple[Any, ...]) -> tuple[Any, Any]:
        """Do what `both` does for the arguments of a call, in fewer steps for most of them."""
        concrete, noted = [], []
        for arg in args:
            kind = type(arg)
            if kind is Captured and arg.capture is self:
                concrete.append(arg.data)
                noted.append(arg.value)
            elif kind in AS_THEY_ARE:
                concrete.append(arg)
                noted.append(arg)
            else:
                one, two = self.both(arg)
                concrete.append(one)
                noted.append(two)
        return tuple(concrete), tuple(noted)

    def both(self, tree: Any) -> tuple[Any, Any]:  # noqa: PLR0911 - one return for each kind
        """Give the concrete form of an argument, and the one with values in it."""
        kind: Any = type(tree)
        if kind is Captured or kind is CapturedNumber:
            if tree.capture is not self:
                raise self.refusal(f"an array of another call is used in {self.name} ({caller()})")
            return tree.data, tree.value
        if kind in AS_THEY_ARE:
            return tree, tree
        if isinstance(tree, np.ndarray):
            value = self.constant(tree)
            return tree if kind is np.ndarray else np.asarray(tree), value
        if kind is tuple or kind is list or kind is dict:
            pairs = [self.both(each) for each in (tree.values() if kind is dict else tree)]
            if all(a is b for a, b in pairs):
                return tree, tree
            if kind is dict:
                keys = list(tree)
                first = dict(zip(keys, [a for a, _ in pairs], strict=True))
                return first, dict(zip(keys, [b for _, b in pairs], strict=True))
            return kind([a for a, _ in pairs]), kind([b for _, b in pairs])
        if kind is slice:
            (start, stop, step), _ = self.both((tree.start, tree.stop, tree.step))
            if holds_captured(tree):
                return self.both(slice(*map(as_index, (tree.start, tree.stop, tree.step))))
            return slice(start, stop, step), slice(start, stop, step)
        if hasattr(kind, "__array_function__"):
            raise self.refusal(
                f"a {kind.__name__} meets an argument ({caller()}), and is none itself; pass it as "
                "an argument"
            )
        if structure_of(kind) is not None:
            if not any(
                isinstance(leaf, np.ndarray) or holds_captured(leaf) for leaf in flatten(tree)
            ):
                return tree, tree
            return (
                map_leaves(lambda leaf, path: self.both(leaf)[0], tree),
                map_leaves(lambda leaf, path: self.both(leaf)[1], tree),
            )
        return tree, tree

    def constant(self, array: Any) -> Value:
        """Give the value that stands for an array from elsewhere."""
        kind = type(array)
        if kind is not np.ndarray and kind is not np.memmap:
            raise self.refusal(
                f"it uses a {kind.__name__} ({caller()}), which computes in its own way; write "
                "np.asarray(...) around it"
            )
        return self.constants.value_of(array)

    # Questions

    def ask(self, question: Function, noting: Noting) -> Any:
        """Answer a question about a value, and note that the answer is relied on."""
        data, value = noting.data, noting.value
        asked = question, id(value)
        if asked in self._answers:
            return self._answers[asked][0]
        if self.ended:
            return question(data)
        try:
            answer = question(data)
        except Exception as error:
            self.note_failure(question, (value,), {}, error)
            raise
        self._answers[asked] = answer, value  # which keeps its id from being given again
        self.note(Guard(question, value, answer, caller()))
        return answer

    def refusal(self, text: str) -> CaptureError:
        """Make an error which is raised in the end even if the function catches it."""
        error = CaptureError(f"{self.name} cannot be compiled: {text}")
        if self._failure is None:
            self._failure = error
        return error

    def program(self, output: Any) -> Program:
        """Give what was noted.

        Raises
        ------
        CaptureError
            When what the function returned cannot be given again.
        """
        if self._failure is not None:
            raise self._failure
        tree = map_leaves(self.returned, output)
        return Program(
            self.name, tuple(self.inputs), self.constants.found(), tuple(self.steps), tree
        )

    def returned(self, leaf: Any, path: str) -> Any:
        """Give what stands in the output's tree."""
        if is_captured(leaf):
            if leaf.capture is not self:
                raise self.refusal(
                    f"it returns an array of an earlier call{path and f' at {path}'}, which it has "
                    "kept; return what is computed of the arguments"
                )
            return leaf.value
        if isinstance(leaf, np.ndarray):
            return self.constant(leaf)
        if type(leaf) in AS_THEY_ARE or isinstance(leaf, (np.generic, np.dtype, type, str, bytes)):
            return leaf
        what = f"a {type(leaf).__name__}{path and f' at {path}'}"
        if hasattr(leaf, "record"):
            raise self.refusal(
                f"it returns {what}, a handle; return its .data or its gradient, and pass handles "
                "from elsewhere as arguments"
            )
        raise self.refusal(
            f"it returns {what}, which cannot be made again by a replay; return arrays, numbers, "
            "None and strings, in dicts, lists, tuples and attrs classes"
        )
