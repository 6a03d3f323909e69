"""The virtual machine: runs the bytecode of a segment, a list of calls of inner loops.

Bytecode is an array of int64: a header, and entries that begin with their kind:

- header: flags (`RELEASE`), most operands of a loop, most outer dimensions;
- ``END``;
- ``CALL, words, loop, data, operands, lengths, (base, offset) of each operand, lengths..., steps``;
- ``NEST, words, total, unit, dims, length, last, loops, dims..., then for each loop: loop, data,
  operands, (base, offset, stride along each dim) of each operand, step of each``;
- ``LOOP, words, total, unit, length of the body, moves, (base, offset) of memory for it, (word,
  way) of each move, and the body``, which is bytecode with a header: it is copied and run `total`
  times, and after each time some of its words, which are offsets, move on;
- ``GUARD, words, base, offset, byte that is expected, number``: the walk ends there with the number
  if the byte is another one; -1 is the number where it is found that NumPy has to do it all.

A base is the number of an array among those that follow the bytecode in a call of the machine. The
first is scratch memory of the thread, for what lives within one iteration of a nest. The loops of a
nest are called one after the other at each iteration: for `length` elements, and at the end of the
innermost dimension for `last`.

Several threads may run the same bytecode, with a task board, an int64 array of 0: its first word is
how many *tickets* they make at most of a nest or a loop, each for about as many of its iterations,
by whole units. There are three words more for each entry: how many tickets have been taken, how
many are finished, and the number of a guard that has failed. A thread goes to the next entry when
all tickets are finished; so one that comes late has nothing to do, and nobody waits for it.
"""

import ctypes
import functools
import os
import sys
import threading
from queue import SimpleQueue
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad.programs.engines.native.runtime.compiling import (
    Module,
    address_of,
    builtin,
    compiled,
    python_symbols,
    with_fields,
)

END, CALL, NEST, GUARD, LOOP = range(5)
RELEASE = 1

# `runtime.compiling.with_fields` writes out what "%x = field" stands for.
RUN = """
define ptr @{name}(ptr %self, ptr %args, i64 %count) {{
start:
  %n = sub i64 %count, {first}
  %bases = alloca ptr, i64 %n
  br label %take
take:
  %i = phi i64 [0, %start], [%i.next, %take]
  %k = add i64 %i, {first}
  %arg = field ptr %args, %k
  %data = field ptr %arg, {data}
  %base.at = getelementptr ptr, ptr %bases, i64 %i
  store ptr %data, ptr %base.at
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %take, label %taken
taken:
  %table.array = field ptr %args, {table}
  %table = field ptr %table.array, {data}
  {task_board}
  %flags = load i64, ptr %table
  %release = and i64 %flags, 1
  %long = icmp ne i64 %release, 0
  br i1 %long, label %without, label %with
with:
  %quick = call i64 @walk(ptr %bases, ptr %table, ptr %task_board)
  br label %done
without:
  %state = call ptr @PyEval_SaveThread()
  %slow = call i64 @walk(ptr %bases, ptr %table, ptr %task_board)
  call void @PyEval_RestoreThread(ptr %state)
  br label %done
done:
  %number = phi i64 [%quick, %with], [%slow, %without]
  %error = call ptr @PyErr_Occurred()
  %raised = icmp ne ptr %error, null
  br i1 %raised, label %failed, label %well
well:
  %result = call ptr @PyLong_FromLongLong(i64 %number)
  ret ptr %result
failed:
  ret ptr null
}}
"""

ALONE = "%task_board = inttoptr i64 0 to ptr"

AMONG = """%task_board.array = field ptr %args, 0
  %task_board = field ptr %task_board.array, {data}"""

DECLARATIONS = [
    "declare ptr @PyEval_SaveThread()",
    "declare void @PyEval_RestoreThread(ptr)",
    "declare ptr @PyErr_Occurred()",
    "declare ptr @PyLong_FromLongLong(i64)",
    "declare i32 @yield_processor()",
    "declare i32 @rest_for(i32)",
]


class VirtualMachine:
    """The compiled functions that run bytecode, on one thread and on several.

    Attributes
    ----------
    run : builtin
        ``run(table, own, *arrays) -> int``: 0, or the number of the guard that has failed.
    take_part : builtin
        ``take_part(task_board, table, own, *arrays)``: the same by one of several threads.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        names = "run", "take_part"
        self.run, self.take_part = (builtin(name, module.address(name), module) for name in names)


@functools.cache
def virtual_machine() -> VirtualMachine:
    """Compile the virtual machine, once for all programs."""
    data = object.__basicsize__ // 8  # where NumPy's PyArrayObject_fields has its data
    windows = sys.platform == "win32"
    text = [
        WALK,
        WAIT.format(rest=1 if windows else 50),  # milliseconds, else microseconds
        RUN.format(name="run", first=1, table=0, task_board=ALONE, data=data),
        RUN.format(
            name="take_part", first=2, table=1, task_board=AMONG.format(data=data), data=data
        ),
    ]
    names = ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_Occurred", "PyLong_FromLongLong")
    symbols = python_symbols(*names)
    system = ctypes.CDLL("kernel32" if windows else None)
    symbols["yield_processor"] = address_of(
        system.SwitchToThread if windows else system.sched_yield
    )
    symbols["rest_for"] = address_of(system.Sleep if windows else system.usleep)
    return VirtualMachine(compiled([with_fields(each) for each in text], DECLARATIONS, symbols))


# A call and a guard are done by one thread, which says to the others what it has found.
WALK = """
define internal i64 @walk(ptr %bases, ptr %table, ptr %task_board) {
start:
  %most = field i64 %table, 1
  %args = alloca ptr, i64 %most
  %deep = field i64 %table, 2
  %index = alloca i64, i64 %deep
  %n.at = alloca i64
  %first = getelementptr i64, ptr %table, i64 3
  %many = icmp ne ptr %task_board, null
  br i1 %many, label %among, label %begin
among:
  %task_board.most = load i64, ptr %task_board
  br label %begin
begin:
  %tickets.most = phi i64 [1, %start], [%task_board.most, %among]
  %task_board.first = getelementptr i64, ptr %task_board, i64 1
  br label %next
next:
  %entry = phi ptr [%first, %begin], [%entry.next, %known]
  %taken = phi ptr [%task_board.first, %begin], [%taken.next, %known]
  %finished = getelementptr i64, ptr %taken, i64 1
  %answer.at = getelementptr i64, ptr %taken, i64 2
  %taken.next = getelementptr i64, ptr %taken, i64 3
  %kind = load i64, ptr %entry
  switch i64 %kind, label %one [i64 0, label %ended i64 2, label %shared i64 4, label %shared]
ended:
  ret i64 0

one:
  br i1 %many, label %ask, label %mine
ask:
  %before = atomicrmw add ptr %taken, i64 1 acq_rel
  %is.first = icmp eq i64 %before, 0
  br i1 %is.first, label %mine, label %hear
mine:
  switch i64 %kind, label %call [i64 3, label %guard]
done:
  %said = phi i64 [0, %call.go], [%guard.said, %guard]
  br i1 %many, label %say, label %known
say:
  store i64 %said, ptr %answer.at
  store atomic i64 1, ptr %finished release, align 8
  br label %known
hear:
  %wanted = phi i64 [1, %ask], [%tickets, %ticket]
  call void @wait(ptr %finished, i64 %wanted)
  %heard = load i64, ptr %answer.at
  br label %known
known:
  %end = phi i64 [%said, %done], [%said, %say], [%heard, %hear], [%found, %shared.done]
  %words = field i64 %entry, 1
  %entry.next = getelementptr i64, ptr %entry, i64 %words
  %on = icmp eq i64 %end, 0
  br i1 %on, label %next, label %passed
passed:
  ret i64 %end

call:
  %call.loop = field ptr %entry, 2
  %call.data = field ptr %entry, 3
  %call.ops = field i64 %entry, 4
  %call.lengths = field i64 %entry, 5
  %call.at = getelementptr i64, ptr %entry, i64 6
  %call.words2 = mul i64 %call.ops, 2
  %call.dims = getelementptr i64, ptr %call.at, i64 %call.words2
  %call.steps = getelementptr i64, ptr %call.dims, i64 %call.lengths
  br label %call.op
call.op:
  %co = phi i64 [0, %call], [%co.next, %call.op]
  %co2 = mul i64 %co, 2
  %co.at = getelementptr i64, ptr %call.at, i64 %co2
  %co.base = load i64, ptr %co.at
  %co.off = field i64 %co.at, 1
  %co.memory = field ptr %bases, %co.base
  %co.ptr = getelementptr i8, ptr %co.memory, i64 %co.off
  %co.arg = getelementptr ptr, ptr %args, i64 %co
  store ptr %co.ptr, ptr %co.arg
  %co.next = add i64 %co, 1
  %co.more = icmp ult i64 %co.next, %call.ops
  br i1 %co.more, label %call.op, label %call.go
call.go:
  call void %call.loop(ptr %args, ptr %call.dims, ptr %call.steps, ptr %call.data)
  br label %done

shared:
  %total = field i64 %entry, 2
  %unit = field i64 %entry, 3
  %units = udiv i64 %total, %unit
  %few = icmp ult i64 %units, %tickets.most
  %tickets = select i1 %few, i64 %units, i64 %tickets.most
  br i1 %many, label %ticket, label %share
ticket:
  %number = atomicrmw add ptr %taken, i64 1 acq_rel
  %left = icmp ult i64 %number, %tickets
  br i1 %left, label %ticket.mine, label %hear
ticket.mine:
  %begin.share = mul i64 %units, %number
  %begin.units = udiv i64 %begin.share, %tickets
  %begin.mine = mul i64 %begin.units, %unit
  %stop.share = add i64 %begin.share, %units
  %stop.units = udiv i64 %stop.share, %tickets
  %stop.mine = mul i64 %stop.units, %unit
  br label %share
share:
  %from = phi i64 [0, %shared], [%begin.mine, %ticket.mine]
  %stop = phi i64 [%total, %shared], [%stop.mine, %ticket.mine]
  %rolled = icmp eq i64 %kind, 4
  br i1 %rolled, label %roll, label %nest
shared.done:
  %found = phi i64 [0, %tile], [%roll.found, %turn]
  br i1 %many, label %shared.say, label %known
shared.say:
  %failed = icmp ne i64 %found, 0
  br i1 %failed, label %ticket.failed, label %ticket.done
ticket.failed:
  store i64 %found, ptr %answer.at
  br label %ticket.done
ticket.done:
  %ignored = atomicrmw add ptr %finished, i64 1 acq_rel
  br label %ticket

nest:
  %dims = field i64 %entry, 4
  %length = field i64 %entry, 5
  %last = field i64 %entry, 6
  %loops = field i64 %entry, 7
  %sizes = getelementptr i64, ptr %entry, i64 8
  %body = getelementptr i64, ptr %sizes, i64 %dims
  %inner = sub i64 %dims, 1
  %inner.size = field i64 %sizes, %inner
  %inner.last = sub i64 %inner.size, 1
  br label %split
split:
  %sd = phi i64 [%inner, %nest], [%sd.next, %split]
  %rest = phi i64 [%from, %nest], [%rest.next, %split]
  %sd.size = field i64 %sizes, %sd
  %sd.index = urem i64 %rest, %sd.size
  %rest.next = udiv i64 %rest, %sd.size
  %sd.index.at = getelementptr i64, ptr %index, i64 %sd
  store i64 %sd.index, ptr %sd.index.at
  %sd.next = sub i64 %sd, 1
  %sd.more = icmp sge i64 %sd.next, 0
  br i1 %sd.more, label %split, label %tile
tile:
  %t = phi i64 [%from, %split], [%t.next, %stepped]
  %t.more = icmp ult i64 %t, %stop
  br i1 %t.more, label %tile.go, label %shared.done
tile.go:
  %i = field i64 %index, %inner
  %is.last = icmp eq i64 %i, %inner.last
  %n = select i1 %is.last, i64 %last, i64 %length
  store i64 %n, ptr %n.at
  br label %loop
loop:
  %l = phi i64 [0, %tile.go], [%l.next, %loop.done]
  %head = phi ptr [%body, %tile.go], [%head.next, %loop.done]
  %fn = load ptr, ptr %head
  %data = field ptr %head, 1
  %ops = field i64 %head, 2
  %places = getelementptr i64, ptr %head, i64 3
  %dims2 = add i64 %dims, 2
  br label %op
op:
  %o = phi i64 [0, %loop], [%o.next, %op.done]
  %place = phi ptr [%places, %loop], [%place.next, %op.done]
  %base = load i64, ptr %place
  %off0 = field i64 %place, 1
  %strides = getelementptr i64, ptr %place, i64 2
  br label %dim
dim:
  %d = phi i64 [0, %op], [%d.next, %dim]
  %off = phi i64 [%off0, %op], [%off.next, %dim]
  %d.index = field i64 %index, %d
  %d.stride = field i64 %strides, %d
  %d.way = mul i64 %d.index, %d.stride
  %off.next = add i64 %off, %d.way
  %d.next = add i64 %d, 1
  %d.more = icmp ult i64 %d.next, %dims
  br i1 %d.more, label %dim, label %op.done
op.done:
  %memory = field ptr %bases, %base
  %ptr = getelementptr i8, ptr %memory, i64 %off.next
  %arg.at = getelementptr ptr, ptr %args, i64 %o
  store ptr %ptr, ptr %arg.at
  %place.next = getelementptr i64, ptr %place, i64 %dims2
  %o.next = add i64 %o, 1
  %o.more = icmp ult i64 %o.next, %ops
  br i1 %o.more, label %op, label %loop.go
loop.go:
  call void %fn(ptr %args, ptr %n.at, ptr %place.next, ptr %data)
  br label %loop.done
loop.done:
  %head.next = getelementptr i64, ptr %place.next, i64 %ops
  %l.next = add i64 %l, 1
  %l.more = icmp ult i64 %l.next, %loops
  br i1 %l.more, label %loop, label %step
step:
  %s = phi i64 [%inner, %loop.done], [%s.next, %carried]
  %s.at = getelementptr i64, ptr %index, i64 %s
  %s.index = load i64, ptr %s.at
  %s.more = add i64 %s.index, 1
  %s.size = field i64 %sizes, %s
  %carry = icmp uge i64 %s.more, %s.size
  %s.new = select i1 %carry, i64 0, i64 %s.more
  store i64 %s.new, ptr %s.at
  %s.next = sub i64 %s, 1
  %s.left = icmp sge i64 %s.next, 0
  %again = and i1 %carry, %s.left
  br i1 %again, label %carried, label %stepped
carried:
  br label %step
stepped:
  %t.next = add i64 %t, 1
  br label %tile

guard:
  %guard.base = field i64 %entry, 2
  %guard.off = field i64 %entry, 3
  %expected = field i64 %entry, 4
  %guard.number = field i64 %entry, 5
  %guard.memory = field ptr %bases, %guard.base
  %guard.at = getelementptr i8, ptr %guard.memory, i64 %guard.off
  %byte = load i8, ptr %guard.at
  %answer = zext i8 %byte to i64
  %same = icmp eq i64 %answer, %expected
  %guard.said = select i1 %same, i64 0, i64 %guard.number
  br label %done

roll:
  %roll.size = field i64 %entry, 4
  %roll.moves = field i64 %entry, 5
  %roll.base = field i64 %entry, 6
  %roll.off = field i64 %entry, 7
  %roll.memory = field ptr %bases, %roll.base
  %roll.copy = getelementptr i8, ptr %roll.memory, i64 %roll.off
  %move.first = getelementptr i64, ptr %entry, i64 8
  %roll.moves2 = mul i64 %roll.moves, 2
  %roll.body = getelementptr i64, ptr %move.first, i64 %roll.moves2
  br label %word
word:
  %w = phi i64 [0, %roll], [%w.next, %word]
  %w.word = field i64 %roll.body, %w
  %w.to = getelementptr i64, ptr %roll.copy, i64 %w
  store i64 %w.word, ptr %w.to
  %w.next = add i64 %w, 1
  %w.more = icmp ult i64 %w.next, %roll.size
  br i1 %w.more, label %word, label %begin.moves
begin.moves:
  %k = phi i64 [%from, %word], [%k.next, %turn]
  %times = phi i64 [%from, %word], [1, %turn]
  br label %move
move:
  %m = phi i64 [0, %begin.moves], [%m.next, %move.go]
  %m.more = icmp ult i64 %m, %roll.moves
  br i1 %m.more, label %move.go, label %turn
move.go:
  %m2 = mul i64 %m, 2
  %m.at = getelementptr i64, ptr %move.first, i64 %m2
  %m.word = load i64, ptr %m.at
  %m.way = field i64 %m.at, 1
  %m.far = mul i64 %m.way, %times
  %m.to = getelementptr i64, ptr %roll.copy, i64 %m.word
  %m.old = load i64, ptr %m.to
  %m.new = add i64 %m.old, %m.far
  store i64 %m.new, ptr %m.to
  %m.next = add i64 %m, 1
  br label %move
turn:
  %roll.found = call i64 @walk(ptr %bases, ptr %roll.copy, ptr null)
  %k.next = add i64 %k, 1
  %k.more = icmp ult i64 %k.next, %stop
  %k.well = icmp eq i64 %roll.found, 0
  %k.on = and i1 %k.more, %k.well
  br i1 %k.on, label %begin.moves, label %shared.done
}
"""

WAIT = """
define internal void @wait(ptr %finished, i64 %wanted) {{
start:
  br label %look
look:
  %tries = phi i64 [0, %start], [%tries.next, %spin], [%tries.next, %yield], [%tries.next, %rest]
  %tries.next = add i64 %tries, 1
  %now = load atomic i64, ptr %finished acquire, align 8
  %done = icmp uge i64 %now, %wanted
  br i1 %done, label %over, label %again
again:
  %short = icmp ult i64 %tries, 2000
  br i1 %short, label %spin, label %longer
spin:
  br label %look
longer:
  %long = icmp ugt i64 %tries, 10000
  br i1 %long, label %rest, label %yield
yield:
  %yielded = call i32 @yield_processor()
  br label %look
rest:
  %rested = call i32 @rest_for(i32 {rest})
  br label %look
over:
  ret void
}}
"""
"""How to wait for others: for some microseconds at once, then with ever less of the processor."""


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
    take_part, own = virtual_machine().take_part, scratch(0)
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
            number: int = virtual_machine().take_part(task_board, table, *arrays)
            return number
        finally:
            invitation.clear()
