"""What HIPS autograd has kept of its first releases, for programs written for those."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tape_ad.interop.autograd import primitives
from tape_ad.interop.autograd.primitives import defvjp
from tape_ad.interop.autograd.spaces import vspace

__all__ = ["primitive"]

Function = Callable[..., Any]


def primitive(f_raw: Function) -> Function:
    """Make a primitive with the methods `defgrad`, `defvjp` and `defvjp_is_zero`.

    Write ``extend.defvjp(f, ...)`` in place of them: they warn.
    """
    made: Any = primitives.primitive(f_raw)
    makers: dict[int, Any] = {}

    def define(name: str, new: Mapping[int, Any]) -> None:
        warnings.warn(
            f"the method {name} is deprecated; write extend.defvjp(f, ...)",
            DeprecationWarning,
            stacklevel=3,
        )
        makers.update(new)
        defvjp(made, *makers.values(), argnums=list(makers))

    def defgrad(gradfun: Function, argnum: int = 0) -> None:
        define("defgrad", {argnum: gradfun})

    def defvjp_unstaged(vjpmaker: Function, argnum: int = 0) -> None:
        def staged(ans: Any, *args: Any, **kwargs: Any) -> Function:
            space = vspace(args[argnum])
            return lambda g: vjpmaker(g, ans, space, vspace(g), *args, **kwargs)

        define("defvjp", {argnum: staged})

    def defvjp_is_zero(argnums: Iterable[int] = (0,)) -> None:
        define("defvjp_is_zero", dict.fromkeys(argnums))

    made.defgrad, made.defvjp, made.defvjp_is_zero = defgrad, defvjp_unstaged, defvjp_is_zero
    decorated: Function = made
    return decorated
