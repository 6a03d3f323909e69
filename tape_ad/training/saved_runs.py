"""Files of saved runs: all that one needs to go on as if it had never stopped.

Such a file is called a checkpoint; `tape_ad.checkpoint`, which computes again in a sweep what was
not kept for it, has nothing to do with this.
"""

import operator
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from attrs import field, frozen

from tape_ad.base.errors import DamagedFileError
from tape_ad.parameters import check_like, load, save
from tape_ad.training.generators import generator_of, state_of

__all__ = ["Checkpoint", "load_checkpoint", "save_checkpoint"]

Plain = np.ndarray[Any, Any]
Generator = np.random.Generator

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
