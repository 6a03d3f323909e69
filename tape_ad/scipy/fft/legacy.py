"""The steps of `scipy.fftpack`: in copies of its code the transforms are those of `scipy.fft`."""

from typing import Any

import numpy as np

from tape_ad.extend.arrays import Array, joined
from tape_ad.scipy.fft import fourier
from tape_ad.scipy.fft.fourier import TRANSFORMS
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for

__all__: list[str] = []


CODE = scipy.fft._duccfft or scipy.fft._pocketfft  # by the release
STEPS, REAL_STEPS = CODE.basic, CODE.realtransforms
KERNELS = scipy.fftpack.convolve


def by_direction(original: Any, forward: Any, backward: Any) -> None:
    """Let a step that is told its direction be one of two transforms."""

    @stands_for(original)
    def calling(is_forward: bool, *args: Any, plan: Any = None, **kwargs: Any) -> Array:
        return (forward if is_forward else backward)(*args, **kwargs)


def by_kind(original: Any, suffix: str) -> None:
    """Let a step that is told its transform be that of `scipy.fft`."""

    @stands_for(original)
    def calling(is_forward: bool, kernel: Any, *args: Any, **kwargs: Any) -> Array:
        name = ("" if is_forward else "i") + kernel.__name__ + suffix
        return getattr(fourier, name)(*args, **kwargs)


by_direction(STEPS.c2c, TRANSFORMS["fft"], TRANSFORMS["ifft"])
by_direction(STEPS.c2cn, TRANSFORMS["fftn"], TRANSFORMS["ifftn"])
by_kind(REAL_STEPS._r2r, "")
by_kind(REAL_STEPS._r2rn, "n")


@stands_for(STEPS.r2r_fftpack)
def packed(
    forward: bool, x: Array, n: int | None = None, axis: int = -1, norm: Any = None, *_: Any
) -> Array:
    """Transform real numbers to the parts of what they become, in one array, or back."""
    rows = np.moveaxis(joined(x), axis, -1)
    if forward:
        spectrum = np.fft.rfft(rows, n, norm=norm)
        length = rows.shape[-1] if n is None else n
        parts = np.stack([spectrum.real[..., 1:], spectrum.imag[..., 1:]], axis=-1)
        others = np.reshape(parts, (*parts.shape[:-2], -1))
        found = np.concatenate([spectrum.real[..., :1], others], axis=-1)[..., :length]
    else:
        length = rows.shape[-1] if n is None else n
        missing = max(length - rows.shape[-1], 0)
        rows = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)])[..., :length]
        real, imaginary = unpacked(rows)
        found = np.fft.irfft(real + 1j * imaginary, length, norm=norm)
    return np.moveaxis(found, -1, axis)


def unpacked(parts: Array) -> tuple[Array, Array]:
    """Give the real and the imaginary parts of what is packed into one array."""
    none = np.zeros((*parts.shape[:-1], 1))
    imaginary = [none, parts[..., 2::2]] + [none] * (parts.shape[-1] % 2 == 0)
    real = np.concatenate([parts[..., :1], parts[..., 1::2]], axis=-1)
    return real, np.concatenate(imaginary, axis=-1)


@stands_for(KERNELS.convolve)
def convolved(x: Array, omega: Any, swap_real_imag: int = 0, overwrite_x: int = 0) -> Array:
    """Multiply the parts of the spectrum of real numbers by those of a kernel."""
    real, imaginary = unpacked(np.asarray(omega))
    spectrum = np.fft.rfft(x)
    if not swap_real_imag:
        return back(spectrum.real * real, spectrum.imag * imaginary, x.shape[-1])
    return turned(spectrum, real, imaginary, x.shape[-1])


@stands_for(KERNELS.convolve_z)
def convolved_with_two(x: Array, omega_real: Any, omega_imag: Any, overwrite_x: int = 0) -> Array:
    """Multiply the spectrum of real numbers by a kernel that also turns it."""
    real, imaginary = unpacked(np.asarray(omega_real))
    first, second = unpacked(np.asarray(omega_imag))
    spectrum, n = np.fft.rfft(x), x.shape[-1]
    straight = back(spectrum.real * real, spectrum.imag * imaginary, n)
    return straight + turned(spectrum, first, second, n)


def turned(spectrum: Array, real: Any, imaginary: Any, n: int) -> Array:
    """Exchange the parts of a spectrum, times those of a kernel; the ends stay real."""
    alone = np.zeros(len(real), bool)
    alone[0] = True
    alone[-1] |= n % 2 == 0
    to_real = np.where(alone, spectrum.real * real, spectrum.imag * imaginary)
    return back(to_real, np.where(alone, 0.0, spectrum.real * real), n)


def back(real: Array, imaginary: Array, n: int) -> Array:
    """Transform a spectrum back; the kernels have been divided by the length already."""
    return np.fft.irfft(real + 1j * imaginary, n, norm="forward")
