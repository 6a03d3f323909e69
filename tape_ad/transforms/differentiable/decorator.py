"""`differentiable`: the public face of the copies."""

import builtins
import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from attrs import define, evolve, field

from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.errors import ConversionError, InPlaceError, TapeError, UnsupportedArgumentError
from tape_ad.base.naming import called
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.record.constants import CONSTANTS, TRIED_AGAIN, ArrayConstant, borrowed
from tape_ad.record.record import ComputationRecord
from tape_ad.record.tensor import Tensor
from tape_ad.transforms.compiled_nodes import Derivative
from tape_ad.transforms.differentiable import (  # noqa: F401 - tables
    array_subclasses,
    classes,
    methods,
    numerics,
    numpy_names,
    objects,
    random_draws,
)
from tape_ad.transforms.differentiable.copying import (
    bring_up_to_date,
    converted,
    converted_in_scipy,
    copied_function,
    is_copy,
)
from tape_ad.transforms.differentiable.explanation import Explanation, explain
from tape_ad.transforms.differentiable.kinds import is_array_like, is_pythons
from tape_ad.transforms.differentiable.reach import DEPTH, reaches
from tape_ad.transforms.differentiable.settling import calling, plain_array
from tape_ad.transforms.differentiable.table import stands_in_for
from tape_ad.transforms.gradients import ValueAndGradient
from tape_ad.transforms.jacobians import Jacobian
from tape_ad.transforms.tracing import Transformed

__all__ = ["copied", "differentiable"]


@define(eq=False, repr=False)
class Differentiable(Transformed):
    """A function that runs as it is on plain arrays, and as a copy where there are handles."""

    made_by: ClassVar[str] = "differentiable"
    copy: Any = field(init=False, default=None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function.

        Raises
        ------
        ConversionError
            For a handle that is further away than is looked, too.
        """
        function = self.function
        if not (reaches((args, kwargs)) or reaches(function)):
            try:
                return function(*args, **kwargs)
            except ConversionError as error:
                error.add_note(
                    f"ta.differentiable has run the original of {called(function)}, for it found "
                    f"no handle within {DEPTH} steps of what that is given (in lists, dicts, "
                    "attributes and closures); give it the handle itself, or what holds it"
                )
                raise
        return call_copy(self.copy_of, function, args, kwargs)

    def copy_of(self, function: Any) -> Any:
        """Give the copy of the function, and keep it."""
        self.copy = converted(function)
        return self.copy


def call_copy(make: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the copy of a function with what users give, and give them what they know.

    What an error of ours was the reason of is that error.
    """
    batches = ACTIVE.get().batches
    asked = [batch.asked for batch in batches]
    before = TRIED_AGAIN.set(True) if batches else None
    try:
        found = calling(run, make, function, args, kwargs)
    except InPlaceError as error:
        found = in_a_record(make, function, args, kwargs, error)
        for batch, was_asked in zip(batches, asked, strict=True):
            batch.asked = was_asked
        return found
    except Exception as error:
        if isinstance(error, TypeError) and GIVEN_UP in str(error) and is_traced((args, kwargs)):
            return in_a_record(make, function, args, kwargs, error)
        ask_for_one_by_one()
        reason = reason_of(error) or refused_number(function, args, kwargs, error)
        if reason is None:
            raise
        raise reason from error
    finally:
        if before is not None:
            TRIED_AGAIN.reset(before)
    return given_out(found)


GIVEN_UP = "unsupported operand type(s)"
"""What Python says where operators have caught an error, as those of NumPy's polynomials do."""


def is_traced(given: Any) -> bool:
    """Tell whether there is something that is captured or batched, and that no record holds."""
    return any(type(leaf) is not Tensor and is_array_like(leaf) for leaf in flatten(given))


def run(make: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the copy of a function with arguments as it sees them."""
    bring_up_to_date()
    return make(function)(*map(given_in, args), **{name: given_in(kwargs[name]) for name in kwargs})


def ask_for_one_by_one() -> None:
    """Let batches call for one after the other what cannot be done at once."""
    for batch in ACTIVE.get().batches:
        batch.asked = True


KNOWN = (np.ndarray, np.generic, int, float, complex, str)
"""What has no handles in it."""


def in_a_record(
    make: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Any:
    """Call a copy that assigns to parts of arrays with handles for what is captured.

    A record follows what is assigned to a part of an array that was a plain one.

    Raises
    ------
    Exception
        The one that is given, where there are handles already, where the result is an object, and
        where another copy has made the call.
    """
    if any(type(leaf) is ArrayConstant for leaf in flatten((args, kwargs))):
        raise error  # to the copy that calls this one, and may have had it written to
    record = ComputationRecord()

    def noted(leaf: Any, path: str) -> Any:
        kind: Any = type(leaf)
        if kind is Tensor or kind in CONSTANTS or not is_array_like(leaf):
            return leaf
        leaf = np.positive(leaf) if is_pythons(leaf) else leaf
        return record.tensor(leaf) if leaf.dtype.kind in "fc" else leaf

    def value(leaf: Any, path: str) -> Any:
        if type(leaf) is Tensor and leaf.record is record:
            return leaf.data
        if is_array_like(leaf) or leaf is None or isinstance(leaf, KNOWN):
            return leaf
        raise error  # for there may be handles in it

    noted_args, noted_kwargs = map_leaves(noted, args), map_leaves(noted, kwargs)
    if not len(record):
        ask_for_one_by_one()
        raise error
    found = map_leaves(value, call_copy(make, function, noted_args, noted_kwargs))
    beside = vars(found) if isinstance(found, tuple) and hasattr(found, "__dict__") else {}
    for name, leaf in beside.items():  # what a tuple has beside its fields
        beside[name] = value(leaf, name)
    return found


def refused_number(function: Any, args: Any, kwargs: Any, error: Exception) -> Exception | None:
    """Make the error for a handle where Python wants a whole number, if that is what went wrong."""
    if isinstance(error, TypeError) and any(words in str(error) for words in WHOLE):
        arguments = inspect.signature(function).bind(*args, **kwargs).arguments
        names = [
            name for name, x in arguments.items() if is_array_like(x) and not getattr(x, "ndim", 0)
        ]
        if names:
            wanted = " or ".join(f"{name}=" for name in names)
            return UnsupportedArgumentError(
                f"{called(function)}: a whole number is wanted for {wanted}, for which a handle is "
                "given; pass its value, .data"
            )
    return None


WHOLE = ("interpreted as an integer", "indices must be integers", "is no whole number")
"""What Python says of numbers that are none, and what a handle says."""


def copied(function: Any) -> Any:
    """Give the copy of a function itself, which is called though a rule stands for it in copies."""

    @functools.wraps(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        if not reaches((args, kwargs)):
            return function(*args, **kwargs)
        return call_copy(copied_function, function, args, kwargs)

    return calling


def copied_again(kind: type) -> Any:
    """Give the copy of a class where a pickle of it, or of an object of it, is loaded."""
    return classes.copied_class(kind)


def reason_of(error: BaseException) -> BaseException | None:
    """Give the error of ours that code was handling when it raised one that says less."""
    handled = error.__cause__ or error.__context__
    while not isinstance(error, TapeError) and handled is not None:
        if isinstance(handled, TapeError):
            return handled
        handled = handled.__cause__ or handled.__context__
    return None


def given_in(value: Any) -> Any:
    """Give an argument as copies see it: a handle of no axes is a number, functions are copied."""
    if is_array_like(value):
        if is_pythons(value):
            return value
        return value[()] if value.ndim == 0 and not hasattr(value, "batch_here") else value
    if type(value) is np.ndarray:
        return borrowed(value) if value.ndim else value
    return converted(value)


def given_out(result: Any, depth: int = 5) -> Any:
    """Give what a copy returns, with arrays that nothing was assigned to as plain ones."""
    if type(result) is ArrayConstant:
        return plain_array(result)
    if not depth:  # a dict may hold itself
        return result
    if isinstance(result, tuple) and hasattr(result, "_make"):
        return result._make(given_out(each, depth - 1) for each in result)
    if type(result) in (tuple, list):
        return type(result)(given_out(each, depth - 1) for each in result)
    if isinstance(result, dict) and not is_copy(type(result)):
        for name, value in [*result.items()]:
            own = given_out(value, depth - 1)
            if own is not value:
                result[name] = own
    return result


class Decorator(Protocol):
    """A decorator with a second function under its name."""

    explain: Callable[[Any], Explanation]

    def __call__(self, thing: Any) -> Any: ...


def explaining(decorator: Callable[[Any], Any]) -> Decorator:
    """Put `explain` under the name of a decorator."""
    decorator.explain = explain  # type: ignore[attr-defined]  # which makes it what is returned
    return cast(Decorator, decorator)


@explaining
def differentiable(thing: Any) -> Any:
    """Let code that nobody wrote for this library take handles: a copy of it keeps gradients.

    The copy has the same code objects, bound to globals in which NumPy's conversions keep handles,
    `float` and `math` take them, and SciPy's functions are those of `tape_ad.scipy`. What it calls
    in its own and other packages of Python is copied likewise, when it is first called. The
    original is untouched, and nothing is patched. Where no handle is among the arguments, the
    original itself runs.

    Parameters
    ----------
    thing : function, bound method, partial, class or module
        What is to take handles. It may be used as a decorator.

    Returns
    -------
    callable, class or module
        Of a class its copy, which derives from it; of a module a view, which copies what it is
        asked for; of a function that `grad`, `value_and_grad`, `jacobian` or `hessian` returns,
        the derivative of the copy.

    Raises
    ------
    TypeError
        For what is none of these.

    Notes
    -----
    ``ta.differentiable.explain(function)`` lists what is copied, what has a rule, and what would
    refuse handles: compiled functions without a rule do, by a `NoRuleError` that names them. An
    integer taken from a handle, ``int(x)``, is a plain number. A tie that decides a branch is a
    `TieError`. A copied class always runs its copies, also on plain arrays.

    Examples
    --------
    >>> import math
    >>> @differentiable
    ... def energy(x):
    ...     total = np.zeros(2)
    ...     for i, each in enumerate(np.asarray(x)):
    ...         total[i] = math.exp(float(each))
    ...     return total.sum()
    >>> from tape_ad.transforms.gradients import grad
    >>> grad(energy)(np.array([0.0, 1.0])).round(3)
    array([1.   , 2.718])
    """
    if isinstance(thing, Differentiable) or (isinstance(thing, type) and is_copy(thing)):
        return thing
    if isinstance(thing, (ValueAndGradient, Jacobian, Derivative)):
        return evolve(thing, function=differentiable(thing.function))
    if isinstance(thing, (type, types.ModuleType)) or is_in_place_of_a_module(thing):
        found = converted(thing)
        if found is thing:
            raise TypeError(f"ta.differentiable has nothing to copy in {thing!r}")
        return found
    if not callable(thing):
        raise TypeError(
            "ta.differentiable takes a function, a bound method, a partial, a class or a module, "
            f"got {type(thing).__name__}"
        )
    return Differentiable(thing)


def is_in_place_of_a_module(thing: Any) -> bool:
    """Tell whether something is an object that a package has put where its module would be."""
    return not callable(thing) and any(thing is each for each in [*sys.modules.values()])


@stands_in_for(builtins.__import__)
def import_(name: str, globals: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: A002 - Python's
    """Stand in for `import`, and give views of modules."""
    module = __import__(name, globals, *args, **kwargs)
    return converted_in_scipy(module) if getattr(globals, "own", False) else converted(module)


@stands_in_for(importlib.import_module)
def import_module(name: str, package: str | None = None) -> Any:
    """Stand in for `importlib.import_module`, and give a view."""
    return converted(importlib.import_module(name, package))
