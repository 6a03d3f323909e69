"""Rows for functions that cannot work on handles, with what their error has to say."""

import numpy as np

from tests.rules.table import POSITIVE, REAL, Row, plain

__all__ = ["REFUSED"]

OF_INTEGERS = "it works on integers, which have no derivative; apply it to integers made of t.data"
WRITES = "it writes to its first argument, and would drop the gradient; "

REFUSED: dict[Row, str] = {
    **{
        Row(function, [POSITIVE(2), POSITIVE(2)]): OF_INTEGERS
        for function in (
            *(np.bitwise_and, np.bitwise_or, np.bitwise_xor),
            *(np.left_shift, np.right_shift, np.gcd, np.lcm),
        )
    },
    **{Row(function, [POSITIVE(2)]): OF_INTEGERS for function in (np.invert, np.bitwise_count)},
    Row(np.ix_, [REAL(2)]): "it makes indices, which are integers or masks; pass plain ones",
    Row(np.fill_diagonal, [REAL(2, 2), plain(0.0)]): (
        f"{WRITES}write np.where(np.eye(n, dtype=bool), value, t), or "
        "t = t.copy() and t[i, i] = value with i = np.arange(n)"
    ),
    Row(np.put, [REAL(3), plain([1]), plain(0.0)]): (
        f"{WRITES}make t = t.copy() and assign to t[np.unravel_index(ind, t.shape)]"
    ),
    Row(np.place, [REAL(3), plain([True, False, True]), plain([0.0])]): (
        f"{WRITES}make t = t.copy() and assign to t[mask]"
    ),
    Row(np.putmask, [REAL(3), plain([True, False, True]), plain(0.0)]): (
        f"{WRITES}write np.where(mask, values, t)"
    ),
    Row(np.put_along_axis, [REAL(3), plain([1]), plain(0.0), plain(0)]): (
        f"{WRITES}make t = t.copy() and assign to t[key], with "
        "key = list(np.ogrid[tuple(map(slice, t.shape))]), key[axis] = indices, "
        "and a tuple made of it"
    ),
    Row(np.copyto, [REAL(3), plain(0.0)]): (
        f"{WRITES}write np.broadcast_to(src, shape) for an array full of it (as np.full and "
        "np.full_like of a handle come here), np.where(mask, src, t), or fill an array made by "
        "rec.constant(array)"
    ),
}
