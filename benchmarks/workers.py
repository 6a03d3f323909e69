"""One process for each library, so that none meets another's threads or memory."""

import contextlib
import importlib
import importlib.metadata
import multiprocessing
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from types import ModuleType, TracebackType
from typing import Any, Self

import numpy as np
from attrs import define, field
from threadpoolctl import threadpool_limits

from benchmarks.libraries import LIBRARIES
from benchmarks.libraries.plain import Outcome, Program
from benchmarks.memory import resident_peak
from benchmarks.timing import seconds_of
from benchmarks.workloads import EVERY

__all__ = [
    "Worker",
    "WorkerError",
    "apart",
    "compiled_program",
    "peak_of",
    "resident_peak_of",
]

SPAWN = multiprocessing.get_context("spawn")


class WorkerError(Exception):
    """What went wrong in a worker, with its traceback as text."""


# In the worker's process


@define
class Desk:
    """A library, and the program that it has at hand.

    Each public method answers the question of its name.
    """

    library: ModuleType
    _program: Program | None = None
    _at_hand: tuple[str, str] = ("", "")
    _first: float = 0.0

    @property
    def first_calls(self) -> int:
        """How many calls compile a program."""
        return LIBRARIES[name_of(self.library)].first_calls

    def program(self, workload: str, dtype: str) -> Program:
        """Make the program of a workload, in one dtype, if it is not there already."""
        if self._program is None or self._at_hand != (workload, dtype):
            self._program = None  # before the next one takes its memory
            self._program = make_program(self.library, workload, dtype)
            self._at_hand = (workload, dtype)
        return self._program

    def outcomes(self, workload: str, calls: int) -> list[Outcome]:
        """Run a fresh program in float64 a few times, and take what it gives to NumPy arrays.

        One that compiles is compared when it has; the steps of a training are compared all, and
        there are more of them than compile it.
        """
        self._program, self._at_hand = None, ("", "")
        program, to_numpy = self.program(workload, "float64"), self.library.to_numpy
        found = []
        for _ in range(self.first_calls if calls == 1 else 0):
            program()
        for _ in range(calls):
            value, derivatives = program()
            taken = {name: np.array(to_numpy(each)) for name, each in derivatives.items()}
            found.append((None if value is None else np.array(to_numpy(value)), taken))
        self._program, self._at_hand = None, ("", "")
        return found

    def nodes(self, workload: str) -> int:
        """Count the nodes that are recorded for the value; the library has to be ours."""
        count, _ = make_program(self.library, workload, "float64", kind="nodes")()
        return int(count)

    def seconds(self, workload: str, dtype: str, calls: int) -> float:
        """Time calls in a row; those of a fresh program that may compile it come before."""
        fresh = self._at_hand != (workload, dtype)
        program = self.program(workload, dtype)
        if fresh:
            start = time.perf_counter()
            for _ in range(max(1, self.first_calls)):
                program()
            self._first = time.perf_counter() - start
        return seconds_of(program, calls)

    def first(self) -> float:
        """Give the seconds of the first calls of the program that was timed last."""
        return self._first

    def calls(self) -> int:
        """Count the calls in the program that was compiled last; the library has to be ours."""
        return int(self.library.calls())

    def report(self) -> Any:
        """Give what the engine says of that program, if it says anything."""
        return self.library.report()


def make_program(
    library: ModuleType, name: str, dtype: str, *, lean: bool = False, kind: str = ""
) -> Program:
    """Give a workload's inputs to the library's function for its kind, or to a leaner one."""
    workload = EVERY[name]
    module = name_of(library)
    p, data = (
        {key: in_dtype(array, dtype) for key, array in arrays.items()}
        for arrays in workload.inputs()
    )
    formula: Callable[..., Any]
    if not LIBRARIES[module].has_functions:
        formula = workload.own[module]
    else:
        written = workload.own.get(module, workload.formula)

        def formula(p: Any, data: Any) -> Any:
            return written(library, p, data)

    make = getattr(library, kind or workload.kind)
    if lean:
        make = getattr(library, f"lean_{workload.kind}", make)
    more = (workload.rate, workload.momentum) if workload.kind == "step" and not kind else ()
    program: Program = make(formula, p, data, *more)
    return program


def name_of(library: ModuleType) -> str:
    return library.__name__.rpartition(".")[2]


def peak_of(name: str, workload: str, dtype: str) -> int:
    """Give the largest number of bytes that a call holds beyond its inputs."""
    library = importlib.import_module(f"benchmarks.libraries.{name}")
    with threadpool_limits(1):
        highest: int = library.peak(compiled_program(library, workload, dtype))
    return highest + kept_by(library)


def resident_peak_of(name: str, workload: str, dtype: str) -> int | None:
    """Give the same as the operating system sees it."""
    library = importlib.import_module(f"benchmarks.libraries.{name}")
    with threadpool_limits(1):
        highest = resident_peak(compiled_program(library, workload, dtype))
    return None if highest is None else highest + kept_by(library)


def kept_by(library: ModuleType) -> int:
    """Give the bytes that a library keeps between calls, which no look at one call sees."""
    return int(library.kept()) if hasattr(library, "kept") else 0


def compiled_program(library: ModuleType, workload: str, dtype: str) -> Program:
    """Make the program that takes less memory, and run the calls that compile it."""
    program = make_program(library, workload, dtype, lean=True)
    for _ in range(LIBRARIES[name_of(library)].first_calls):
        program()
    return program


def in_dtype(array: Any, dtype: str) -> Any:
    """Cast what is floating."""
    floating = isinstance(array, np.ndarray) and array.dtype.kind == "f"
    return array.astype(dtype) if floating else array


def serve(connection: Connection, name: str) -> None:
    """Answer questions until there are no more."""
    try:
        library = importlib.import_module(f"benchmarks.libraries.{name}")
    except ImportError as error:
        hint = "; pip install 'tape-ad[bench]'" if isinstance(error, ModuleNotFoundError) else ""
        connection.send((False, f"{error}{hint}"))
        return
    connection.send((True, version_of(LIBRARIES[name].distribution)))
    desk = Desk(library)
    np.empty(31 * 2**20, np.uint8)  # freed at once: what tape_ad asks of malloc, for all libraries
    with threadpool_limits(1):
        while (question := connection.recv()) is not None:
            method, arguments = question
            try:
                connection.send((True, getattr(desk, method)(*arguments)))
            except Exception:  # whatever it is, it belongs into the report
                connection.send((False, traceback.format_exc()))


def version_of(distribution: str) -> str:
    """Give the version; tape_ad is run from a checkout, which need not be installed."""
    if distribution == "tape-ad":
        return str(importlib.import_module("tape_ad").__version__)
    return importlib.metadata.version(distribution)


# In the process that asks


@define
class Worker:
    """A library's process, to be asked."""

    name: str
    version: str = field(default="", init=False)
    missing: str = field(default="", init=False)
    _connection: Connection = field(init=False)
    _process: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._connection, theirs = SPAWN.Pipe()
        self._process = SPAWN.Process(target=serve, args=(theirs, self.name), daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> Self:
        """Wait until the library is imported, or known to be missing."""
        found, answer = self._connection.recv()
        if found:
            self.version = answer
        else:
            self.missing = answer
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self.missing and self._process.is_alive():
            self._connection.send(None)
        self._process.join(timeout=10)
        if self._process.is_alive():
            self._process.terminate()

    def put(self, question: str, *arguments: Any) -> None:
        """Put a question, and do not wait for the answer."""
        with contextlib.suppress(BrokenPipeError):  # the answer will say that it has died
            self._connection.send((question, arguments))

    def answer(self) -> Any:
        """Wait for the answer to the last question.

        Raises
        ------
        WorkerError
            When there is none.
        """
        try:
            found, answer = self._connection.recv()
        except EOFError:
            raise WorkerError(f"the process of {self.name} has died") from None
        if not found:
            raise WorkerError(answer)
        return answer

    def ask(self, question: str, *arguments: Any) -> Any:
        """Put a question and wait for the answer."""
        self.put(question, *arguments)
        return self.answer()


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function of a module in a process of its own."""
    with SPAWN.Pool(1) as pool:
        return pool.apply(function, arguments)
