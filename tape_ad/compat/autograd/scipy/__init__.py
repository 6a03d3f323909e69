"""SciPy's functions under HIPS autograd's names, where this library has rules for them."""

from tape_ad.compat.autograd.scipy import integrate, linalg, signal, special, stats

__all__ = ["integrate", "linalg", "signal", "special", "stats"]
