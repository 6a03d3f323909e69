"""What another package needs to bring its own functions and arrays, a module for each subject.

`tape_ad.scipy`, `tape_ad.nn` and `tape_ad.interop` are written against this and against the public
names of `tape_ad` alone.
"""

from typing import TYPE_CHECKING

from tape_ad.record.messages.migration_hints import attributes_of, listed

if TYPE_CHECKING:
    from tape_ad.extend import arrays, facts, maps, packages, patterns, rules, solvers, trees

__all__ = ["arrays", "facts", "maps", "packages", "patterns", "rules", "solvers", "trees"]

__getattr__ = attributes_of(__name__, packages=__all__)
__dir__ = listed(__all__)
