"""Whether what a checker says of an expression is so."""

import re
from pathlib import Path
from typing import Any

import numpy as np

import tape_ad as ta
from tests.typing.checkers import revealed
from tests.typing.expressions import EXPRESSIONS, PREAMBLE

__all__ = ["KINDS", "judged"]

KINDS = ("right", "Any", "wrong", "error")

SHORT = (
    (r"numpy\.|builtins\.|typing\.|tape_ad\.[a-z_.]+\.|_typing\._nbit_base\.", ""),
    (r"dict\[str, (.*)\]$", r"dict[\1]"),
)

NAMES = {
    ta.Tensor: r"Tensor",
    np.ndarray: r"ndarray\b.*",
    bool: r"bool|bool\[bool\]",
    int: r"int|signedinteger.*",
    tuple: r"tuple\b.*",
    list: r"list\b.*",
    dict: r"dict\b.*",
    ta.Gradients: r"Gradients",
}
"""How a checker may write the type of a value."""


def judged(checker: str, folder: Path) -> list[tuple[str, str, str]]:
    """Compare each type that a checker gives with that of the value, and of what is in it.

    Returns
    -------
    list of tuple of str
        The expression, one of `KINDS`, and what the checker said.
    """
    scope: dict[str, Any] = {}
    exec(PREAMBLE, scope)  # noqa: S102 - written in this folder
    told = revealed(checker, folder, EXPRESSIONS, PREAMBLE)
    values = [eval(expression, scope) for expression in EXPRESSIONS]  # noqa: S307 - the same
    return [
        (expression, kind_of(value, short(text)), text)
        for expression, value, text in zip(EXPRESSIONS, values, told, strict=True)
    ]


def short(text: str) -> str:
    """Write a type as it is written in a program."""
    for pattern, instead in SHORT:
        text = re.sub(pattern, instead, text)
    return text


def kind_of(value: Any, text: str) -> str:
    """Compare one type with one value."""
    if text == "error":
        return "error"
    if text in ("Any", "Unknown"):
        return "Any"
    if not isinstance(value, ta.Tensor) and "Tensor" in text and not has_handles(value):
        return "wrong"
    if isinstance(value, np.generic):
        return "right"  # numbers of all kinds, which no handle is
    pattern = next((name for kind, name in NAMES.items() if isinstance(value, kind)), r".*")
    fits = re.fullmatch(pattern, text) and ("Tensor" in text or not has_handles(value))
    return "right" if fits else "wrong"


def has_handles(value: Any) -> bool:
    """Tell whether a value is a handle or holds any."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return any(map(has_handles, value))
    return isinstance(value, ta.Tensor)
