"""What programs for HIPS autograd extend it with: primitives, their rules, and boxes.

A rule there is made of *makers*: ``maker(result, *args)`` gives the map from a cotangent of the
result to that of one argument. Such cotangents are the conjugates of ours, see
`spaces.conjugated`.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NoReturn

from attrs import define

from tape_ad import Tensor
from tape_ad.errors import NoModeError, OutputError, UnsupportedArgumentError
from tape_ad.extend.arrays import PLAIN_TYPES, Array, foreign
from tape_ad.extend.packages import called
from tape_ad.extend.trees import flatten, map_leaves
from tape_ad.interop.autograd.spaces import (
    SparseObject,
    VSpace,
    conjugated,
    number_of,
    plain,
    value_of,
    vspace,
)
from tape_ad.transforms.blocks import Use, block
from tape_ad.transforms.custom_rules import Custom

__all__ = [
    "Box",
    "SparseObject",
    "UndefinedDerivativeError",
    "VSpace",
    "def_linear",
    "defjvp",
    "defjvp_argnum",
    "defjvp_argnums",
    "defvjp",
    "defvjp_argnum",
    "defvjp_argnums",
    "getval",
    "isbox",
    "notrace_primitive",
    "primitive",
    "subval",
    "subvals",
    "vspace",
]


def subvals(x: Iterable[Any], ivs: Iterable[tuple[int, Any]]) -> tuple[Any, ...]:
    """Give a tuple like `x` with other values at some positions."""
    values = list(x)
    for i, value in ivs:
        values[i] = value
    return tuple(values)


def subval(x: Iterable[Any], i: int, v: Any) -> tuple[Any, ...]:
    """Give a tuple like `x` with another value at one position."""
    return subvals(x, [(i, v)])


Function = Callable[..., Any]


class UndefinedDerivativeError(NoModeError, NotImplementedError):
    """A primitive has no VJP or JVP for an argument that it was called with."""


@define(eq=False)
class Primitive:
    """The block behind a primitive: its function, and what was defined of it."""

    keeps_output: ClassVar[bool] = True
    function: Function
    vjp: Function | None = None
    jvp: Function | None = None

    def run(self, *args: Any, **kwargs: Any) -> tuple[Any, None]:
        """Call the function, on numbers where it was given numbers."""
        return foreign(self.function, map_leaves(number_of, args), kwargs), None

    def pull(self, use: Use, cotangents: Any, stack: tuple[int, ...], chosen: bool) -> list[Any]:
        """Pull with what the program has defined."""
        argnums = argnums_of(use)
        if self.vjp is None:
            raise self.undefined("VJP", argnums)
        one = functools.partial(self.pulled, self.vjp, argnums)
        custom = Custom(self.function, one, None, None, False)
        return custom.pull(use, cotangents, stack, chosen)

    def pulled(
        self, vjp: Function, argnums: Sequence[int], g: Any, ans: Any, *args: Any, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Pull one cotangent, to those of all arguments."""
        values = map_leaves(number_of, args)
        made = vjp(argnums, map_leaves(number_of, ans), values, kwargs)
        found: list[Any] = [None] * len(args)
        pulled = tuple(made(conjugated(map_leaves(number_of, g))))
        if len(pulled) != len(argnums):
            raise OutputError(
                f"the VJP of {called(self.function)} gave {len(pulled)} cotangents for the "
                f"{len(argnums)} arguments that it was asked for"
            )
        for argnum, ct in zip(argnums, pulled, strict=True):
            found[argnum] = conjugated(ct.dense() if isinstance(ct, SparseObject) else ct)
        return tuple(found)

    def push(self, use: Use, position: int, tangent: Array, stack: tuple[int, ...]) -> Any:
        """Push with what the program has defined."""
        counts = itertools.accumulate(len(flatten(arg)) for arg in use.arguments(use.values)[0])
        argnum = next(i for i, end in enumerate(counts) if use.slots[position] < end)
        if self.jvp is None:
            raise self.undefined("JVP", (argnum,))
        one = functools.partial(self.pushed, self.jvp, argnum)
        return Custom(self.function, None, one, None, False).push(use, position, tangent, stack)

    def pushed(
        self, jvp: Function, argnum: int, tangents: Any, ans: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """Push the tangent of one argument."""
        values = map_leaves(number_of, args)
        result = map_leaves(number_of, ans)
        return jvp((argnum,), (map_leaves(number_of, tangents[argnum]),), result, values, kwargs)

    def undefined(self, what: str, argnums: Iterable[int]) -> UndefinedDerivativeError:
        """Make the error that nobody has defined a derivative."""
        return UndefinedDerivativeError(
            f"{what} of {called(self.function)} wrt argnums {tuple(argnums)} not defined; define "
            f"it with def{what.lower()}"
        )


def argnums_of(use: Use) -> tuple[int, ...]:
    """List the positions of the arguments that hold operands."""
    args, _ = use.arguments(use.values)
    ends = list(itertools.accumulate(len(flatten(arg)) for arg in args))
    slots = set(use.slots)
    starts = [0, *ends]
    spans = zip(starts, ends, strict=False)
    return tuple([i for i, span in enumerate(spans) if not slots.isdisjoint(range(*span))])


def primitive(f_raw: Function) -> Function:
    """Make a function whose derivative is given by `defvjp` and `defjvp`.

    Parameters
    ----------
    f_raw : callable
        It gets plain values in place of handles, so it may call anything.

    Returns
    -------
    callable
        It is differentiated by its positional arguments.

    Examples
    --------
    >>> import math
    >>> from tape_ad.interop.autograd import grad
    >>> exp = primitive(math.exp)
    >>> defvjp(exp, lambda ans, x: lambda g: g * ans)
    >>> grad(exp)(0.0)
    np.float64(1.0)
    """
    behind = Primitive(f_raw)
    public = block(f_raw, behind)

    @functools.wraps(f_raw)
    def with_rule(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and PLAIN_TYPES.issuperset(map(type, args)):
            return f_raw(*args)
        leaves = flatten((args, kwargs))
        if Tensor not in map(type, leaves):
            return f_raw(*args, **kwargs)
        if any(type(leaf) is Tensor for leaf in flatten(kwargs)):
            raise UnsupportedArgumentError(
                f"the primitive {called(f_raw)} got a handle by keyword, and has derivatives by "
                "positional arguments only; pass it by position"
            )
        return public(*args, **kwargs)

    decorated: Any = with_rule
    decorated.fun = f_raw
    decorated.behind = behind
    decorated._is_autograd_primitive = True
    return with_rule


def behind_of(fun: Any) -> Primitive:
    """Return the primitive behind a function that `primitive` has made.

    Raises
    ------
    UnsupportedArgumentError
        For any other function, such as NumPy's own, which have their rules.
    """
    behind = getattr(fun, "behind", None)
    if not isinstance(behind, Primitive):
        raise UnsupportedArgumentError(
            f"{called(fun)} is no primitive, so no derivative can be defined of it here; write "
            "f = primitive(function), define that of f, and call f"
        )
    return behind


def defvjp_argnums(fun: Function, vjpmaker: Function) -> None:
    """Define the VJP of a primitive for some arguments at once.

    Parameters
    ----------
    fun : callable
        The primitive.
    vjpmaker : callable
        ``vjpmaker(argnums, ans, args, kwargs)`` gives a function of a cotangent, which gives one
        for each of those arguments.
    """
    behind_of(fun).vjp = vjpmaker


def defvjp_argnum(fun: Function, vjpmaker: Function) -> None:
    """Define the VJP of a primitive by a maker that is told which argument.

    Parameters
    ----------
    fun : callable
        The primitive.
    vjpmaker : callable
        ``vjpmaker(argnum, ans, args, kwargs)`` gives a function of a cotangent.
    """

    def makers(argnums: Sequence[int], *call: Any) -> Function:
        vjps = [vjpmaker(argnum, *call) for argnum in argnums]
        return lambda g: [vjp(g) for vjp in vjps]

    defvjp_argnums(fun, makers)


def defvjp(fun: Function, *vjpmakers: Any, argnums: Iterable[int] | None = None) -> None:
    """Define the VJP of a primitive by a maker for each argument.

    Parameters
    ----------
    fun : callable
        The primitive.
    *vjpmakers : callable or None
        ``maker(ans, *args, **kwargs)`` gives a function of a cotangent; None is for an argument
        that the result does not depend on.
    argnums : iterable of int, optional
        Which arguments they are for; the first ones when left out.
    """
    chosen = itertools.count() if argnums is None else argnums
    makers = dict(zip(chosen, vjpmakers, strict=False))
    behind = behind_of(fun)

    def pulls(asked: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Function:
        missing = [argnum for argnum in asked if argnum not in makers]
        if missing:
            raise behind.undefined("VJP", missing)
        chosen = [makers[argnum] for argnum in asked]
        vjps = [maker and maker(ans, *args, **kwargs) for maker in chosen]
        return lambda g: [vjp and vjp(g) for vjp in vjps]

    defvjp_argnums(fun, pulls)


def defjvp_argnums(fun: Function, jvpmaker: Function) -> None:
    """Define the JVP of a primitive for some arguments at once.

    Parameters
    ----------
    fun : callable
        The primitive.
    jvpmaker : callable
        ``jvpmaker(argnums, tangents, ans, args, kwargs)`` gives the tangent of the result.
    """
    behind_of(fun).jvp = jvpmaker


def defjvp_argnum(fun: Function, jvpmaker: Function) -> None:
    """Define the JVP of a primitive by a function that is told which argument.

    Parameters
    ----------
    fun : callable
        The primitive.
    jvpmaker : callable
        ``jvpmaker(argnum, tangent, ans, args, kwargs)`` gives that argument's share of the tangent.
    """

    def pushes(argnums: Sequence[int], gs: Sequence[Any], *call: Any) -> Any:
        shares = [jvpmaker(argnum, g, *call) for argnum, g in zip(argnums, gs, strict=True)]
        return added(shares)

    defjvp_argnums(fun, pushes)


def defjvp(fun: Function, *jvpfuns: Any, argnums: Iterable[int] | None = None) -> None:
    """Define the JVP of a primitive by a function for each argument.

    Parameters
    ----------
    fun : callable
        The primitive.
    *jvpfuns : callable, None or "same"
        ``jvpfun(tangent, ans, *args, **kwargs)`` gives that argument's share of the tangent; None
        is for an argument that the result does not depend on, "same" for one that it is linear in.
    argnums : iterable of int, optional
        Which arguments they are for; the first ones when left out.
    """
    chosen = itertools.count() if argnums is None else argnums
    functions = dict(zip(chosen, jvpfuns, strict=False))
    behind = behind_of(fun)

    def share(argnum: int, g: Any, ans: Any, args: Any, kwargs: Any) -> Any:
        if argnum not in functions:
            raise behind.undefined("JVP", (argnum,))
        jvpfun = functions[argnum]
        if jvpfun is None:
            return vspace(ans).zeros()
        if jvpfun == "same":
            return fun(*subval(args, argnum, g), **kwargs)
        return jvpfun(g, ans, *args, **kwargs)

    defjvp_argnum(fun, share)


def def_linear(fun: Function) -> None:
    """Define the JVP of a primitive that is linear in each of its arguments, the others fixed."""
    defjvp_argnum(fun, lambda argnum, g, ans, args, kwargs: fun(*subval(args, argnum, g), **kwargs))


def added(shares: Sequence[Any]) -> Any:
    """Add up tangents, of which there is at least one."""
    dense = [each.dense() if isinstance(each, SparseObject) else each for each in shares]
    space = vspace(dense[0])
    return functools.reduce(space.add, dense)


def notrace_primitive(f_raw: Function) -> Function:
    """Make a function of plain values, on which no derivative depends."""

    @functools.wraps(f_raw)
    def unrecorded(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = map_leaves(plain, (args, kwargs))
        return f_raw(*args, **kwargs)

    return unrecorded


Tensor._value = property(value_of)  # type: ignore[attr-defined]  # a name of HIPS autograd's


class BoxType(type):
    """Lets ``isinstance(handle, Box)`` answer yes."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return type(instance) is Tensor


class Box(metaclass=BoxType):
    """What every handle is an instance of.

    HIPS autograd lets programs subclass it for types of their own. Here dicts, lists, tuples, attrs
    classes and dataclasses are opened, and arrays in them become handles.
    """

    @classmethod
    def register(cls, value_type: type) -> NoReturn:
        """Refuse another type of boxes, as handles cannot hold it.

        Raises
        ------
        UnsupportedArgumentError
        """
        raise UnsupportedArgumentError(
            f"{cls.__name__} cannot stand for {value_type.__name__}, as only arrays are handles; "
            "make that type an attrs class or a dataclass, which are opened like a dict"
        )


def isbox(x: Any) -> bool:
    """Tell whether a value is a handle."""
    return type(x) is Tensor


def getval(x: Any) -> Any:
    """Give the plain array or number behind a handle of any nesting; anything else as it is."""
    return plain(x)
