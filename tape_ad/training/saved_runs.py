"""Files of saved runs: all that one needs to go on as if it had never stopped.

Such a file is called a checkpoint; `tape_ad.checkpoint`, which computes again in a sweep what was
not kept for it, has nothing to do with this.
"""

import json
import operator
import os
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.errors import DamagedFileError
from tape_ad.parameters import check_like, load, save

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


PARAMETERS, STATE, STEP, RANDOM = "params/", "state/", "step", "rng/"
"""What the names of a checkpoint's arrays begin with."""


@frozen(eq=False)
class Checkpoint:
    """The training state that `load_checkpoint` returns.

    Attributes
    ----------
    params : dict of str to array
        The store.
    state : dict of str to array
        The optimizer's state, to make an optimizer with: ``Adam(lr=1e-3, state=saved.state)``.
    step : int
        The number of steps taken.
    rng : dict of str to numpy.random.Generator
        Generators that go on where the saved ones stood, by the names they were saved under.
    """

    params: dict[str, Plain] = field(repr=False)
    state: dict[str, Plain] = field(repr=False)
    step: int
    rng: dict[str, Generator] = field(repr=False)


def save_checkpoint(
    path: str | os.PathLike[str],
    params: Mapping[str, Plain],
    state: Mapping[str, Plain],
    step: int,
    rng: Mapping[str, Generator],
) -> None:
    """Save a run at the end of a step, all of it or nothing, as `parameters.save` does.

    A run that goes on from it computes bit for bit what it would have computed without the
    break, when the generators are saved where the loop goes on: `batches` draws its order at the
    beginning of an epoch, so save at the end of one.

    Parameters
    ----------
    path : str or path-like
        A ``.npz`` or ``.safetensors`` file.
    params : mapping of str to array
        The store.
    state : mapping of str to array
        The optimizer's, ``optimizer.state``; an empty one where there is no optimizer.
    step : int
        The number of steps taken.
    rng : mapping of str to numpy.random.Generator
        Every generator that the loop draws from, under names of your choice.

    Raises
    ------
    ValueError, ConversionError, DtypeError, ImportError
        As `parameters.save`.

    Examples
    --------
    >>> import tempfile
    >>> rng = np.random.default_rng(0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_checkpoint(folder + "/run.npz", {"w": np.ones(2)}, {}, 7, {"order": rng})
    ...     saved = load_checkpoint(folder + "/run.npz")
    >>> saved
    Checkpoint(step=7)
    >>> saved.rng["order"].normal() == rng.normal()
    True
    """
    arrays: dict[str, Any] = {STEP: np.array(operator.index(step), np.int64)}
    arrays |= {f"{PARAMETERS}{name}": params[name] for name in params}
    arrays |= {f"{STATE}{name}": state[name] for name in state}
    arrays |= {f"{RANDOM}{name}": state_of(rng[name]) for name in rng}
    save(path, arrays)


def load_checkpoint(
    path: str | os.PathLike[str],
    like: Mapping[str, Any] | None = None,
    *,
    max_bytes: int | None = None,
) -> Checkpoint:
    """Load what `save_checkpoint` saved.

    Parameters
    ----------
    path : str or path-like
    like : mapping of str to array, optional
        A store that the saved one has to have the names, shapes and dtypes of.
    max_bytes : int, optional
        How many bytes all arrays of the file may take; as for `parameters.load`.

    Returns
    -------
    Checkpoint

    Raises
    ------
    StoreMismatchError
        When the saved store is not like the one given.
    DamagedFileError
        For a file that is damaged or is no checkpoint, also where NumPy's generators would crash
        with what it holds.
    FileNotFoundError, ImportError
        As `parameters.load`.
    """
    arrays = load(path, max_bytes=max_bytes)
    shown = os.fspath(path)
    step = arrays.pop(STEP, None)
    parts: dict[str, dict[str, Plain]] = {PARAMETERS: {}, STATE: {}, RANDOM: {}}
    for key, array in arrays.items():
        kind, slash, name = key.partition("/")
        if kind + slash not in parts:
            raise DamagedFileError(f"{shown!r} is no checkpoint: it has an entry {key!r}")
        parts[kind + slash][name] = array
    if step is None or step.shape != () or step.dtype.kind not in "iu":
        raise DamagedFileError(f"{shown!r} is no checkpoint: it has no number of steps taken")
    if like is not None:
        check_like(parts[PARAMETERS], like, f"the store in {shown!r}")
    rng = {name: saved_generator(array, name, shown) for name, array in parts[RANDOM].items()}
    return Checkpoint(parts[PARAMETERS], parts[STATE], int(step), rng)


def saved_generator(array: Plain, name: str, shown: str) -> Generator:
    """Make a generator out of a file's entry.

    Raises
    ------
    DamagedFileError
    """
    try:
        return generator_of(array)
    except ValueError as error:
        raise DamagedFileError(
            f"{shown!r} is damaged: the generator {name!r} cannot be read: {error}"
        ) from error
