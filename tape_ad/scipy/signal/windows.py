"""Windows: functions of `scipy.signal.windows` on handles.

Those with parameters can be differentiated with respect to these; all others are SciPy's own.
"""

from typing import Any

from tape_ad.record.messages.migration_hints import listed
from tape_ad.scipy.signal.window_functions import EVERY

__all__: list[str] = []
__all__ += list(EVERY)

__dir__ = listed(__all__)


def __getattr__(name: str) -> Any:
    if name not in EVERY:
        raise AttributeError(f"module 'tape_ad.scipy.signal.windows' has no attribute {name!r}")
    return EVERY[name]
