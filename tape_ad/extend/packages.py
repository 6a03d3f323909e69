"""What a package of functions publishes, says where something is missing, and serves."""

from tape_ad.base.arrays.adapters import (
    adapter,
    register_adapter,
)
from tape_ad.base.extras import (
    extra,
)
from tape_ad.base.naming import (
    called,
)
from tape_ad.record.messages.callers import (
    caller,
)
from tape_ad.record.messages.migration_hints import (
    attributes_of,
    hint_for,
    listed,
    published,
    with_hints,
)
from tape_ad.transforms.differentiable.copying import (
    copied_object,
)

__all__ = [
    "adapter",
    "attributes_of",
    "called",
    "caller",
    "copied_object",
    "extra",
    "hint_for",
    "listed",
    "published",
    "register_adapter",
    "with_hints",
]
