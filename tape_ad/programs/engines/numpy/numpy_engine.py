"""The engine that writes a plan as Python, and lets NumPy run it: the same bits as eager."""

from collections.abc import Callable, Mapping
from typing import Any

from tape_ad.programs.engines import verifier
from tape_ad.programs.engines.numpy.replays import Writer
from tape_ad.programs.engines.plans import Plan
from tape_ad.programs.program.interpreter import Diverged
from tape_ad.programs.program.program import Guard

__all__ = ["replay_of"]


def replay_of(
    plan: Plan,
    otherwise: Callable[..., Any] | None = None,
    guards: Mapping[Guard, int] | None = None,
) -> Any:
    """Make a plan something to call.

    Parameters
    ----------
    plan : Plan
    otherwise : callable, optional
        ``otherwise(number, *inputs)`` is called where a native call gives another number than 0.
    guards : mapping of Guard to int, optional
        Their numbers, if there are others than those in the plan.

    Returns
    -------
    callable
        ``replay(*inputs)``: a tuple of outputs, or Diverged. It may run in several threads. Its
        `nbytes` is the plan's.
    """
    if verifier.ENABLED:
        verifier.verify_plan(plan)
    writer = Writer(plan, otherwise=otherwise, guards=guards)
    text = "\n".join(writer.lines())
    namespace: dict[str, Any] = {"Diverged": Diverged, **writer.names.bound}
    # A module's own names are as quick as local ones, once Python has run a line twice
    exec(compile(text, f"<replay of {plan.program.name}>", "exec"), namespace)  # noqa: S102  # our text
    replay: Any = namespace.pop("replay")  # no cycle of it and its names
    replay.nbytes = plan.nbytes
    return replay
