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
    between_for_all,
    check_regular,
    implicit,
    lent,
    on_plain_arrays,
    root_for_all,
    valued,
    warn_unconverged,
)
from tape_ad.transforms.opaque import opaque
from tape_ad.transforms.tracing import (
    check_callable,
)

__all__ = [
    "between_for_all",
    "check_callable",
    "check_regular",
    "handles_in",
    "implicit",
    "lent",
    "nested",
    "on_plain_arrays",
    "opaque",
    "outside",
    "records_of",
    "root_for_all",
    "up_to",
    "valued",
    "warn_unconverged",
]
