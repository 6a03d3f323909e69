"""Derivatives of what a solver has found, by the equation that it solves.

The solver works on plain arrays, and `implicit` gives what it found the derivatives of the implicit
function theorem, of all orders.
"""

from tape_ad.record.handles import handles_in as handles_in
from tape_ad.record.handles import nested as nested
from tape_ad.record.handles import outside as outside
from tape_ad.record.handles import records_of as records_of
from tape_ad.record.handles import up_to as up_to
from tape_ad.transforms.implicit import check_regular as check_regular
from tape_ad.transforms.implicit import implicit as implicit
from tape_ad.transforms.implicit import lent as lent
from tape_ad.transforms.implicit import on_plain_arrays as on_plain_arrays
from tape_ad.transforms.implicit import valued as valued
from tape_ad.transforms.implicit import warn_unconverged as warn_unconverged
from tape_ad.transforms.lockstep import between_for_all as between_for_all
from tape_ad.transforms.lockstep import for_all as for_all
from tape_ad.transforms.lockstep import minimum_for_all as minimum_for_all
from tape_ad.transforms.lockstep import records_in as records_in
from tape_ad.transforms.lockstep import root_for_all as root_for_all
from tape_ad.transforms.lockstep import squares_for_all as squares_for_all
from tape_ad.transforms.lockstep import vanishes as vanishes
from tape_ad.transforms.opaque import opaque as opaque
from tape_ad.transforms.tracing import check_callable as check_callable
