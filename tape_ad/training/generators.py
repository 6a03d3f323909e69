"""The states of NumPy's random number generators, to bytes and back.

NumPy believes whatever state a bit generator is given, and reads beyond its memory at the next draw
where that is nonsense. A file can hold anything, so every number is looked at first.
"""

import json
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

__all__ = ["generator_of", "state_of"]

Plain = np.ndarray[Any, Any]
Generator = np.random.Generator
Check = Callable[[Any], bool]


def below(bound: int) -> Check:
    """Make the check of an integer from 0 to before a bound."""
    return lambda value: type(value) is int and 0 <= value < bound


def words(count: int, bits: int) -> Check:
    """Make the check of an array of unsigned integers."""
    dtype = np.dtype(f"u{bits // 8}")
    return lambda value: (
        isinstance(value, np.ndarray) and value.dtype == dtype and value.shape == (count,)
    )


HALF_A_DRAW = {"has_uint32": below(2), "uinteger": below(2**32)}
PCG = {"state": {"state": below(2**128), "inc": below(2**128)}, **HALF_A_DRAW}

STATES: Mapping[str, Mapping[str, Any]] = {
    "MT19937": {"state": {"key": words(624, 32), "pos": below(625)}},
    "PCG64": PCG,
    "PCG64DXSM": PCG,
    "Philox": {
        "state": {"counter": words(4, 64), "key": words(2, 64)},
        "buffer": words(4, 64),
        "buffer_pos": below(5),
        **HALF_A_DRAW,
    },
    "SFC64": {"state": {"state": words(4, 64)}, **HALF_A_DRAW},
}
"""What the state of each bit generator holds beside its name."""


def state_of(rng: Generator) -> Plain:
    """Write a generator's state as bytes of JSON."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"a checkpoint keeps generators such as np.random.default_rng(0), got "
            f"{type(rng).__name__}"
        )
    text = json.dumps(rng.bit_generator.state, default=array_to_json)
    return np.frombuffer(text.encode(), np.uint8)


def generator_of(array: Plain) -> Generator:
    """Make a generator with the state that `state_of` wrote.

    Raises
    ------
    ValueError
        When it is not one that a generator can have.
    """
    if array.dtype != np.uint8 or array.ndim != 1:
        raise ValueError(f"it is an array of shape {array.shape} and dtype {array.dtype}")
    try:
        state = json.loads(array.tobytes(), object_hook=array_from_json)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError("it is no state as JSON") from error
    name = state.pop("bit_generator", None) if isinstance(state, dict) else None
    if not isinstance(name, str) or name not in STATES:
        raise ValueError(f"no bit generator is called {reprlib.repr(name)}")
    check_state(state, STATES[name], name)
    bit_generator = getattr(np.random, name)()
    bit_generator.state = {"bit_generator": name, **state}
    return Generator(bit_generator)


def check_state(state: Any, checks: Mapping[str, Any], name: str) -> None:
    """Compare a state, or a part of it, with what a bit generator can have.

    Raises
    ------
    ValueError
    """
    if not isinstance(state, dict) or state.keys() != checks.keys():
        raise ValueError(f"the state of {name} has other entries than {', '.join(checks)}")
    for entry, check in checks.items():
        if isinstance(check, Mapping):
            check_state(state[entry], check, name)
        elif not check(state[entry]):
            raise ValueError(f"the state of {name} has an impossible {entry}")


def array_to_json(value: Any) -> Any:
    """Write what the states of some bit generators hold besides numbers and strings."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    return value.item()


def array_from_json(value: dict[str, Any]) -> Any:
    """Undo `array_to_json`, for unsigned integers."""
    if value.keys() != {"array", "dtype"}:
        return value
    if value["dtype"] not in ("<u4", "<u8", ">u4", ">u8"):
        raise ValueError(f"an array of dtype {value['dtype']!r} is in no state")
    if any(type(number) is not int for number in value["array"]):
        raise ValueError("an array of other things than integers is in no state")
    return np.array(value["array"], value["dtype"]).astype(value["dtype"][1:])
