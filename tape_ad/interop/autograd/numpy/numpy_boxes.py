"""`ArrayBox`: what a handle is called in HIPS autograd."""

from tape_ad import Tensor
from tape_ad.interop.autograd import tracer

__all__ = ["ArrayBox", "Box"]

ArrayBox = Tensor
Box = tracer.Box
