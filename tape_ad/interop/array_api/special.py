"""SciPy's special functions, where SciPy looks for those of a namespace.

With SCIPY_ARRAY_API set, ``scipy.special.erf(x)`` calls ``x.__array_namespace__().special.erf``.
"""

from typing import Any

from tape_ad.interop.array_api.wrapping import gives_handles

WRAPPED: dict[str, Any] = {}
"""The functions that were asked for."""


def __getattr__(name: str) -> Any:
    """Give one of `tape_ad.scipy.special`'s functions, whose results are handles in every case."""
    if name.startswith("__"):
        raise AttributeError(name)
    if name not in WRAPPED:
        from tape_ad.scipy import special  # noqa: PLC0415 - it imports SciPy

        WRAPPED[name] = gives_handles(getattr(special, name))
    return WRAPPED[name]
