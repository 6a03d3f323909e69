"""The errors of the library: each says what happened, where, and what to write instead."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "AdapterError",
    "BatchWarning",
    "CaptureError",
    "ClusterError",
    "CompileWarning",
    "ConvergenceError",
    "ConvergenceWarning",
    "ConversionError",
    "DamagedFileError",
    "DtypeError",
    "GradientCheckError",
    "GrowthWarning",
    "InPlaceError",
    "MissingParameterError",
    "MutatedInputError",
    "NoModeError",
    "NoRuleError",
    "NonFiniteError",
    "OutputError",
    "PartitionError",
    "PatternError",
    "ProgramMismatchError",
    "RecomputationError",
    "RecordMismatchError",
    "ReleasedError",
    "SeedError",
    "ShapeError",
    "SingularJacobianError",
    "StoreMismatchError",
    "TapeError",
    "TieError",
    "TieWarning",
    "UnsupportedArgumentError",
]


class TapeError(Exception):
    """The common base of every error that the library raises on purpose."""


class AdapterError(TapeError, ImportError):
    """The rules that an installed distribution brings for a package cannot be used."""


class BatchWarning(UserWarning):
    """Part of a batched function is called for one of the batch after the other."""


class CaptureError(TapeError, TypeError):
    """A compiled function does what cannot be written down and replayed.

    Attributes
    ----------
    in_copies : bool
        Whether a copy of the function could be, that `tape_ad.differentiable` makes.
    """

    in_copies: bool = False


class ClusterError(TapeError, RuntimeError):
    """The workers of a distributed gradient cannot be reached, or are no more."""


class CompileWarning(UserWarning):
    """A compiled function has given up on replaying, and runs as it would without."""


class ConvergenceError(TapeError, RuntimeError):
    """A solver on the way to a derivative has failed, so that there is none."""


class ConvergenceWarning(UserWarning):
    """A solver has not found what derivatives are taken at, so that they are of something else."""


class ConversionError(TapeError, TypeError):
    """A conversion that would drop the gradient without a word, such as ``np.asarray(handle)``."""


class DamagedFileError(TapeError, ValueError):
    """A file does not hold what it should."""


class DtypeError(TapeError, TypeError):
    """Data that cannot be differentiated: objects, strings, dates, masked arrays."""


class GradientCheckError(TapeError, AssertionError):
    """A derivative differs from a difference quotient; see `tape_ad.testing.check_grads`."""


class GrowthWarning(UserWarning):
    """A record is kept over a loop of gradients and grows with each step."""


class InPlaceError(TapeError, TypeError):
    """An attempt to write to a leaf or a view of one, or to write a handle into a plain array."""


class MissingParameterError(TapeError, KeyError):
    """A layer asked the store for a parameter that is not there."""

    def __str__(self) -> str:
        """Show the message as it is; `KeyError` would show its repr."""
        return str(self.args[0]) if self.args else ""


class MutatedInputError(TapeError, RuntimeError):
    """An array was written to between its use in an operation and the sweep."""


class NoModeError(TapeError, TypeError):
    """A custom rule has only one of push and pull, and the other was asked for."""


class NoRuleError(TapeError, TypeError):
    """A function, or an argument of it, that has no rule."""


class NonFiniteError(TapeError, FloatingPointError):
    """A value or a derivative has become nan or inf, where that was asked to be an error.

    Attributes
    ----------
    node : int
        The index of the node at which it was.
    source : tuple of str, int and str, or None
        The file, line and function that the node was made in.
    """

    node: int = -1
    source: tuple[str, int, str] | None = None


class OutputError(TapeError, TypeError):
    """What a function returned cannot be differentiated in the way that was asked for."""


class PartitionError(TapeError, RuntimeError):
    """A loss failed on one partition of distributed data, or that partition cannot be read.

    Its text has the traceback of what happened on the worker, and its cause is the exception.
    """


class PatternError(TapeError, ValueError):
    """A sparsity pattern does not fit a function, or lacks an entry that is not zero."""


class ProgramMismatchError(TapeError, AssertionError):
    """The replay of a compiled function gives other numbers than the function; see `check`."""


class RecomputationError(TapeError, RuntimeError):
    """A function that a sweep computed again gave other values than it had given before."""


class RecordMismatchError(TapeError, ValueError):
    """A handle met something of a record that its own record has nothing to do with."""


class ReleasedError(TapeError, RuntimeError):
    """A sweep reached a node whose partials an earlier sweep has released."""


class SeedError(TapeError, ValueError):
    """A seed is missing, or has the wrong shape or dtype."""


class ShapeError(TapeError, ValueError):
    """NumPy refused the shapes of an operation; the message names the function."""


class SingularJacobianError(TapeError, ValueError):
    """The equation that a solver has solved does not say how the solution moves."""


class StoreMismatchError(TapeError, ValueError):
    """Names, shapes or dtypes differ from those in a parameter store."""


class TieError(TapeError, RuntimeError):
    """Code of a library branches on an exact tie of a handle, as ``if scale != 1.0``."""


class TieWarning(UserWarning):
    """A branch of one's own is decided by an exact tie of a handle, as ``if t == 0``."""


class UnsupportedArgumentError(TapeError, TypeError):
    """A NumPy argument that handles do not support, such as ``order="A"``."""


for _name in __all__:  # a traceback says what users may import
    globals()[_name].__module__ = "tape_ad.errors"


@contextmanager
def extra(name: str, user: str, instead: str = "") -> Iterator[None]:
    """Import what an extra of the package brings, or say how to install it.

    Parameters
    ----------
    name : str
        The extra, as ``pyproject.toml`` has it.
    user : str
        What needs it.
    instead : str
        What else to write.

    Raises
    ------
    ImportError
        When an import inside fails.

    Examples
    --------
    >>> with extra("fortune", "prophecy", instead="a coin"):
    ...     import crystal_ball
    Traceback (most recent call last):
        ...
    ImportError: prophecy needs the extra fortune: pip install 'tape-ad[fortune]', or use a coin
    """
    try:
        yield
    except ImportError as error:
        other = instead and f", or use {instead}"
        raise ImportError(
            f"{user} needs the extra {name}: pip install 'tape-ad[{name}]'{other}"
        ) from error
