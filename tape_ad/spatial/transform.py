"""Rotations: classes of `scipy.spatial.transform` that may hold handles."""

from tape_ad.habits import listed
from tape_ad.rules.scipy.spatial.rotations import Rotation
from tape_ad.rules.scipy.spatial.slerps import Slerp
from tape_ad.spatial.rotation_splines import RotationSpline

__all__ = ["Rotation", "RotationSpline", "Slerp"]
__dir__ = listed(__all__)
