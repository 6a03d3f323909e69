"""The operators on functions, with HIPS autograd's names, arguments and conventions."""

import functools
import inspect
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from tape_ad import checkpoint
from tape_ad.errors import OutputError
from tape_ad.extend.trees import map_leaves
from tape_ad.interop.autograd import core
from tape_ad.interop.autograd.extend import subvals
from tape_ad.interop.autograd.spaces import conjugated, given_back, vspace

__all__ = [
    "checkpoint",
    "deriv",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacobian",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]

Function = Callable[..., Any]


def get_name(f: Any) -> str:
    """Return a function's name."""
    return str(getattr(f, "__name__", "[unknown name]"))


def get_doc(f: Any) -> str:
    """Return a function's docstring."""
    return getattr(f, "__doc__", None) or ""


def wraps(
    fun: Any, namestr: str = "{fun}", docstr: str = "{doc}", **kwargs: Any
) -> Callable[[Function], Function]:
    """Make the decorator that names and documents a function like another."""

    def decorator(f: Function) -> Function:
        f.__name__ = namestr.format(fun=get_name(fun), **kwargs)
        f.__doc__ = docstr.format(fun=get_name(fun), doc=get_doc(fun), **kwargs)
        return f

    return decorator


def wrap_nary_f(fun: Any, op: Any, argnum: Any) -> Callable[[Function], Function]:
    """Make the decorator that names and documents what an operator makes of a function."""
    return wraps(
        fun,
        "{op}_of_{fun}_wrt_argnum_{argnum}",
        "{op} of {fun} by its positional argument {argnum}; it takes the arguments of {fun}.",
        op=get_name(op),
        argnum=argnum,
    )


def unary_to_nary(unary_operator: Function) -> Function:
    """Let an operator on functions of one argument take functions of several.

    Parameters
    ----------
    unary_operator : callable
        ``unary_operator(fun, x)``.

    Returns
    -------
    callable
        ``operator(fun, argnum=0)`` gives a function of the arguments of `fun`, where `argnum` is
        the position of one, or a tuple or list of positions, which make a tuple.
    """

    @functools.wraps(unary_operator)
    def nary_operator(fun: Function, argnum: Any = 0, *nary_args: Any, **nary_options: Any) -> Any:
        if not isinstance(argnum, (int, tuple, list)):
            raise TypeError(
                f"argnum is the position of an argument, or a tuple or list of them, not {argnum!r}"
            )

        @wrap_nary_f(fun, unary_operator, argnum)
        def nary_f(*args: Any, **kwargs: Any) -> Any:
            @wraps(fun)
            def unary_f(x: Any) -> Any:
                values = [(argnum, x)] if isinstance(argnum, int) else zip(argnum, x, strict=True)
                return fun(*subvals(args, values), **kwargs)

            x = args[argnum] if isinstance(argnum, int) else tuple([args[i] for i in argnum])
            return unary_operator(unary_f, x, *nary_args, **nary_options)

        return nary_f

    return nary_operator


make_vjp = unary_to_nary(core.make_vjp)
make_jvp = unary_to_nary(core.make_jvp)


def gradient_at(name: str, fun: Function, x: Any) -> tuple[Any, Any]:
    """Compute a function and its gradient.

    Raises
    ------
    OutputError
        A `TypeError`, when the function gives anything but one real number.
    """
    vjp, ans = core.make_vjp(fun, x)
    space = vspace(ans)
    if space.size != 1:
        raise OutputError(
            f"{name} only applies to real scalar-output functions, and this one gave "
            f"{described(ans)}; write jacobian, elementwise_grad or holomorphic_grad"
        )
    return ans, vjp(space.ones())


def described(ans: Any) -> str:
    """Describe a result, for an error."""
    if hasattr(ans, "shape"):
        return f"an array of dtype {ans.dtype} and shape {ans.shape}"
    return f"a {type(ans).__name__}"


@unary_to_nary
def grad(fun: Function, x: Any) -> Any:
    """Make the function that computes the gradient of a real function of one number.

    Parameters
    ----------
    fun : callable
        It gives one real number, in an array of any number of axes.
    argnum : int, or tuple or list of int
        Which positional argument to differentiate by.

    Returns
    -------
    callable
        It takes the arguments of `fun` and gives the gradient, in the structure of the argument.
        That of a complex argument is the conjugate of what `tape_ad.grad` gives.

    Examples
    --------
    >>> grad(np.sin)(0.0)
    np.float64(1.0)
    """
    return gradient_at("grad", fun, x)[1]


@unary_to_nary
def value_and_grad(fun: Function, x: Any) -> tuple[Any, Any]:
    """Make the function that computes a real number and its gradient; see `grad`."""
    return gradient_at("value_and_grad", fun, x)


@unary_to_nary
def elementwise_grad(fun: Function, x: Any) -> Any:
    """Make the function that computes the gradient of the sum of what `fun` gives.

    Where each element of the result depends on that of the argument alone, that is the derivative
    element by element.

    Raises
    ------
    OutputError
        A `TypeError`, by the returned function, when the result is complex.
    """
    vjp, ans = core.make_vjp(fun, x)
    space = vspace(ans)
    if space.iscomplex:
        raise OutputError(
            "elementwise_grad only applies to real-output functions; write make_vjp for the "
            "derivative of a complex result"
        )
    return vjp(space.ones())


@unary_to_nary
def deriv(fun: Function, x: Any) -> Any:
    """Make the function that computes the derivative along a vector of ones, by forward mode."""
    return core.make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x: Any) -> Any:
    """Make the function that computes all partial derivatives of all of a result's elements.

    Returns
    -------
    callable
        It gives an array of shape result.shape + argument.shape; in the structure of the argument
        where that is not an array.

    Raises
    ------
    OutputError
        A `TypeError`, by the returned function, when the result is complex: one number for each
        pair of elements does not say it all.
    """
    traced = core.traced_at(fun, x)
    output = traced.output
    space = vspace(output)
    if space.iscomplex:
        raise OutputError(
            "the jacobian of a complex result is not one number for each pair of elements; take "
            "the real and the imaginary part, or write make_vjp or make_jvp"
        )
    basis = np.eye(space.size).reshape((space.size, *np.shape(output)))
    [rows] = traced.pull(basis)

    def shaped(leaf: Any, path: str) -> Any:
        return leaf.reshape(np.shape(output) + leaf.shape[1:]) if hasattr(leaf, "shape") else leaf

    return given_back(conjugated(map_leaves(shaped, rows)))


@unary_to_nary
def holomorphic_grad(fun: Function, x: Any) -> Any:
    """Make the function that computes the complex derivative of a holomorphic function."""
    if not vspace(x).iscomplex:
        warnings.warn("Input to holomorphic_grad is not complex", stacklevel=2)
    return gradient_at("holomorphic_grad", lambda z: np.real(fun(z)), x)[1]


def grad_named(fun: Function, argname: str) -> Function:
    """Make the function that computes the gradient by the argument of a name; see `grad`."""
    names = inspect.getfullargspec(fun).args
    gradient: Function = grad(fun, names.index(argname))
    return gradient


@unary_to_nary
def hessian(fun: Function, x: Any) -> Any:
    """Make the function that computes the second derivatives: the jacobian of the jacobian."""
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Function, x: Any) -> tuple[Function, Any]:
    """Make the function that computes the product with the Hessian at a point, and the gradient."""
    return core.make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """Make the function of ``(*args, tensor)`` that computes the Hessian's product with a tensor.

    Parameters
    ----------
    fun : callable
        It gives one real number.
    argnum : int
        Which positional argument to differentiate by.
    """
    gradient = grad(fun, argnum)

    def along(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return np.tensordot(gradient(*rest, **kwargs), tensor, np.ndim(tensor))

    product: Function = grad(along, argnum)
    return product


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """Make the function of ``(*args, tensor)`` that computes a tensor's product with the Jacobian.

    Parameters
    ----------
    fun : callable
        It gives an array.
    argnum : int
        Which positional argument to differentiate by.
    """

    def along(*args: Any, **kwargs: Any) -> Any:
        *rest, tensor = args
        return np.tensordot(tensor, fun(*rest, **kwargs), axes=np.ndim(tensor))

    product: Function = jacobian(along, argnum)
    return product


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: Any) -> Function:
    """Make the function that pushes a tangent forward, as the transpose of the pull."""
    vjp, ans = core.make_vjp(fun, x)
    transposed, _ = core.make_vjp(vjp, vspace(ans).zeros())
    return transposed


def half_squares(x: Any) -> Any:
    """Give half the sum of squares along the last axis."""
    return np.sum(x**2, axis=-1) / 2


def make_ggnvp(f: Function, g: Function = half_squares, f_argnum: int = 0) -> Function:
    """Make the function that computes products with the generalized Gauss-Newton matrix.

    Parameters
    ----------
    f : callable
        A model: it gives an array.
    g : callable
        A convex function of that, which gives one real number.
    f_argnum : int
        Which positional argument of `f` to differentiate by.
    """

    @unary_to_nary
    def make(f: Function, x: Any) -> Function:
        f_vjp, f_x = core.make_vjp(f, x)
        g_hvp, slope = core.make_vjp(grad(g), f_x)
        f_jvp, _ = core.make_vjp(f_vjp, vspace(slope).zeros())
        return lambda v: f_vjp(g_hvp(f_jvp(v)))

    product: Function = make(f, f_argnum)
    return product


@unary_to_nary
def grad_and_aux(fun: Function, x: Any) -> tuple[Any, Any]:
    """Make the function that computes the gradient of the first of two results, and the second."""
    vjp, (ans, aux) = core.make_vjp(lambda value: tuple(fun(value)), x)
    zeros = map_leaves(lambda leaf, path: None, aux)
    return vjp((vspace(ans).ones(), zeros)), aux


def multigrad_dict(fun: Function) -> Function:
    """Make the function that computes the gradients by all arguments, as a dict by their names.

    Parameters
    ----------
    fun : callable
        It gives one real number. Arguments that are left out have their defaults.
    """
    signature = inspect.signature(fun)

    def called_with(arguments: dict[str, Any]) -> Any:
        bound = inspect.BoundArguments(signature, OrderedDict(arguments))
        return fun(*bound.args, **bound.kwargs)

    def gradients(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return OrderedDict(grad(called_with)(dict(bound.arguments)))

    return gradients
