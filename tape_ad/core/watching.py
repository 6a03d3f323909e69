"""Finding out that somebody wrote to an array that a sweep still relies on."""

from typing import Any

import numpy as np
from attrs import define, field

from tape_ad.errors import MutatedInputError

__all__ = ["Watch"]

Plain = np.ndarray[Any, Any]


@define(eq=False)
class Watch:
    """Fingerprints of arrays, taken when an operation used them.

    The arrays are kept alive, and each is hashed once when it is first seen and once in every
    check: this is for finding a bug, not for daily use.
    """

    _seen: dict[int, tuple[Plain, int, str]] = field(factory=dict, init=False)

    def see(self, values: Any, use: str) -> None:
        """Take the fingerprints of the plain arrays in nested tuples, which `use` has used."""
        for value in values:
            if isinstance(value, (tuple, list)):
                self.see(value, use)
            elif isinstance(value, np.ndarray) and id(value) not in self._seen:
                self._seen[id(value)] = (value, fingerprint(value), use)

    def check(self) -> None:
        """Compare every array with its fingerprint.

        Raises
        ------
        MutatedInputError
            It names the first array that has changed by where it was used.
        """
        for array, before, use in self._seen.values():
            if fingerprint(array) != before:
                raise MutatedInputError(
                    f"an array of shape {array.shape} was written to after {use} used it, so the "
                    "gradient would belong to another value; sweep before you update in place, "
                    "or hand a copy to the record"
                )


def fingerprint(array: Plain) -> int:
    """Hash the bytes of an array, to 64 bits."""
    return hash(array.tobytes())
