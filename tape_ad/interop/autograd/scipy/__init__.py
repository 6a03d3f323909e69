"""SciPy's functions under HIPS autograd's names, where this library has rules for them."""

from tape_ad.interop.autograd.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]
