"""The engine that writes a plan as Python, and lets NumPy run it: the same bits as eager."""

from collections.abc import Callable
from typing import Any

from tape_ad.programs.interpreter import Diverged
from tape_ad.programs.plans import Plan
from tape_ad.programs.text.replays import Writer

__all__ = ["replay_of"]


def replay_of(plan: Plan) -> Callable[..., Any]:
    """Make a plan something to call.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    callable
        ``replay(*inputs)``: a tuple of outputs, or Diverged. It may run in several threads.
    """
    writer = Writer(plan)
    text = "\n".join(writer.lines())
    room: dict[str, Any] = {"Diverged": Diverged, **writer.names.bound}
    # A module's own names are as quick as local ones, once Python has run a line twice
    exec(compile(text, f"<replay of {plan.program.name}>", "exec"), room)  # noqa: S102  # our text
    replay: Callable[..., Any] = room["replay"]
    return replay
