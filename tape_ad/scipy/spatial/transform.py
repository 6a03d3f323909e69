"""Rotations: classes of `scipy.spatial.transform` that may hold handles."""

import scipy.spatial.transform  # noqa: F401 - of which it is the face

from tape_ad.scipy.faces import face
from tape_ad.scipy.spatial.rotations import Rotation as Rotation  # noqa: PLC0414 - it publishes it
from tape_ad.scipy.spatial.rotations import Slerp as Slerp  # noqa: PLC0414 - the same

__getattr__, __dir__ = face(__name__)
