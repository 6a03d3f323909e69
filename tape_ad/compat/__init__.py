"""Other libraries' names for what this one does."""

from tape_ad.compat.installing import install_as_autograd, uninstall_autograd
from tape_ad.habits import listed

__all__ = ["install_as_autograd", "uninstall_autograd"]
__dir__ = listed(__all__)
