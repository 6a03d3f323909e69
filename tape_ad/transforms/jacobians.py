"""Jacobians and Hessians: sweeps with the rows of an identity as stacked seeds."""

import math
import numbers
from collections.abc import Callable, Iterable, Iterator
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

from tape_ad.base.errors import OutputError
from tape_ad.base.trees import flatten, map_leaves, unflatten
from tape_ad.record.gradients import as_number, is_number_for
from tape_ad.record.primals import is_number_like
from tape_ad.record.spaces import shape_of
from tape_ad.record.tensor import Tensor
from tape_ad.rules.maps import Array
from tape_ad.transforms.gradients import TakesOptions, grad, vjp
from tape_ad.transforms.tracing import Trace, Transformed, as_argnums, check_callable, chosen, trace

Function = Callable[..., Any]
Argnums = SupportsIndex | Iterable[SupportsIndex]
Rest = ParamSpec("Rest")
Tree = TypeVar("Tree")
Output_co = TypeVar("Output_co", covariant=True)
Plain = np.ndarray[Any, Any]
Leaf = Plain | Tensor | np.number[Any] | complex


class Derivative(Protocol[Rest, Output_co]):
    """How derivatives of a function by its first argument are called: handles give handles.

    A function that gives a tree has a tree of derivatives, of which no checker knows more.
    """

    @overload
    def __call__(
        self: "Derivative[Rest, Leaf]",
        x: Plain | complex,
        /,
        *args: Rest.args,
        **kwargs: Rest.kwargs,
    ) -> Plain: ...
    @overload
    def __call__(
        self: "Derivative[Rest, Leaf]", x: Tensor, /, *args: Rest.args, **kwargs: Rest.kwargs
    ) -> Tensor: ...
    @overload
    def __call__(self, x: Any, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Any: ...


@overload
def jacobian(
    f: np.ufunc,
    argnums: Argnums = 0,
    mode: str = "auto",
    *,
    batch_size: int | None = None,
    has_aux: bool = False,
) -> Any: ...
@overload
def jacobian(  # type: ignore[overload-overlap]  # 0 is what differs
    f: Callable[Concatenate[Any, Rest], Output_co],
    argnums: Literal[0] = 0,
    mode: str = "auto",
    *,
    batch_size: int | None = None,
    has_aux: Literal[False] = False,
) -> Derivative[Rest, Output_co]: ...
@overload
def jacobian(
    f: Callable[Rest, Any],
    argnums: Argnums,
    mode: str = "auto",
    *,
    batch_size: int | None = None,
    has_aux: bool = False,
) -> Callable[Rest, Any]: ...
@overload
def jacobian(
    f: TakesOptions, *, mode: str = "auto", batch_size: int | None = None, has_aux: bool = False
) -> Any: ...
@overload
def jacobian(
    f: Callable[Rest, Any],
    *,
    mode: str = "auto",
    batch_size: int | None = None,
    has_aux: Literal[True],
) -> Callable[Rest, Any]: ...
def jacobian(
    f: Function,
    argnums: Argnums = 0,
    mode: str = "auto",
    *,
    batch_size: int | None = None,
    has_aux: bool = False,
) -> Function:
    """Make the function that computes all partial derivatives of all of a function's outputs.

    Parameters
    ----------
    f : callable
        A function of arrays or trees of them, which returns an array or a tree.
    argnums : int or iterable of int
        The positional arguments to differentiate with respect to.
    mode : {"auto", "forward", "reverse"}
        Push the unit vectors of the inputs forward, or pull those of the outputs back; "auto"
        takes the side that has fewer elements, the outputs where both have as many.
    batch_size : int, optional
        How many unit vectors to sweep at once; all when left out. It bounds the memory, which is
        about that many times the memory of one sweep.
    has_aux : bool
        Whether `f` returns a pair, of the output and of anything else.

    Returns
    -------
    callable
        It takes the arguments of `f`, and returns a tree like the output whose leaves are trees
        like the argument, of arrays of shape output.shape + input.shape. When `argnums` is
        iterable there is a tuple of trees in place of each. With `has_aux`, a pair of that and
        the rest.

    Raises
    ------
    OutputError
        By the returned function, when input and output are complex, or when the mode asks for
        unit vectors of the complex side: one number for each pair of elements does not say it all.

    Examples
    --------
    >>> jacobian(lambda x: x**2)(np.array([1.0, 2.0, 3.0]))
    array([[2., 0., 0.],
           [0., 4., 0.],
           [0., 0., 6.]])
    """
    check_callable("jacobian", f)
    if mode not in {"auto", "forward", "reverse"}:
        raise ValueError(f"mode is 'auto', 'forward' or 'reverse', not {mode!r}")
    check_batch_size(batch_size)
    return Jacobian(f, as_argnums(argnums), mode, batch_size, has_aux)


@define(eq=False, repr=False)
class Jacobian(Transformed):
    """The function that `jacobian` returns."""

    made_by: ClassVar[str] = "jacobian"
    argnums: int | tuple[int, ...]
    mode: str
    batch_size: int | None
    has_aux: bool

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute the Jacobian at the given arguments."""
        traced = trace(self.function, args, kwargs, chosen(self.argnums, args), self.has_aux)
        sweep = by_forward if chosen_mode(traced, self.mode) == "forward" else by_reverse
        inputs = traced.inputs[0] if isinstance(self.argnums, int) else traced.inputs
        rows = iter(sweep(traced, self.batch_size))
        result = map_leaves(
            lambda leaf, path: unflatten(inputs, next(rows)) if is_number_like(leaf) else leaf,
            traced.output,
        )
        return (result, traced.value(traced.aux)) if self.has_aux else result


def chosen_mode(traced: Trace, mode: str) -> str:
    """Choose the side that has fewer elements, or the one that is real."""
    inputs = [leaf for leaf in flatten(traced.inputs) if type(leaf) is Tensor]
    outputs = [leaf for leaf in flatten(traced.output) if traced.depends(leaf)]
    complex_in = any(leaf.dtype.kind == "c" for leaf in inputs)
    complex_out = any(leaf.dtype.kind == "c" for leaf in outputs)
    if (complex_in and (complex_out or mode == "forward")) or (complex_out and mode == "reverse"):
        raise OutputError(
            f"the Jacobian of {traced.name} from {'complex' if complex_in else 'real'} to "
            f"{'complex' if complex_out else 'real'} arrays is not one number for each pair of "
            f"elements in mode {mode!r}; take the real and imaginary parts as arrays of their own, "
            "or use ta.vjp or ta.jvp"
        )
    if mode != "auto":
        return mode
    if complex_in or complex_out:
        return "forward" if complex_out else "reverse"
    fewer = sum(leaf.size for leaf in inputs) < sum(leaf.size for leaf in outputs)
    return "forward" if fewer else "reverse"


def by_reverse(traced: Trace, batch_size: int | None) -> Iterator[list[Any]]:
    """Yield, for each leaf of the output, the derivatives by each leaf of the input."""
    leaves = flatten(traced.inputs)
    for output in flatten(traced.output):
        if not is_number_like(output):
            continue
        pulled = []
        for seed in unit_vectors(output, batch_size):
            kept = traced.swept([(output, seed)], release=False)
            pulled.append(flatten(traced.gradients(kept, seed.shape[:1])))
        yield [
            shaped(stacked(blocks), shape_of(output), leaf) if type(leaf) is Tensor else leaf
            for leaf, blocks in zip(leaves, zip(*pulled, strict=True), strict=True)
        ]


def by_forward(traced: Trace, batch_size: int | None) -> Iterator[list[Any]]:
    """Compute the Jacobian by forward sweeps, of one unit vector of the inputs each."""
    outputs = [leaf for leaf in flatten(traced.output) if is_number_like(leaf)]
    columns = []
    for leaf in flatten(traced.inputs):
        if type(leaf) is not Tensor:
            columns.append([leaf] * len(outputs))
            continue
        pushed = []
        for t in unit_vectors(leaf, batch_size):
            reached = traced.pushed({leaf.index: t})
            pushed.append([traced.tangent(out, reached, t.shape[:1]) for out in outputs])
        columns.append(
            [
                shaped(np.moveaxis(stacked(blocks), 0, -1), shape_of(out), leaf)
                for out, blocks in zip(outputs, zip(*pushed, strict=True), strict=True)
            ]
        )
    return map(list, zip(*columns, strict=True))


def check_batch_size(batch_size: int | None) -> None:
    """Refuse to sweep no unit vector at once, or half of one."""
    if batch_size is None:
        return
    if isinstance(batch_size, bool) or not isinstance(batch_size, numbers.Real):
        raise TypeError(f"batch_size is a number of unit vectors, not {batch_size!r}")
    if not batch_size >= 1 or batch_size % 1:
        raise ValueError(f"batch_size is a number of unit vectors, at least 1, not {batch_size}")


def unit_vectors(leaf: Any, batch_size: int | None) -> Iterator[Array]:
    """Yield the rows of the identity on a leaf's space, in stacks of `batch_size`."""
    shape, dtype = shape_of(leaf), getattr(leaf, "dtype", np.dtype(np.float64))
    size = math.prod(shape)
    step = int(batch_size or max(size, 1))
    for start in range(0, max(size, 1), step):
        rows = np.zeros((min(step, size - start), size), dtype)
        np.fill_diagonal(rows[:, start:], 1)
        yield rows.reshape(rows.shape[:1] + shape)


def shaped(block: Array, rows: tuple[int, ...], leaf: Tensor) -> Array:
    """Give a block the shapes of what it relates: a number where both are, as in a gradient."""
    block = block.reshape(rows + leaf.shape)
    return as_number(block) if is_number_for(leaf, block) else block


def stacked(blocks: tuple[Array, ...]) -> Array:
    """Join stacks along their first axis."""
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)


@overload
def hessian(f: np.ufunc, argnums: Argnums = 0, *, batch_size: int | None = None) -> Any: ...
@overload
def hessian(
    f: Callable[Concatenate[Any, Rest], Any],
    argnums: Literal[0] = 0,
    *,
    batch_size: int | None = None,
) -> Derivative[Rest, Any]: ...
@overload
def hessian(
    f: Callable[Rest, Any], argnums: Argnums, *, batch_size: int | None = None
) -> Callable[Rest, Any]: ...
@overload
def hessian(f: TakesOptions, *, batch_size: int | None = None) -> Any: ...
def hessian(f: Function, argnums: Argnums = 0, *, batch_size: int | None = None) -> Function:
    """Make the function that computes all second derivatives of a real scalar function.

    Parameters
    ----------
    f : callable
        A function of real arrays or trees of them, which returns one real number.
    argnums : int or iterable of int
        The positional arguments to differentiate with respect to.
    batch_size : int, optional
        How many rows to compute at once; all when left out.

    Returns
    -------
    callable
        It takes the arguments of `f`, and returns a tree like the argument whose leaves are trees
        like the argument, of arrays of shape one.shape + other.shape.

    Raises
    ------
    OutputError
        By the returned function, when `f` does not return one real number, or for complex
        arguments.

    Examples
    --------
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([3.0, 5.0]))
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    check_callable("hessian", f)
    numbers = as_argnums(argnums)
    return jacobian(grad(f, numbers), numbers, batch_size=batch_size)


def hvp(f: Function, x: Tree, v: Any) -> Tree:
    """Compute the product of a real scalar function's Hessian with a vector.

    It is the derivative of the gradient along the vector, at the cost of a few evaluations of
    the function.

    Parameters
    ----------
    f : callable
        A function of one argument, an array or a tree of them, which returns one real number.
    x : array or tree
        The point at which to differentiate.
    v : array or tree
        The vector, like `x`; with further axes in front, a stack of vectors.

    Returns
    -------
    array or tree
        Like `v`.

    Raises
    ------
    OutputError
        When `f` does not return one real number.
    SeedError
        When the vector does not fit the argument.

    Examples
    --------
    >>> hvp(lambda x: x[0] ** 2 * x[1], np.array([3.0, 5.0]), np.array([1.0, 0.0]))
    array([10.,  6.])
    """
    check_callable("hvp", f)
    _, pull = vjp(grad(f), x)  # as H is symmetric; and a custom rule needs no push for it
    product: Tree = pull(v)[0]
    return product


def hessian_diag(f: Function, x: Tree, *, batch_size: int | None = None) -> Tree:
    """Compute the diagonal of a real scalar function's Hessian.

    It takes a product with each unit vector, as a whole Hessian does, but keeps only a number of
    each.

    Parameters
    ----------
    f : callable
        A function of one argument, an array or a tree of them, which returns one real number.
    x : array or tree
        The point at which to differentiate.
    batch_size : int, optional
        How many products to compute at once; all when left out. It bounds the memory.

    Returns
    -------
    array or tree
        Like `x`.

    Raises
    ------
    OutputError
        When `f` does not return one real number, or for complex arguments.

    Examples
    --------
    >>> hessian_diag(lambda x: x[0] ** 2 * x[1], np.array([3.0, 5.0]))
    array([10.,  0.])
    """
    check_callable("hessian_diag", f)
    check_batch_size(batch_size)
    traced = trace(grad(f), (x,), {}, (0,))
    chosen_mode(traced, "reverse")

    def diagonal(slope: Any, leaf: Any) -> Any:
        if type(leaf) is not Tensor:
            return leaf
        entries, start = [], 0
        for seed in unit_vectors(leaf, batch_size):
            rows = traced.swept([(slope, seed)], release=False).get(leaf.index)
            if rows is None:
                rows = np.zeros_like(seed)
            own = np.arange(seed.shape[0])
            entries.append(rows.reshape(seed.shape[0], leaf.size)[own, start + own])
            start += seed.shape[0]
        return shaped(stacked(tuple(entries)), (), leaf)

    pairs = zip(flatten(traced.output), flatten(traced.inputs), strict=True)
    tree: Tree = unflatten(x, [diagonal(slope, leaf) for slope, leaf in pairs])
    return tree
