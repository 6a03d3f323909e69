"""Other libraries' conventions on our handles, a package for each library."""

from typing import TYPE_CHECKING

from tape_ad.extend.packages import attributes_of, listed

if TYPE_CHECKING:
    from tape_ad.interop import (
        array_api,
        autograd,
        dask,
        sklearn,
    )
    from tape_ad.interop.autograd.modules import install_as_autograd, uninstall_autograd

__all__ = [
    "array_api",
    "autograd",
    "dask",
    "install_as_autograd",
    "sklearn",
    "uninstall_autograd",
]

__getattr__ = attributes_of(
    __name__,
    packages=["array_api", "autograd", "dask", "sklearn"],
    functions=dict.fromkeys(
        ("install_as_autograd", "uninstall_autograd"), "tape_ad.interop.autograd.modules"
    ),
)
__dir__ = listed(__all__)
