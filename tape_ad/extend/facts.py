"""Facts: what others than the dispatch have to know of a function, beside its rule."""

from tape_ad.rules.facts import (
    ELEMENTWISE,
    UNKNOWN,
    Facts,
    along,
    composed,
    cores,
    depending,
    elementwise,
    leading,
    letters,
)

__all__ = [
    "ELEMENTWISE",
    "UNKNOWN",
    "Facts",
    "along",
    "composed",
    "cores",
    "depending",
    "elementwise",
    "leading",
    "letters",
]
