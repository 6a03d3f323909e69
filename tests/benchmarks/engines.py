"""The engines that are here, as parameters of tests."""

import pytest

from tape_ad.programs.engines import engine_named

__all__ = ["ENGINES", "HAS_NATIVE", "needs_native"]

try:
    engine_named("native")
except ImportError:
    HAS_NATIVE = False
else:
    HAS_NATIVE = True
needs_native = pytest.mark.skipif(not HAS_NATIVE, reason="there is no native engine")
ENGINES = ["numpy", pytest.param("native", marks=needs_native)]
