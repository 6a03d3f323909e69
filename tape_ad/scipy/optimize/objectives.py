"""SciPy's optimizers over nested structures of parameters, with exact derivatives.

SciPy is needed for `minimize` alone: pip install 'tape-ad[scipy]'.
"""

import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from attrs import define, field

from tape_ad import compile as compiled
from tape_ad import grad, hessian, jacobian, value_and_grad, vjp
from tape_ad.base.errors import DtypeError
from tape_ad.extend.arrays import Array, is_number_like
from tape_ad.extend.packages import extra
from tape_ad.extend.solvers import check_callable
from tape_ad.extend.trees import (
    arrays_of,
    at_leaves,
    computed,
    flatten,
    is_leaf,
    map_leaves,
    paired,
    unflatten,
    vector_of,
)

__all__ = ["ScipyObjective", "in_a_row", "scipy_objective", "searched"]

Function = Callable[..., Any]

NO_GRADIENT = frozenset({"nelder-mead", "powell", "cobyla", "cobyqa"})
PRODUCTS = frozenset({"newton-cg", "trust-ncg", "trust-krylov", "trust-constr"})
WHOLE_HESSIAN = frozenset({"dogleg", "trust-exact"})


def searched(objective: "ScipyObjective", method: Any, options: dict[str, Any]) -> Any:
    """Minimize an objective with SciPy, giving it the derivatives that the method takes.

    Returns
    -------
    scipy.optimize.OptimizeResult
        SciPy's own, in which `x` is a vector.

    Raises
    ------
    ImportError
        As `minimize` says.
    """
    with extra("scipy", "tape_ad.scipy.optimize.minimize"):
        import scipy.optimize
    name = method.lower() if isinstance(method, str) else ""
    check_jac(options.get("jac"))
    if options.get("callback") is not None:
        options["callback"] = with_trees(options["callback"], objective)
    if "constraints" in options:
        options["constraints"] = objective._settled(derived(options["constraints"], objective))
    options |= on_vectors(options, objective)
    fun: Function = objective
    if "jac" in options or name in NO_GRADIENT:
        fun = objective.fun
    else:
        options["jac"] = True
    if name in PRODUCTS and not {"hess", "hessp"} & options.keys():
        options["hessp"] = objective.hessp
    if name in WHOLE_HESSIAN and "hess" not in options:
        options["hess"] = objective.hess
    return scipy.optimize.minimize(fun, objective.x0, method=method, **options)


def check_jac(jac: Any) -> None:
    """Refuse what SciPy would take differences for without a word.

    Raises
    ------
    ValueError
    """
    known = jac is None or isinstance(jac, (bool, np.bool)) or callable(jac)
    if not known and not (isinstance(jac, str) and jac in {"2-point", "3-point"}):
        raise ValueError(
            f"minimize: jac is a function, True, '2-point' or '3-point', not {jac!r}; leave it out "
            "for exact derivatives"
        )


def scipy_objective(
    f: Function,
    x0: Any,
    *,
    args: Any = (),
    compile: bool = False,  # noqa: A002 - named as ta.compile is
) -> "ScipyObjective":
    """Make of a function of trees what SciPy's optimizers ask for: functions of a vector.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, a function of an array or tree that returns one real number.
    x0 : array or tree of real arrays and numbers
        An example of its argument.
    args : tuple
        Further arguments of `f`.
    compile : bool
        Whether to compile the function and each of its derivatives by `tape_ad.compile`, with the
        quickest engine that is there, when they are first asked for. The `args` are arguments of
        what is compiled, so they may change: in place, or by ``objective.args = ...``.

    Returns
    -------
    ScipyObjective

    Raises
    ------
    DtypeError
        When `x0` has complex elements.

    Examples
    --------
    >>> objective = scipy_objective(lambda p: np.sum(p["w"] ** 2), {"w": np.array([3.0, 4.0])})
    >>> objective(objective.x0)
    (25.0, array([6., 8.]))
    """
    check_callable("scipy_objective", f)
    return ScipyObjective(f, x0, args if isinstance(args, tuple) else (args,), compile)


@define(eq=False)
class ScipyObjective:
    """A function of a vector, with its derivatives; call it for ``jac=True``.

    Attributes
    ----------
    f : callable
        The function of a tree, and of `args`.
    like : tree
        The structure.
    args : tuple
        Further arguments.
    compile : bool
        Whether the function and its derivatives are compiled.
    compiled : dict of str to callable
        What has been compiled so far, by the name of the method that asked for it: functions of a
        vector, to be looked at (see `tape_ad.compile`).
    x0 : array, shape (n,)
        The elements of all arrays of `like` in a row, as float64.
    """

    f: Function
    like: Any
    args: tuple[Any, ...] = ()
    compile: bool = False
    compiled: dict[str, Any] = field(factory=dict, init=False)
    x0: Array = field(init=False)
    _pulls: tuple[tuple[bytes, Any], Function] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self.like = map_leaves(real_array, self.like)
        self.x0 = self.vector(self.like)

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Compute the value and the gradient, shape (n,)."""
        value, slopes = self._run("value_and_grad", self._value_and_slopes, x)
        return float(value), slopes

    def fun(self, x: Array) -> float:
        """Compute the objective's value at a flat vector."""
        return float(self._run("fun", self._value, x))

    def jac(self, x: Array) -> Array:
        """Compute the gradient, shape (n,)."""
        slopes: Array = self._run("jac", self._slopes, x)
        return slopes

    def hessp(self, x: Array, p: Array) -> Array:
        """Compute the product of the Hessian with a vector, shape (n,).

        What is recorded for one point serves all products there. A compiled product is computed
        whole each time.
        """
        product: Array
        if self.compile:
            product = self._run("hessp", self._product, x, p)
            return product
        key = np.asarray(x).tobytes(), self.args
        if self._pulls is None or self._pulls[0][0] != key[0] or self._pulls[0][1] is not key[1]:
            self._pulls = (key, self._pull(x, self.args))
        product = self.vector(self._pulls[1](self.tree(p))[0])
        return product

    def hess(self, x: Array) -> Array:
        """Compute the Hessian, shape (n, n)."""
        hess: Array = self._run("hess", self._hess, x)
        return hess

    def _settled(self, constraints: Any) -> Any:
        return constraints  # whose functions give plain numbers, but where there are handles

    # Each of these is compiled whole, with the way from a vector to a tree and back

    def _run(self, name: str, function: Function, *vectors: Array) -> Any:
        """Call one of the functions below, compiled where that is asked for."""
        vectors = tuple(map(np.asarray, vectors))
        if not self.compile:
            return computed(function(*vectors, *self.args))
        if name not in self.compiled:
            self.compiled[name] = compiled(named_as(self.f, function))
        return self.compiled[name](*vectors, *self.args)

    def _value(self, x: Array, *args: Any) -> Any:
        return self.f(self.tree(x), *args)

    def _value_and_slopes(self, x: Array, *args: Any) -> tuple[Any, Array]:
        value, slopes = computed(value_and_grad(self._of_tree(args))(self.tree(x)))
        return value, self.vector(slopes)

    def _slopes(self, x: Array, *args: Any) -> Array:
        return self.vector(grad(self._of_tree(args))(self.tree(x)))

    def _product(self, x: Array, p: Array, *args: Any) -> Array:
        return self.vector(self._pull(x, args)(self.tree(p))[0])

    def _hess(self, x: Array, *args: Any) -> Array:
        return hessian(lambda x: self._value(x, *args))(x)

    def _pull(self, x: Array, args: tuple[Any, ...]) -> Function:
        pull: Function
        _, pull = vjp(grad(self._of_tree(args)), self.tree(x))
        return pull

    def _of_tree(self, args: tuple[Any, ...]) -> Function:
        return lambda tree: self.f(tree, *args)

    def tree(self, x: Array) -> Any:
        """Take a vector to the structure of the parameters, in their shapes and dtypes.

        Raises
        ------
        DtypeError
            For complex numbers, which ``jac="cs"`` tries.
        """
        if np.iscomplexobj(x):
            raise DtypeError(
                "the parameters are real, and jac='cs' tries complex ones; leave jac out, and the "
                "derivatives are exact"
            )
        leaves = flatten(self.like)
        arrays = iter(arrays_of(x, (leaf for leaf in leaves if isinstance(leaf, np.ndarray))))
        return unflatten(
            self.like,
            [next(arrays) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves],
        )

    def vector(self, tree: Any) -> Array:
        """Take the arrays of a tree, whatever the order of its keys, to one vector of float64."""
        pairs = paired(self.like, computed(tree))
        return vector_of(part for _, leaf, part in pairs if isinstance(leaf, np.ndarray))


def real_array(leaf: Any, path: str) -> Any:
    """Take numbers to arrays, and integers to float64; leave what is not a number.

    Raises
    ------
    DtypeError
    """
    if not is_number_like(leaf):
        return leaf
    array = np.asarray(leaf)
    if array.dtype.kind not in "iuf":
        raise DtypeError(
            f"the parameters{path and f' at {path}'} have dtype {array.dtype}, and SciPy minimizes "
            "over real numbers; pass real and imaginary parts as arrays of their own"
        )
    return array if array.dtype.kind == "f" else array.astype(np.float64)


def with_trees(callback: Function, objective: ScipyObjective) -> Function:
    """Let a callback have trees; SciPy looks at the name of its parameter for what to give."""
    try:
        names = set(inspect.signature(callback).parameters)
    except ValueError:
        names = set()
    if names == {"intermediate_result"}:

        def with_result(intermediate_result: Any) -> Any:
            own = type(intermediate_result)(intermediate_result)
            own.x = objective.tree(own.x)
            return callback(intermediate_result=own)

        return with_result

    def with_point(xk: Array, *more: Any) -> Any:
        return callback(objective.tree(xk), *more)

    return with_point


def on_vectors(options: Mapping[str, Any], objective: ScipyObjective) -> dict[str, Function]:
    """Make of those derivatives that are given as functions of a tree ones of a vector."""
    tree, vector, args = objective.tree, objective.vector, objective.args
    given = {name: f for name, f in options.items() if callable(f)}
    found: dict[str, Function] = {}
    if jac := given.get("jac"):
        found["jac"] = lambda x: vector(jac(tree(x), *args))
    if hess := given.get("hess"):
        found["hess"] = of_vector(hess, objective, args)
    if hessp := given.get("hessp"):
        found["hessp"] = lambda x, p: vector(hessp(tree(x), tree(p), *args))
    return found


def derived(constraints: Any, objective: ScipyObjective) -> Any:
    """Give constraints their Jacobians, and let their functions have trees."""
    if isinstance(constraints, (list, tuple)):
        return [derived(each, objective) for each in constraints]
    if isinstance(constraints, Mapping):
        own = constraints.get("args", ())
        fun = of_vector(constraints["fun"], objective, own)
        jac = constraints.get("jac")
        jac = of_vector(jac, objective, own) if callable(jac) else derivative(fun, objective)
        return {**constraints, "args": (), "fun": prepared(fun, objective), "jac": jac}
    if hasattr(constraints, "fun"):
        constraints = copy.copy(constraints)
        fun, jac = of_vector(constraints.fun, objective, ()), constraints.jac
        constraints.fun = prepared(fun, objective)
        constraints.jac = (
            of_vector(jac, objective, ()) if callable(jac) else derivative(fun, objective)
        )
    return constraints


def of_vector(function: Function, objective: ScipyObjective, args: tuple[Any, ...]) -> Function:
    """Make of a function of a tree one of a vector."""

    def of_x(x: Array) -> Any:
        return function(objective.tree(x), *args)

    return named_as(function, of_x)


def prepared(function: Function, objective: ScipyObjective) -> Function:
    """Compile a function if those of the objective are."""
    if not objective.compile:
        return function
    made: Function = compiled(function)
    return made


def named_as(f: Function, function: Function) -> Function:
    """Let a function of a vector go by the name of the user's own, in programs and warnings."""

    @functools.wraps(function)
    def named(*args: Any) -> Any:
        return function(*args)

    named.__name__ = named.__qualname__ = getattr(f, "__name__", type(f).__name__)
    return named


def derivative(fun: Function, objective: ScipyObjective) -> Function:
    """Derive a Jacobian, as an array of SciPy's own."""
    rows = prepared(jacobian(fun), objective)

    def jac(x: Array) -> Any:
        found = rows(x)
        return np.array(found) if isinstance(found, np.ndarray) else found

    return jac


def in_a_row(bounds: Any, x0: Any) -> Any:
    """Give bounds as SciPy takes them, about the elements of all arrays of a tree in a row.

    Parameters
    ----------
    bounds : any
        The tree `x0` with a pair (lower, upper) in place of each array, or None where there is
        none; or what SciPy takes, which stays as it is. Lower and upper bounds are numbers, arrays
        that broadcast to the shape of what they bound, handles, or None.
    x0 : array or tree

    Returns
    -------
    any
        A list of pairs, or what SciPy takes already.

    Raises
    ------
    ValueError
        When there are no bounds for a part of `x0`, or some for what is not there, or no pair where
        one should be.
    """
    if isinstance(bounds, tuple) and any(isinstance(each, Mapping) for each in bounds):
        raise ValueError(
            "bounds are one tree, with a pair (lower, upper) in place of each array, and not a "
            'pair of trees; write {"w": (0, 1)}'
        )
    if not isinstance(bounds, Mapping) and not is_like(bounds, x0):
        return bounds
    sides = at_leaves(x0, bounds)
    return [pair for at, x, given in sides for pair in pairs(at, np.shape(x), given)]


def is_like(bounds: Any, x0: Any) -> bool:
    """Tell whether bounds are a tree of a class that SciPy knows nothing of."""
    return type(bounds) is type(x0) and not is_leaf(x0) and not isinstance(x0, (list, tuple))


def pairs(at: str, shape: tuple[int, ...], given: Any) -> Iterator[tuple[Any, Any]]:
    """Give every element of an array its bounds."""
    if given is not None and not (isinstance(given, (tuple, list)) and len(given) == 2):
        raise ValueError(
            f"the bounds of {at} are {given!r}; write a pair (lower, upper), with None for none"
        )
    lower, upper = (side(at, shape, each) for each in given or (None, None))
    return zip(lower, upper, strict=True)


def side(at: str, shape: tuple[int, ...], bound: Any) -> Any:
    """Give every element of an array its lower bound, or its upper one."""
    if bound is None:
        return [None] * int(np.prod(shape))
    try:
        return np.ravel(np.broadcast_to(bound, shape))
    except ValueError:
        raise ValueError(
            f"a bound of {at} has shape {np.shape(bound)}, which does not broadcast to {shape}"
        ) from None
