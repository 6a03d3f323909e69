"""What another package needs to bring its own functions and arrays, a module for each subject.

`rules`
    which function has which partials, and functions that take handles
`facts`
    what batching, Dask, the compiler and sparse derivatives have to know of a function
`maps`
    partials that are not given element by element, as linear maps
`patterns`
    which elements of a node depend on which of its parent, for the maps of one's own
`arrays`
    what rules and functions do with what they are given
`trees`
    nested lists, dicts and attrs classes of arrays
`solvers`
    derivatives of what a solver has found
`packages`
    which module serves which package, and what a package publishes and says in errors

`tape_ad.scipy`, `tape_ad.nn` and `tape_ad.interop` are written against this and against the public
names of `tape_ad`. A function of a program that is called by nobody else's code, and that sees
plain arrays, is served by `tape_ad.custom_rule`: it is a decorator, and asks for no facts.

Examples
--------
>>> from tape_ad.extend import facts, rules
>>> @rules.overridable
... def softsign(x):
...     return x / (1 + np.abs(x))
>>> TABLE = {
...     softsign: rules.rule(
...         lambda out, x: 1 / (1 + np.abs(x)) ** 2,
...         signature=rules.arguments_of(softsign, "x"),
...         facts=facts.ELEMENTWISE,
...     )
... }
>>> rules.add_rules(TABLE)  # doctest: +SKIP
"""

import typing as _typing

from tape_ad.record.messages.migration_hints import attributes_of as _attributes_of
from tape_ad.record.messages.migration_hints import listed as _listed

if _typing.TYPE_CHECKING:
    from tape_ad.extend import arrays, facts, maps, packages, patterns, rules, solvers, trees

__all__ = ["arrays", "facts", "maps", "packages", "patterns", "rules", "solvers", "trees"]

__getattr__ = _attributes_of(__name__, packages=__all__)
__dir__ = _listed(__all__)
