"""Flattening, optimizers, fixed points and graphs."""

from tape_ad.compat.autograd.misc.flatten import flatten
from tape_ad.compat.autograd.misc.tracers import const_graph

__all__ = ["const_graph", "flatten"]
