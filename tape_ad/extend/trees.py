"""Trees: arrays in nested lists, tuples, dicts and attrs classes, as arguments and results."""

from tape_ad.base.trees import at_leaves as at_leaves
from tape_ad.base.trees import flatten as flatten
from tape_ad.base.trees import is_leaf as is_leaf
from tape_ad.base.trees import map_leaves as map_leaves
from tape_ad.base.trees import paired as paired
from tape_ad.base.trees import unflatten as unflatten
from tape_ad.base.vectors import arrays_of as arrays_of
from tape_ad.base.vectors import computed as computed
from tape_ad.base.vectors import vector_of as vector_of
