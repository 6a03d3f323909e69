"""The one dispatch, from a NumPy call to a node of a record.

A call is computed, its rule makes the partials, and `ComputationRecord.note` appends the node. The
general way is `record_general`; the others do the same for what most calls are, in fewer steps
(docs/performance.md says what each of them saves).
"""

from collections.abc import Callable, Iterable, Mapping
from operator import getitem
from typing import Any

import numpy as np

from tape_ad.base.arrays.interpreter import NO_OPTIONS, call, is_box, unwrapped, with_plain_ends
from tape_ad.base.errors import UnsupportedArgumentError
from tape_ad.base.naming import called, function_name
from tape_ad.base.trees import flatten, map_leaves
from tape_ad.record.arena import CONSTANT, arrays_in, shown_by
from tape_ad.record.call_metadata import (
    ARRAY,
    HANDLE,
    beside_several,
    taken_down,
    unary_metadata,
)
from tape_ad.record.constants import as_constants, gives_constants
from tape_ad.record.creation import created
from tape_ad.record.messages.libraries import answer_to_scipy, in_a_library
from tape_ad.record.messages.refusals import (
    misplaced_handle,
    no_derivative,
    no_implementation,
    note_call,
    plain_output,
    raise_misnamed,
    raise_with_name,
)
from tape_ad.record.mutation import (
    assign,
    assign_outputs,
    change,
    in_dtype_of,
    linked,
    refuse_to_write,
    replace,
)
from tape_ad.record.operands import (
    as_computed_with,
    beside_sparse,
    common_record,
    computed,
    defers_to_other_type,
    meets_sparse,
    partition_operands,
    partition_operands_slow,
    single_candidate,
    takes_operators,
    without_wrapping,
)
from tape_ad.record.primals import PLAIN_TYPES, is_view, primal, read_only_primal
from tape_ad.record.tensor import Tensor
from tape_ad.record.ties import (
    EQUALITIES,
    TRIMMING,
    TRUTHS,
    look_at_trimmed,
    truth_with_ties,
    with_ties,
)
from tape_ad.rules import FAST_RULES, entry_of
from tape_ad.rules.base import Constant, Derivation, Entry, Filled, Rule, refuse
from tape_ad.rules.maps import Array, Chain, Index
from tape_ad.rules.maps.memory import Window
from tape_ad.rules.numpy.indexing import filled_key

# Calls that add no node of their own, and what is plain data

ndarray = np.ndarray
float64 = np.float64

Function = Callable[..., Any]
Options = Mapping[str, Any]


def call_unrecorded(
    function: Function, entry: Entry, args: tuple[Any, ...], kwargs: Options
) -> Any:
    """Run a function that adds no node of its own: a derivation, or a piecewise constant one."""
    if type(entry) is Derivation:
        if entry.signature is not None:
            args, kwargs = entry.signature(*args, **kwargs)
        try:
            return entry.compute(*args, **kwargs)
        except (ValueError, IndexError) as error:
            note_call(function, args, error)
            raise
    if type(entry) is Constant:
        if defers_to_other_type(function, args):
            return NotImplemented
        if function is np.isnan:
            answer_to_scipy("isnan", args[0])
        return constant_value(function, args, kwargs)
    if type(entry) is Filled:
        record: Any = common_record(function, args)
        filled = function(*map_leaves(primal, args), **map_leaves(primal, kwargs))
        return record.note(CONSTANT, args, kwargs, filled) if filled.dtype.kind in "fc" else filled
    refused: Any = entry
    raise UnsupportedArgumentError(f"{in_a_library()}{called(function)}: {refused.instead}")


def constant_value(function: Function, args: tuple[Any, ...], kwargs: Options) -> Any:
    """Run a piecewise constant function on the primals, which it must not write to."""
    try:
        if isinstance(function, np.ufunc):  # which writes to nothing without out=
            values = list(map(primal, args))
            if not PLAIN_TYPES.issuperset(map(type, values)):
                values = list(map(without_wrapping, values))
            out = function(*values, **kwargs)
            if function in EQUALITIES:
                return with_ties(function, out, *args)
        else:
            args_below, kwargs_below = map_leaves(read_only_primal, (args, dict(kwargs)))
            out = function(*args_below, **kwargs_below)
        return truth_with_ties(function, out, args, kwargs) if function in TRUTHS else out
    except ValueError as error:
        if "read-only" in str(error):
            refuse(function_name(function), out="by position")
        raise_with_name(function, args, error)


def checked_constant(function: Function, out: Any) -> Any:
    """Give a result that has no derivative, if it is numbers."""
    if type(out) is not tuple and out.dtype.kind not in "biu":
        raise no_derivative(function, out.dtype)
    return out


def check_ufunc_options(function: Function, options: Options) -> None:
    """Refuse the keyword arguments of a ufunc that its rule knows nothing of."""
    for name in options.keys() - {"dtype", "casting", "order", "subok", "signature"}:
        refuse(function_name(function), **{name: options[name]})


# The one dispatch, from a NumPy call to a node of a record


Call = tuple[Function, tuple[Any, ...], Options]

straight_makers = FAST_RULES.get
COMPARISONS = frozenset(
    {np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal}
)
HANDLELESS = PLAIN_TYPES | {type(None), type(...), bool, str, type, np.dtype, Window}
"""The types of operands and options that are no arrays of ours, nor hold any."""

ARRAYLESS = HANDLELESS - {ndarray} | {Tensor, tuple, list}
"""The types of operands that show no plain array of their own."""

SPECIAL = frozenset({"out", "dtype", "signature", "where"})
"""The options that are seen to before a rule is asked."""

FEW = 1000
"""So many arguments, with what is in lists among them, are looked at in passing."""


def record_call(function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS) -> Any:
    """Compute a function, and record it where its arguments hold handles.

    It is recorded on the innermost record among the handles; handles of enclosing records are
    constants there, and the computation itself, being NumPy calls on them, is recorded on theirs.

    Parameters
    ----------
    function : callable
        A NumPy function, a ufunc or one of its methods, or one of ours with an entry in the rules.
    args, kwargs
        As the user called it.

    Returns
    -------
    Tensor, or plain data where the function is piecewise constant

    Raises
    ------
    NoRuleError, RecordMismatchError, ShapeError
    TypeError
        When an operand is an array of another library, with an arithmetic of its own.
    """
    out = answer(function, args, kwargs)
    if out is NotImplemented:
        raise no_implementation(function, args)
    return out


def answer(  # noqa: PLR0912 - straight lines
    function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS
) -> Any:
    """Compute and record a call; NotImplemented where another library is to have the say.

    Where there are handles of one record, and nothing else that is no plain operand, nobody has to
    look for whose call it is.
    """
    record = None
    leaves: Any = [*args, *kwargs.values()] if kwargs else [*args]
    for x in leaves:  # which grows
        kind = type(x)
        if kind is Tensor:
            if record is None:
                record = x.record
            elif x.record is not record:
                break
        elif kind in HANDLELESS:
            continue
        elif kind is tuple or kind is list:
            if not HANDLELESS.issuperset(map(type, x)):
                if len(leaves) > FEW:
                    break
                leaves += x
        elif kind is slice:
            leaves += (x.start, x.stop, x.step)
        elif kind is Index:  # in a derivative of second order
            leaves += x.key
        else:
            break
    else:
        if record is not None:
            if kwargs or function not in FAST_RULES:
                if record.ambient is not None:
                    return recorded(function, args, kwargs, record.ambient)
                out = record_any(function, args, kwargs)
                asked = type(out) is not Tensor and gives_constants(args, kwargs)
                return as_constants(out) if asked else out
            if len(args) > 2:
                return record_several(function, args, record.ambient)
            return record_one(function, *args) if len(args) == 1 else record_two(function, *args)
    if len(args) == 2 and function in FAST_RULES and meets_sparse(function, *args):
        return beside_sparse(function, *args, record_two)
    return call(function, args, kwargs, recorded)


def recorded(
    function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS, ambient: Any = None
) -> Any:
    """Compute and record a call that is known to be a record's.

    What has no derivative is a constant where the record is asked for its namespace.

    Parameters
    ----------
    function : callable
    args, kwargs
        As the user called it.
    ambient : Capture, optional
        The one that the record was made in, which plain arrays belong to.
    """
    if ambient is not None:
        args, kwargs = ambient.lift(args), ambient.lift(kwargs)
    out = record_any(function, args, kwargs)
    asked = type(out) is not Tensor and gives_constants(args, kwargs)
    return as_constants(out) if asked else out


def record_one(function: Function, x: Any) -> Any:
    """Compute and record a function of one operand: in straight lines, if that is a handle."""
    makers = straight_makers(function)
    if makers is None:
        return recorded(function, (x,), NO_OPTIONS, x.record.ambient)
    data = x.data
    try:
        out = function(data)
        partial = makers[0](out, data)
    except ValueError as error:
        raise_with_name(function, (x,), error)
    return x.record.note(function, (x,), NO_OPTIONS, out, x.index, partial)


def record_two(  # noqa: PLR0911, PLR0912, PLR0915 - straight lines
    function: Function, x: Any, y: Any
) -> Any:
    """Compute and record a function of two operands: in straight lines, where most calls go."""
    makers = straight_makers(function)
    x_kind, y_kind = type(x), type(y)
    if makers is None:
        if function in COMPARISONS and x_kind is Tensor and y_kind in PLAIN_TYPES:
            out = function(x.data, y)  # plain data, for which nothing is looked up
            if function in EQUALITIES:
                out = with_ties(function, out, x, y)
            if x.record.namespaced and gives_constants((x,), NO_OPTIONS):
                return as_constants(out)
            return out
        if x_kind is y_kind and x.record is y.record:
            return recorded(function, (x, y), NO_OPTIONS, x.record.ambient)
        return record_binary_slow(function, x, y)
    parents: Any
    partials: Any
    array = None  # among the operands
    try:
        if x_kind is y_kind:
            record = x.record
            if y.record is not record:
                return record_nested(function, x, y)
            data, other = x.data, y.data
            out = function(data, other)
            parents = x.index, y.index
            first, second = makers
            partials = first(out, data, other), second(out, data, other)
            beside = None
        elif y_kind in PLAIN_TYPES:
            record, data, parents = x.record, x.data, x.index
            if y_kind is ndarray:
                array, beside = y, (HANDLE, (ARRAY, y.shape, y.dtype))
            else:
                beside = HANDLE, y
            if record.ambient is not None and type(data) not in PLAIN_TYPES:
                array, y = None, record.ambient.lift(y)
            out = function(data, y)
            partials = makers[0](out, data, y)
        elif x_kind in PLAIN_TYPES:
            record, data, parents = y.record, y.data, y.index
            if x_kind is ndarray:
                array, beside = x, ((ARRAY, x.shape, x.dtype), HANDLE)
            else:
                beside = x, HANDLE
            if record.ambient is not None and type(data) not in PLAIN_TYPES:
                array, x = None, record.ambient.lift(x)
            out = function(x, data)
            partials = makers[1](out, x, data)
        else:
            return record_nested(function, x, y)
    except ValueError as error:
        raise_with_name(function, (x, y), error)
    handle = record.note(function, (x, y), NO_OPTIONS, out, parents, partials, None, beside)
    if array is not None:
        held = getattr(partials, "kept", partials)
        if held is array:
            record.keep(handle.index, array)
        elif held is not None and (type(held) is not ndarray or held.base is not None):
            keep_operands(handle, (partials,), (array,))
    return handle


def record_nested(function: Function, x: Any, y: Any) -> Any:
    """Compute and record an operator of a handle and a constant that an outer interpreter has.

    It is a handle of an outer record, or an array of the capture that the record was made in: then
    nobody has to look for whose call it is. Everything else goes the long way.
    """
    first = type(x) is Tensor and (type(y) is not Tensor or x.record.level > y.record.level)
    handle, constant = (x, y) if first else (y, x)
    record, index, data = handle.record, handle.index, handle.data  # of one time
    if type(constant) is Tensor and record.is_within(constant.record):
        held = constant.snapshot()
    elif record.ambient is not None and is_box(constant) and constant.interpreter is record.ambient:
        held = constant
    else:
        return record_binary_slow(function, x, y)
    one, two = (data, held) if first else (held, data)
    try:
        below = type(one) is Tensor or type(two) is Tensor  # so that NumPy would ask it
        out = record_two(function, one, two) if below else function(one, two)
        partial = FAST_RULES[function][0 if first else 1](out, one, two)
    except ValueError as error:
        raise_with_name(function, (x, y), error)
    shown = taken_down(record, constant)
    beside = (HANDLE, shown) if first else (shown, HANDLE)
    node = record.note(function, (x, y), NO_OPTIONS, out, index, partial, None, beside)
    if held is constant:  # a handle shows no array of its own
        keep_operands(node, (partial,), (x, y))
    return node


def record_binary_slow(function: Function, x: Any, y: Any) -> Any:
    """Compute and record an operator with an operand of any kind.

    NEP 13 has two ways for arrays with an arithmetic of their own: an operator leaves the whole of
    it to those that take part in no ufunc, and calls the ufunc for others, which are asked then.
    """
    if meets_sparse(function, x, y):
        return beside_sparse(function, x, y, record_two)
    if not defers_to_other_type(function, (x, y)):
        return call(function, (x, y), NO_OPTIONS, recorded)
    outside = any(takes_operators(type(each)) for each in (x, y))
    return NotImplemented if outside else function(x, y)


def record_several(function: Function, args: tuple[Any, ...], ambient: Any) -> Any:
    """Compute and record a function of three and more operands, without options."""
    if ambient is not None:
        args = ambient.lift(args)
    record: Any = None
    handles, parents, partials = [], [], []
    values, beside = [*args], [*args]
    for place, x in enumerate(args):
        kind = type(x)
        if kind is Tensor and (record is None or x.record is record):
            record, values[place], beside[place] = x.record, x.data, HANDLE
            handles.append((place, x.index))
        elif kind is ndarray:
            beside[place] = ARRAY, x.shape, x.dtype
        elif kind not in PLAIN_TYPES:
            return record_any(function, args)
    try:
        known = PLAIN_TYPES.issuperset(map(type, values))  # so nothing has to be looked for again
        out = (getattr(function, "_implementation", function) if known else function)(*values)
        makers = FAST_RULES[function]
        for place, index in handles:
            parents.append(index)
            partials.append(makers[place](out, *values))
    except ValueError as error:
        raise_with_name(function, args, error)
    handle = record.note(function, args, NO_OPTIONS, out, parents, partials, None, tuple(beside))
    if len(parents) < len(args):
        keep_operands(handle, partials, args)
    return handle


def keep_operands(handle: Any, partials: Iterable[Any], operands: tuple[Any, ...]) -> None:
    """Let a record look after the plain operands that the partials of a node hold as given."""
    for partial in partials:
        held = getattr(partial, "kept", partial)
        if held is None:
            continue
        if type(held) is Chain:
            keep_operands(handle, held.maps, operands)
            continue
        if type(held) is ndarray:
            for each in operands:
                if each is held:
                    handle.record.keep(handle.index, held)
                    break
            else:
                if held.base is not None:
                    keep_shared(handle, [held], operands)
        else:
            keep_shared(handle, arrays_in(held), operands)


def keep_shared(handle: Any, held: list[Any], operands: tuple[Any, ...]) -> None:
    """Let a record look after the operands that share memory with what a partial holds."""
    for operand in operands:
        if type(operand) in ARRAYLESS:
            continue
        each = operand if type(operand) is ndarray else shown_by(operand)
        if not isinstance(each, ndarray):
            continue
        for array in held:
            if array is each or may_share_memory(array, each):
                handle.record.keep(handle.index, each)
                break


may_share: Callable[..., bool] = np.may_share_memory  # whose stub knows no other efforts
EFFORT = 100
"""How hard it is looked for whether arrays have memory together; columns of a matrix have none."""


def may_share_memory(one: Any, other: Any) -> bool:
    """Tell whether two arrays may share memory, as two that own theirs do not."""
    apart = one.base is other.base is None
    return not apart and may_share(one, other, max_work=EFFORT)


def record_item(x: Any, key: Any) -> Any:
    """Compute and record ``x[key]``: in straight lines for keys without arrays."""
    for each in key if type(key) is tuple else (key,):
        if type(each) is slice and not (
            ((end := each.start) is None or type(end) is int)
            and ((end := each.stop) is None or type(end) is int)
            and ((end := each.step) is None or type(end) is int)
        ):
            key = with_plain_ends(unwrapped(key))
            break
    record, index, data = x.record, x.index, x.data  # of one time: no call comes between
    filled = filled_key(key, data.ndim)
    if filled is None:
        return answer(getitem, (x, key))
    try:
        out = data[key]
        partial = Index(filled, data.shape, out.shape)
        handle = record.note(getitem, (x, key), NO_OPTIONS, out, index, partial)
    except ValueError as error:
        raise_with_name(getitem, (x,), error)
    kind = type(out)
    view = kind is not float64 and ((kind is ndarray and out.base is data) or is_view(out, data))
    if view and not linked(handle, x, index):  # it was written to meanwhile
        return record_item(x, key)
    return handle


def record_any(function: Function, args: tuple[Any, ...], kwargs: Options = NO_OPTIONS) -> Any:
    """Compute and record any call at all."""
    entry = entry_of(function)
    if kwargs and not SPECIAL.isdisjoint(kwargs):
        if "out" in kwargs:
            return record_output_into(function, entry, args, kwargs)
        if "dtype" in kwargs or "signature" in kwargs:
            args = as_computed_with(function, args, kwargs)
        if "where" in kwargs and isinstance(function, np.ufunc):
            return record_where(function, args, kwargs, (None,) * function.nout)
    if function in TRIMMING:
        look_at_trimmed(function, args, kwargs)
    if type(entry) is Rule:
        return record_general(function, entry, args, kwargs)
    return call_unrecorded(function, entry, args, kwargs)


def record_general(function: Function, rule: Rule, args: tuple[Any, ...], kwargs: Options) -> Any:
    """Compute and record a call with any number of operands, options, records and array-likes."""
    operands, options, call_options = args, NO_OPTIONS, kwargs
    if rule.signature is not None:
        try:
            operands, options = rule.signature(*args, **kwargs)
        except TypeError as error:
            raise_misnamed(function, error)
        call_options = options
        if Tensor in map(type, options.values()):
            raise misplaced_handle(function)
    elif kwargs:
        check_ufunc_options(function, kwargs)
    call = function, args, kwargs
    place = None if rule.multiple else 0 if len(operands) == 1 else single_candidate(operands)
    if place is not None and type(operands[place]) is Tensor:
        return record_lone(call, rule, operands, place, options, call_options)
    apart = partition_operands(operands)
    if apart is None and defers_to_other_type(function, operands):
        return NotImplemented
    record, handles, values = apart or partition_operands_slow(function, operands)
    out, saved = computed(function, rule, values, call_options)
    if not rule.multiple:
        given = saved, *values
        return record_output(record, call, rule, operands, handles, out, given, options)
    nodes = [
        record_output(record, call, rule, operands, handles, each, (i, out, *values), options, i)
        for i, each in enumerate(out)
    ]
    return out._make(nodes) if hasattr(out, "_make") else type(out)(nodes)


def record_lone(
    call: Call,
    rule: Rule,
    operands: tuple[Any, ...],
    place: int,
    options: Options,
    call_options: Options,
) -> Any:
    """Compute and record a call of one handle among plain operands, with one output."""
    function, args, kwargs = call
    x = operands[place]
    record, index, data = x.record, x.index, x.data  # of one time: no call comes between
    if len(operands) == 1:
        values: tuple[Any, ...] = (data,)
    else:
        values = (*operands[:place], data, *operands[place + 1 :])
    compute = rule.compute or function
    if type(data) in PLAIN_TYPES:  # so that nothing has to be looked for again
        compute = getattr(compute, "_implementation", compute)
    try:
        out = saved = compute(*values, **call_options)
    except ValueError as error:
        raise_with_name(function, values, error)
    if rule.saves:
        out, saved = out
    if type(out) is tuple or out.dtype.kind not in "fc":
        return checked_constant(function, out)
    if rule.variadic is not None:
        (partial,) = rule.variadic((place,), saved, *values, **options)
    elif (maker := rule.makers[place]) is not None:
        partial = maker(saved, *values, **options)
    else:
        return out
    if partial is None:
        return record.note(CONSTANT, (), NO_OPTIONS, out) if out.size == 0 else out
    beside = unary_metadata(x, args, kwargs) if kwargs or len(args) > 1 else None
    handle = record.note(function, args, kwargs, out, index, partial, None, beside)
    if len(operands) > 1:
        keep_operands(handle, (partial,), operands)
    kind = type(out)
    view = kind is not float64 and ((kind is ndarray and out.base is data) or is_view(out, data))
    if view and not linked(handle, x, index):  # it was written to meanwhile
        return record_lone(call, rule, operands, place, options, call_options)
    return handle


def record_output(
    record: Any,
    call: Call,
    rule: Rule,
    operands: tuple[Any, ...],
    handles: list[tuple[int, Tensor]],
    out: Array,
    arguments: tuple[Any, ...],
    options: Options,
    output: int | None = None,
) -> Any:
    """Record one output of a call, unless no operand has a partial or the output is no number.

    `handles` has the operands that are handles of the record, each behind its position, and
    `arguments` are what the rule's makers take besides the options.
    """
    if type(out) is tuple or out.dtype.kind not in "fc":
        return checked_constant(call[0], out)
    parents, partials = [], []
    made: Any = None
    if rule.variadic is not None:
        made = iter(rule.variadic([position for position, _ in handles], *arguments, **options))
    for position, x in handles:
        if made is None:
            maker = rule.makers[position]
            partial = maker and maker(*arguments, **options)
        else:
            partial = next(made)
        if partial is not None:
            parents.append(x.index)
            partials.append(partial)
    if not parents:  # an array without elements depends on nothing, and is a handle all the same
        empty = output is None and bool(handles) and out.size == 0
        return record.note(CONSTANT, (), NO_OPTIONS, out) if empty else out
    beside = beside_several(record, parents, call[1], call[2])
    handle = record.note(*call, out, parents, partials, output, beside)
    if len(handles) < len(operands):
        keep_operands(handle, partials, operands)
    for _, x in handles:
        if is_view(out, x.data):
            linked(handle, x, x.index)
    return handle


def record_output_into(
    function: Function, entry: Entry, args: tuple[Any, ...], kwargs: Options
) -> Any:
    """Compute and record a call with ``out=``: assign the result to that handle.

    Raises
    ------
    InPlaceError
        When a plain array is given, which cannot hold a gradient.
    """
    options = dict(kwargs)
    out = options.pop("out")
    outs = out if isinstance(out, tuple) else (out,)
    if any(each is not None and type(each) is not Tensor for each in outs):
        if type(entry) is Constant:  # which has no gradient to drop
            return function(*map_leaves(primal, args), **map_leaves(primal, kwargs))
        raise plain_output(function)
    given = [each for each in outs if each is not None]
    for target in given:
        refuse_to_write(target, "give out= a handle with memory of its own, or leave it out")
        args = in_dtype_of(target, function, args, options)
    if "where" in options and given and isinstance(function, np.ufunc):
        results = record_where(function, args, options, outs)
    elif any(type(leaf) is Tensor for leaf in flatten((args, options))):
        results = record_any(function, args, options)
    else:
        results = function(*args, **options)
    if not given or results is NotImplemented:
        return results
    return assign_outputs(function, out, results, replace)


def plain_call(function: Function, args: tuple[Any, ...], kwargs: Options) -> Any:
    """Call a function that has been given no handle but the one to write into."""
    return function(*args, **kwargs)


def record_where(
    function: Function, args: tuple[Any, ...], kwargs: Options, outs: tuple[Any, ...]
) -> Any:
    """Compute and record a ufunc with ``where=``.

    Elsewhere it leaves what is in `outs`, or 0, as NumPy leaves what happens to be in memory.
    """
    options = dict(kwargs)
    where = options.pop("where")
    call = record_call if Tensor in map(type, args) else plain_call
    if where is True or where is np.True_:
        return call(function, args, options)
    with np.errstate(all="ignore"):  # NumPy does not calculate there at all
        result = call(function, args, options)
    others = [0 if out is None else out for out in outs]
    if not isinstance(result, tuple):
        return np.where(where, result, others[0])
    return tuple(np.where(where, *pair) for pair in zip(result, others, strict=True))


Tensor.answer_with(
    call=record_call,
    answer=answer,
    one=record_one,
    two=record_two,
    item=record_item,
    assign=assign,
    change=change,
)
Tensor._create = staticmethod(created)
