"""Running a function once, while every call on its arguments is noted."""

import contextlib
import functools
import operator
import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from threading import get_ident
from typing import Any

import numpy as np
from attrs import define, evolve, field
from numpy._core import umath

from tape_ad.base.arrays.interpreter import enter, is_box, plain
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.errors import CaptureError, InPlaceError
from tape_ad.base.memory import pause_collection, resume_collection
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves, structure_of, unflatten
from tape_ad.programs.capture.answering import call_into
from tape_ad.programs.capture.comparison import Comparison
from tape_ad.programs.capture.constants import Constants
from tape_ad.programs.capture.generators import TracedGenerator
from tape_ad.programs.capture.op_facts import (
    FAILING,
    by_name,
    check_capturable,
    check_warnings,
    decides,
    facts_in_capture,
    holds_traced_integer,
    leaves_given,
    masked,
    may_write,
    overwrites,
    type_of,
    with_integers_guarded,
)
from tape_ad.programs.capture.opaque_calls import call_apart, call_opaque
from tape_ad.programs.capture.tracers import (
    NUMBERS,
    TracedArray,
    TracedScalar,
    Tracer,
    as_index,
    failure_of,
    holds_tracer,
    is_index,
    is_of_memory,
    is_tracer,
)
from tape_ad.programs.program import NO_OPTIONS, Call, Guard, Program, Step, Value, values_in
from tape_ad.programs.program.keys import GENERATORS, source_of
from tape_ad.programs.program.trace import Trace
from tape_ad.record.messages.callers import caller
from tape_ad.record.mutation import Memory
from tape_ad.record.ties import Tied, flags_of
from tape_ad.rules.maps import Index

Function = Callable[..., Any]

PLAIN_TYPES = frozenset(
    {int, float, complex, bool, str, type(None), type(Ellipsis), np.float64, np.float32, type}
)
ARRAYS = (np.ndarray, np.generic)
BASIC = frozenset({int, type(None), type(Ellipsis)})
GROWING = frozenset({list, dict})
"""What is noted as it is now: the function may put something else into it later."""

variable = getattr(umath, "_extobj_contextvar", None)
error_setting: Callable[[], Any] = object if variable is None else variable.get
"""Give what each `numpy.errstate` replaces, whose dict takes 1 us to make; where a release of NumPy
has no such variable, something new each time."""


@functools.lru_cache(1024)
def is_simple(function: Function) -> bool:
    """Tell whether a function gives new arrays, of shapes and dtypes that go by those of operands.

    That is asked of NumPy's own ufuncs and the rules' own functions, whose facts are known from
    the beginning. Such a function writes to nothing that it is given.
    """
    facts = facts_in_capture(function)
    if type(function) is np.ufunc:
        own = vars(np).get(function.__name__) is function
        if not own or function in FAILING or function.nout != 1 or function.signature is not None:
            return False
        with_ties = any(types[-1] == "?" and types[0] != "?" for types in function.types)
        return not with_ties and not facts.dtype_by_values
    if not str(getattr(function, "__module__", None)).startswith("tape_ad.rules."):
        return False
    asked = facts.shape_by_values, facts.dtype_by_values, facts.about_shapes, facts.view
    return not (any(asked) or facts.writes or may_write(function))


def is_basic(key: Any) -> bool:
    """Tell whether a key is of whole numbers alone, or of slices between such."""
    if type(key) is tuple:
        return all(map(is_basic, key))
    if type(key) is slice:
        return BASIC.issuperset((type(key.start), type(key.stop), type(key.step)))
    return type(key) in BASIC


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
    outside : container of int
        The ids of variables and containers that were there before, and are watched.
    inputs : list of Value
    steps : list of Call and Guard, or Trace
        The latter where none of them is compared with earlier ones.
    level : int
        When it was entered, beside other interpreters.
    ended : bool
        Whether the function has returned.
    in_numpy : dict
        Whether functions with rules of their own are made of NumPy calls, by their ids.
    searches_batches : bool
        Whether a solver was given a batch, which it searches for one by one in a capture alone.
    rounds : bool
        Whether lines of NumPy calls have been noted in the place of compiled code, which gives
        other digits.
    """

    name: str
    comparison: Comparison
    constants: Constants
    outside: Container[int] = frozenset()
    inputs: list[Value] = field(factory=list, init=False)
    steps: "list[Step] | Trace" = field(factory=list, init=False)
    level: int = field(factory=enter, init=False)
    ended: bool = field(default=False, init=False)
    in_numpy: dict[int, Any] = field(factory=dict, init=False)
    _errors: Mapping[str, Any] = field(factory=np.geterr, init=False)
    _setting: Any = field(factory=error_setting, init=False)
    _filters: Any = field(factory=lambda: warnings.filters, init=False)
    _thread: int = field(factory=get_ident, init=False)
    _answers: dict[Any, Any] = field(factory=dict, init=False)
    _generators: dict[int, TracedGenerator] = field(factory=dict, init=False)
    _other_errors: Mapping[str, Any] | None = field(default=None, init=False)
    _failure: BaseException | None = field(default=None, init=False)
    searches_batches: bool = field(default=False, init=False)
    rounds: bool = field(default=False, init=False)

    def input(self, leaf: Any, name: str) -> Any:
        """Make what stands for an array or a number among the arguments."""
        value = Value.like(leaf, name=name)
        self.inputs.append(value)
        if type(leaf) in NUMBERS:
            return TracedScalar(leaf, value, self)
        if isinstance(leaf, GENERATORS):
            return self.generator(leaf, value)
        return TracedArray(leaf, value, self)

    def generator(self, leaf: Any, value: Value) -> Any:
        """Make what stands for a generator of random numbers; one that is given twice is one.

        Raises
        ------
        CaptureError
        """
        source = source_of(leaf)
        known = self._generators.setdefault(id(source), TracedGenerator(leaf, value, self))
        if known.data is not leaf and type(known.data) is type(leaf) is np.random.Generator:
            return known  # which has no state beside that
        if known.data is not leaf:
            raise self.refusal(
                f"the generator {value.name} draws from the bit generator of another one, "
                f"{known.value.name}; pass one generator, or make a bit generator for each"
            )
        return known

    def lift(self, tree: Any) -> Any:
        """Make what stands for the plain arrays in a tree, which are constants."""
        kind: Any = type(tree)
        if kind is np.ndarray:
            return self.lift_constant(tree)
        if kind is tuple or kind is list:
            boxes = [self.lift(each) for each in tree]
            return tree if all(map(operator.is_, boxes, tree)) else kind(boxes)
        if kind is dict:
            return {key: self.lift(each) for key, each in tree.items()}
        return tree

    def lift_constant(self, array: Any) -> TracedArray:
        """Make what stands for an array or a number that does not depend on an argument."""
        return TracedArray(array, self.constants.value_of(array), self)

    def run(self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Call the function, and note what it does."""
        before = ACTIVE.get()
        try:  # twice, for an interrupt may come before the first instruction of one
            try:
                pause_collection(self)  # it would look into a program that only grows
                ACTIVE.set(evolve(before, capture=self))
                return function(*args, **kwargs)
            except Exception as error:
                if self._failure is not None:  # of which something has made another error
                    raise self._failure from error
                if "SeedSequence" not in str(error):
                    raise
                raise self.refusal(
                    "it seeds a generator of random numbers with an argument, which NumPy takes "
                    "for none; leave np.random.default_rng out where that is a generator, and else "
                    "write np.random.default_rng(int(seed)), for which there is a program for each "
                    "seed"
                ) from error
            finally:
                self.end(before)
        finally:
            self.end(before)

    def end(self, before: Any) -> None:
        """Put back what was there before the function ran."""
        ACTIVE.set(before)
        resume_collection(self)
        self.ended = True

    call_opaque, call_apart = call_opaque, call_apart

    # Calls

    def call(  # noqa: PLR0912 - one question after the other
        self, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Compute a function at once, and note the call.

        Raises
        ------
        CaptureError
            When it cannot be replayed.
        """
        if self.ended or get_ident() != self._thread:
            self.check_usable(function)
        if not kwargs:  # as in most calls, of which there is little to ask
            simple = self.simple(function, args)
            if simple is not None:
                return simple
        if len(args) > 1:
            args, kwargs = by_name(function, args, kwargs)
        if kwargs and kwargs.get("out") is not None:
            return call_into(self, function, args, kwargs)
        facts = facts_in_capture(function)
        if facts.writes or overwrites(function, args, kwargs):
            raise self.refusal(
                f"{called(function)} ({caller()}) writes to its argument; write x[...] = value"
            )
        deciding = decides(function)
        if deciding:
            args = tuple([with_integers_guarded(arg) for arg in args])
        if kwargs:
            kwargs = {option: with_integers_guarded(arg) for option, arg in kwargs.items()}
        concrete_args, noted_args = self.unwrap_all(args)
        concrete_kwargs, noted_kwargs = self.unwrap(kwargs) if kwargs else (kwargs, NO_OPTIONS)
        try:
            out = function(*concrete_args, **concrete_kwargs)
        except InPlaceError:
            raise  # which is about what is captured, and no matter of values
        except Exception as error:
            self.note_failure(function, noted_args, noted_kwargs, error)
            raise
        if facts.about_shapes or out is NotImplemented:
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
        several = type(result) is not TracedArray and type(result) is not TracedScalar
        self.note(Call(function, noted_args, noted_kwargs, values, several, self.errors()))
        self.rely_on(
            np.shape,
            facts.shape_by_values
            or masked(function, args, kwargs)
            or (deciding and any(map(holds_traced_integer, (*args, *kwargs.values())))),
            result,
            several,
        )
        self.rely_on(type_of, facts.dtype_by_values, result, several)
        return result

    def simple(  # noqa: PLR0911 - None wherever there is more to ask
        self, function: Function, args: tuple[Any, ...]
    ) -> Any:
        """Compute and note a call of which there is nothing to ask; None for all else.

        It is one of a ufunc of NumPy's, an index of whole numbers, or a call of a rule's own.
        """
        if function is operator.getitem:
            return self.part_of(*args) if is_basic(args[1]) else None
        if not is_simple(function):
            return None
        of_rules = type(function) is not np.ufunc  # which may take keys, and give what is no array
        concrete, noted = [], []
        for arg in args:
            kind = type(arg)
            if kind is TracedArray:
                if arg.capture is not self or (of_rules and holds_traced_integer(arg)):
                    return None
                concrete.append(arg.data)
                noted.append(arg.value)
            elif kind in PLAIN_TYPES or (of_rules and is_basic(arg.key if kind is Index else arg)):
                concrete.append(arg)
                noted.append(arg)
            else:
                return None
        try:
            out = function(*concrete)
        except Exception:  # which is noted
            return None
        kind = type(out)
        if kind is np.ndarray:
            if of_rules and (out.base is not None or any(out is each for each in concrete)):
                return None
            value = Value(kind, out.shape, out.dtype, out.strides)
        elif issubclass(kind, np.generic):
            value = Value(kind, (), out.dtype)
        else:
            return None
        self.note_simple(function, noted, value)
        return TracedArray(out, value, self)

    def part_of(self, x: Any, key: Any) -> Any:
        """Note an index of whole numbers; None where there is more to ask."""
        if type(x) is not TracedArray or x.capture is not self or type(x.data) is not np.ndarray:
            return None
        try:
            out = x.data[key]
        except IndexError:  # which is noted
            return None
        if type(out) is not np.ndarray:
            box = TracedArray(out, Value.like(out), self)
        elif is_of_memory(out, x.data):
            box = TracedArray(out, Value.like(out, x.value.owner or x.value), self)
            Memory.shared_by(x, x.value).add(box)
            box.chosen_by = x.chosen_by
        else:
            return None
        self.note_simple(operator.getitem, (x.value, key), box.value)
        return box

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
        if others or not any(map(holds_tracer, leaves)):
            return NotImplemented
        return self.call(function, args, kwargs)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Let things be computed that are no part of the program."""
        kept = self.steps, self.comparison, self.constants, self._answers
        self.steps, self.comparison, self._answers = [], Comparison([]), {}
        self.constants = Constants(self.name, [])
        try:
            yield
        finally:
            self.steps, self.comparison, self.constants, self._answers = kept

    def note(self, step: Step) -> None:
        """Append a step, if an earlier capture has the same in its place."""
        self.steps.append(step)
        if self.comparison.earlier is not None:
            self.comparison.check(self, step)

    def note_simple(self, function: Function, args: Sequence[Any], value: Value) -> None:
        """Note a call without options that gives one value."""
        steps, errors = self.steps, self.errors()
        if type(steps) is Trace and steps.reads:
            steps.add(function, args, NO_OPTIONS, (value,), errors=errors)
        else:
            self.note(Call(function, tuple(args), NO_OPTIONS, (value,), False, errors))

    def note_failure(self, function: Any, args: Any, kwargs: Any, error: Exception) -> None:
        """Note a call that has failed, as a function may catch that and go another way."""
        self.note_text(failure_of, (function, args, dict(kwargs)), {}, type(error).__name__)

    def note_text(self, function: Any, args: Any, kwargs: Any, text: str) -> str:
        """Note a call that gives a text, which is guarded, as Python may do anything with that."""
        box = TracedArray(text, Value(str), self)
        self.note(Call(function, args, kwargs, (box.value,), errors=self.errors()))
        answer: str = self.ask(str, box)
        return answer

    def errors(self) -> Mapping[str, Any] | None:
        """Give the `numpy.errstate` that holds now, if it is not the one at the beginning."""
        if warnings.filters is not self._filters:
            check_warnings(self, self._filters)
        setting = error_setting()
        if setting is not self._setting:  # each `numpy.errstate` has one of its own
            now = np.geterr()
            self._setting, self._other_errors = setting, None if now == self._errors else now
        return self._other_errors

    def box(self, out: Any, args: Any, kwargs: Any, concrete: Sequence[Any]) -> Any:
        """Make what stands for a result of some arguments.

        `concrete` has the arrays of the arguments, where none is inside a structure.
        """
        kind = type(out)
        if kind in NUMBERS:
            return TracedScalar(out, Value(kind), self)
        flags = flags_of(out)[()] if kind is Tied else out
        if kind is Tied:
            given = filter(is_tracer, flatten((args, kwargs)))
            if any(is_of_memory(flags, x.data) for x in given):
                out, kind = flags, np.ndarray
        if kind is not np.ndarray:
            return TracedArray(out, Value.like(flags), self)
        if out.base is None and concrete and not any(out is each for each in concrete):
            return TracedArray(out, Value.like(out), self)
        leaves = flatten((args, kwargs))
        operands = list(filter(is_tracer, leaves))
        every = [*leaves, *[each.data for each in operands]]
        if out.base is None and not any(out is each for each in every):
            return TracedArray(out, Value.like(out), self)
        for operand in operands:
            if type(operand) is TracedArray and is_of_memory(out, operand.data):
                owner: Value | None = operand.value.owner or operand.value
                box = TracedArray(out, Value.like(out, owner), self)
                Memory.shared_by(operand, operand.value).add(box)
                others = [each for each in operands if each is not operand]
                box.chosen_by = (*operand.chosen_by, *filter(is_index, others))
                return box
        return TracedArray(out, Value.like(out, self.constants.owner_of(out, leaves)), self)

    def unwrap_all(self, args: tuple[Any, ...]) -> tuple[Any, Any]:
        """Give arguments with concrete arrays in place of tracers, and with values in place."""
        pairs = list(map(self.unwrap, args))
        return tuple([one for one, _ in pairs]), tuple([two for _, two in pairs])

    def unwrap(self, tree: Any) -> tuple[Any, Any]:  # noqa: PLR0911 - one return for each kind
        """Give the concrete form of an argument, and the one with values in it."""
        kind: Any = type(tree)
        if kind is TracedArray or kind is TracedScalar:
            if tree.capture is not self:
                raise self.refusal(f"an array of another call is used in {self.name} ({caller()})")
            return tree.data, tree.value
        if kind in PLAIN_TYPES:
            return tree, tree
        if isinstance(tree, np.ndarray):
            value = self.constant(tree)
            return tree if kind is np.ndarray else np.asarray(tree), value
        structure = structure_of(kind)
        if structure is not None:
            pairs = [self.unwrap(each) for each in structure.values(tree)]
            if kind not in GROWING and all(a is b for a, b in pairs):
                return tree, tree
            concrete, noted = ([each[i] for each in pairs] for i in (0, 1))
            return structure.rebuilt(tree, concrete), structure.rebuilt(tree, noted)
        if kind is slice:
            tree = plain(tree)
            bounds = tree.start, tree.stop, tree.step
            concrete, _ = self.unwrap(tuple(map(as_index, bounds)))
            key = tree if all(map(operator.is_, concrete, bounds)) else slice(*concrete)
            return key, key
        if is_box(tree):
            if (array := plain(tree)) is not tree:  # of what depends on nothing
                return self.unwrap(array)
            if tree.interpreter.level > self.level:
                raise self.refusal(
                    f"a {kind.__name__} is written to an array that holds none ({caller()}), which "
                    "would drop its gradient; fill one made by np.zeros_like(handle), or write "
                    "np.stack([...])"
                )
            raise self.refusal(
                f"a {kind.__name__} that was there before meets an argument ({caller()}); pass "
                "handles from elsewhere as arguments, or their .data"
            )
        if hasattr(kind, "__array_function__"):
            raise self.refusal(
                f"a {kind.__name__} meets an argument ({caller()}), and is none itself; pass it as "
                "an argument"
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

    def ask(self, question: Function, tracer: Tracer) -> Any:
        """Answer a question about a value, and note that the answer is relied on."""
        data, value = tracer.data, tracer.value
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

    def refusal(self, text: str, *, in_copies: bool = False) -> CaptureError:
        """Make an error which is raised in the end even if the function catches it.

        `in_copies` tells whether a copy of the function may do it; see `differentiable`.
        """
        error = CaptureError(f"{self.name} cannot be compiled: {text}")
        error.in_copies = in_copies
        if self._failure is None:
            self._failure = error
        return error

    def program(self, output: Any) -> Program:
        """Give the program of what was noted.

        Raises
        ------
        CaptureError
            When what the function returned cannot be given again.
        """
        if self._failure is not None:
            raise self._failure
        tree = map_leaves(self.returned, output)
        steps = self.steps
        kept = steps.finished(values_in(tree)) if isinstance(steps, Trace) else tuple(steps)
        parts = tuple(self.inputs), self.constants.found(), kept
        return Program(self.name, *parts, tree, rounds=self.rounds)

    def returned(self, leaf: Any, path: str) -> Any:
        """Give what stands in the output's tree."""
        if is_tracer(leaf):
            if leaf.capture is not self:
                raise self.refusal(
                    f"it returns an array of an earlier call{path and f' at {path}'}, which it has "
                    "kept; return what is computed of the arguments"
                )
            return leaf.value
        if isinstance(leaf, np.ndarray):
            return self.constant(leaf)
        if type(leaf) in PLAIN_TYPES or isinstance(leaf, (np.generic, np.dtype, type, str, bytes)):
            return leaf
        what = f"a {leaf.__class__.__name__}{path and f' at {path}'}"
        if type(leaf) is TracedGenerator:
            raise self.refusal(
                f"it returns {what}, which the caller has already, and which is moved on by draws; "
                "leave it out"
            )
        if hasattr(leaf, "record"):
            raise self.refusal(
                f"it returns {what}, a handle; return its .data or its gradient, and pass handles "
                "from elsewhere as arguments"
            )
        raise self.refusal(
            f"it returns {what}, which cannot be made again by a replay; return arrays, numbers, "
            "None and strings, in dicts, lists, tuples and attrs classes"
        )
