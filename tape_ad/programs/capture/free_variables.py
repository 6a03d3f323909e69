"""What a function finds around itself: variables of a closure, of its module and of its instance.

A program keeps the arrays that it has met there, and numbers are part of it. So a variable that is
bound to something else makes it another function, as a changed guard does.
"""

import io
import pickle
import random
import re
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.base.arrays.overridable import is_traced
from tape_ad.programs.capture.code_names import codes_in, names_used
from tape_ad.programs.capture.generators import access_to, generator_of
from tape_ad.programs.capture.reads import Reads, operands_alone
from tape_ad.programs.capture.variable_search import Search
from tape_ad.programs.capture.variables import (
    CONTENTS,
    Variable,
    WatchedArray,
    guarded_replay,
    word_of,
)

FEW = 2**12
"""How many bytes a small array may have to be compared where the program reads it as well."""
FOLLOWED = 2
"""After how many changes that leave the program as it is such an array is compared no more, if
nothing else than the program reads it."""
REPLAYS = 4
"""How many replays pay for a capture after such a change."""
REACHED = r"[\w.]+(\[[^]]*\])*"
"""What titles are of that by which code reaches a thing by one name, which may be a container's."""
STALE: Any = object()
"""What a replay gives where it is not for now."""


@define(eq=False, repr=False)
class FreeVariables:
    """The variables that a function reads and does not write to itself.

    Attributes
    ----------
    variables : list of Variable
    numbers : list of WatchedArray
        Small arrays among them: plain NumPy may have computed something from them.
    state : list of Variable or WatchedArray
        Those that it writes to and makes use of.
    full : bool
        Whether there are more variables than are watched.
    """

    variables: list[Variable] = field(factory=list)
    numbers: list[WatchedArray] = field(factory=list)
    state: list[Variable | WatchedArray] = field(factory=list)
    full: bool = False
    _arrays: dict[int, WatchedArray] = field(factory=dict)
    _held: dict[int, set[str]] = field(factory=dict)
    _names: set[str] = field(factory=set)
    _codes: set[types.CodeType] = field(factory=set)
    _by_text: bool = False

    @classmethod
    def of(cls, function: Any, objects: Any = ()) -> "FreeVariables":
        """Find the variables of a function, and those of the functions that it calls.

        Parameters
        ----------
        function : callable
        objects : iterable
            Further objects whose attributes it may read: arguments that are no arrays.
        """
        search = Search.of(function, objects)
        found = cls(
            search.variables,
            full=search.full,
            arrays=search.arrays,
            held=search.held,
            names=search.names,
            codes=search.codes,
            by_text=search.by_text or search.whole,
        )
        found.watch_numbers()
        return found

    def forget_changed(self) -> None:
        """Forget the variables that the function has changed itself, when it has run.

        What it has changed and goes by is its `state`.
        """
        written = [each for each in self.numbers if not each.holds()]
        self._arrays = {at: each for at, each in self._arrays.items() if each not in written}
        changed = [each for each in self.variables if not each.holds()]
        iterators = [each for each in self.variables if is_iterator(each.value)]
        touched: list[Variable | WatchedArray] = [*written, *changed, *iterators]
        self.state = [each for each in touched if self.uses(each)]
        logs = tuple(
            [f"{each.title}[" for each in changed if each.kind == CONTENTS and not self.uses(each)]
        )
        self.variables = [
            each
            for each in self.variables
            if each not in changed and not each.title.startswith(logs)
        ]

    def uses(self, variable: Variable | WatchedArray) -> bool:
        """Tell whether a variable is read for more than to be counted up or written down."""
        word = word_of(variable.title)
        return not word.isidentifier() or any(word in names_used(each) for each in self._codes)

    def bound_to_tracer(self) -> str:
        """Name a variable that is bound to what is captured, and put back all those that are."""
        found = [each for each in self.variables if is_traced(each.now())]
        for each in found:
            each.restore()
        return found[0].title if found else ""

    def changed(self) -> str:
        """Name a variable that is bound to something else now; nothing if there is none."""
        places: list[Variable | WatchedArray] = [*self.variables, *self.numbers]
        return next((each.named() for each in places if not each.holds()), "")

    def watch_numbers(self, read: Iterable[Any] = ()) -> None:
        """Look at what is in the small arrays, and in smaller ones that a program reads, too.

        For plain NumPy may have computed one of its numbers from these, which would be half old and
        half new, or the function may branch on them. Where they change and nothing else does, they
        are followed.

        Parameters
        ----------
        read : iterable of ndarray
        """
        constants, self.numbers = list(read), []
        for each in self._arrays.values():
            in_program = any(np.may_share_memory(each.array, constant) for constant in constants)
            if not in_program or each.array.nbytes <= FEW:
                each.contents, each.read = each.now(), in_program or each.within
                self.numbers.append(each)

    def follow_as(self, earlier: "FreeVariables") -> None:
        """Look no more at the numbers that are followed since an earlier call."""
        changes = {id(each.array): each.changes for each in earlier.numbers}
        followed = earlier._arrays.keys() - changes.keys()
        self.numbers = [each for each in self.numbers if id(each.array) not in followed]
        for each in self.numbers:
            each.changes = changes.get(id(each.array), 0)

    def outgrown(self) -> bool:
        """Tell whether nothing has changed but numbers in arrays that the program reads."""
        changed = [each for each in self.numbers if not each.holds()]
        return bool(changed) and all(each.read for each in changed) and self.bound()

    def nearly_followed(self) -> list[Any]:
        """List the arrays that are followed after this change, if they are only read."""
        return [
            each.array for each in self.numbers if each.changes == FOLLOWED - 1 and not each.holds()
        ]

    def follow_numbers(self, reads: Reads, *, effectless: bool) -> None:
        """Take other numbers for the same program.

        Where that happens repeatedly, they are looked at no more if all that the function does with
        them is noted.

        Parameters
        ----------
        reads : Reads
            Where the calls of the program read arrays.
        effectless : bool
            Whether such changes have led to no other program, and count.
        """
        for each in self.numbers:
            if not each.holds():
                each.contents, each.changes = each.now(), each.changes + effectless
        self.numbers[:] = [
            each
            for each in self.numbers
            if each.changes < FOLLOWED or not self.only_noted(each, reads)
        ]

    def only_noted(self, watched: WatchedArray, reads: Reads) -> bool:
        """Tell whether an array is read by arithmetic that is noted, and by nothing else."""
        titles = self.every_title(watched)
        plain = all(re.fullmatch(REACHED, each) for each in titles)
        if self._by_text or watched.within or not plain:
            return False
        words = set(map(word_of, titles))
        named: set[str] = set()
        for code in {each for one in self._codes for each in codes_in(one)}:
            if not words.isdisjoint(code.co_names + code.co_varnames + code.co_freevars):
                places = reads.always_at(watched.array, code)
                leaves = reads.always_at(watched.array, code, as_leaf=True)
                found = operands_alone(code, words, places, leaves)
                if found is None:
                    return False
                named |= found
        return named == words  # else something else reaches it, as ``total = w.sum`` does

    def every_title(self, watched: WatchedArray) -> set[str]:
        """List the titles of an array, and of the containers that it is in."""
        found: set[str] = set()
        more = set(watched.titles)
        while not more <= found:
            found |= more
            for titles in self._held.values():
                if any(each.startswith(f"{title}[") for each in found for title in titles):
                    more |= titles
        return found

    def unfollowed(self, replays: int, most: int) -> str:
        """Name an array whose numbers have changed too often for so many replays, if any has."""
        return next(
            (
                each.title
                for each in self.numbers
                if each.changes > most and replays < REPLAYS * each.changes
            ),
            "",
        )

    def draws(self) -> dict[str, bytes]:
        """Give the states of the generators of random numbers that the function reads."""
        places = {each.title: each.value for each in self.variables}
        if "random" in self._names:  # it may be a module
            places |= {"np.random": np.random, "random": random}
        states = {title: state_of_generator(value) for title, value in places.items()}
        return {title: state for title, state in states.items() if state is not None}

    def asks(self, question: Callable[[types.CodeType], bool]) -> bool:
        """Tell whether any of the code asks a question: `asks_type` or `asks_identity`."""
        return any(question(part) for code in self._codes for part in codes_in(code))

    def places(self) -> frozenset[int]:
        """Give the ids of what holds the variables, and of what they are bound to."""
        return frozenset(id(each) for one in self.variables for each in (one.holder, one.value))

    def bound(self) -> bool:
        """Tell whether all variables are what they were, whatever numbers are in their arrays."""
        return all(each.holds() for each in self.variables)

    def hold(self) -> bool:
        """Tell whether all variables are what they were."""
        return self.bound() and all(each.holds() for each in self.numbers)

    def guarding(self, replay: Callable[..., Any]) -> Callable[..., Any]:
        """Let a replay say that it is not for now, by `STALE`, where a variable has changed."""
        if not self.variables:
            return replay
        return guarded_replay(self.variables, self.numbers, replay, self.hold, STALE)


def is_iterator(value: Any) -> bool:
    """Tell whether something gives another element each time; a file is for writing."""
    kind = type(value)
    lasting = issubclass(kind, io.IOBase) or kind in weakref.ProxyTypes
    return hasattr(kind, "__next__") and not lasting


def state_of_generator(value: Any) -> bytes | None:
    """Give the state of a generator of random numbers, which each draw changes."""
    try:
        generator = generator_of(value)
    except Exception:  # of a class that raises anything where it is asked
        return None
    return None if generator is None else pickle.dumps(access_to(generator)[0]())
