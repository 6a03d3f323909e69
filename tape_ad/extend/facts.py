"""Facts: what others than the dispatch have to know of a function, said once, beside its rule.

Batching, Dask, the compiler and sparse derivatives read them. Most are one idea, NumPy's signatures
of generalized ufuncs: over which last axes a function mixes elements. What is not said is not
assumed: a function without facts is called for one member of a batch after the other.

Examples
--------
>>> from tape_ad.extend import facts
>>> facts.ELEMENTWISE.is_elementwise
True
>>> whitened = facts.cores("(n,n),(n)->(n)")  # of a matrix and a vector, or of stacks of them
>>> scaled = facts.along(axis="axis", none="flat")  # over the axis that an option names
"""

from tape_ad.rules.facts import *  # noqa: F403 - all that there are
from tape_ad.rules.facts import __all__  # noqa: F401 - which are public here too
