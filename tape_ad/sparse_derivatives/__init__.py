"""Which derivatives are zero whatever the numbers are, and Jacobians and Hessians without those.

SciPy is needed: pip install 'tape-ad[scipy]'.
"""

from tape_ad.base.errors import extra

with extra("scipy", "a sparse Jacobian"):
    import scipy.sparse  # noqa: F401 - the modules here do, and this says what is missing
