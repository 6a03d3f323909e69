"""The spaces of arrays."""

from tape_ad.interop.autograd.spaces import ArrayVSpace, ComplexArrayVSpace, VSpace

__all__ = ["ArrayVSpace", "ComplexArrayVSpace", "VSpace"]
