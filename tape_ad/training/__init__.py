"""What a training loop needs besides layers and optimizers; the loop itself is yours."""

from tape_ad.threads import blas_threads
from tape_ad.training.batching import Batches, batches
from tape_ad.training.reporting import Report, progress
from tape_ad.training.saved_runs import Checkpoint, load_checkpoint, save_checkpoint

__all__ = [
    "Batches",
    "Checkpoint",
    "Report",
    "batches",
    "blas_threads",
    "load_checkpoint",
    "progress",
    "save_checkpoint",
]
