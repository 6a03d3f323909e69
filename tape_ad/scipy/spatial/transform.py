"""Rotations: classes of `scipy.spatial.transform` that may hold handles."""

from typing import Any

import numpy as np
import scipy.spatial.transform  # noqa: F401 - of which it is the face

from tape_ad import differentiable
from tape_ad.extend.arrays import Array, is_traced, primal
from tape_ad.scipy import installed
from tape_ad.scipy.faces import face
from tape_ad.scipy.spatial.rotations import Rotation as Rotation  # noqa: PLC0414 - it publishes it
from tape_ad.scipy.spatial.rotations import Slerp as Slerp  # noqa: PLC0414 - the same
from tape_ad.scipy.spatial.rotations import from_host
from tape_ad.scipy.stand_ins import stands_for

rigid = installed.scipy.spatial.transform._rigid_transform

for name in filter(str.islower, dir(rigid.xp_backend)):  # SciPy's steps for any array library
    if name[0] != "_" and (compiled := getattr(rigid.cython_backend, name)):
        step = getattr(rigid.xp_backend, name)
        if callable(step) and step is not compiled:
            stands_for(compiled)(differentiable(step))


@stands_for(rigid.cython_backend.from_matrix)
def from_matrix(matrix: Array, normalize: bool = True, copy: bool = True) -> Array:
    """Make the matrix of a rigid transform, whose last row has one value that it may have."""
    if not is_traced(primal(matrix)):  # of other matrices SciPy says what is wrong with them
        rigid.cython_backend.from_matrix(primal(matrix))
    if not normalize:
        return matrix
    turned = Rotation.from_matrix(matrix[..., :3, :3]).as_matrix()
    rows = np.concatenate([turned, matrix[..., :3, 3:]], axis=-1)
    last = np.broadcast_to(np.array([0.0, 0, 0, 1]), (*matrix.shape[:-2], 1, 4))
    return np.concatenate([rows, last], axis=-2)


def of_rotations(kind: Any) -> Any:
    """Let splines take SciPy's rotations, which do not multiply ours where they are compiled."""

    class RotationSpline(kind):  # type: ignore[misc]  # the copy of a class
        def __init__(self, times: Any, rotations: Any) -> None:
            super().__init__(times, from_host(rotations))

    return RotationSpline


__getattr__, __dir__ = face(__name__, around={"RotationSpline": of_rotations})
