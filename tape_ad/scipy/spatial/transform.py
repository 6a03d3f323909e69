"""Rotations: classes of `scipy.spatial.transform` that may hold handles."""

from tape_ad.extend.packages import listed
from tape_ad.scipy.spatial.rotation_splines import RotationSpline, Slerp
from tape_ad.scipy.spatial.rotations import Rotation

__all__ = ["Rotation", "RotationSpline", "Slerp"]
__dir__ = listed(__all__)
