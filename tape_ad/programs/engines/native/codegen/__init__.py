"""Code generation: LLVM text of inner loops, and the cache of those that are compiled."""

from collections.abc import Iterable, Sequence
from weakref import WeakValueDictionary

from attrs import define, field

from tape_ad.programs.engines.native.codegen.loops import Loop, written
from tape_ad.programs.engines.native.codegen.vectors import addresses, library
from tape_ad.programs.engines.native.ir import LLVMFunction
from tape_ad.programs.engines.native.runtime.compiling import Module, compiled, host

__all__ = ["CompiledLoop", "compiled_loops"]


@define(eq=False, slots=True, weakref_slot=True)
class CompiledLoop:
    """A loop that can be called.

    Attributes
    ----------
    address : int
    module : Module
        Whose code it is.
    """

    address: int
    module: Module = field(repr=False)


READY: WeakValueDictionary[object, CompiledLoop] = WeakValueDictionary()
"""By what they do, and the vector library and the machine that they were made for."""


def compiled_loops(loops: Iterable[Loop | LLVMFunction]) -> dict[Loop | LLVMFunction, CompiledLoop]:
    """Compile loops, if that has not been done before.

    Parameters
    ----------
    loops : iterable of Loop and LLVMFunction

    Returns
    -------
    dict
    """
    using = library(), host().key
    found: dict[Loop | LLVMFunction, CompiledLoop] = {}
    levels: dict[int, list[Loop | LLVMFunction]] = {}
    for loop in dict.fromkeys(loops):
        known = READY.get((loop, using))
        if known is not None:
            found[loop] = known
        else:
            levels.setdefault(level_of(loop), []).append(loop)
    for level, some in levels.items():
        for loop, one in zip(some, made(some, level), strict=True):
            found[loop] = READY[loop, using] = one
    return found


def level_of(loop: Loop | LLVMFunction) -> int:
    """Say how much the code generator tries; straight code is not worth its time."""
    return loop.level if isinstance(loop, LLVMFunction) else int(not loop.single)


def made(loops: Sequence[Loop | LLVMFunction], level: int) -> list[CompiledLoop]:
    """Compile several loops as one module of LLVM's."""
    texts: list[str] = []
    declarations: dict[str, str] = {}
    for number, loop in enumerate(loops):
        text, called = text_of(loop, f"loop{number}")
        texts.append(text)
        declarations |= called
    symbols = [name[1:] for name in declarations if not name.startswith("@llvm.")]
    module = compiled(texts, declarations.values(), addresses(symbols), level)
    return [CompiledLoop(module.address(f"loop{number}"), module) for number in range(len(loops))]


def text_of(loop: Loop | LLVMFunction, name: str) -> tuple[str, dict[str, str]]:
    """Write a loop, and what it calls."""
    if isinstance(loop, LLVMFunction):
        return loop.text.replace("@loop", f"@{name}"), dict(loop.declarations)
    return written(loop, name)
