"""Checks of derivatives against differences, for those who write rules of their own."""

from tape_ad.record.messages.migration_hints import listed as _listed
from tape_ad.testing.differences import check_grads

__all__ = ["check_grads"]

__dir__ = _listed(__all__)
