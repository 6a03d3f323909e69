"""A matrix product that first tests whether the left matrix only selects and scales rows."""

import functools
from typing import Any

import numpy as np

from tape_ad.programs.engines.native.codegen.ir_builder import element_type
from tape_ad.programs.engines.native.ir import LLVMFunction

__all__ = ["row_selecting_product"]

TEXT = """
define internal i64 @loop.place(ptr %row, i64 %step, i64 %n) alwaysinline {{
start:
  br label %next
next:
  %i = phi i64 [0, %start], [%i.next, %more]
  %found = phi i64 [0, %start], [%found.next, %more]
  %count = phi i64 [0, %start], [%count.next, %more]
  %end = icmp eq i64 %i, %n
  br i1 %end, label %done, label %look
look:
  %at = mul i64 %i, %step
  %p = getelementptr i8, ptr %row, i64 %at
  %x = load {t}, ptr %p, align 1
  %is = fcmp une {t} %x, 0.0
  %one = zext i1 %is to i64
  %count.next = add i64 %count, %one
  %found.next = select i1 %is, i64 %i, i64 %found
  %i.next = add i64 %i, 1
  %many = icmp ugt i64 %count.next, 1
  br i1 %many, label %done.many, label %more
more:
  br label %next
done.many:
  ret i64 -1
done:
  ret i64 %found
}}

define internal i1 @loop.finite(ptr %row, i64 %step, i64 %n) {{
start:
  %unit = icmp eq i64 %step, {size}
  br i1 %unit, label %wide, label %single
wide:
  %w = phi i64 [0, %start], [%w.next, %wide.go]
  %sum = phi <8 x {t}> [zeroinitializer, %start], [%sum.next, %wide.go]
  %w.next = add i64 %w, 8
  %fits = icmp ule i64 %w.next, %n
  br i1 %fits, label %wide.go, label %wide.done
wide.go:
  %wp = getelementptr {t}, ptr %row, i64 %w
  %v = load <8 x {t}>, ptr %wp, align 1
  %zero = fsub <8 x {t}> %v, %v
  %sum.next = fadd <8 x {t}> %sum, %zero
  br label %wide
wide.done:
  %bad = fcmp uno <8 x {t}> %sum, zeroinitializer
  %bits = bitcast <8 x i1> %bad to i8
  %none = icmp eq i8 %bits, 0
  br i1 %none, label %single, label %no
single:
  %begin = phi i64 [0, %start], [%w, %wide.done]
  br label %next
next:
  %i = phi i64 [%begin, %single], [%i.next, %go.on]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %look, label %yes
look:
  %at = mul i64 %i, %step
  %p = getelementptr i8, ptr %row, i64 %at
  %x = load {t}, ptr %p, align 1
  %d = fsub {t} %x, %x
  %ok = fcmp ord {t} %d, 0.0
  %i.next = add i64 %i, 1
  br i1 %ok, label %go.on, label %no
go.on:
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}}

define internal void @loop.scale(ptr %out, i64 %so, ptr %row, i64 %si, {t} %f, i64 %n) {{
start:
  %unit.in = icmp eq i64 %si, {size}
  %unit.out = icmp eq i64 %so, {size}
  %unit = and i1 %unit.in, %unit.out
  %f.one = insertelement <8 x {t}> poison, {t} %f, i64 0
  %fs = shufflevector <8 x {t}> %f.one, <8 x {t}> poison, <8 x i32> zeroinitializer
  br i1 %unit, label %wide, label %single
wide:
  %w = phi i64 [0, %start], [%w.next, %wide.go]
  %w.next = add i64 %w, 8
  %fits = icmp ule i64 %w.next, %n
  br i1 %fits, label %wide.go, label %single
wide.go:
  %wp = getelementptr {t}, ptr %row, i64 %w
  %v = load <8 x {t}>, ptr %wp, align 1
  %scaled = fmul <8 x {t}> %fs, %v
  %op = getelementptr {t}, ptr %out, i64 %w
  store <8 x {t}> %scaled, ptr %op, align 1
  br label %wide
single:
  %begin = phi i64 [0, %start], [%w, %wide]
  br label %next
next:
  %i = phi i64 [%begin, %single], [%i.next, %go.on]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %go.on, label %done
go.on:
  %at = mul i64 %i, %si
  %p = getelementptr i8, ptr %row, i64 %at
  %x = load {t}, ptr %p, align 1
  %y = fmul {t} %f, %x
  %to = mul i64 %i, %so
  %q = getelementptr i8, ptr %out, i64 %to
  store {t} %y, ptr %q, align 1
  %i.next = add i64 %i, 1
  br label %next
done:
  ret void
}}

define void @loop(ptr %args, ptr %dims, ptr %steps, ptr %data) {{
start:
  %rows = load ptr, ptr %args
  %right.at = getelementptr ptr, ptr %args, i64 1
  %right = load ptr, ptr %right.at
  %out.at = getelementptr ptr, ptr %args, i64 2
  %out = load ptr, ptr %out.at
{words}
  br label %look
look:
  %i = phi i64 [0, %start], [%i.next, %look.on]
  %looked = icmp eq i64 %i, %m
  br i1 %looked, label %check, label %look.go
look.go:
  %i.at = mul i64 %i, %s3
  %row = getelementptr i8, ptr %rows, i64 %i.at
  %found = call i64 @loop.place(ptr %row, i64 %s4, i64 %n)
  %i.next = add i64 %i, 1
  %many = icmp slt i64 %found, 0
  br i1 %many, label %product, label %look.on
look.on:
  br label %look
check:
  %turned = icmp ne i64 %s6, {size}
  %across.unit = icmp eq i64 %s5, {size}
  %turn = and i1 %turned, %across.unit
  %lines = select i1 %turn, i64 %p, i64 %n
  %length = select i1 %turn, i64 %n, i64 %p
  %line.step = select i1 %turn, i64 %s6, i64 %s5
  %step = select i1 %turn, i64 %s5, i64 %s6
  br label %line
line:
  %j = phi i64 [0, %check], [%j.next, %line.on]
  %checked = icmp eq i64 %j, %lines
  br i1 %checked, label %pick, label %line.go
line.go:
  %j.at = mul i64 %j, %line.step
  %line.row = getelementptr i8, ptr %right, i64 %j.at
  %ok = call i1 @loop.finite(ptr %line.row, i64 %step, i64 %length)
  %j.next = add i64 %j, 1
  br i1 %ok, label %line.on, label %product
line.on:
  br label %line
pick:
  br label %picking
picking:
  %k = phi i64 [0, %pick], [%k.next, %picked]
  %all = icmp eq i64 %k, %m
  br i1 %all, label %done, label %picked
picked:
  %k.at = mul i64 %k, %s3
  %k.row = getelementptr i8, ptr %rows, i64 %k.at
  %column = call i64 @loop.place(ptr %k.row, i64 %s4, i64 %n)
  %c.at = mul i64 %column, %s4
  %c.ptr = getelementptr i8, ptr %k.row, i64 %c.at
  %factor = load {t}, ptr %c.ptr, align 1
  %source.at = mul i64 %column, %s5
  %source = getelementptr i8, ptr %right, i64 %source.at
  %target.at = mul i64 %k, %s7
  %target = getelementptr i8, ptr %out, i64 %target.at
  call void @loop.scale(ptr %target, i64 %s8, ptr %source, i64 %s6, {t} %factor, i64 %p)
  %k.next = add i64 %k, 1
  br label %picking
product:
  call void %data(ptr %args, ptr %dims, ptr %steps, ptr null)
  br label %done
done:
  ret void
}}
"""


@functools.cache
def row_selecting_product(dtype: np.dtype[Any]) -> LLVMFunction:
    """Write the loop; its data is the address of `numpy.matmul`'s, which it calls otherwise.

    It does what `times_matrix` does: where each row has one element at most that is not 0, and all
    of the other matrix is finite, each row of the result is a row of that, scaled.
    """
    words = []
    for name, number in (("m", 1), ("n", 2), ("p", 3)):
        words += [
            f"  %{name}.at = getelementptr i64, ptr %dims, i64 {number}",
            f"  %{name} = load i64, ptr %{name}.at",
        ]
    for number in range(3, 9):
        words += [
            f"  %s{number}.at = getelementptr i64, ptr %steps, i64 {number}",
            f"  %s{number} = load i64, ptr %s{number}.at",
        ]
    return LLVMFunction(
        TEXT.format(t=element_type(dtype), size=dtype.itemsize, words="\n".join(words))
    )
