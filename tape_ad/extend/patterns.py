"""Sparsity patterns of linear maps: which elements of a node depend on which of its parent.

A map says its own in a method ``pattern(parent, node)`` of the two shapes, which is marked by
`reads` with the attributes that it looks at. A map that says nothing is taken to be dense.
"""

from tape_ad.rules.maps.patterns import Pattern as Pattern
from tape_ad.rules.maps.patterns import along as along
from tape_ad.rules.maps.patterns import banded as banded
from tape_ad.rules.maps.patterns import batched as batched
from tape_ad.rules.maps.patterns import by_batch as by_batch
from tape_ad.rules.maps.patterns import by_columns as by_columns
from tape_ad.rules.maps.patterns import dense as dense
from tape_ad.rules.maps.patterns import dense_blocks as dense_blocks
from tape_ad.rules.maps.patterns import elementwise as elementwise
from tape_ad.rules.maps.patterns import permutation as permutation
from tape_ad.rules.maps.patterns import reads as reads
from tape_ad.rules.maps.patterns import rows_of as rows_of
from tape_ad.rules.maps.patterns import separable as separable
from tape_ad.rules.maps.patterns import stacked as stacked
