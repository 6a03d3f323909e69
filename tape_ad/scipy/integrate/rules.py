"""The rules for `scipy.integrate`, which `tape_ad.scipy.integrate` imports and publishes."""

from typing import Any

from tape_ad.rules.base import Entry, merged
from tape_ad.scipy.integrate.samples import SAMPLES
from tape_ad.scipy.integrate.steps import STEPS

__all__ = ["INTEGRATE"]

INTEGRATE: dict[Any, Entry] = merged(STEPS, SAMPLES)
