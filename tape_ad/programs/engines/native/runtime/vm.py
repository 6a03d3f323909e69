"""The virtual machine: runs the bytecode of a segment, a list of calls of inner loops.

Bytecode is an array of int64: a header, and entries that begin with their kind:

- header: flags (`RELEASE`), most operands of a loop, most outer dimensions;
- ``END``;
- ``CALL, words, loop, data, operands, lengths, (base, offset) of each operand, lengths..., steps``;
- ``NEST, words, dims, total, length, last, loops, unit, dims..., then for each loop: loop, data,
  operands, (base, offset, stride along each dim) of each operand, step of each``;
- ``GUARD, base, offset, byte that is expected, number``: the walk ends there with the number if the
  byte is another one; -1 is the number where it is found that NumPy has to do it all.

A base is the number of an array among those that follow the bytecode in a call of the machine. The
first is scratch memory of the thread, for what lives within one iteration of a nest. The loops of a
nest are called one after the other at each iteration: for `length` elements, and at the end of the
innermost dimension for `last`.

Several threads may run the same bytecode, with a task board, an int64 array of 0: its first word is
how many *tickets* they make at most of a nest, each for about as many of its iterations, by whole
units. There are three words more for each entry: how many tickets have been taken, how
many are finished, and, for a guard, the number that was found. A thread goes to the next entry when
all tickets are finished; so one that comes late has nothing to do, and nobody waits for it.
"""

import ctypes
import functools
import sys

from tape_ad.programs.engines.native.runtime.callables import builtin
from tape_ad.programs.engines.native.runtime.compiling import (
    Module,
    address_of,
    compiled,
    python_symbols,
)
from tape_ad.programs.engines.native.runtime.vm_ir import WAIT, WALK

__all__ = ["CALL", "END", "GUARD", "NEST", "RELEASE", "virtual_machine"]

END, CALL, NEST, GUARD = range(4)
RELEASE = 1

RUN = """
define ptr @{name}(ptr %self, ptr %args, i64 %count) {{
start:
  %n = sub i64 %count, {first}
  %bases = alloca ptr, i64 %n
  br label %take
take:
  %i = phi i64 [0, %start], [%i.next, %take]
  %k = add i64 %i, {first}
  %arg.at = getelementptr ptr, ptr %args, i64 %k
  %arg = load ptr, ptr %arg.at
  %data.at = getelementptr i8, ptr %arg, i64 {data}
  %data = load ptr, ptr %data.at
  %base.at = getelementptr ptr, ptr %bases, i64 %i
  store ptr %data, ptr %base.at
  %i.next = add i64 %i, 1
  %more = icmp ult i64 %i.next, %n
  br i1 %more, label %take, label %taken
taken:
  %table.at = getelementptr ptr, ptr %args, i64 {table}
  %table.array = load ptr, ptr %table.at
  %table.data = getelementptr i8, ptr %table.array, i64 {data}
  %table = load ptr, ptr %table.data
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

AMONG = """%task_board.at = getelementptr ptr, ptr %args, i64 0
  %task_board.array = load ptr, ptr %task_board.at
  %task_board.data = getelementptr i8, ptr %task_board.array, i64 {data}
  %task_board = load ptr, ptr %task_board.data"""

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
    data = object.__basicsize__  # where NumPy's PyArrayObject_fields has its data
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
    return VirtualMachine(compiled(text, DECLARATIONS, symbols))
