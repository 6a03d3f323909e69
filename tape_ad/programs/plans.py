"""Plans: a program, with how long each of its values is needed, and where it lies."""

from collections.abc import Mapping, Sequence
from typing import Self

from attrs import frozen

from tape_ad.programs.filling import fills, overwritten, root_of, size_of
from tape_ad.programs.program import Call, Program, Value
from tape_ad.programs.storage import Block, placed

__all__ = ["Plan"]


@frozen(eq=False)
class Plan:
    """A program made ready for an engine.

    Attributes
    ----------
    program : Program
    dying : sequence of list of Value
        For each step, the operands that nothing behind it uses; what is returned never dies.
    used : frozenset of Value
        What any step uses, or the caller gets.
    blocks : mapping of Value to Block
        Where the results of calls that can be told so are written.
    onto : mapping of Value to Value
        The operand in whose memory a result is written.
    workspace : int
        The bytes for all blocks that are not given away.
    """

    program: Program
    dying: Sequence[list[Value]]
    used: frozenset[Value]
    blocks: Mapping[Value, Block]
    onto: Mapping[Value, Value]
    workspace: int

    @classmethod
    def of(cls, program: Program) -> Self:
        """Find out how long the values of a program are needed, and give them memory."""
        used = set(program.outputs)
        returned = {root_of(value) for value in used}
        ends: dict[Value, int] = {}
        dying: list[list[Value]] = []
        for number, step in zip(
            range(len(program.steps) - 1, -1, -1), reversed(program.steps), strict=True
        ):
            final = []
            for value in step.operands:
                if value not in used:
                    used.add(value)
                    final.append(value)
                ends.setdefault(root_of(value), number)
            dying.append(final)
        blocks, onto, order = blocks_of(program, ends, returned)
        workspace = placed([block for block in order if not block.given])
        return cls(program, dying[::-1], frozenset(used), blocks, onto, workspace)

    @property
    def nbytes(self) -> int:
        """The most bytes that a replay needs, with what it returns."""
        own = {root_of(value) for value in self.program.outputs} - set(self.program.inputs)
        own -= {constant.value for constant in self.program.constants}
        return self.workspace + sum(map(size_of, own))


def blocks_of(
    program: Program, ends: Mapping[Value, int], returned: set[Value]
) -> tuple[dict[Value, Block], dict[Value, Value], list[Block]]:
    """Give blocks to results, and let a result have that of an operand which nothing needs more."""
    blocks: dict[Value, Block] = {}
    onto: dict[Value, Value] = {}
    order: list[Block] = []
    for number, step in enumerate(program.steps):
        if type(step) is not Call or not fills(step):
            continue
        out = step.outputs[0]
        for operand in overwritten(step):
            if operand in blocks and operand not in returned and ends[operand] == number:
                onto[out], blocks[out] = operand, blocks[operand]
                break
        else:
            blocks[out] = Block(size_of(out), number, number)
            order.append(blocks[out])
        block = blocks[out]
        block.end = ends.get(out, number)
        block.given |= out in returned
        block.values.append(out)
    return blocks, onto, order
