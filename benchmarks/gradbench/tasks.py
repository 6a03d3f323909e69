"""What a function of an eval is made of, and how far two answers may be apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
from attrs import frozen

Array = np.ndarray[Any, Any]


def plain(value: Any) -> Any:
    """Turn arrays into what JSON has, wherever they are in dicts and lists."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def same(result: Any, _prepared: Any) -> Any:
    """Answer with what was computed."""
    return result


@frozen(eq=False)
class Task:
    """One function of an eval.

    Attributes
    ----------
    function : callable
        What is timed: a function of arrays and numbers.
    prepare : callable
        Takes the input of a message, and gives the arguments. It is not timed.
    answer : callable
        Takes what `function` gave, and its arguments, and gives the output. It is not timed.
    """

    function: Callable[..., Any]
    prepare: Callable[[Any], tuple[Any, ...]]
    answer: Callable[[Any, tuple[Any, ...]], Any] = same


Tasks = dict[str, Task]


def differences(x: Any, y: Any) -> Any:
    """ADBench's: relative for what is large, absolute for what is small."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    return np.abs(x - y) / np.maximum(1, np.abs(x) + np.abs(y))


def agree(x: Any, y: Any) -> bool:
    """Say whether answers of any structure are the same to 1e-8."""
    if isinstance(x, dict):
        return x.keys() == y.keys() and all(agree(each, y[name]) for name, each in x.items())
    return np.shape(x) == np.shape(y) and bool((differences(x, y) <= 1e-8).all())
