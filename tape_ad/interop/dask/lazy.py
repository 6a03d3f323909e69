"""Dask arrays below records: what is called on their handles becomes a part of Dask's graph."""

import contextlib
import functools
import inspect
import operator
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, NoReturn, Self

import dask.array as da
import numpy as np
from attrs import define
from dask.base import normalize_token
from numpy.lib.mixins import NDArrayOperatorsMixin

from tape_ad.errors import ConversionError, TapeError, UnsupportedArgumentError
from tape_ad.extend.arrays import axes_of
from tape_ad.extend.facts import Facts
from tape_ad.extend.maps import Index, added_at, scatter
from tape_ad.extend.packages import called, caller
from tape_ad.extend.rules import NO_VALUE, call_signature, facts_of
from tape_ad.extend.trees import map_leaves
from tape_ad.rules.numpy.einsum import contract
from tape_ad.rules.numpy.scans import recurrence

Function = Callable[..., Any]
OPERANDS = (np.ndarray, np.generic, int, float, complex, list, tuple)


class LazyArray(NDArrayOperatorsMixin, da.Array):
    """A Dask array below a record.

    It is one: ``compute()``, ``dask.compute`` with others, ``chunks`` and the rest are Dask's own.
    NumPy's functions give LazyArrays too. No rule, map or sweep asks for its values; users may.
    """

    __slots__ = ()

    def __array_ufunc__(self, numpy_ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        if not all(isinstance(x, (da.Array, *OPERANDS)) for x in inputs):
            return NotImplemented
        function = numpy_ufunc if method == "__call__" else getattr(numpy_ufunc, method)
        return answer(function, inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if not all(issubclass(kind, (da.Array, np.ndarray)) for kind in types):
            return NotImplemented
        return answer(function, args, kwargs)

    def __getitem__(self, key: Any) -> Self:
        picked: Self = answer(item, (self, key), {})
        return picked

    # Methods that rules call, where Dask's have another signature, or give a plain Dask array

    def astype(self, dtype: Any, *options: Any, **named: Any) -> Any:
        """See `numpy.ndarray.astype`."""
        return lazy(plain(self).astype(dtype, *options, **named))

    def reshape(self, *shape: Any, **options: Any) -> Any:
        """See `numpy.reshape`."""
        return answer(np.reshape, (self, shape[0] if len(shape) == 1 else shape), options)

    def ravel(self, order: str = "C") -> Any:
        """See `numpy.ravel`."""
        return answer(np.reshape, (self, -1), {"order": order})

    def transpose(self, *axes: Any) -> Any:
        """See `numpy.transpose`."""
        return answer(np.transpose, (self, axes[0] if len(axes) == 1 else axes or None), {})

    def conjugate(self) -> Any:
        """See `numpy.conjugate`."""
        return lazy(da.conj(plain(self))) if self.dtype.kind == "c" else self

    conj = conjugate

    def copy(self, *_: Any) -> Any:
        """Give the array itself, as it is never written to."""
        return self

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """See `numpy.ndarray.T`."""
        return self.transpose()

    @property
    def mT(self) -> Any:  # noqa: N802 - NumPy's name
        """See `numpy.ndarray.mT`."""
        return answer(np.swapaxes, (self, -1, -2), {})

    @property
    def real(self) -> Any:
        """See `numpy.real`."""
        return lazy(da.real(plain(self))) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        """See `numpy.imag`."""
        return lazy(da.imag(plain(self)))

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise unwritable("an assignment")

    # Questions

    def __bool__(self) -> bool:
        return bool(asked_for(self, "a branch"))

    def __float__(self) -> float:
        return float(asked_for(self, "float()"))

    def __complex__(self) -> complex:
        return complex(asked_for(self, "complex()"))

    def __int__(self) -> int:
        return int(asked_for(self, "int()"))

    def __index__(self) -> int:
        return operator.index(asked_for(self, "an index"))

    def __array__(self, dtype: Any = None, copy: bool | None = None, **_: Any) -> Any:
        return np.asarray(asked_for(self, "np.asarray()"), dtype)

    def __format__(self, spec: str) -> str:
        return format(asked_for(self, "a format"), spec) if spec else str(self)

    def item(self, *place: Any) -> Any:
        """Give an element as a Python number, after computing all."""
        return asked_for(self, "item()").item(*place)

    def tolist(self) -> Any:
        """Give nested lists of Python numbers."""
        return asked_for(self, "tolist()").tolist()

    def as_gradient(self, found: Any) -> Any:
        """Give a gradient with respect to this array, in its chunks."""
        stack = found.ndim - self.ndim
        chunks = (*((length,) for length in found.shape[:stack]), *self.chunks)
        found = plain(found) if isinstance(found, da.Array) else da.from_array(found, chunks)
        return lazy(found.rechunk(chunks))


for _name in ("sum", "prod", "min", "max", "any", "all", "mean", "cumsum", "dot", "squeeze"):

    def _method(self: Any, *args: Any, _name: str = _name, **options: Any) -> Any:
        return lazy(getattr(plain(self), _name)(*args, **options))

    setattr(LazyArray, _name, _method)


def operand(value: Any) -> LazyArray:
    """Take a Dask array below records.

    Raises
    ------
    UnsupportedArgumentError
        For other collections of Dask's, and arrays of unknown shape.
    """
    if not isinstance(value, da.Array):
        raise UnsupportedArgumentError(
            f"a {type(value).__name__} of Dask's is no array; make a Dask array of it, or give it "
            "to ta.interop.dask.value_and_grad"
        )
    if any(np.isnan(length) for length in value.shape):
        raise UnsupportedArgumentError(
            "the shape of a Dask array is not known before it is computed; call "
            "x.compute_chunk_sizes() first"
        )
    below: LazyArray = lazy(value)
    return below


def asked_for(array: LazyArray, what: str) -> Any:
    """Compute an array as Dask does where its values are asked for, but for nothing of ours.

    Raises
    ------
    ConversionError
        When this library asks: a handle, a rule, or a function that a transform has called.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "tape_ad":
            raise unknown(what)
        frame = frame.f_back
    return plain(array).compute()


def unknown(what: str) -> ConversionError:
    """Make the error for code that asks for values."""
    return ConversionError(
        f"{what} ({caller()}) asks for the values of a Dask array, which are not computed yet; "
        "write np.where to choose, or compute the array first"
    )


def unwritable(what: str) -> UnsupportedArgumentError:
    """Make the error for code that writes to an array."""
    return UnsupportedArgumentError(
        f"{what} ({caller()}) writes to a Dask array, which is only described yet; write it in "
        "functions that give new arrays, such as np.where and np.concatenate, or compute it first"
    )


def item(array: Any, key: Any) -> Any:
    """Pick elements of a plain Dask array."""
    return array[key]


def lazy(array: Any) -> Any:
    """Make a Dask array one that lies below records; anything else stays."""
    if type(array) is not da.Array:
        return array
    return LazyArray(  # type: ignore[no-untyped-call]  # Dask has no types
        array.dask, array.name, array.chunks, meta=array._meta, shape=array.shape
    )


def plain(array: Any) -> Any:
    """Give the Dask array itself; anything else stays."""
    if type(array) is not LazyArray:
        return array
    return da.Array(array.dask, array.name, array.chunks, meta=array._meta, shape=array.shape)


INSTEAD = "write it in other functions that dask.array has, or compute the array first"


def refused(function: Function, text: str) -> UnsupportedArgumentError:
    """Make the error for a call that cannot be made of Dask arrays; the text names the function."""
    return UnsupportedArgumentError(f"{text.format(called(function))}; {INSTEAD}")


def answer(function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Make a call that Dask arrays are among the arguments of."""
    given, options = plainly(tuple(args)), plainly(dict(kwargs))
    if options.pop("out", None) is not None:
        raise unwritable(called(function))
    known = TABLE.get(function) or counterpart_of(function)
    try:
        if known is not None:
            return sized(lazily(known(*given, **options)), function)
        if ours(function):
            return function._implementation(*args, **kwargs)  # type: ignore[attr-defined]
    except (TapeError, ValueError):
        raise
    except Exception as error:
        if function is item and isinstance(error, IndexError):
            raise
        raise UnsupportedArgumentError(
            f"Dask does not make this call of {called(function)}, of its arrays, so there is none "
            f"of handles of them either ({type(error).__name__}: {error}); {INSTEAD}"
        ) from error
    raise refused(
        function, "Dask has no {} for its arrays, so there is none for handles of them either"
    )


def sized(out: Any, function: Function) -> Any:
    """Refuse results of a shape that depends on values; give others."""
    for each in out if isinstance(out, (list, tuple)) else [out]:
        if any(np.isnan(length) for length in getattr(each, "shape", ())):
            depends = "depends on the values of a Dask array, which are not computed yet"
            raise refused(function, f"the shape of what {{}} gives {depends}")
    return out


def counterpart_of(function: Function) -> Function | None:
    """Find Dask's function of the same name, or how it makes others element by element."""
    if isinstance(function, np.ufunc):
        return functools.partial(computed_in, function)
    facts = facts_of(function)
    if facts.is_elementwise:
        return functools.partial(by_elements, function, facts)
    module, name = getattr(function, "__module__", ""), getattr(function, "__name__", "")
    known = by_facts(function, facts)
    if known is not None and module == "numpy.fft":
        return known  # Dask's own take axes of one chunk alone
    packages = {"numpy": da, "numpy.linalg": da.linalg, "numpy.fft": da.fft}
    found: Function | None = getattr(packages.get(module), name, None)
    if found is not None and known is not None and module == "numpy.linalg":
        return functools.partial(of_one_matrix, found, known)
    return found or known


def of_one_matrix(function: Function, other: Function, *args: Any, **options: Any) -> Any:
    """Call Dask's function, which is of a matrix, or another for stacks of them."""
    arrays = [x for x in args if is_array(x)]
    square = [x for x in arrays if x.ndim == 2 and x.shape[0] == x.shape[1]]
    even = all(x.chunks[0] == x.chunks[1] and len(set(x.chunks[0])) == 1 for x in square)
    if even and not any(x.ndim > 2 for x in arrays):
        with contextlib.suppress(ValueError, NotImplementedError):  # of how they are in chunks
            return function(*args, **options)
    return other(*args, **options)


def by_facts(function: Function, facts: Facts) -> Function | None:
    """Find how a function is computed in chunks, by what is known of it; None if nothing is."""
    if facts.by is not None:
        return functools.partial(by_facts_of_call, function, facts)
    if facts.dtype_by_values:
        return None
    if facts.axis:
        return functools.partial(by_axes, function, facts)
    if facts.body is not None and any(core.single for core in facts.inputs):
        return facts.body
    is_said = bool(facts.signature) and not any(core.is_open for core in facts.inputs)
    return functools.partial(by_cores, function, facts) if is_said else None


def bound_call(function: Function, args: Any, options: Any) -> inspect.BoundArguments:
    """Give the arguments of a call by the names of the parameters, defaults included."""
    bound = call_signature(function).bind(*args, **options)
    bound.apply_defaults()
    return bound


def call_again(function: Function, bound: inspect.BoundArguments, others: Any) -> Any:
    """Make a call with others for some of its arguments, given by name."""
    here = inspect.BoundArguments(bound.signature, bound.arguments | dict(others))
    return function(*here.args, **here.kwargs)


@define(eq=False)
class ChunkCall:
    """A call on chunks in the place of some of its arguments, which Dask knows again for cheap.

    Of a nested function it would make a key by pickling all that is in it.

    Attributes
    ----------
    function : callable
        One that there are facts of, and so the same as long as the program runs.
    bound : inspect.BoundArguments
    names : tuple of str
        Of the arguments that chunks stand for.
    """

    function: Function
    bound: inspect.BoundArguments
    names: tuple[str, ...]

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", "chunk"))

    def __call__(self, *chunks: Any) -> Any:
        """Make the call."""
        return call_again(self.function, self.bound, zip(self.names, chunks, strict=True))

    def __dask_tokenize__(self) -> Any:
        own = called(self.function), id(self.function)
        return own, self.names, normalize_token(dict(self.bound.arguments))


UNTOLD = "the dtype that {} gives cannot be told before its values"


def by_facts_of_call(function: Function, facts: Facts, *args: Any, **options: Any) -> Any:
    """Call a function of which what is known depends on its arguments."""
    bound = bound_call(function, args, options)
    assert facts.by is not None  # noqa: S101 - as `by_facts` has seen
    known = by_facts(function, facts.by(bound.arguments))
    if known is None:
        raise refused(function, "nothing is known of this call of {}")
    return known(*args, **options)


def by_elements(function: Function, facts: Facts, *args: Any, **options: Any) -> Any:
    """Call a function on chunks of its operands that lie at the same places."""
    if not facts.operands:
        return da.core.elemwise(functools.partial(function, **options), *args)
    bound = bound_call(function, args, options)
    names = [name for name in facts.operands if np.ndim(bound.arguments[name])]
    names += [n for n in facts.operands if n not in names and is_array(bound.arguments[n])]
    arrays = [bound.arguments[name] for name in names]
    if any(is_array(x) for name, x in bound.arguments.items() if name not in names):
        raise refused(function, f"{{}} takes Dask arrays for {', '.join(facts.operands)} alone")
    chunk = ChunkCall(function, bound, tuple(names))
    out = da.core.elemwise(chunk, *[x if is_array(x) else np.asarray(x) for x in arrays])
    if out is NotImplemented:  # it was called with made-up numbers to learn the dtype
        raise refused(function, UNTOLD)
    return out


def is_array(x: Any) -> bool:
    """Tell whether something is one of Dask's arrays."""
    return isinstance(x, da.Array)


def by_cores(function: Function, facts: Facts, *args: Any, **options: Any) -> Any:
    """Call a function that mixes elements over last axes, each of which is made one chunk."""
    bound = bound_call(function, args, options)
    operands: dict[str, Any] = {}
    cores: list[tuple[str, ...]] = []
    vector = False
    names = facts.operands or tuple(bound.arguments)[: len(facts.inputs)]
    for i, (name, core) in enumerate(zip(names, facts.inputs, strict=True)):
        x = bound.arguments[name]
        missing = x is None or x is NO_VALUE
        x = x if is_array(x) or missing else np.asarray(x)
        if core.single or missing:
            if is_array(x):
                raise refused(function, f"{{}} takes no Dask array for {name}")
            continue
        if core.optional and x.ndim == core.ndim - 1:
            x, vector = x[..., None], True
        if x.ndim < core.ndim:
            raise refused(function, f"{{}}: {name} is no stack")
        whole: Any = x
        if is_array(x):
            whole = whole.rechunk(dict.fromkeys(range(x.ndim - core.ndim, x.ndim), -1))
        operands[name] = whole
        own = facts.outputs is None  # as the same letters may stand for other lengths
        cores.append(tuple(f"{each}_{i}" if own else each for each in core.names))
    if any(is_array(x) for name, x in bound.arguments.items() if name not in operands):
        raise refused(function, f"{{}} takes Dask arrays for {', '.join(names)} alone")
    chunk, sizes = ChunkCall(function, bound, tuple(operands)), {}
    try:
        made = chunk(*map(made_up, operands.values(), cores, [facts.outputs] * len(cores)))
    except ValueError as error:  # made-up numbers were singular, for one
        raise refused(function, UNTOLD) from error
    if facts.outputs is None:
        outs = [tuple(f"out_{i}" for i in range(made.ndim))]
        sizes = dict(zip(outs[0], made.shape, strict=True))
    else:
        outs = [core.names for core in facts.outputs]
    found = da.apply_gufunc(
        chunk,
        f"{signature_of(cores)}->{signature_of(outs)}",
        *operands.values(),
        output_dtypes=[each.dtype for each in (made if len(outs) > 1 else [made])],
        output_sizes=sizes,
        allow_rechunk=True,
    )
    return found[..., 0] if vector else found


def signature_of(cores: list[tuple[str, ...]]) -> str:
    """Write one side of a signature."""
    return ",".join(f"({','.join(names)})" for names in cores)


def made_up(x: Any, names: tuple[str, ...], outputs: Any) -> Any:
    """Make an operand of which a result tells its dtype, and its shape where nothing else does."""
    if outputs is None:
        return np.ones(x.shape[x.ndim - len(names) :], x.dtype)
    if len(names) == 2:
        return np.eye(2, dtype=x.dtype)
    return np.ones((2,) * len(names), x.dtype)


def by_axes(function: Function, facts: Facts, *args: Any, **options: Any) -> Any:
    """Call a function that mixes elements along axes, each of which is made one chunk."""
    bound = bound_call(function, args, options)
    first, array = next(iter(bound.arguments.items()))
    if any(np.ndim(x) for name, x in bound.arguments.items() if name not in (first, facts.axis)):
        raise refused(function, "{} of a Dask array takes no other arrays")
    axis = bound.arguments[facts.axis]
    lengths = bound.arguments[facts.lengths] if facts.lengths else None
    if axis is None and lengths is not None:
        axis = tuple(range(-np.size(lengths), 0))
    if axis is None and facts.none == "flat" and not bound.arguments.get("keepdims"):
        array, axis = da.ravel(array), 0
    axes = axes_of(array.ndim, axis)
    bound.arguments |= {first: array, facts.axis: axis if axis is not None else axes}
    places = [axis + array.ndim for axis in axes]
    array = array.rechunk(dict.fromkeys(places, -1))
    chunk = ChunkCall(function, bound, (first,))
    ones = [n if i in places else 1 for i, n in enumerate(array.shape)]
    like = chunk(np.ones(ones, array.dtype))
    if np.ndim(like) == array.ndim:
        chunks = [(like.shape[i],) if i in places else each for i, each in enumerate(array.chunks)]
        dropped: list[int] = []
    elif np.ndim(like) == array.ndim - len(places):
        chunks = [each for i, each in enumerate(array.chunks) if i not in places]
        dropped = places
    else:
        raise refused(function, "{} of a Dask array gives another number of axes")
    meta = np.empty((0,) * len(chunks), like.dtype)
    return da.map_blocks(
        chunk, array, chunks=tuple(chunks), drop_axis=dropped, dtype=like.dtype, meta=meta
    )


def computed_in(function: Function, *operands: Any, dtype: Any = None, **options: Any) -> Any:
    """Call a ufunc, in a dtype: Dask computes in that of the operands and casts the result."""
    if dtype is not None and np.dtype(dtype).kind in "fc":
        operands = tuple(x.astype(dtype) if isinstance(x, da.Array) else x for x in operands)
    return function(*operands, **options, **({} if dtype is None else {"dtype": dtype}))


def ours(function: Function) -> bool:
    """Tell whether a function is one of this library's, written in NumPy's."""
    return hasattr(function, "_implementation") and function.__module__.startswith("tape_ad.")


def plainly(tree: Any) -> Any:
    """Give the Dask arrays themselves."""
    return map_leaves(lambda leaf, path: plain(leaf), tree)


def lazily(tree: Any) -> Any:
    """Let results lie below records."""
    if isinstance(tree, (list, tuple)):
        return type(tree)(map(lazily, tree))
    return lazy(tree)


def reduced(reduction: Function) -> Function:
    """Take a ufunc's method to Dask's reduction."""

    def reduce(
        array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **others: Any
    ) -> Any:
        if any(value is not True for value in others.values()):
            raise UnsupportedArgumentError(
                f"Dask's {reduction.__name__} has no {', '.join(others)}; write np.where(...) "
                "around the array"
            )
        options = {} if dtype is None else {"dtype": dtype}
        out = reduction(array, axis=axis if array.ndim else None, keepdims=keepdims, **options)
        return out if out.size else da.zeros(out.shape, dtype=out.dtype)

    return reduce


def accumulated(function: Function) -> Function:
    """Take a ufunc's method to Dask's function of all sums or products so far."""

    def accumulate(array: Any, axis: int = 0, dtype: Any = None) -> Any:
        return function(array if array.ndim else array[None], axis=axis, dtype=dtype)

    return accumulate


def reshaped(array: Any, shape: Any, order: str = "C", **_: Any) -> Any:
    """Reshape a lazy array in C order."""
    if order not in ("C", "A", "K"):
        raise UnsupportedArgumentError("Dask reshapes in C's order alone; leave order= away")
    if array.size == 0:
        return da.zeros(np.empty(array.shape, bool).reshape(shape).shape, dtype=array.dtype)
    shape = (shape,) if isinstance(shape, int) else shape
    try:
        return da.reshape(array, shape)
    except NotImplementedError:  # lengths that neither merge nor split evenly
        return da.reshape(da.reshape(array, (array.size,)), shape)


def joined(function: Function) -> Function:
    """Let NumPy's `stack` and `concatenate` take the dtype that they have beside Dask's."""

    def join(
        arrays: Any, axis: Any = 0, *, dtype: Any = None, casting: str = "same_kind", **options: Any
    ) -> Any:
        parts = [each if isinstance(each, da.Array) else da.asarray(each) for each in arrays]
        if axis is None:
            parts, axis = [da.ravel(part) for part in parts], 0
        out = function(parts, axis, **options)
        return out if dtype is None else out.astype(dtype, casting=casting)

    return join


def broadcast(array: Any, shape: Any, **_: Any) -> Any:
    """Broadcast to a shape, which may be one number."""
    return da.broadcast_to(array, (shape,) if isinstance(shape, int) else shape)


def contracted(*arrays: Any, inputs: Any, output: str, **_: Any) -> Any:
    """Multiply and add up, by Einstein's convention."""
    return da.einsum(f"{','.join(inputs)}->{output}", *arrays)


def raveled(array: Any, order: str = "C") -> Any:
    """Flatten a lazy array in C order."""
    return reshaped(array, (array.size,), order)


def taken(array: Any, indices: Any, axis: Any = None, mode: str = "raise", **_: Any) -> Any:
    """Take elements along an axis."""
    if mode != "raise":
        raise UnsupportedArgumentError(f"Dask's take has no mode={mode!r}; leave mode= away")
    array, axis = (raveled(array), 0) if axis is None else (array, axis)
    indices = np.asarray(indices)
    return picked(array, (slice(None),) * (axis % max(array.ndim, 1)) + (indices,))


def padded(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """Pad, but not where Dask's values are others than NumPy's."""
    if callable(mode) or options.get("reflect_type", "even") != "even":
        raise UnsupportedArgumentError(
            "Dask pads by copies of elements and constants alone; leave reflect_type= away"
        )
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))
    if mode in ("reflect", "symmetric", "wrap"):
        for length, width in zip(array.shape, widths.max(-1), strict=True):
            if width > length - (mode == "reflect"):
                raise UnsupportedArgumentError(
                    f"Dask pads an axis of {length} by no more than its elements with mode={mode!r}"
                )
    return da.pad(array, pad_width, mode, **options)


def added(total: Any, ct: Any, linear: Any) -> Any:
    """Add what a map pulls."""
    return total + plain(linear.pull(lazy(ct)))


def picked(array: Any, key: Any) -> Any:
    """Pick elements: by slices and one array in Dask's way, else of the whole array at once."""
    entries = tuple(map(as_entry, key if isinstance(key, tuple) else (key,)))
    arrays = [entry for entry in entries if isinstance(entry, np.ndarray)]
    if any(isinstance(entry, da.Array) for entry in entries):
        raise unknown("an index")
    shape = np.broadcast_to(np.empty((), bool), array.shape)[entries].shape
    rest = [entry for entry in entries if not isinstance(entry, np.ndarray)]
    alone = len(arrays) == 1 and arrays[0].ndim == 1 and not any(map(is_advanced, rest))
    if alone or not (arrays or any(isinstance(entry, bool) for entry in rest)):
        return item(array, entries)
    return at_once(lambda whole: whole[entries], shape, array)


def as_entry(entry: Any) -> Any:
    """Take lists in a key to arrays, and NumPy's numbers to Python's."""
    if isinstance(entry, list):
        entry = np.asarray(entry) if entry else np.empty(0, int)
    scalar = isinstance(entry, (np.ndarray, np.generic)) and entry.ndim == 0
    return entry.item() if scalar else entry


def is_advanced(entry: Any) -> bool:
    """Tell whether an entry beside an array has a say in where the array's axes go."""
    return entry is None or isinstance(entry, int)


def scattered(ct: Any, index: Index) -> Any:
    """Add elements into zeros: beside what slices pick are zeros, and else all is done at once."""
    stack = ct.ndim - len(index.node)
    entries = index.key
    if not all(entry is None or isinstance(entry, (int, slice)) for entry in entries):
        shape = ct.shape[:stack] + index.parent
        return at_once(lambda whole: scatter(whole, index), shape, ct)
    axis = stack
    for entry in entries:
        if entry is None:
            ct = da.squeeze(ct, axis)
            continue
        places = range(index.parent[axis - stack])
        if isinstance(entry, int):
            ct = da.expand_dims(ct, axis)
            places_picked = places[entry : entry + 1] if entry >= 0 else places[entry:][:1]
        else:
            places_picked = places[entry]
        ct = spread(ct, axis, places_picked, len(places))
        axis += 1
    return ct


def spread(ct: Any, axis: int, places: range, length: int) -> Any:
    """Put what stands along an axis to its places among zeros."""
    if places.step < 0:
        ct, places = da.flip(ct, axis), places[::-1]
    if places.step > 1 and len(places) > 1:
        between = [*ct.shape[: axis + 1], places.step - 1, *ct.shape[axis + 1 :]]
        gaps = da.zeros(between, dtype=ct.dtype)
        ct = da.concatenate([da.expand_dims(ct, axis + 1), gaps], axis + 1)
        ct = ct.reshape([*between[:axis], between[axis] * places.step, *between[axis + 2 :]])
        ct = ct[(slice(None),) * axis + (slice(0, places[-1] - places[0] + 1),)]
    first, stop = (places[0], places[-1] + 1) if len(places) else (0, 0)
    if (first, stop) == (0, length):
        return ct
    parts = [
        da.zeros((*ct.shape[:axis], count, *ct.shape[axis + 1 :]), dtype=ct.dtype)
        for count in (first, length - stop)
    ]
    return da.concatenate([parts[0], ct, parts[1]], axis)


def at_once(function: Function, shape: tuple[int, ...], array: Any) -> Any:
    """Call a function of a whole array, in one task."""
    whole = array.rechunk(-1)
    meta = np.empty((0,) * len(shape), array.dtype)
    return (
        da.map_blocks(
            function,
            whole,
            chunks=tuple((n,) for n in shape),
            dtype=array.dtype,
            meta=meta,
            drop_axis=list(range(array.ndim)),
            new_axis=list(range(len(shape))),
        )
        if array.ndim or shape
        else array
    )


def solved(a: Any, b: Any, axis: int) -> Any:
    """Solve a recurrence along an axis, which is made one chunk."""
    a, b = da.asarray(a), da.asarray(b).rechunk({axis % b.ndim: -1})
    lengths = b.shape[: b.ndim - a.ndim] + a.shape
    chunks = list(b.chunks)
    chunks[axis] = (lengths[axis],)
    a = da.broadcast_to(a, lengths).rechunk(tuple(chunks))
    dtype = np.result_type(a, b)
    options = {"dtype": dtype, "meta": np.empty((0,) * b.ndim, dtype)}
    return da.map_blocks(recurrence, a, b, axis, chunks=b.chunks, **options)


TABLE: dict[Any, Function] = {
    np.add.reduce: reduced(da.sum),
    np.multiply.reduce: reduced(da.prod),
    np.maximum.reduce: reduced(da.max),
    np.minimum.reduce: reduced(da.min),
    np.logical_and.reduce: reduced(da.all),
    np.logical_or.reduce: reduced(da.any),
    np.add.accumulate: accumulated(da.cumsum),
    np.multiply.accumulate: accumulated(da.cumprod),
    np.reshape: reshaped,
    np.pad: padded,
    np.stack: joined(da.stack),
    np.concatenate: joined(da.concatenate),
    np.hstack: joined(da.hstack),
    np.vstack: joined(da.vstack),
    np.broadcast_to: broadcast,
    np.copy: lambda array, *_, **__: array,
    contract: contracted,
    item: picked,
    added_at: added,
    np.ravel: raveled,
    recurrence: solved,
    np.take: taken,
    scatter: scattered,
}
"""How calls are made that Dask has under another name, or with other arguments. The methods of
ufuncs are compared by ``==``, as each time that one is asked for it is another object."""
