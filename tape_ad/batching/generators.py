"""Random generators of one of a batch: each draws numbers of its own."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from tape_ad.base.naming import called
from tape_ad.batching.arrays import Members, OneByOneError, UnbatchableError
from tape_ad.batching.dispatch import joined, memory_to_write, one_by_one


class BatchedGenerator(Members):
    """A generator of one of a batch, which draws for each from that one's own."""

    __slots__ = ()

    @property  # type: ignore[misc]  # so that isinstance, and default_rng, take it for what it stands for
    def __class__(self) -> type:
        return np.random.Generator

    def __deepcopy__(self, memo: dict[int, Any]) -> "BatchedGenerator":
        return BatchedGenerator(self.batch_of_members, deepcopy(self.members, memo))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in ("bit_generator", "capsule"):  # which default_rng asks for
            self.batch_of_members.asked = True  # code in C may not let the error through
            raise OneByOneError
        if name.startswith("_") or not callable(getattr(np.random.Generator, name, None)):
            raise AttributeError(f"a generator in a batch has no {name}")

        def drawn(*args: Any, **kwargs: Any) -> Any:
            """Draw for one after the other."""
            methods = [getattr(member, name) for member in self.members]
            if not methods:
                raise UnbatchableError
            batch = self.batch_of_members
            if name == "shuffle":
                target = args[0] if args else kwargs.get("x")
                batch.written.append(memory_to_write(batch, target))
            calls = one_by_one(batch, (args, kwargs))
            parts = [
                method(*one, **options)
                for method, (one, options) in zip(methods, calls, strict=True)
            ]
            if isinstance(parts[0], np.ndarray) and any(part is parts[0] for part in parts[1:]):
                raise OneByOneError  # into one array of out=, which holds what is of the last one
            return joined(batch, methods[0], tuple(parts))

        return drawn

    def spawn(self, n_children: int) -> list["BatchedGenerator"]:
        """Make generators that are independent, for each of the batch."""
        children = zip(*[member.spawn(n_children) for member in self.members], strict=True)
        return [BatchedGenerator(self.batch_of_members, list(each)) for each in children]


def is_generator(leaf: Any) -> bool:
    """Tell whether something draws random numbers and can be parted, as NumPy's generators can."""
    return isinstance(leaf, (np.random.Generator, BatchedGenerator))


def renewed(generator: Any) -> Any:
    """Give a generator that draws what one has drawn from the beginning.

    Raises
    ------
    TypeError
        When it was not made by ``spawn``.
    """
    if isinstance(generator, BatchedGenerator):
        return BatchedGenerator(generator.batch_of_members, list(map(renewed, generator.members)))
    if not isinstance(generator, np.random.Generator):
        raise TypeError(f"{called(type(generator))} is no generator of numpy.random")
    bits: Any = generator.bit_generator
    return np.random.Generator(type(bits)(bits.seed_seq))
