"""The errors and warnings of the library: each says what happened, where, and what to write."""

from tape_ad.base.errors import *  # noqa: F403 - all that there are
from tape_ad.base.errors import __all__  # noqa: F401 - which are public here too
