"""A program as a Python module that needs NumPy alone."""

from typing import Any

from tape_ad.base.naming import called
from tape_ad.programs.engines.numpy.helpers import Helpers
from tape_ad.programs.engines.numpy.replays import Writer
from tape_ad.programs.engines.plans import Plan
from tape_ad.programs.program.program import Program

__all__ = ["source_of"]

HEAD = '''"""{name}, written by tape_ad as calls of NumPy.

It takes arrays of the shapes and dtypes that stand beside its arguments, in the same layout.
"""
'''


def source_of(program: Program) -> str:
    """Write a program as a module that runs without tape_ad, and gives the same bits.

    Parameters
    ----------
    program : Program

    Returns
    -------
    str
        A module with one function, named like the program's. Its arguments are the leaves of the
        arguments of the function that was captured. Where an argument of other values would take
        another path, it raises ValueError.

    Raises
    ------
    CaptureError
        When a call cannot be written so: of a function of the user's own, for example.
    """
    writer = Writer(Plan.of(program), readable=True)
    body = "\n".join(writer.lines())
    helpers = Helpers()
    users = users_of(program)
    for name, thing in writer.names.bound.items():
        helpers.add(name, thing, f"{program.name}: {users.get(id(thing), name)}")
    modules = {module.partition(".")[0] for module in helpers.modules} - {"numpy"}
    modules |= {module for module in helpers.modules if module.startswith("scipy.")} - {"scipy"}
    if any("base64" in text for text in helpers.texts.values()):
        modules.add("base64")
    imports = [f"import {module}" for module in sorted(modules - {"scipy"})]
    parts = [
        HEAD.format(name=writer.title),
        "from __future__ import annotations",
        "\n".join([*imports, *([""] if imports else []), "import numpy as np"]),
        *spaced(list(helpers.texts.values())),
        "\n" + body,
    ]
    return "\n\n".join(parts) + "\n"


def spaced(texts: list[str]) -> list[str]:
    """Put definitions of one line close together, and functions apart."""
    lines = [text for text in texts if not text.startswith(("def ", "@"))]
    functions = ["\n" + text for text in texts if text.startswith(("def ", "@"))]
    return ["\n".join(lines), *functions] if lines else functions


def users_of(program: Program) -> dict[int, str]:
    """Find a call that uses each object, for errors."""
    users: dict[int, str] = {}
    for call in program.calls:
        things: list[Any] = [call.function, *call.args, *call.kwargs.values()]
        for thing in things:
            users.setdefault(id(thing), f"the call of {called(call.function)}")
    return users
