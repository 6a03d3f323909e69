"""Windows: functions of `scipy.signal.windows` on handles.

Those with parameters can be differentiated with respect to these; all others are SciPy's own.
"""

from tape_ad.extend.packages import published
from tape_ad.scipy.signal.window_functions import EVERY

__getattr__, __dir__ = published(__name__, EVERY)
