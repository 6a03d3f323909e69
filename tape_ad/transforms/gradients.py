"""Derivatives of functions: each transform is a record of one call, and a sweep over it."""

from collections.abc import Callable, Iterable
from typing import (
    Any,
    ClassVar,
    Concatenate,
    Literal,
    ParamSpec,
    Protocol,
    SupportsIndex,
    TypeVar,
    overload,
)

import numpy as np
from attrs import define

from tape_ad.base.arrays.overridable import asarray
from tape_ad.base.errors import OutputError
from tape_ad.base.trees import map_leaves
from tape_ad.record.primals import memory_of, read_only_primal
from tape_ad.record.spaces import shape_of
from tape_ad.record.tensor import Tensor
from tape_ad.transforms.tracing import Trace, Transformed, as_argnums, check_callable, chosen, trace

Function = Callable[..., Any]
Argnums = SupportsIndex | Iterable[SupportsIndex]
First = TypeVar("First", bound=Any)  # so that a lambda may do with it what it likes
Output = TypeVar("Output")
Aux = TypeVar("Aux")
Rest = ParamSpec("Rest")
Pull = Callable[[Any], tuple[Any, ...]]


class TakesOptions(Protocol):
    """A function with ``**options``, which mypy does not take for one of `Concatenate`."""

    def __call__(self, x: Any, /, *, any_option: Any) -> Any:
        """Compute the function, with an option of any name."""


@overload
def grad(f: np.ufunc, argnums: Argnums = 0, has_aux: bool = False) -> Any: ...
@overload
def grad(
    f: Callable[Concatenate[First, Rest], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
) -> Callable[Concatenate[First, Rest], First]: ...
@overload
def grad(
    f: Callable[Concatenate[First, Rest], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
) -> Callable[Concatenate[First, Rest], tuple[First, Aux]]: ...
@overload
def grad(
    f: Callable[Rest, Any], argnums: Argnums, has_aux: bool = False
) -> Callable[Rest, Any]: ...
@overload
def grad(f: TakesOptions, *, has_aux: bool = False) -> Any: ...
def grad(f: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Make the function that computes the gradient of a real scalar function.

    Parameters
    ----------
    f : callable
        A function of arrays, or of trees of them (dict, list, tuple, named tuple, attrs class),
        written in NumPy. It returns one real number.
    argnums : int or iterable of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        Whether `f` returns a pair, of the number and of anything else.

    Returns
    -------
    callable
        It takes the arguments of `f` and returns the gradient in the structure of the argument,
        each array in the shape and dtype of its own (float64 for integers); a tuple of them when
        `argnums` is iterable. With `has_aux`, a pair of that and the rest. The arrays are
        read-only, for two of them may share memory. For complex arguments it is the gradient
        under the real inner product, as in `Tensor.grad`.

    Raises
    ------
    OutputError
        By the returned function, when `f` does not return one real number.
    DtypeError
        By the returned function, when an argument to differentiate with respect to has no numbers.

    Examples
    --------
    >>> grad(np.sin)(0.0)
    np.float64(1.0)
    >>> grad(grad(np.sin))(np.pi / 2)
    np.float64(-1.0)
    """
    check_callable("grad", f)
    return Gradient(f, as_argnums(argnums), has_aux)


@overload
def value_and_grad(f: np.ufunc, argnums: Argnums = 0, has_aux: bool = False) -> Any: ...
@overload
def value_and_grad(  # type: ignore[overload-overlap]  # 0 is what differs
    f: Callable[Concatenate[First, Rest], Output], argnums: Literal[0] = 0, *, has_aux: bool = False
) -> Callable[Concatenate[First, Rest], tuple[Output, First]]: ...
@overload
def value_and_grad(
    f: Callable[Rest, Any], argnums: Argnums, has_aux: bool = False
) -> Callable[Rest, Any]: ...
@overload
def value_and_grad(f: TakesOptions, *, has_aux: bool = False) -> Any: ...
def value_and_grad(f: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Make the function that computes a real scalar function and its gradient together.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns one real number.
    argnums : int or iterable of int
        The positional arguments to differentiate with respect to.
    has_aux : bool
        Whether `f` returns a pair, of the number and of anything else.

    Returns
    -------
    callable
        It takes the arguments of `f` and returns a pair: what `f` returns, and the gradient as
        `grad` gives it.

    Raises
    ------
    OutputError, DtypeError
        By the returned function, as for `grad`.

    Examples
    --------
    >>> value_and_grad(lambda p: np.sum(p["w"] ** 2))({"w": np.array([3.0])})
    (np.float64(9.0), {'w': array([6.])})
    """
    check_callable("value_and_grad", f)
    return ValueAndGradient(f, as_argnums(argnums), has_aux)


@define(eq=False, repr=False)
class ValueAndGradient(Transformed):
    """The function that `value_and_grad` returns."""

    made_by: ClassVar[str] = "value_and_grad"
    argnums: int | tuple[int, ...]
    has_aux: bool

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute the value and the gradient."""
        numbers, has_aux = self.argnums, self.has_aux
        traced = trace(self.function, args, kwargs, chosen(numbers, args), has_aux)
        check_real_number(traced)
        slopes = traced.gradient()
        value = traced.value(traced.output)
        return (
            (value, traced.value(traced.aux)) if has_aux else value,
            slopes[0] if isinstance(numbers, int) else slopes,
        )


@define(eq=False, repr=False)
class Gradient(ValueAndGradient):
    """The function that `grad` returns."""

    made_by: ClassVar[str] = "grad"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute the gradient."""
        value, slopes = super().__call__(*args, **kwargs)
        return (slopes, value[1]) if self.has_aux else slopes


def check_real_number(traced: Trace) -> None:
    """Refuse to take the gradient of anything but one real number.

    Raises
    ------
    OutputError
        It says what to write instead.
    """
    leaf = traced.output
    if type(leaf) is Tensor and leaf.shape == () and leaf.dtype.kind == "f":
        return
    dtype = getattr(leaf, "dtype", None)
    if dtype is None and isinstance(leaf, (int, float, complex)):
        dtype = asarray(leaf).dtype
    if dtype is None:
        what, instead = f"a {type(leaf).__name__}", "return the number alone, or see has_aux="
    elif shape_of(leaf) != ():
        what = f"an array of shape {shape_of(leaf)}"
        instead = "take np.sum or np.mean of it, or use ta.jacobian or ta.vjp"
    elif dtype.kind == "c":
        what, instead = "a complex number", "return its real or imaginary part, or use ta.vjp"
    elif dtype.kind != "f":
        what = f"a number of dtype {dtype}"
        instead = "its derivative is zero wherever there is one, so it cannot have been meant"
    else:
        return
    raise OutputError(
        f"a gradient is that of one real number, but {traced.name} returned {what}; {instead}"
    )


@overload
def vjp(f: np.ufunc, *primals: Any) -> tuple[Any, Pull]: ...
@overload
def vjp(
    f: Callable[Rest, Output], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Output, Pull]: ...
@overload
def vjp(
    f: Callable[Rest, tuple[Output, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[Output, Pull, Aux]: ...
@overload
def vjp(f: Function, *primals: Any, has_aux: bool) -> Any: ...
def vjp(f: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Compute a function, and give the map that pulls cotangents of its output back.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns an array or a tree.
    *primals : array or tree
        Its arguments.
    has_aux : bool
        Whether `f` returns a pair, of the output and of anything else.

    Returns
    -------
    output : array or tree
    pull : callable
        ``pull(cotangents)`` takes a tree like the output, whose arrays may all have the same
        further axes in front (a stack of cotangents, swept at once) and may be None for zero. It
        returns a tuple, with a tree for each argument, and may be called any number of times.
    aux : any
        With `has_aux`, the rest of what `f` returned.

    Raises
    ------
    SeedError
        By `pull`, when the cotangents do not fit the output.

    Examples
    --------
    >>> output, pull = vjp(np.multiply, 2.0, 3.0)
    >>> pull(1.0)
    (np.float64(3.0), np.float64(2.0))
    """
    check_callable("vjp", f)
    traced = trace(f, primals, {}, range(len(primals)), has_aux)
    output = map_leaves(own, traced.value(traced.output))

    def pull(cotangents: Any) -> tuple[Any, ...]:
        return traced.pull(cotangents)

    return (output, pull, traced.value(traced.aux)) if has_aux else (output, pull)


@overload
def jvp(f: np.ufunc, primals: Any, tangents: Any) -> tuple[Any, Any]: ...
@overload
def jvp(
    f: Callable[Rest, Output], primals: Any, tangents: Any, has_aux: Literal[False] = False
) -> tuple[Output, Output]: ...
@overload
def jvp(
    f: Callable[Rest, tuple[Output, Aux]], primals: Any, tangents: Any, has_aux: Literal[True]
) -> tuple[Output, Output, Aux]: ...
@overload
def jvp(f: Function, primals: Any, tangents: Any, has_aux: bool) -> Any: ...
def jvp(f: Function, primals: Any, tangents: Any, has_aux: bool = False) -> Any:
    """Compute a function, and push tangents of its arguments forward to its output.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns an array or a tree.
    primals : tuple or list
        Its arguments.
    tangents : tuple or list
        A tree like each argument. The arrays may all have the same further axes in front, a stack
        of tangents swept at once, and may be None for zero.
    has_aux : bool
        Whether `f` returns a pair, of the output and of anything else.

    Returns
    -------
    output : array or tree
    tangent : array or tree
        That of the output.
    aux : any
        With `has_aux`, the rest of what `f` returned.

    Raises
    ------
    SeedError
        When the tangents do not fit the arguments.

    Examples
    --------
    >>> jvp(np.sin, (0.0,), (2.0,))
    (np.float64(0.0), np.float64(2.0))
    """
    check_callable("jvp", f)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp takes tuples of arguments and of tangents: jvp(f, (x,), (t,))")
    traced = trace(f, tuple(primals), {}, range(len(primals)), has_aux)
    pair = traced.value(traced.output), traced.push(tuple(tangents))
    return (*pair, traced.value(traced.aux)) if has_aux else pair


@overload
def linearize(f: np.ufunc, *primals: Any) -> tuple[Any, Function]: ...
@overload
def linearize(
    f: Callable[Rest, Output], *primals: Any, has_aux: Literal[False] = False
) -> tuple[Output, Callable[Rest, Output]]: ...
@overload
def linearize(
    f: Callable[Rest, tuple[Output, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[Output, Callable[Rest, Output], Aux]: ...
@overload
def linearize(f: Function, *primals: Any, has_aux: bool) -> Any: ...
def linearize(f: Function, *primals: Any, has_aux: bool = False) -> Any:
    """Compute a function, and give the map that pushes tangents at this point forward.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns an array or a tree.
    *primals : array or tree
        Its arguments.
    has_aux : bool
        Whether `f` returns a pair, of the output and of anything else.

    Returns
    -------
    output : array or tree
    push : callable
        ``push(*tangents)`` takes a tree for each argument, as `jvp` does, and returns the tangent
        of the output. It computes nothing of `f` again, and may be called any number of times.
    aux : any
        With `has_aux`, the rest of what `f` returned.

    Raises
    ------
    SeedError
        By `push`, when the tangents do not fit the arguments.

    Examples
    --------
    >>> output, push = linearize(np.square, 3.0)
    >>> push(1.0), push(10.0)
    (np.float64(6.0), np.float64(60.0))
    """
    check_callable("linearize", f)
    traced = trace(f, primals, {}, range(len(primals)), has_aux)
    output = map_leaves(own, traced.value(traced.output))

    def push(*tangents: Any) -> Any:
        return traced.push(tangents)

    return (output, push, traced.value(traced.aux)) if has_aux else (output, push)


def own(leaf: Any, path: str = "") -> Any:
    """Copy an array which partials may hold, so that the caller may write to it before a sweep."""
    array = isinstance(memory_of(leaf), np.ndarray)  # a number cannot be written to
    return np.copy(leaf) if array else leaf


def stop_gradient(x: Any) -> Any:
    """Give the plain value of a handle, which every derivative takes for a constant.

    Parameters
    ----------
    x : Tensor, array or tree of them
        Of any nesting: derivatives of all orders stop here.

    Returns
    -------
    array or tree
        In place of a handle a read-only array, as it is that of the handle and of partials too.

    Examples
    --------
    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    return map_leaves(read_only_primal, x)
