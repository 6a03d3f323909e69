"""The rules for `scipy.fft`, which `tape_ad.scipy.fft` imports and publishes."""

from typing import Any

from tape_ad.rules.base import Entry
from tape_ad.scipy.fft.fourier import FOURIER
from tape_ad.scipy.fft.hankel import HANKEL
from tape_ad.scipy.fft.trigonometric import TRIGONOMETRIC

__all__ = ["FFT"]

FFT: dict[Any, Entry] = {**FOURIER, **TRIGONOMETRIC, **HANKEL}
