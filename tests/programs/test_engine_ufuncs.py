"""Every ufunc of NumPy's, in its operand's memory and in parts: the bits of one call on a whole."""

from typing import Any

import numpy as np
import pytest

from tape_ad.programs.engines import engine_named
from tests.programs.building import Builder, same_bits

UFUNCS = {
    name: ufunc
    for name in dir(np)
    if isinstance(ufunc := getattr(np, name), np.ufunc)
    and ufunc.signature is None
    and ufunc.nin <= 2
    and ufunc.nout == 1
    and ufunc.__name__ == name
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, 1e300, -3.5, 0.5, 2.0]


def samples(size: int, dtype: Any) -> Any:
    rng = np.random.default_rng(0)
    array = rng.normal(size=size) * 10.0 ** rng.integers(-3, 4, size=size)
    array[: len(SPECIAL)] = SPECIAL[:size]
    rng.shuffle(array)
    with np.errstate(all="ignore"):
        return array.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.bool])
@pytest.mark.parametrize("size", [1, 13, 1000, 50_001])
def test_ufuncs_give_their_bits_wherever_the_result_is_written(size: int, dtype: Any) -> None:
    array = samples(size, dtype)
    checked = 0
    with np.errstate(all="ignore"):
        for ufunc in UFUNCS.values():
            b = Builder()
            x = b.input(array, "x")
            spare = b(np.logical_not, x) if dtype is np.bool else b(np.positive, x)
            try:
                out = b(ufunc, *[spare, x][: ufunc.nin])
            except (TypeError, ValueError):  # not for this dtype, or these numbers
                continue
            last = b(np.logical_not, out)  # so that it is not the caller's own
            replay = engine_named("numpy")(b.program((b(np.logical_not, last), out)))
            for _ in range(2):
                same_bits(replay(array)[1], b.concrete[out])
            hidden = engine_named("numpy")(b.program((b(np.stack, (out, out)),)))
            same_bits(hidden(array)[0][1], b.concrete[out])
            checked += 1
    assert checked > 20
