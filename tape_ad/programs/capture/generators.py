"""Generators of random numbers among the arguments, whose draws are calls of the program.

Each draw is a call that takes the generator as the draw before has left it, and gives it to the
next one, so that they keep their order. A replay draws anew, from the generator that it is given.
"""

import functools
import random
import types
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np
from attrs import define

from tape_ad.base.errors import CaptureError
from tape_ad.programs.capture.op_facts import is_number_or_array, with_integers_guarded
from tape_ad.programs.capture.tracers import TracedArray
from tape_ad.programs.program import Call, Value
from tape_ad.programs.program.keys import GENERATORS
from tape_ad.record.messages.callers import caller

Function = Callable[..., Any]
DRAWS = frozenset(
    {
        *("beta", "binomial", "chisquare", "choice", "dirichlet", "exponential", "f", "gamma"),
        *("geometric", "gumbel", "hypergeometric", "integers", "laplace", "logistic", "lognormal"),
        *("logseries", "multinomial", "multivariate_hypergeometric", "multivariate_normal"),
        *("negative_binomial", "noncentral_chisquare", "noncentral_f", "normal", "pareto"),
        *("permutation", "permuted", "poisson", "power", "rand", "randint", "randn", "random"),
        *("random_integers", "random_sample", "rayleigh", "standard_cauchy"),
        *("standard_exponential", "standard_gamma", "standard_normal", "standard_t", "tomaxint"),
        *("triangular", "uniform", "vonmises", "wald", "weibull", "zipf"),
    }
)
"""The methods that change nothing but the generator."""


class Draw:
    """A draw by one of a generator's methods.

    Attributes
    ----------
    method : str
    """

    is_effect: ClassVar[bool] = True

    def __init__(self, method: str) -> None:
        self.method = self.__name__ = method

    def __call__(self, generator: Any, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Give the generator as it is then, and what was drawn."""
        if self.method != "shuffle":
            return generator, getattr(generator, self.method)(*args, **kwargs)
        array, *axis = args
        array = array.copy()
        generator.shuffle(array, *axis, **kwargs)
        return generator, array

    def is_like(self, other: Any) -> bool:
        """Tell whether another one draws by the same method."""
        return isinstance(other, Draw) and self.method == other.method


@define(eq=False)
class Rewindable:
    """A generator in a replay, which draws again where the replay begins again.

    Attributes
    ----------
    generator : numpy.random.Generator or numpy.random.RandomState
    state : any
        Of its bit generator, when it was first drawn from; None before.
    """

    generator: Any
    state: Any = None

    def begun(self) -> Any:
        """Give the generator for the first draw."""
        if self.state is None:
            self.state = access_to(self.generator)[0]()
        else:
            self.rewind()
        return self.generator

    def rewind(self) -> None:
        """Put the generator back to where it began."""
        if self.state is not None:
            access_to(self.generator)[1](self.state)


def generator_of(value: Any) -> Any:
    """Give the generator that a value is, or that it is a method of; None where there is none."""
    kinds = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
    owner = value if isinstance(value, types.ModuleType) else getattr(value, "__self__", value)
    return owner if isinstance(owner, kinds) or owner is np.random or owner is random else None


def access_to(generator: Any) -> tuple[Function, Function]:
    """Give what reads the state of a generator, and what sets it."""
    if isinstance(generator, (np.random.Generator, np.random.BitGenerator)):
        bits: Any = getattr(generator, "bit_generator", generator)
        return lambda: bits.state, lambda state: setattr(bits, "state", state)
    if isinstance(generator, np.random.RandomState) or generator is np.random:
        return functools.partial(generator.get_state, legacy=False), generator.set_state
    return generator.getstate, generator.setstate


def begun(generator: Any) -> Any:
    """Give a generator for the first draw from it."""
    return generator.begun() if type(generator) is Rewindable else generator


begun.is_effect = True  # type: ignore[attr-defined]  # a function takes any attribute


class TracedGenerator:
    """A generator of a function that is being captured.

    Attributes
    ----------
    data : numpy.random.Generator or numpy.random.RandomState
    value : Value
        Of the input, and then what each draw has left.
    capture : Capture
    """

    draws_for_capture: ClassVar[bool] = True

    def __init__(self, data: Any, value: Value, capture: Any) -> None:
        self.data, self.value, self.capture = data, value, capture
        self._begun = False

    @property  # type: ignore[misc]  # isinstance looks at it after the type
    def __class__(self) -> type:
        """The class of the generator, for ``isinstance``."""
        return type(self.data)

    def __repr__(self) -> str:
        return repr(self.data)

    def __getattr__(self, name: str) -> Any:
        """Give a method that draws.

        Raises
        ------
        CaptureError
            For all else.
        """
        if name.startswith("__") or not hasattr(self.data, name):
            raise AttributeError(f"a {type(self.data).__name__} has no attribute {name!r}")
        if name in DRAWS:
            return lambda *args, **kwargs: self.drawn(name, args, kwargs)
        raise self.capture.refusal(
            f"it asks a generator of random numbers for .{name} ({caller()}), of which a replay "
            "knows nothing; do that outside, and pass what it gives as an argument"
        )

    def shuffle(self, x: Any, *axis: Any, **options: Any) -> None:
        """Shuffle an array in place, which is to be a captured one."""
        if type(x) is not TracedArray:
            raise self.capture.refusal(
                f"it shuffles what is no captured array ({caller()}); write x = rng.permutation(x)"
            )
        x[...] = self.drawn("shuffle", (x, *axis), options)

    def drawn(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Draw, and note that.

        Raises
        ------
        CaptureError
        """
        capture, draw = self.capture, Draw(name)
        capture.check_usable(draw)
        if kwargs.get("out") is not None:
            raise capture.refusal(
                f"a draw writes to its out= ({caller()}); write x = rng.{name}(...)"
            )
        args = tuple([with_integers_guarded(arg) for arg in args])
        kwargs = {option: with_integers_guarded(arg) for option, arg in kwargs.items()}
        concrete, noted = capture.unwrap(args)
        concrete_options, noted_options = capture.unwrap(kwargs)
        _, out = draw(self.data, *concrete, **concrete_options)
        if not is_number_or_array(out):
            raise capture.refusal(
                f"rng.{name} ({caller()}) gives a {type(out).__name__}, which cannot be captured"
            )
        if not self._begun:
            self._begun, first = True, Value(type(self.data))
            capture.note(Call(begun, (self.value,), {}, (first,)))
            self.value = first
        result = capture.box(out, args, kwargs, ())
        left = Value(type(self.data))
        capture.note(
            Call(
                draw,
                (self.value, *noted),
                noted_options,
                (left, result.value),
                True,
                capture.errors(),
            )
        )
        self.value = left
        return result

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise CaptureError(
            "a generator of random numbers is copied or pickled in a compiled function, of which a "
            "replay knows nothing; make the copy outside, and pass it as an argument"
        )


def rewinding(replay: Function, inputs: Sequence[Value], notes: Callable[[Any], None]) -> Function:
    """Let a replay that ends without results leave its generators as they were.

    Parameters
    ----------
    replay : callable
    inputs : sequence of Value
    notes : callable
        Is told of the generators after each replay, with the states that they had before.
    """
    places = [i for i, value in enumerate(inputs) if issubclass(value.kind, GENERATORS)]
    if not places:
        return replay

    def rewound(*given: Any) -> Any:
        own = list(given)
        for place in places:
            own[place] = Rewindable(given[place])
        generators = [own[place] for place in places]
        out: Any = None
        try:
            out = replay(*own)
        finally:
            if type(out) is not tuple:
                for each in generators:
                    each.rewind()
        notes(generators)
        return out

    return rewound
