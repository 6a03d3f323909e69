"""Thread teams: several threads run the same bytecode and share the iterations of its large nests.

The thread that wants a walk begins at once, and writes on a queue that others may take part; it
waits for none that has not taken anything. So nothing can lock up where the others are busy, or
late, or are not there any more, as in a child process.
"""

import os
import threading
from queue import SimpleQueue
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.native.runtime import vm

__all__ = ["Team"]

TICKETS = 8
"""How many parts a nest is divided in for each thread, as one may be slower than another."""

ALIGNED = 64


@define(eq=False)
class Pool:
    """The threads of this process that take part, and what they are asked to take part in."""

    invitations: Any = field(factory=SimpleQueue)
    threads: list[threading.Thread] = field(factory=list)

    def invite(self, invitation: list[Any], count: int) -> None:
        """Let some threads take part; those that there are not yet are started."""
        while len(self.threads) < count:
            thread = threading.Thread(
                target=taking_part, args=(self.invitations,), name="tape_ad", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # as many as the system allows, or the interpreter is shut down
                break
            self.threads.append(thread)
        for _ in range(count):
            self.invitations.put(invitation)

    def forget(self) -> None:
        """Begin anew in a child process, where the threads are not."""
        self.invitations, self.threads = SimpleQueue(), []


POOL = Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forget)


def taking_part(invitations: Any) -> None:
    """Take part in what there is, for ever."""
    take_part, own = vm.virtual_machine().take_part, scratch(0)
    while True:
        invitation = invitations.get()
        try:
            task_board, table, theirs, *arrays = invitation.pop()
        except IndexError:  # all has been done
            continue
        if own.nbytes < theirs.nbytes:
            own = scratch(theirs.nbytes)
        try:
            take_part(task_board, table, own, *arrays)
        finally:
            del invitation, task_board, table, theirs, arrays


def scratch(size: int) -> Any:
    """Make memory for one thread alone."""
    memory = np.empty(size + ALIGNED, np.uint8)
    return memory[-memory.__array_interface__["data"][0] % ALIGNED :]


@frozen
class Team:
    """Several threads that run the same bytecode.

    Attributes
    ----------
    threads : int
        How many at most.
    entries : int
        How many the bytecode has.
    """

    threads: int
    entries: int

    def run(self, table: Any, *arrays: Any) -> int:
        """Run the bytecode on several threads, as the virtual machine's `run` does on one."""
        task_board = np.zeros(1 + 3 * self.entries, np.int64)
        task_board[0] = TICKETS * self.threads
        invitation = [(task_board, table, *arrays)] * (self.threads - 1)
        POOL.invite(invitation, self.threads - 1)
        try:
            number: int = vm.virtual_machine().take_part(task_board, table, *arrays)
            return number
        finally:
            invitation.clear()
