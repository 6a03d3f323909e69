"""A word, once in a process, about products that are too small for several BLAS threads."""

import logging
import math

import numpy as np
from attrs import define

from tape_ad.base.threads import NEXT, blas_thread_count
from tape_ad.record.record import ComputationRecord, Node
from tape_ad.rules.nn.affine import linear, two_linear

__all__ = ["HINT", "Hint", "multiplications"]

LOGGER = logging.getLogger("tape_ad.training")

PRODUCTS = frozenset({np.matmul, linear, two_linear})
"""What nodes of products are made by; `np.dot` and its kin are recorded as these."""

SMALL = 2**24
"""A product of so many multiplications takes one core about half a millisecond.

That is about where a second thread begins to gain what it takes to wake it."""

TINY = 2**19
"""Products of fewer multiplications are left to one thread by BLAS itself."""


@define
class Hint:
    """Whether anything has been said; see `tape_ad.base.threads.blas_threads`.

    Attributes
    ----------
    looking : bool
        Whether nothing is decided yet.
    steps : int
        How many steps of an optimizer have been taken until then.
    """

    looking: bool = True
    steps: int = 0

    def look(self) -> None:
        """Ask for the next record at the first step, and look at its products at the second."""
        self.steps += 1
        if self.steps == 1 and blas_thread_count() > 1:
            NEXT.asked = True
            return
        self.looking = False
        record = NEXT.take()
        if record is not None and (threads := blas_thread_count()) > 1:
            largest = max(map(multiplications, products(record)), default=0)
            if TINY < largest < SMALL:
                LOGGER.warning(
                    "BLAS uses %d threads, but the largest product of this training step has "
                    "%.2g multiplications only, for which one thread is quicker; put the loop into "
                    "`with tape_ad.training.blas_threads():`. This is said once.",
                    threads,
                    largest,
                )


def products(record: ComputationRecord) -> list[tuple[Node, list[Node]]]:
    """List the products on a record, each with its parents."""
    return [
        (node, [record[parent] for parent in node.parents])
        for node in (record[i] for i, made_by in enumerate(record.functions) if made_by in PRODUCTS)
    ]


def multiplications(product: tuple[Node, list[Node]]) -> int:
    """Count the multiplications of a product, of which one operand at least is known.

    They are its elements times what is summed over: the rows of a matrix on the right, whose
    columns are the product's, or the columns of one on the left.
    """
    node, parents = product
    summed = [
        parent.shape[-2] if parent.shape[-1:] == node.shape[-1:] else parent.shape[-1]
        for parent in parents
        if len(parent.shape) > 1
    ]
    return math.prod(node.shape) * max(summed, default=1)


HINT = Hint()
