"""Windows: functions of `scipy.signal.windows` on handles, with respect to their parameters."""

import scipy.signal.windows  # noqa: F401 - whose names these are

from tape_ad.scipy.faces import face

__getattr__, __dir__ = face(__name__)
