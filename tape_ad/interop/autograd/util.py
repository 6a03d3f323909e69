"""Small helpers that programs written for HIPS autograd import."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

__all__ = ["func", "quick_grad_check", "subval", "subvals", "toposort"]


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Give a tuple like `x` with other values at some positions."""
    values = list(x)
    for i, value in ivs:
        values[i] = value
    return tuple(values)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """Give a tuple like `x` with another value at one position."""
    return subvals(x, [(i, v)])


def func(f: Any) -> Any:
    """Give `f` itself."""
    return f


def toposort(
    end_node: Any, parents: Callable[[Any], Iterable[Any]] = attrgetter("parents")
) -> Iterator[Any]:
    """Yield a node and all that it depends on, each before its parents."""
    children: Counter[Any] = Counter()
    found, seen = [end_node], {end_node}
    for node in found:  # which grows
        for parent in parents(node):
            children[parent] += 1
            if parent not in seen:
                seen.add(parent)
                found.append(parent)
    free = [end_node]
    while free:
        node = free.pop()
        yield node
        for parent in parents(node):
            children[parent] -= 1
            if not children[parent]:
                free.append(parent)


def quick_grad_check(
    fun: Callable[..., Any], arg0: Any, extra_args: Any = (), kwargs: Any = None, **options: Any
) -> None:
    """Check a gradient by the first argument; write `test_util.check_grads` in place of it."""
    from tape_ad.interop.autograd.test_util import check_grads  # noqa: PLC0415 - it imports this one

    warnings.warn(
        "quick_grad_check is deprecated; write test_util.check_grads",
        DeprecationWarning,
        stacklevel=2,
    )
    check_grads(fun, modes=["rev"], order=1)(arg0, *extra_args, **(kwargs or {}))
