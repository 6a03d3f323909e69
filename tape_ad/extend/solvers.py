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
from tape_ad.transforms.lockstep import (
    between_for_all,
    for_all,
    minimum_for_all,
    root_for_all,
    squares_for_all,
    vanishes,
)
from tape_ad.transforms.tracing import (
    check_callable,
)

__all__ = [
    "between_for_all",
    "check_callable",
    "check_regular",
    "for_all",
    "handles_in",
    "implicit",
    "lent",
    "minimum_for_all",
    "nested",
    "on_plain_arrays",
    "outside",
    "records_of",
    "root_for_all",
    "squares_for_all",
    "up_to",
    "valued",
    "vanishes",
    "warn_unconverged",
]
