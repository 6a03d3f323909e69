"""What is in a store of parameters; save it to ``.npz`` or ``.safetensors``, and load it again."""

from tape_ad.parameters.stores import check_like, load, save, summary
from tape_ad.record.messages.migration_hints import listed as _listed

__all__ = ["check_like", "load", "save", "summary"]

__dir__ = _listed(__all__)
