"""Packages: which module serves one, what it publishes, and what its errors say.

`register_adapter` says for a program what a distribution says by an entry point of the group
``tape_ad``. The others are what tape_ad's own packages publish their names with.
"""

from tape_ad.base.arrays.adapters import register_adapter as register_adapter
from tape_ad.base.errors import extra as extra
from tape_ad.base.naming import called as called
from tape_ad.record.messages.callers import caller as caller
from tape_ad.record.messages.migration_hints import MissingArgument as MissingArgument
from tape_ad.record.messages.migration_hints import attributes_of as attributes_of
from tape_ad.record.messages.migration_hints import hint_for as hint_for
from tape_ad.record.messages.migration_hints import listed as listed
from tape_ad.record.messages.migration_hints import may_be_missing as may_be_missing
from tape_ad.record.messages.migration_hints import published as published
from tape_ad.record.messages.migration_hints import with_hints as with_hints
from tape_ad.transforms.differentiable.decorator import copied as copied
from tape_ad.transforms.differentiable.objects import copied_object as copied_object
from tape_ad.transforms.differentiable.table import note_stand_in as note_stand_in
