"""`ArrayBox`: what a handle is called in HIPS autograd."""

from tape_ad.interop.autograd import tracer
from tape_ad.record.tensor import Tensor

__all__ = ["ArrayBox", "Box"]

ArrayBox = Tensor
Box = tracer.Box
