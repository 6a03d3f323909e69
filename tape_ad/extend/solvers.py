"""Derivatives of what a solver has found, by the equation that it solves.

The solver works on plain arrays, and `implicit` gives what it found the derivatives of the implicit
function theorem, of all orders.
"""

from tape_ad.record.handles import (
    handles_in,
    nested,
    outside,
    records_of,
    up_to,
)
from tape_ad.transforms.implicit import (
    check_regular,
    implicit,
    lent,
    on_plain_arrays,
    valued,
    warn_unconverged,
)
from tape_ad.transforms.tracing import (
    check_callable,
)

__all__ = [
    "check_callable",
    "check_regular",
    "handles_in",
    "implicit",
    "lent",
    "nested",
    "on_plain_arrays",
    "outside",
    "records_of",
    "up_to",
    "valued",
    "warn_unconverged",
]
