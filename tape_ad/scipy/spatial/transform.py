"""Rotations: classes of `scipy.spatial.transform` that may hold handles."""

from typing import Any

import scipy.spatial.transform  # noqa: F401 - of which it is the face

from tape_ad.scipy.faces import face
from tape_ad.scipy.spatial.rotations import Rotation as Rotation  # noqa: PLC0414 - it publishes it
from tape_ad.scipy.spatial.rotations import Slerp as Slerp  # noqa: PLC0414 - the same
from tape_ad.scipy.spatial.rotations import from_host


def of_rotations(kind: Any) -> Any:
    """Let splines take SciPy's rotations, which do not multiply ours where they are compiled."""

    class RotationSpline(kind):  # type: ignore[misc]  # the copy of a class
        def __init__(self, times: Any, rotations: Any) -> None:
            super().__init__(times, from_host(rotations))

    return RotationSpline


__getattr__, __dir__ = face(__name__, around={"RotationSpline": of_rotations})
