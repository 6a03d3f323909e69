"""Optional libraries: what is said where one of them is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["extra"]


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
