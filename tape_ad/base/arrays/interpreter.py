"""Interpreters: whoever answers the calls of a kind of array, and which of them a call is for.

A record, a batch, a capture, and whatever answers for handles that depend on nothing: each has
arrays of its own, its boxes. A call goes to the interpreter of the highest level among the boxes in
its arguments. That computes on what its boxes hold, one level down, so every nesting of them comes
out right with no case of its own.
"""

import itertools

__all__ = ["enter"]

enter = itertools.count(1).__next__
"""Give the next level. Whatever is entered later is further in, and so are its boxes."""
