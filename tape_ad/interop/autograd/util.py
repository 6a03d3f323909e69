"""Small helpers that programs written for HIPS autograd import."""

import warnings
from collections.abc import Callable
from typing import Any

from tape_ad.interop.autograd.test_util import check_grads
from tape_ad.interop.autograd.tracer import toposort
from tape_ad.interop.autograd.tuples import subval, subvals

__all__ = ["func", "quick_grad_check", "subval", "subvals", "toposort"]


def func(f: Any) -> Any:
    """Return `f` itself, as HIPS autograd's `func` does."""
    return f


def quick_grad_check(
    fun: Callable[..., Any], arg0: Any, extra_args: Any = (), kwargs: Any = None, **options: Any
) -> None:
    """Check a gradient by the first argument; write `test_util.check_grads` in place of it."""
    warnings.warn(
        "quick_grad_check is deprecated; write test_util.check_grads",
        DeprecationWarning,
        stacklevel=2,
    )
    check_grads(fun, modes=["rev"], order=1)(arg0, *extra_args, **(kwargs or {}))
