"""Other tools of GradBench, timed beside ours on the same inputs, in turns.

A tool is any command that answers GradBench's messages. The one in C++ that is written by hand
is in GradBench's own repository, of which the user has a checkout: nothing of it is copied here.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from attrs import define, field

from benchmarks.gradbench.evals import EVALS
from benchmarks.gradbench.protocol import Message, Tool
from benchmarks.gradbench.tasks import agree, plain
from benchmarks.gradbench.timing import Timing

ROUNDS = 3
SECONDS = 1.0
"""How long a function runs in each round at the least."""

RUNNER = Path("python", "gradbench", "gradbench", "cpp.py")
"""What runs GradBench's tools in C++, in its repository: it compiles them, and answers messages."""


@define(eq=False)
class OtherTool:
    """A tool in a process of its own.

    Attributes
    ----------
    to, answers : file
        Lines to the process, and lines from it.
    sent : int
        How many messages it has got.
    """

    to: IO[str]
    answers: IO[str]
    sent: int = field(default=0, init=False)

    def ask(self, kind: str, **message: Any) -> Message:
        """Send a message, and read what it answers."""
        self.sent += 1
        line = {"id": self.sent, "kind": kind, **plain(message)}
        self.to.write(json.dumps(line) + "\n")
        self.to.flush()
        answer = self.answers.readline()
        if not answer:
            msg = f"the tool ended when it was sent a message of the kind {kind!r}"
            raise RuntimeError(msg)
        response: Message = json.loads(answer)
        return response


@contextlib.contextmanager
def started(command: list[str], place: Path, compiler: str) -> Iterator[OtherTool]:
    """Start a tool, and end it when all has been asked."""
    with subprocess.Popen(  # noqa: S603  # the user named the checkout
        command,
        cwd=place,
        env=os.environ | {"CXX": compiler},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        tool = OtherTool(process.stdin, process.stdout)
        tool.ask("start", eval="all")
        yield tool


def compiler() -> str | None:
    """Find a compiler of C++: what ``CXX`` says, or one of the usual two."""
    names = [os.environ["CXX"]] if "CXX" in os.environ else ["g++", "clang++"]
    return next((name for name in names if shutil.which(name.split()[0])), None)


def missing(checkout: Path) -> str | None:
    """Say in a line why GradBench's tool in C++ cannot be compiled; None if it can."""
    if not (checkout / RUNNER).is_file():
        return f"no C++ by hand: {checkout} is no checkout of GradBench, which has {RUNNER}"
    if compiler() is None:
        return "no C++ by hand: there is neither g++ nor clang++, nor what CXX says"
    if shutil.which("make") is None:
        return "no C++ by hand: there is no make"
    return None


AIMS = {"ba": 1.5, "ht": 1.5}
"""The greatest ratios of ours to theirs that are aimed at; 1 for all others."""


def seconds(responses: Iterable[Message]) -> float:
    """Give the least of the times that were taken of the function itself."""
    taken = [each for response in responses for each in response["timings"]]
    least: int = min(each["nanoseconds"] for each in taken if each["name"] == "evaluate")
    return least / 1e9


def timed_beside(
    tool: OtherTool, name: str, inputs: Iterable[tuple[str, str, Any]]
) -> Iterator[Timing]:
    """Compare and time the derivative of each eval, the last function that it has."""
    ours = Tool("tape_ad")
    defined: dict[str, Message] = {}
    for module, size, given in inputs:
        function = [*EVALS[module]][-1]
        what = f"{module} {function}, {size}"
        if module not in defined:
            defined[module] = tool.ask("define", module=module)
        if not defined[module]["success"]:
            problem = defined[module].get("error", "the tool does not have it")
            yield Timing(what, name, 0, 0, 0, problem)
            continue
        asked = {"kind": "evaluate", "module": module, "function": function, "input": plain(given)}
        for _ in range(2):  # two calls capture what is compiled
            ours.answer({"id": 0, **asked})
        if isinstance(given, dict):  # hello's is a number
            asked["input"] |= {"min_runs": 3, "min_seconds": SECONDS}
        pairs = [(ours.answer({"id": 0, **asked}), tool.ask(**asked)) for _ in range(ROUNDS)]
        failed = [each["error"] for pair in pairs for each in pair if not each["success"]]
        if failed:
            yield Timing(what, name, 0, 0, 0, failed[0])
        elif not agree(pairs[0][0]["output"], pairs[0][1]["output"]):
            yield Timing(what, name, 0, 0, 0, "the derivatives differ")
        else:
            mine, theirs = (seconds(responses) for responses in zip(*pairs, strict=True))
            yield Timing(what, name, mine, theirs, AIMS.get(module, 1.0))


def beside_cpp(checkout: Path, inputs: Iterable[tuple[str, str, Any]]) -> Iterator[Timing]:
    """Time ours beside GradBench's tool in C++, where nothing is `missing`."""
    command = [sys.executable, str(RUNNER), "manual"]
    with started(command, checkout, compiler() or "c++") as tool:
        yield from timed_beside(tool, "C++ by hand", inputs)
