"""Calls of generalized ufuncs, which compute with the last axes: LAPACK's and Fourier transforms.

NumPy's own loops are called, so these have NumPy's bits. Where `numpy.linalg` would raise an error,
a loop fills its results with nan, and NumPy does the whole program again.
"""

import functools
import inspect
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import evolve

from tape_ad.programs.engines.native.codegen.compositions import determinant, unknown
from tape_ad.programs.engines.native.codegen.elementwise import Bound
from tape_ad.programs.engines.native.codegen.gathers import framed, panels
from tape_ad.programs.engines.native.codegen.ir_builder import BOOL, FLOAT64
from tape_ad.programs.engines.native.ir import (
    SIMPLE,
    Argument,
    Callee,
    ExternalCall,
    Literal,
    LLVMFunction,
    LoopNest,
    MemRef,
    RuntimeCheck,
    iteration_space,
)
from tape_ad.programs.engines.native.lowering.calls import (
    Lowering,
    NotLowerable,
    converted,
    copy,
    moved,
    with_axis,
)
from tape_ad.programs.engines.native.runtime.compiling import capsule_address, inner_loop
from tape_ad.programs.passes.inlining import ALONG_ONE_AXIS
from tape_ad.rules.linalg.decompositions import qr_factors, singular_triplets, singular_values
from tape_ad.rules.linalg.spectra import hermitian_eigenpairs


@functools.cache
def cores_of(ufunc: np.ufunc) -> tuple[tuple[str, ...], ...]:
    """Name the last axes that a generalized ufunc goes over, of its operands and its results.

    Examples
    --------
    >>> cores_of(np.matmul)
    (('n', 'k'), ('k', 'm'), ('n', 'm'))
    """
    parts = re.findall(r"\(([^)]*)\)", ufunc.signature or "")
    return tuple([tuple(re.findall(r"\w+", part)) for part in parts])


MANY = 128
"""Up to how many calls are written for stacks that lie so that one does not do."""

PACKED = 2**24
"""Up to how many bytes such stacks are copied, so that one does."""


def over_stack(
    lowering: Lowering,
    ufunc: np.ufunc,
    reads: Sequence[MemRef],
    writes: Sequence[MemRef],
    *,
    packs: bool = True,
) -> None:
    """Call a loop of a generalized ufunc for all of a stack.

    Parameters
    ----------
    lowering : Lowering
    ufunc : numpy.ufunc
    reads, writes : sequence of MemRef
        Of the dtypes of the loop, aligned; results have all axes of the stack. Results beyond
        those of the ufunc are operands that it changes.
    packs : bool
        Whether matrices may be copied: it then makes no difference how they lie.
    """
    cores = cores_of(ufunc)
    refs = [*reads, *writes][: len(cores)]
    loop = inner_loop(ufunc, tuple(ref.dtype for ref in refs))
    if loop is None or not all(ref.dtype.char in SIMPLE for ref in refs):
        raise NotLowerable("no loop of NumPy's for such dtypes")
    stack = writes[0].shape[: len(writes[0].shape) - len(cores[len(reads)])]
    refs = [
        ref.broadcast((*stack, *ref.shape[len(ref.shape) - len(core) :]))
        for ref, core in zip(refs, cores, strict=True)
    ]
    space = iteration_space(stack, [ref.strides[: len(stack)] for ref in refs])
    if math.prod(space.dims) > MANY:
        if not packs or sum(map(bytes_of, refs)) > PACKED or len(writes) > len(refs) - len(reads):
            raise NotLowerable("a stack of matrices that do not lie in a row")
        over_packed(lowering, ufunc, refs, len(reads))
        return
    sizes: dict[str, int] = {}
    steps: list[int] = []
    for ref, names in zip(refs, cores, strict=True):
        last = len(ref.shape) - len(names)
        for name, length, stride in zip(names, ref.shape[last:], ref.strides[last:], strict=True):
            sizes[name] = length
            steps.append(stride if length > 1 else 0)  # as NumPy has it
    work = math.prod(sizes.values()) * max(sizes.values(), default=1) ** (len(sizes) == 1)
    for key in np.ndindex(*space.dims):
        parts = [moved(ref, key, strides) for ref, strides in zip(refs, space.outer, strict=True)]
        given, made = parts[: len(reads)], parts[len(reads) :]
        call = ExternalCall(
            loop,
            given,
            [*made, *writes[len(made) :]],
            (space.length, *sizes.values()),
            (*space.steps, *steps),
            cost=space.length * work // 4,
        )
        in_panels = list(map(len, cores)) == OF_LINES and are_crowded(call)
        lowering.work.append(by_panels(lowering, call) if in_panels else call)


OF_LINES = [1, 0, 1]
"""How many axes the operands of a Fourier transform's loop have."""

CROWDED, SEVERAL = 256, 64
"""How many elements apart, or a multiple of that, those of a line have few places in the cache, and
from how many on they displace one another."""

SIDE, LEAST, ROOM = 256, 4, 2**19
"""How many bytes side by side are read at once, of how many lines at least, and how many bytes
their copies have."""

GAP = 64
"""How many bytes are between copies, so that these have different places in the cache."""


def are_crowded(call: ExternalCall) -> bool:
    """Tell whether lines, which begin side by side, displace one another from the cache."""
    beside, _, beside_too, *apart = call.steps
    if max(abs(beside), abs(beside_too)) > GAP // 2:
        return False
    operands = (call.reads[0], *call.writes)
    return any(
        step and step % (CROWDED * ref.dtype.itemsize) == 0 and length >= SEVERAL
        for ref, step, length in zip(operands, apart, call.lengths[1:], strict=True)
    )


def by_panels(lowering: Lowering, call: ExternalCall) -> ExternalCall:
    """Let a loop of lines have copies of a few at once, for which memory is read side by side."""
    dtypes = call.reads[0].dtype, call.writes[0].dtype
    sizes = [
        length * dtype.itemsize + GAP
        for length, dtype in zip(call.lengths[1:], dtypes, strict=True)
    ]
    count = min(SIDE // max(dtype.itemsize for dtype in dtypes), ROOM // sum(sizes))
    count = max(count, LEAST)
    copies = [lowering.temporary((count * size,), np.uint8) for size in sizes]
    loop, data, name = call.callee
    return evolve(
        call,
        callee=Callee(panels(*dtypes), (loop, data), f"{name} in panels"),
        writes=[*call.writes, *copies],
        lengths=(*call.lengths, count),
        steps=(*call.steps, sizes[0], 0, sizes[1], *(dtype.itemsize for dtype in dtypes)),
    )


def bytes_of(ref: MemRef) -> int:
    """Count the bytes of elements, again where they are repeated."""
    return math.prod(ref.shape) * ref.dtype.itemsize


def over_packed(lowering: Lowering, ufunc: np.ufunc, refs: Sequence[MemRef], count: int) -> None:
    """Call a loop for copies that lie in a row, `count` of which are read."""
    packed = [lowering.temporary(ref.shape, ref.dtype) for ref in refs]
    for ref, there in zip(refs[:count], packed, strict=False):
        copy(lowering, ref, there)
    over_stack(lowering, ufunc, packed[:count], packed[count:])
    for there, ref in zip(packed[count:], refs[count:], strict=True):
        copy(lowering, there, ref)


# LAPACK

LAPACK: Any = getattr(np.linalg, "_umath_linalg", None)


def lapack(name: str, shape: Sequence[int] = ()) -> np.ufunc:
    """Find a loop of NumPy's; some versions have two, named for the side that is no longer."""
    side = "m" if not shape or shape[-2] <= shape[-1] else "n"
    for each in (name.format(""), name.format(f"_{side}")):
        found = getattr(LAPACK, each, None)
        if isinstance(found, np.ufunc):
            return found
    raise NotLowerable("no loop of NumPy's for it")


def computed(
    lowering: Lowering,
    ufunc: np.ufunc,
    sources: Sequence[MemRef],
    outs: Sequence[MemRef],
    *,
    may_fail: bool = True,
) -> None:
    """Call a loop of LAPACK's in double precision, as `numpy.linalg` does.

    Parameters
    ----------
    lowering : Lowering
    ufunc : numpy.ufunc
    sources, outs : sequence of MemRef
    may_fail : bool
        Whether there is an error to be raised, where the results are nan.
    """
    complex_or_not = np.result_type(FLOAT64, *[ref.dtype for ref in sources]).char
    wanted = complex_or_not * len(sources)
    loop = next((each for each in ufunc.types if each.startswith(f"{wanted}->")), "->")
    dtypes = [np.dtype(char) for char in loop.partition("->")[2]]
    if len(dtypes) != len(outs):
        raise NotLowerable("of such dtypes")
    reads = [converted(lowering, ref, np.dtype(complex_or_not)) for ref in sources]
    writes = places_for(lowering, outs, dtypes)
    over_stack(lowering, ufunc, reads, writes)
    if may_fail:
        check(lowering, writes[0], len(cores_of(ufunc)[len(reads)]))
    for there, out in zip(writes, outs, strict=True):
        copy(lowering, there, out)


def places_for(
    lowering: Lowering, outs: Sequence[MemRef], dtypes: Sequence[np.dtype[Any]]
) -> list[MemRef]:
    """Give where a loop writes results of its own dtypes: where they are wanted, if it can."""
    return [
        out if out.dtype == dtype else lowering.temporary(out.shape, dtype)
        for out, dtype in zip(outs, dtypes, strict=True)
    ]


def check(lowering: Lowering, result: MemRef, axes: int) -> None:
    """Let NumPy do it all where the first element of a result is nan, as all are after errors."""
    first = result.part((..., *(0,) * axes))
    lowering.require_all(np.equal, first, first)


def of_one(
    name: str, *options: str, may_fail: bool = True, by: Mapping[Any, str] | None = None
) -> Callable[[Lowering], None]:
    """Make what lowers a function of matrices.

    Parameters
    ----------
    name : str
        Of the loop.
    *options : str
        The names of the function's arguments, of which the second may name the loop.
    may_fail : bool
    by : mapping, optional
        To what the second argument may be, the end of the loop's name; the first is its default.
    """

    def lower(lowering: Lowering) -> None:
        found = lowering.options(*options)
        ends = by or {None: ""}
        asked = found.get(options[1], next(iter(ends))) if by else None
        if asked not in ends:
            raise NotLowerable("it has options")
        source = lowering.source(found[options[0]])
        ufunc = lapack(name + ends[asked], source.shape)
        computed(lowering, ufunc, [source], lowering.outs, may_fail=may_fail)

    return lower


SMALL, COLUMNS = 3, 8
"""Up to how many rows a matrix is eliminated element by element, and with how many right sides."""


def is_small(*matrices: MemRef) -> bool:
    """Tell whether matrices, of which the first is square, are eliminated element by element."""
    return matrices[0].shape[-1] <= SMALL and all(ref.dtype.kind in "fiub" for ref in matrices)


def of_elements(nest: LoopNest, formula: Any, asked: Any, a: MemRef, sides: Any = None) -> Argument:
    """Compute what is asked of matrices, one for each element of a nest."""
    elements: list[Argument] = []
    rows = a.shape[-1]
    for i in range(rows):
        for j in range(rows):
            part = a.part((..., i, j))
            missing = len(nest.shape) - len(part.shape)  # along the columns of right sides
            for _ in range(missing if sides is not None else 0):
                part = with_axis(part, len(part.shape))
            elements.append(nest.cast(nest.read(part.broadcast(nest.shape)), FLOAT64))
        if sides is not None:
            elements.append(sides[i])
    function: Any = Bound(formula, (), (("rows", rows), ("asked", asked)))
    kinds = [FLOAT64] * len(elements)
    return nest.op(function, [*kinds, BOOL if asked == "is sure" else FLOAT64], *elements)


def cholesky_factors(lowering: Lowering) -> None:
    """Lower `numpy.linalg.cholesky`, and note what is lower triangular."""
    of_one("cholesky_", "a", "upper", by={False: "lo", True: "up"})(lowering)
    if not lowering.options("a", "upper").get("upper", False):
        lowering.memory_map.lower.add(lowering.out)


def determined(name: str, *asked: str) -> Callable[[Lowering], None]:
    """Make what lowers a determinant, or its sign and its logarithm."""
    by_lapack = of_one(name, "a", may_fail=False)

    def lower(lowering: Lowering) -> None:
        (a,) = lowering.sources("a")
        if not is_small(a):
            by_lapack(lowering)
            return
        nest = lowering.nest(a.shape[:-2])
        for each, out in zip(asked, lowering.outs, strict=True):
            nest.write(of_elements(nest, determinant, each, a), out)
        lowering.require(nest, of_elements(nest, determinant, "is sure", a))

    return lower


def eliminated(lowering: Lowering, a: MemRef, b: MemRef | None, out: MemRef) -> None:
    """Solve equations, for each column of right sides anew; without them, invert."""
    rows = range(a.shape[-1])
    tests: list[Argument] = []
    a = a.broadcast((*out.shape[:-2], *a.shape[-2:]))
    nest = lowering.nest(a.shape[:-2] if b is None else (*out.shape[:-2], out.shape[-1]))
    for column in rows if b is None else [slice(None)]:
        if b is None:
            sides: list[Argument] = [Literal.of(i == column, FLOAT64) for i in rows]
        else:
            parts = [b.part((..., i, slice(None))).broadcast(nest.shape) for i in rows]
            sides = [nest.cast(nest.read(part), FLOAT64) for part in parts]
        for i in rows:
            part = out.part((..., i, column))
            nest.write(of_elements(nest, unknown, i, a, sides), part)
        tests.append(of_elements(nest, unknown, "is sure", a, sides))
    lowering.require(
        nest, functools.reduce(lambda x, y: nest.op(np.logical_and, [BOOL] * 3, x, y), tests)
    )


def solved(lowering: Lowering) -> None:
    """Lower `numpy.linalg.solve`."""
    a, b = lowering.sources("a", "b")
    if is_small(a, b) and (len(b.shape) == 1 or b.shape[-1] <= COLUMNS):
        eliminated(lowering, a, *in_columns(b, lowering.out))
        return
    if is_shared(lowering, a) and len(b.shape) <= 2 and b.dtype.kind in "biuf" + a.dtype.kind:
        by_factors(lowering, a, b)
        return
    ufunc = lapack("solve1" if len(b.shape) == 1 else "solve")
    computed(lowering, ufunc, [a, b], [lowering.out])


def in_columns(b: MemRef, out: MemRef) -> tuple[MemRef, MemRef]:
    """Give right sides and solutions in columns, also where there is one of each, a vector."""
    if len(b.shape) > 1:
        return b, out
    return with_axis(b, 1), with_axis(out, len(out.shape))


def of_values(lowering: Lowering) -> None:
    """Lower singular values, with vectors or without."""
    found = lowering.options("a", "full_matrices", "compute_uv", "hermitian", "ties", "x")
    outs = lowering.outs
    if found.get("hermitian", False) is not False or len(lowering.call.args) > 1 + (len(outs) > 1):
        raise NotLowerable("it has options")
    source = lowering.source(found.get("a", found.get("x")))
    end = "" if len(outs) == 1 else "_f" if found.get("full_matrices", True) else "_s"
    computed(lowering, lapack(f"svd{{}}{end}", source.shape), [source], outs)


def orthogonal(lowering: Lowering) -> None:
    """Lower `numpy.linalg.qr`, by the two loops that it calls."""
    found = lowering.options("a", "mode")
    mode = found.get("mode", "reduced")
    source, outs = lowering.source(found["a"]), lowering.outs
    if mode not in ("r", "reduced", "complete"):
        raise NotLowerable("it has options")
    m, n = source.shape[-2:]
    dtype = np.result_type(FLOAT64, source.dtype)
    stack = source.shape[:-2]
    factors = lowering.temporary(source.shape, dtype)
    copy(lowering, source, factors)
    tau = lowering.temporary((*stack, min(m, n)), dtype)
    over_stack(lowering, lapack("qr_r_raw{}", source.shape), [factors], [tau, factors])
    if mode != "r":
        loop = "qr_complete" if mode == "complete" and m > n else "qr_reduced"
        computed(lowering, lapack(loop), [factors, tau], outs[:1], may_fail=False)
    above = outs[-1]
    rows = factors.part((..., slice(above.shape[-2]), slice(None)))
    height, width = above.shape[-2:]
    mask = lowering.constant(np.tri(height, width, -1, dtype=bool))
    kinds = (BOOL, dtype, dtype, dtype)
    lowering.apply(np.where, kinds, (mask, Literal.of(0, dtype), rows), above)


def least(lowering: Lowering) -> None:
    """Lower `numpy.linalg.lstsq` of more equations than unknowns, if the rank is full."""
    found = lowering.options("a", "b", "rcond")
    a, b = lowering.source(found["a"]), lowering.source(found["b"])
    m, n = a.shape
    if m <= n:
        raise NotLowerable("no residuals")
    x, residuals, rank, values = lowering.outs
    if residuals.shape != b.shape[1:] + (1,) * (len(b.shape) == 1):
        raise NotLowerable("of less than full rank")
    dtype = np.result_type(FLOAT64, a.dtype, b.dtype)
    rcond = found.get("rcond")
    rcond = np.finfo(dtype).eps * max(n, m) if rcond is None else rcond
    if not isinstance(rcond, (int, float, np.floating)):
        raise NotLowerable("it has options")
    b, x = in_columns(b, x)
    given = [converted(lowering, ref, dtype) for ref in (a, b)]
    real, count = np.empty(0, dtype).real.dtype, np.dtype(np.intc)
    outs = x, residuals, rank, values
    made = places_for(lowering, outs, (dtype, real, count, real))
    limit = lowering.constant(np.array(rcond, real))
    over_stack(lowering, lapack("lstsq{}", a.shape), [*given, limit], made)
    check(lowering, made[0], 2)
    lowering.require_all(np.equal, made[2], Literal.of(n, count))
    for there, ref in zip(made, outs, strict=True):
        copy(lowering, there, ref)


# LAPACK's routines, which SciPy has in capsules

CALLED = """  call void %data(<given>)
  %said = load i32, ptr %info
  %well = icmp eq i32 %said, 0
  %word = zext i1 %well to i8
  store i8 %word, ptr <status>
  br label %next"""


@functools.cache
def calling(given: Sequence[str], operands: int, status: int) -> LLVMFunction:
    """Write the loop that calls a routine of Fortran's, whose address it is given as its data.

    Parameters
    ----------
    given : sequence of str
        What the routine takes: ``d2`` is the second length, ``a1`` the second operand.
    operands : int
        How many there are.
    status : int
        Which of them becomes whether all was well.
    """
    lengths = sorted({name for name in given if name[0] == "d"})
    ahead = [f"  %{name} = getelementptr i64, ptr %dims, i64 {name[1:]}" for name in lengths]
    body = CALLED.replace("<status>", f"%a{status}")
    body = body.replace("<given>", ", ".join(f"ptr %{name}" for name in given))
    return framed(operands, "\n".join(["  %info = alloca i32", *ahead]), body)


PREFIXES = {"f": "s", "d": "d", "F": "c", "D": "z"}
CYTHONS = {"s": "s", "d": "d", "c": "float_complex", "z": "double_complex"}


def routine_of(name: str, dtype: np.dtype[Any], signature: str) -> int:
    """Find a routine of LAPACK's as SciPy has it.

    Parameters
    ----------
    name : str
    dtype : dtype
    signature : str
        What it takes: a letter for each argument, ``c`` for a character, ``i`` for an integer, and
        ``x`` for an array.
    """
    prefix = PREFIXES.get(dtype.char)
    capsules = getattr(sys.modules.get("scipy.linalg.cython_lapack"), "__pyx_capi__", {})
    capsule = capsules.get(f"{prefix}{name}")
    if prefix is None or capsule is None or sys.byteorder == "big":
        raise NotLowerable("no routine of SciPy's for it")
    kinds = {"c": "char", "i": "int", "x": CYTHONS[prefix]}
    found = capsule_address(capsule, f"void ({', '.join(f'{kinds[k]} *' for k in signature)})")
    if found is None:
        raise NotLowerable("a routine of SciPy's that takes something else")
    return found


def call_routine(
    lowering: Lowering,
    callee: Callee,
    reads: list[MemRef],
    writes: list[MemRef],
    lengths: tuple[int, ...],
    cost: int,
    stack: Sequence[int] = (),
) -> None:
    """Call a routine, once or for each of a stack, and leave to NumPy where it says no.

    The first result is for that; what it changes is both read and, beyond its operands, written.
    """
    steps = tuple(ref.strides[0] if stack else 0 for ref in (*reads, *writes))
    sizes = (*(stack or [1]), *lengths)
    lowering.work.append(ExternalCall(callee, reads, writes, sizes, steps, cost=cost))
    if stack:
        nest = lowering.nest(tuple(stack))
        lowering.require(nest, nest.read(writes[0]))
    else:
        lowering.work.append(RuntimeCheck(writes[0], 1))


def is_fortran(ref: MemRef) -> bool:
    """Tell whether matrices are in the order of Fortran, without gaps."""
    (n, k), (down, beside), size = ref.shape[-2:], ref.strides[-2:], ref.dtype.itemsize
    return (n == 1 or down == size) and (k == 1 or beside == n * size)


def fortran_copy(
    lowering: Lowering, ref: MemRef, dtype: np.dtype[Any], target: MemRef | None = None
) -> MemRef:
    """Copy matrices in the order of Fortran: to where a result is wanted, if that has it."""
    if target is None or not is_fortran(target):
        *stack, n, k = ref.shape
        target = lowering.temporary((*stack, k, n), dtype).seen(lambda array: array.mT)
    copy(lowering, ref, target)
    return target


def check_finite(lowering: Lowering, *refs: MemRef) -> None:
    """Leave to NumPy what is not finite, which SciPy refuses."""
    for ref in refs:
        if ref.dtype.kind in "fc":
            lowering.require_all(np.isfinite, ref)


def by_routine(
    lowering: Lowering,
    routine: str,
    signature: str,
    given: Sequence[str],
    a: MemRef,
    b: MemRef,
    words: Sequence[str],
    out: MemRef,
    *others: MemRef,
) -> MemRef:
    """Solve with a matrix, or each of a stack, where a routine writes over the right side.

    Parameters
    ----------
    lowering : Lowering
    routine, signature : str
    given : sequence of str
        What it takes, as in `calling`: the lengths are the number of rows, of columns, and `words`;
        the operands the matrix, the `others` and the solution, which is given.
    a, b : MemRef
    words : sequence of str
        Letters that say what is wanted.
    out, *others : MemRef
    """
    b, target = in_columns(b, out)
    dtype = target.dtype
    *stack, n, k = target.shape
    if dtype.char not in PREFIXES or len(stack) > 1 or 0 in stack:
        raise NotLowerable("of such shapes and dtypes")
    count = 3 + len(others)
    loop = calling(tuple(given), count, count - 1)
    callee = Callee(loop, routine_of(routine, dtype, signature), routine)
    matrix = a.broadcast((*stack, n, n))
    if matrix.dtype != dtype or not is_fortran(matrix):
        matrix = fortran_copy(lowering, matrix, dtype)
    x = fortran_copy(lowering, b.broadcast(target.shape), dtype, target)
    solved = lowering.temporary(tuple(stack), BOOL)
    lengths, cost = (n, k, *map(ord, words)), math.prod(target.shape) * n // 2
    call_routine(lowering, callee, [matrix, *others, x], [solved, x], lengths, cost, stack)
    copy(lowering, x, target)
    return target


def triangular(lowering: Lowering) -> None:
    """Lower `scipy.linalg.solve_triangular`, which goes by how the matrix lies."""
    found = lowering.options(
        "a", "b", "trans", "lower", "unit_diagonal", "overwrite_b", "check_finite"
    )
    a, b = lowering.source(found["a"]), lowering.source(found["b"])
    if found.get("check_finite", True):
        check_finite(lowering, a, b)
    trans = {"N": 0, "T": 1, "C": 2}.get(found.get("trans", 0), found.get("trans", 0))
    kind = trans, bool(found.get("lower", False)), bool(found.get("unit_diagonal", False))
    by_triangle(lowering, a, b, lowering.out, *kind)


def by_triangle(
    lowering: Lowering,
    a: MemRef,
    b: MemRef,
    out: MemRef,
    trans: int,
    lower: bool,
    unit_diagonal: bool = False,
) -> None:
    """Solve with triangular matrices, or their transposes, as they lie."""
    if not (is_fortran(a) or trans == 2):
        a, lower, trans = a.seen(lambda array: array.mT), not lower, int(not trans)
    words = "UL"[lower], "NTC"[trans], "NU"[unit_diagonal]
    given = ("d3", "d4", "d5", "d1", "d2", "a0", "d1", "a1", "d1", "info")
    by_routine(lowering, "trtrs", "ccciixixii", given, a, b, words, out)


def positive(lowering: Lowering) -> None:
    """Lower the solution by a Cholesky factor."""
    found = lowering.options("c", "b", "lower", "overwrite_b", "check_finite")
    c, b = lowering.source(found["c"]), lowering.source(found["b"])
    if found.get("check_finite", True):
        check_finite(lowering, c, b)
    given = ("d3", "d1", "d2", "a0", "d1", "a1", "d1", "info")
    by_routine(lowering, "potrs", "ciixixii", given, c, b, "UL"[bool(found["lower"])], lowering.out)


# Several uses of one matrix, which is factorised once

FACTORED: frozenset[Any] = frozenset({np.linalg.solve, np.linalg.inv})
SMALLEST = 8
"""From how many rows on factors are kept."""


def is_shared(lowering: Lowering, a: MemRef) -> bool:
    """Tell whether there are more equations with a matrix, or its transpose, whose factors serve.

    So they do where SciPy, which has the routines for it, has been loaded.
    """
    if len(a.shape) != 2 or a.shape[0] < SMALLEST or a.dtype.char not in "dD":
        return False
    try:
        factorising(a.dtype), routine_of("getrs", a.dtype, "ciixiixii")
    except NotLowerable:
        return False
    return lowering.memory_map.uses.get(a.root, 0) > 1


def is_lower(lowering: Lowering, a: MemRef) -> bool:
    """Tell whether matrices are known to be lower triangular, and SciPy's routine is there."""
    if a not in lowering.memory_map.lower or a.dtype.char not in "dD" or len(a.shape) > 3:
        return False
    try:
        routine_of("trtrs", a.dtype, "ccciixixii")
    except NotLowerable:
        return False
    return True


def factorising(dtype: np.dtype[Any]) -> Callee:
    """Find what factorises: of a matrix, whether all was well, and the pivots."""
    given = ("d1", "d1", "a0", "d1", "a2", "info")
    return Callee(calling(given, 3, 1), routine_of("getrf", dtype, "iixiii"), "getrf")


def factors_of(lowering: Lowering, a: MemRef) -> tuple[MemRef, MemRef, str]:
    """Give LU factors and pivots, and whether they are those of the matrix or of its transpose."""
    known = lowering.memory_map.factors
    for ref, letter in ((a, "N"), (a.seen(lambda array: array.mT), "T")):
        if ref in known:
            return (*known[ref], letter)
    n = a.shape[0]
    lu = fortran_copy(lowering, a, a.dtype)
    pivots, word = lowering.temporary((n,), np.intc), lowering.temporary((), BOOL)
    call_routine(lowering, factorising(a.dtype), [lu], [word, pivots, lu], (n,), n**3 // 4)
    check_pivots(lowering, lu)
    known[a] = lu, pivots
    return lu, pivots, "N"


def check_pivots(lowering: Lowering, lu: MemRef) -> None:
    """Leave to NumPy a matrix that may be singular, or is not finite.

    Factors of the transpose, which NumPy takes, are rounded otherwise: they alone may have a 0.
    """
    parts = [lu] if lu.dtype.kind == "f" else [lu.seen(np.real), lu.seen(np.imag)]
    real = parts[0].dtype
    largest = lowering.temporary((), real)
    nest = lowering.nest(lu.shape)
    nest.reduce(np.maximum, sum_of_sizes(nest, parts), (0, 1), largest)
    pivots = [part.seen(np.diagonal) for part in parts]
    nest = lowering.nest(pivots[0].shape)
    least = Literal.of(16 * lu.shape[0] * np.finfo(real).eps, real)
    bound = nest.op(np.multiply, [real] * 3, nest.read(largest.broadcast(nest.shape)), least)
    sizes = sum_of_sizes(nest, pivots)
    lowering.require(nest, nest.op(np.greater, (real, real, BOOL), sizes, bound))


def sum_of_sizes(nest: LoopNest, parts: Sequence[MemRef]) -> Argument:
    """Add the sizes of numbers, as of the real and the imaginary part of each."""
    sizes = [nest.op(np.absolute, [part.dtype] * 2, nest.read(part)) for part in parts]
    return functools.reduce(lambda x, y: nest.op(np.add, [parts[0].dtype] * 3, x, y), sizes)


def by_factors(lowering: Lowering, a: MemRef, b: MemRef) -> None:
    """Solve with LU factors, and leave what is not finite to NumPy.

    Where nan and inf come to depends on the order of elimination: of the transpose, it is another.
    """
    lu, pivots, letter = factors_of(lowering, a)
    given = ("d3", "d1", "d2", "a0", "d1", "a1", "a2", "d1", "info")
    routine = "getrs", "ciixiixii", given
    check_finite(lowering, by_routine(lowering, *routine, lu, b, letter, lowering.out, pivots))


def inverted(lowering: Lowering) -> None:
    """Lower `numpy.linalg.inv`."""
    (a,) = lowering.sources("a")
    if is_small(a):
        eliminated(lowering, a, None, lowering.out)
    elif is_lower(lowering, a):  # of the transpose, in whose order the result lies
        eye = lowering.constant(np.eye(a.shape[-1]))
        by_triangle(lowering, a, eye, lowering.out.seen(lambda array: array.mT), 1, True)
    elif is_shared(lowering, a):
        by_factors(lowering, a, lowering.constant(np.eye(a.shape[0])))
    else:
        computed(lowering, lapack("inv"), [a], [lowering.out])


ROUTINES: Mapping[str, Callable[[Lowering], None]] = {"trtrs": triangular, "potrs": positive}
"""By LAPACK's names, which functions have among their facts."""


# Fourier transforms


POCKETFFT: Any = getattr(np.fft, "_pocketfft_umath", None)
SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def transformed(lowering: Lowering) -> None:
    """Lower a Fourier transform along one axis."""
    found = lowering.options("a", "n", "axis", "norm", "out")
    if found.get("out") is not None:
        raise NotLowerable("it has options")
    ref, out, kind = lowering.source(found["a"]), lowering.out, lowering.call.function.__name__
    axis, length, norm = operator.index(found.get("axis", -1)), found.get("n"), found.get("norm")
    if length is None:
        length = out.shape[axis] if kind == "irfft" else ref.shape[axis]
    if length < 1:
        raise NotLowerable("no elements to transform")
    norm = SWAPPED.get(norm, norm) if kind in ("ifft", "irfft") else norm
    real = np.result_type(np.empty(0, ref.dtype).real.dtype, 1.0)
    factor: Any = 1
    if norm == "ortho":
        factor = np.reciprocal(np.sqrt(length, dtype=real))
    elif norm == "forward":
        factor = np.reciprocal(length, dtype=real)
    elif norm not in (None, "backward"):
        raise NotLowerable("it has options")
    name = kind if kind != "rfft" else f"rfft_n_{'odd' if length % 2 else 'even'}"
    ufunc = getattr(POCKETFFT, name, None)
    if not isinstance(ufunc, np.ufunc):
        raise NotLowerable("no loop of NumPy's for it")
    scale = int if type(factor) is int else factor.dtype
    try:
        dtypes = ufunc.resolve_dtypes((ref.dtype, scale, out.dtype))
    except TypeError:
        raise NotLowerable("of such dtypes") from None
    source = converted(lowering, ref, dtypes[0])
    (there,) = places_for(lowering, [out], dtypes[2:])
    by_last = [each.seen(lambda array: np.moveaxis(array, axis, -1)) for each in (source, there)]
    fixed = lowering.constant(np.array(factor, dtypes[1]))
    over_stack(lowering, ufunc, [by_last[0], fixed], by_last[1:])
    copy(lowering, there, out)


UPLO = {"L": "lo", "U": "up"}
OURS: Mapping[Any, Callable[[Lowering], None]] = {
    hermitian_eigenpairs: of_one("eigh_", "a", "uplo", "ties", by=UPLO),
    singular_triplets: of_values,
    singular_values: of_values,
    qr_factors: orthogonal,
}
LOWERINGS: Mapping[Any, Callable[[Lowering], None]] = {
    np.linalg.solve: solved,
    np.linalg.inv: inverted,
    np.linalg.det: determined("det", "determinant"),
    np.linalg.slogdet: determined("slogdet", "sign", "logarithm"),
    np.linalg.cholesky: cholesky_factors,
    np.linalg.eigh: of_one("eigh_", "a", "UPLO", by=UPLO),
    np.linalg.eigvalsh: of_one("eigvalsh_", "a", "UPLO", by=UPLO),
    np.linalg.svd: of_values,
    np.linalg.svdvals: of_values,
    np.linalg.qr: orthogonal,
    np.linalg.lstsq: least,
    **OURS,
    **{inspect.unwrap(function): lower for function, lower in OURS.items()},
    **dict.fromkeys(ALONG_ONE_AXIS, transformed),
}
