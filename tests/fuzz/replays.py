"""What a compiled function gives, call after call, beside what the function itself gives."""

import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from attrs import define, field, frozen

import tape_ad as ta
from tape_ad.base.trees import flatten, with_paths
from tape_ad.errors import CaptureError, CompileWarning

__all__ = ["Problem", "Replays"]

Function = Callable[..., Any]


@frozen
class Problem:
    """What is wrong with a compiled function.

    Attributes
    ----------
    kind : str
        "value", "kind" and "strides" of a result; "structure" of all of it; "error" where only one
        of the two raises, or something else; "argument" where one has been written to; "aliases"
        where results share memory with arguments or each other, but not as the function's own do;
        "earlier" where a later call has changed an earlier result.
    story : str
    """

    kind: str
    story: str


@define(eq=False)
class Replays:
    """A function compared with itself compiled.

    Attributes
    ----------
    make : callable
        Gives the function, a fresh one with a state of its own at each call.
    layouts : bool
        Whether results have to lie in memory in the same way, too.
    engine : str
        What replays.
    refusal : str
        Why it has not been compiled; empty where it has.
    replays : int
        How many of the calls so far have been replayed.
    """

    make: Callable[[], Function]
    layouts: bool = True
    engine: str = "numpy"
    refusal: str = field(default="", init=False)
    replays: int = field(default=0, init=False)

    def problems(self, calls: Iterable[Callable[[], tuple[Any, ...]]]) -> Iterator[Problem]:
        """Call both with the same arguments, which each of the calls makes afresh."""
        runs = [0]
        theirs, ours = self.make(), ta.compile(counting(self.make(), runs), engine=self.engine)
        kept: list[tuple[Any, Any, list[bytes]]] = []
        for number, call in enumerate(calls, 1):
            before, one, two = call(), call(), call()
            expected, given = outcome(theirs, one), outcome(ours, two)
            if isinstance(given, (CaptureError, CompileWarning)):
                self.refusal = str(given)
                return
            self.replays += number - runs[0] - self.replays > 0
            where = f"call {number} of {[bits_shown(leaf) for leaf in flatten(before)]}"
            for problem in differing(expected, given, self.layouts):
                yield Problem(problem.kind, f"{where}: {problem.story}")
            if contents(one) == contents(before) != contents(two):
                yield Problem("argument", f"{where}: has written to its arguments")
            ours_share, theirs_share = sharing(two, given), sharing(one, expected)
            if ours_share != theirs_share:
                yield Problem("aliases", f"{where}: {ours_share}; the function's {theirs_share}")
            for wanted, result, then in kept:
                if contents(wanted) == then != contents(result):
                    yield Problem("earlier", f"{where}: has changed an earlier result")
            if number % 2:
                kept.append((expected, given, contents(given)))
            elif not ours_share:
                spoil(given)
                spoil(expected)


def counting(function: Function, runs: list[int]) -> Function:
    """Count how often a function runs."""

    def counted(*args: Any) -> Any:
        runs[0] += 1
        return function(*args)

    return counted


def outcome(function: Function, args: tuple[Any, ...]) -> Any:
    """Call a function, and give what it raises where it does."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", CompileWarning)
        np.random.seed(0)  # noqa: NPY002 - which the functions that we compare may use
        random.seed(0)
        try:
            return function(*args)
        except (Exception, CompileWarning) as error:
            return error.with_traceback(None)


def differing(expected: Any, given: Any, layouts: bool = True) -> Iterator[Problem]:
    """Compare two results to the bit."""
    if isinstance(expected, BaseException) or isinstance(given, BaseException):
        if type(expected) is not type(given):
            yield Problem("error", f"{given!r}; the function {expected!r}")
        return
    ours, theirs = with_paths(given), with_paths(expected)
    if [path for path, _ in ours] != [path for path, _ in theirs]:
        yield Problem("structure", f"{given!r}; the function {expected!r}")
        return
    for (path, one), (_, two) in zip(ours, theirs, strict=True):
        if type(one) is not type(two) or (
            is_array(one) and (one.dtype, one.shape) != (two.dtype, two.shape)
        ):
            yield Problem("kind", f"{path} {bits_shown(one)}; the function {bits_shown(two)}")
        elif not same_bits(one, two):
            yield Problem("value", f"{path} {bits_shown(one)}; the function {bits_shown(two)}")
        elif layouts and type(one) is np.ndarray and one.size and strides(one) != strides(two):
            yield Problem("strides", f"{path} {one.strides}; the function {two.strides}")


def same_bits(one: Any, two: Any) -> bool:
    """Tell whether arrays or numbers are the same; one nan is as good as another."""
    if not is_array(one) and not isinstance(one, (float, complex)):
        return bool(one == two)
    one, two = np.asarray(one), np.asarray(two)
    if one.tobytes() == two.tobytes():
        return True
    if one.dtype.kind == "c":
        return same_bits(one.real, two.real) and same_bits(one.imag, two.imag)
    if one.dtype.kind != "f":
        return False
    nan = np.isnan(one)
    alike = nan == np.isnan(two)
    return bool(np.all(alike & (nan | ((one == two) & (np.signbit(one) == np.signbit(two))))))


def type_of(leaf: Any) -> Any:
    """Give the type of a leaf, and of arrays more."""
    return (type(leaf), leaf.dtype, leaf.shape) if is_array(leaf) else type(leaf)


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, (np.ndarray, np.generic))


def strides(array: Any) -> tuple[int, ...]:
    """Give the strides of the axes that have some length."""
    return tuple(s for s, n in zip(array.strides, array.shape, strict=True) if n > 1)


def bits_shown(leaf: Any) -> str:
    """Write a leaf with its type."""
    if isinstance(leaf, np.ndarray):
        return f"{leaf.dtype}{list(leaf.shape)}@{leaf.strides} {leaf.tolist()}"
    return f"{type(leaf).__name__} {leaf!r}"


def contents(tree: Any) -> list[bytes]:
    """Give what is in the arrays of a tree."""
    return [leaf.tobytes() for leaf in flatten(tree) if is_array(leaf)]


def sharing(args: Any, results: Any) -> set[tuple[int, int]]:
    """Give the pairs of arguments and results, or of results, that share memory."""
    if isinstance(results, BaseException):
        return set()
    outs = [leaf for leaf in flatten(results) if isinstance(leaf, np.ndarray)]
    leaves = [leaf for leaf in flatten(args) if isinstance(leaf, np.ndarray)] + outs
    count = len(leaves) - len(outs)
    return {
        (i, count + j)
        for j, out in enumerate(outs)
        for i, leaf in enumerate(leaves[: count + j])
        if np.may_share_memory(leaf, out) and np.shares_memory(leaf, out)
    }


def spoil(results: Any) -> None:
    """Write to results, as their owner may."""
    for leaf in flatten(results):
        if isinstance(leaf, np.ndarray) and leaf.flags.writeable:
            leaf[...] = 77 if leaf.dtype.kind in "iufc" else leaf[...]
