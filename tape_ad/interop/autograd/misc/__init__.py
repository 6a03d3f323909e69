"""Flattening, optimizers, fixed points and graphs."""

from tape_ad.interop.autograd.misc.flatten import flatten
from tape_ad.interop.autograd.misc.tracers import const_graph

__all__ = ["const_graph", "flatten"]
