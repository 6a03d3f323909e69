"""Packages: which module serves one, what it publishes, and what its errors say.

`register_adapter` says for a program what a distribution says by an entry point of the group
``tape_ad``. The others are what tape_ad's own packages publish their names with.
"""

from tape_ad.base.arrays.adapters import register_adapter
from tape_ad.base.errors import extra
from tape_ad.base.naming import called
from tape_ad.record.messages.callers import caller
from tape_ad.record.messages.migration_hints import (
    attributes_of,
    hint_for,
    listed,
    published,
    with_hints,
)
from tape_ad.transforms.differentiable.decorator import copied
from tape_ad.transforms.differentiable.objects import copied_object
from tape_ad.transforms.differentiable.table import note_stand_in

__all__ = [
    "attributes_of",
    "called",
    "caller",
    "copied",
    "copied_object",
    "extra",
    "hint_for",
    "listed",
    "note_stand_in",
    "published",
    "register_adapter",
    "with_hints",
]
