"""Captures, from the arguments of a call to its program."""

from collections.abc import Callable, Sequence
from typing import Any

from tape_ad.programs.capture import CAPTURING, Capture
from tape_ad.programs.captured import plain, with_plain_keys
from tape_ad.programs.comparison import Comparison
from tape_ad.programs.constants import Constants
from tape_ad.programs.program import Program
from tape_ad.programs.simplification.owning import kept_apart
from tape_ad.trees import map_leaves

__all__ = ["capture", "is_capturing"]

Function = Callable[..., Any]


def capture(
    function: Function,
    name: str,
    rebuild: Callable[[Sequence[Any]], tuple[tuple[Any, ...], dict[str, Any]]],
    leaves: Sequence[Any],
    names: Sequence[str],
    earlier: Sequence[Program],
) -> tuple[Program, Any, Program | None]:
    """Run a function on captured arrays.

    Parameters
    ----------
    function : callable
    name : str
        What to call it.
    rebuild : callable
        Makes the arguments, positional and by name, out of the leaves.
    leaves : sequence of array and number
    names : sequence of str
        What the user calls each of them.
    earlier : sequence of Program
        What earlier captures gave, on this path or others, to be compared; the likeliest first.

    Returns
    -------
    program : Program
    result : any
        What the function returned, with plain arrays.
    same : Program or None
        The earlier program that this is once more.
    """
    constants = Constants(name, earlier)
    noting = Capture(name, Comparison(list(earlier)), constants)
    args, kwargs = rebuild([noting.input(x, of) for x, of in zip(leaves, names, strict=True)])
    noting.comparison.begin(noting)
    output = with_plain_keys(noting.run(function, args, kwargs))
    program = noting.program(output)
    constants.check_untouched()
    result = map_leaves(lambda leaf, path: plain(leaf), output)
    same = noting.comparison.finished(noting, program)
    if same is not None:
        program = kept_apart(noting.comparison.with_own(program))
    return program, result, same


def is_capturing() -> bool:
    """Tell whether a function is being captured; an asyncio task may outlive what started it."""
    current = CAPTURING.get()
    return current is not None and not current.ended
