"""Other libraries' names for what this one does."""

from tape_ad.compat.installing import install_as_autograd, uninstall_autograd

__all__ = ["install_as_autograd", "uninstall_autograd"]
