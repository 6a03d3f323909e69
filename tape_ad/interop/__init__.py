"""Other libraries' conventions on our handles, a module for each library."""

import typing as _typing

from tape_ad.extend.packages import attributes_of as _attributes_of
from tape_ad.extend.packages import listed as _listed

if _typing.TYPE_CHECKING:
    from tape_ad.interop import array_api, autograd, dask, sklearn, torch
    from tape_ad.interop.autograd.modules import install_as_autograd, uninstall_autograd

__all__ = [
    "array_api",
    "autograd",
    "dask",
    "install_as_autograd",
    "sklearn",
    "torch",
    "uninstall_autograd",
]

__getattr__ = _attributes_of(
    __name__,
    packages=["array_api", "autograd", "dask", "sklearn", "torch"],
    functions=dict.fromkeys(
        ("install_as_autograd", "uninstall_autograd"), "tape_ad.interop.autograd.modules"
    ),
)
__dir__ = _listed(__all__)
