"""The errors of the library: each says what happened, where, and what to write instead."""

__all__ = [
    "CaptureError",
    "CompileWarning",
    "ConversionError",
    "DamagedFileError",
    "DtypeError",
    "GradientCheckError",
    "InPlaceError",
    "MissingParameterError",
    "MutatedInputError",
    "NoModeError",
    "NoRuleError",
    "OutputError",
    "ProgramMismatchError",
    "RecordMismatchError",
    "ReleasedError",
    "SeedError",
    "ShapeError",
    "StoreMismatchError",
    "TapeError",
    "UnsupportedArgumentError",
]


class TapeError(Exception):
    """The common base of every error that the library raises on purpose."""


class CaptureError(TapeError, TypeError):
    """A compiled function does what cannot be written down and replayed."""


class CompileWarning(UserWarning):
    """A compiled function has given up on replaying, and runs as it would without."""


class ConversionError(TapeError, TypeError):
    """A conversion that would drop the gradient without a word, such as ``np.asarray(handle)``."""


class DamagedFileError(TapeError, ValueError):
    """A file does not hold what it should."""


class DtypeError(TapeError, TypeError):
    """Data that cannot be differentiated: objects, strings, dates, masked arrays."""


class GradientCheckError(TapeError, AssertionError):
    """A derivative differs from a difference quotient; see `tape_ad.testing.check_grads`."""


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


class OutputError(TapeError, TypeError):
    """What a function returned cannot be differentiated in the way that was asked for."""


class ProgramMismatchError(TapeError, AssertionError):
    """The replay of a compiled function gives other numbers than the function; see `check`."""


class RecordMismatchError(TapeError, ValueError):
    """A handle met something of a record that its own record has nothing to do with."""


class ReleasedError(TapeError, RuntimeError):
    """A sweep reached a node whose partials an earlier sweep has released."""


class SeedError(TapeError, ValueError):
    """A seed is missing, or has the wrong shape or dtype."""


class ShapeError(TapeError, ValueError):
    """NumPy refused the shapes of an operation; the message names the function."""


class StoreMismatchError(TapeError, ValueError):
    """Names, shapes or dtypes differ from those in a parameter store."""


class UnsupportedArgumentError(TapeError, TypeError):
    """A NumPy argument that handles do not support, such as ``order="A"``."""
