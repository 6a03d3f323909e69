"""What is going on in a thread or task: one context variable."""

from contextvars import ContextVar
from typing import Any

from attrs import define

__all__ = ["ACTIVE", "Active"]


@define(eq=False)
class Active:
    """What is going on in a thread or task, that what is called there has to know.

    Attributes
    ----------
    capture : Capture or None
        What notes the calls of the function that is compiled; see `tape_ad.programs`.
    record : ComputationRecord or None
        The record that the function of the innermost transform is traced in.
    wishes : Wishes or None
        What fresh records are asked to see to; see `tape_ad.record.inspection.observing`.
    batches : tuple of Batch
        Those that functions are being run over.
    """

    capture: Any = None
    record: Any = None
    wishes: Any = None
    batches: tuple[Any, ...] = ()


NOBODY = Active()
ACTIVE: ContextVar[Active] = ContextVar("tape_ad_active", default=NOBODY)
"""The interpreters that are active here. What puts itself there puts back what it has found."""
