"""Optimizers: they update an external store of parameters in place, from a map of gradients."""

from tape_ad.optim.clipping import clip_by_global_norm, clip_by_value, global_norm
from tape_ad.optim.lbfgs import LBFGS, Minimum
from tape_ad.optim.optimizers import SGD, Adagrad, Adam, AdamW, Optimizer, RMSprop
from tape_ad.optim.schedules import Constant, Cosine, StepDecay, WarmUp
from tape_ad.record.messages.migration_hints import attributes_of as _attributes_of
from tape_ad.record.messages.migration_hints import listed as _listed

__all__ = [
    "LBFGS",
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Constant",
    "Cosine",
    "Minimum",
    "Optimizer",
    "RMSprop",
    "StepDecay",
    "WarmUp",
    "clip_by_global_norm",
    "clip_by_value",
    "global_norm",
]

__getattr__ = _attributes_of(__name__)
__dir__ = _listed(__all__)
