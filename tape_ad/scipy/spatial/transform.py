"""Rotations: classes of `scipy.spatial.transform` that may hold handles."""

from tape_ad.extend.packages import listed
from tape_ad.scipy.spatial.rotations import Rotation, RotationSpline, Slerp

__all__ = ["Rotation", "RotationSpline", "Slerp"]
__dir__ = listed(__all__)
