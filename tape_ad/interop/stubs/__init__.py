"""NumPy's stubs with overloads for handles, written to `typings/` by ``python -m`` with its name.

NumPy's own stubs cannot say that ``np.mean(t)`` is a handle where `t` is one: they list what each
function takes, and what it gives for that. So the stubs of the NumPy that is installed are copied
into a folder of the project to be checked, and each function that has a rule gets overloads for
handles beside its own. mypy reads the folder with ``mypy_path = "typings"``, pyright by itself.

A handle is no array-like to a checker, as it is none to `numpy.asarray`. So plain arrays meet the
overloads of NumPy, as they did before.
"""

from tape_ad.interop.stubs.files import write_stubs

__all__ = ["write_stubs"]
