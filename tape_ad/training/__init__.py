"""What a training loop needs besides layers and optimizers; the loop itself is yours.

A loop with a small network begins with ``with tape_ad.training.blas_threads():``, which often makes
it several times quicker, and many times where other programs use the cores too: see there.
"""

from tape_ad.base.memory import keep_freed_memory
from tape_ad.record.messages.migration_hints import attributes_of as _attributes_of
from tape_ad.record.messages.migration_hints import listed as _listed
from tape_ad.training.batching import Batches, batches
from tape_ad.training.reporting import Report, gradient_histograms, progress
from tape_ad.training.saved_runs import Checkpoint, load_checkpoint, save_checkpoint
from tape_ad.training.threads import blas_threads

__all__ = [
    "Batches",
    "Checkpoint",
    "Report",
    "batches",
    "blas_threads",
    "gradient_histograms",
    "keep_freed_memory",
    "load_checkpoint",
    "progress",
    "save_checkpoint",
]
__getattr__ = _attributes_of(__name__)
__dir__ = _listed(__all__)
