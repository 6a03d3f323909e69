"""GradBench's protocol: a message in JSON on each line, and a response to each.

``start`` names the eval, ``define`` a module, and each ``evaluate`` a function and its input.
Everything else (``analysis``, ``end``) asks for no more than its id. An input with ``min_runs`` and
``min_seconds`` wants its function run until both are reached, each run timed by itself.
"""

import json
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from attrs import define, field

import tape_ad as ta
from benchmarks.gradbench.evals import EVALS
from benchmarks.gradbench.tasks import Task, plain

Message = dict[str, Any]


class Writer(Protocol):
    """What a response is written to."""

    def write(self, text: str, /) -> Any:
        """Take some text."""

    def flush(self) -> Any:
        """Let the reader have it."""


@define(eq=False)
class Tool:
    """Answers messages.

    Attributes
    ----------
    name : str
        What it calls itself.
    compiled : bool
        Whether functions go through `ta.compile`.
    functions : dict
        Those that were asked for, by eval and name, so that a program serves all calls.
    """

    name: str
    compiled: bool = True
    functions: dict[tuple[str, str], Callable[..., Any]] = field(factory=dict)

    def serve(self, lines: Iterable[str], out: Writer) -> None:
        """Answer a message on each line until there are no more."""
        for line in lines:
            if line.strip():
                out.write(json.dumps(self.answer(json.loads(line))) + "\n")
                out.flush()

    def answer(self, message: Message) -> Message:
        """Give the response to a message; an exception is told there, and not raised."""
        kinds = {"start": self.start, "define": self.defined, "evaluate": self.evaluate}
        respond = kinds.get(message.get("kind", ""), self.nothing)
        try:
            response = respond(message)
        except Exception:  # noqa: BLE001, RUF100  # the other side has to learn of whatever it is
            response = {"success": False, "error": traceback.format_exc()}
        return {"id": message["id"], **response}

    def start(self, _message: Message) -> Message:
        """Say which tool this is."""
        return {"tool": self.name}

    def defined(self, message: Message) -> Message:
        """Say whether there is such an eval."""
        module = message["module"]
        if module in EVALS:
            return {"success": True}
        return {"success": False, "error": f"no {module!r}; there are {', '.join(EVALS)}"}

    def nothing(self, _message: Message) -> Message:
        """Say no more than that the message has come."""
        return {}

    def evaluate(self, message: Message) -> Message:
        """Run a function as often as its input asks for."""
        task = EVALS[message["module"]][message["function"]]
        given = message["input"]
        function = self.function(message["module"], message["function"], task)
        arguments = task.prepare(given)
        result, timings = timed(function, arguments, *bounds(given))
        output = plain(task.answer(result, arguments))
        return {"success": True, "output": output, "timings": timings}

    def function(self, module: str, name: str, task: Task) -> Callable[..., Any]:
        """Compile a task's function, once."""
        if not self.compiled:
            return task.function
        if (module, name) not in self.functions:
            self.functions[module, name] = ta.compile(task.function)
        return self.functions[module, name]


def bounds(given: Any) -> tuple[int, float]:
    """Read how many runs and seconds an input asks for at the least."""
    if not isinstance(given, dict):  # hello's is a number
        return 1, 0.0
    return max(int(given.get("min_runs", 1)), 1), float(given.get("min_seconds", 0))


def timed(
    function: Callable[..., Any], arguments: tuple[Any, ...], runs: int, seconds: float
) -> tuple[Any, list[Message]]:
    """Run a function that many times and seconds at the least; give its result and the times."""
    timings: list[Message] = []
    elapsed = 0
    while len(timings) < runs or elapsed < seconds * 1e9:
        begin = time.perf_counter_ns()
        result = function(*arguments)
        timings.append({"name": "evaluate", "nanoseconds": time.perf_counter_ns() - begin})
        elapsed += timings[-1]["nanoseconds"]
    return result, timings
