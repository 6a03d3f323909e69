"""SciPy's optimizers over nested structures of parameters, with exact derivatives.

SciPy is needed for `minimize` alone: pip install 'tape-ad[scipy]'.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from attrs import define, field, frozen

from tape_ad import compile as compiled
from tape_ad import grad, hessian, jacobian, sparse_hessian, sparse_jacobian, value_and_grad, vjp
from tape_ad.errors import DtypeError, OutputError, PatternError
from tape_ad.extend.arrays import Array, any_handle, array_of, is_number_like, plain
from tape_ad.extend.packages import extra
from tape_ad.extend.solvers import check_callable, on_plain_arrays
from tape_ad.extend.trees import (
    arrays_of,
    computed,
    flatten,
    is_leaf,
    map_leaves,
    paired,
    unflatten,
    vector_of,
)

__all__ = ["ScipyObjective", "Structure", "scipy_objective", "structure"]

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
    if options.get("callback") is not None:
        options["callback"] = with_trees(options["callback"], objective)
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


def check_option(function: str, option: str, given: Any, *known: Any) -> None:
    """Refuse what is neither a function nor one of the known values of an option.

    Raises
    ------
    ValueError
        SciPy would take differences for some of these without a word.
    """
    if given is None or callable(given):
        return
    if not isinstance(given, (str, bool, np.bool)) or given not in known:
        raise ValueError(
            f"{function}: {option} is {', '.join(['a function', *map(repr, known)])}, not "
            f"{given!r}; leave it out for exact derivatives"
        )


def scipy_objective(
    f: Function, x0: Any, *, args: Any = (), compile: bool = False
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
        arrays = iter(arrays_of(x, filter(is_number_like, leaves)))
        return unflatten(
            self.like, [next(arrays) if is_number_like(leaf) else leaf for leaf in leaves]
        )

    def vector(self, tree: Any) -> Array:
        """Take the arrays of a tree, whatever the order of its keys, to one vector of float64."""
        pairs = paired(self.like, computed(tree))
        return vector_of(part for _, leaf, part in pairs if is_number_like(leaf))


def real_array(leaf: Any, path: str) -> Any:
    """Take numbers to arrays, and integers to float64; leave what is not a number.

    Raises
    ------
    DtypeError
    """
    if not is_number_like(leaf):
        return leaf
    array = array_of(leaf)
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


def of_vector(function: Function, objective: ScipyObjective, args: tuple[Any, ...]) -> Function:
    """Make of a function of a tree one of a vector."""

    def of_x(x: Array, *more: Any) -> Any:
        return function(objective.tree(x), *args, *more)

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


@define(eq=False)
class Plain(ScipyObjective):
    """An objective that gives plain numbers, whatever its function closes over.

    Attributes
    ----------
    found : list
        A handle that the function gave, if it ever did.
    functions : list of callable
        What else SciPy calls; each has such a list, too.
    """

    found: list[Any] = field(factory=list, init=False)
    functions: list[Any] = field(factory=list, init=False)

    def wrapped(self, function: Any) -> Any:
        """Let a function give plain numbers; anything else stays as it is."""
        if not callable(function) or isinstance(function, type):
            return function
        self.functions.append(on_plain_arrays(function))
        return self.functions[-1]

    def _run(self, name: str, function: Function, *vectors: Array) -> Any:
        return self._plain(ScipyObjective._run(self, name, function, *vectors))

    def hessp(self, x: Array, p: Array) -> Array:
        """Compute the product of the Hessian with a vector, shape (n,)."""
        product: Array = self._plain(ScipyObjective.hessp(self, x, p))
        return product

    def _plain(self, value: Any) -> Any:
        if any_handle(value):
            self.found = [leaf for leaf in flatten(value) if any_handle(leaf)][:1]
        return plain(value)


@define(eq=False)
class WithGradient(Plain):
    """An objective whose function returns its gradient as well."""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.compile:
            raise TypeError("with jac=True a function is called as it is: leave compile=True out")

    def _value(self, x: Array, *args: Any) -> Any:
        return self._value_and_slopes(x, *args)[0]

    def _value_and_slopes(self, x: Array, *args: Any) -> tuple[Any, Array]:
        pair = self.f(self.tree(x), *args)
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(
                f"with jac=True a function returns a number and its gradient, not a "
                f"{type(pair).__name__}; leave jac=True out, and it is differentiated"
            )
        return pair[0], self.vector(pair[1])

    def _pull(self, x: Array, args: tuple[Any, ...]) -> Function:
        raise TypeError(
            "this method takes second derivatives, and with jac=True there are none: take "
            "another, such as L-BFGS-B, or give hess= or hessp="
        )

    def _hess(self, x: Array, *args: Any) -> Array:
        self._pull(x, args)
        raise AssertionError("which raises")


@define(eq=False)
class Equations(Plain):
    """A function that gives many numbers, as one of a vector, with its Jacobian.

    Where the unknowns are an array, the function gets what SciPy would call it with; else trees.

    Attributes
    ----------
    name : str
        Who asks, for errors.
    differences : str
        The option by which SciPy takes differences, for errors.
    """

    name: str = field(kw_only=True)
    differences: str = field(kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.is_tree:
            super().__attrs_post_init__()
        else:
            self.like = self.x0 = plain(array_of(self.like))

    @property
    def is_tree(self) -> bool:
        """Whether the unknowns are no vector to SciPy: no array, number or list of numbers."""
        row = isinstance(self.like, (list, tuple)) and all(map(is_leaf, self.like))
        return not (row or is_leaf(self.like))

    def tree(self, x: Array) -> Any:
        """Take a vector to the structure of the unknowns."""
        return ScipyObjective.tree(self, x) if self.is_tree else x

    def values(self, x: Array) -> Any:
        """Compute what the function gives: a vector where the unknowns are a tree."""
        return writable(self._run("values", self._values, x))

    def jac(self, x: Array) -> Any:
        """Compute the Jacobian, shape (m, n), by all numbers in a row."""
        return self._derived("jac", self._jacobian, np.asarray(x, float))

    def slopes(self, option: str, given: Any, transposed: Any) -> Function | None:
        """Give what SciPy takes for a Jacobian: a function's own, the exact one, or none.

        Raises
        ------
        ValueError
            For what is no function, nor left out, nor False.
        """
        check_option(self.name, option, given, False)
        if callable(given):
            wrapped: Function = self.wrapped(lambda x: given(self.tree(x), *self.args))
            return wrapped
        if given is not None:
            return None
        return (lambda x: self.jac(x).T) if transposed else self.jac

    def pair(self, x: Array) -> Any:
        """Compute the values and the Jacobian that the function gives along with them."""
        value, slopes = self.f(self.tree(x), *self.args)
        return self._plain(in_a_vector(value) if self.is_tree else value), self._plain(slopes)

    def sparse(self, pattern: Any = None) -> Function:
        """Make the function that computes the Jacobian as a sparse matrix."""
        slopes: Any = sparse_jacobian(self._row, pattern=pattern)
        return lambda x: self._derived("sparse", slopes, x)

    def _derived(self, kind: str, function: Function, x: Array) -> Any:
        try:
            return writable(self._run(kind, function, x))
        except Exception as error:
            error.add_note(
                f"{self.name} derives the Jacobian of its function; {self.differences} takes "
                "differences"
            )
            raise

    def _values(self, x: Array, *args: Any) -> Any:
        return self._row(x, *args) if self.is_tree else array_of(self.f(x, *args))

    def _row(self, x: Array, *args: Any) -> Any:
        return in_a_vector(self.f(self.tree(x), *args))

    def _jacobian(self, x: Array, *args: Any) -> Any:
        def row(x: Any) -> Any:
            found = self._row(x, *args)
            if not any_handle(found):
                raise OutputError(
                    f"{self.name}: the function does not depend on the unknowns, or takes their "
                    f"numbers by .data, .item() or .tolist(); {self.differences} takes differences"
                )
            return found

        return jacobian(row)(x)


def writable(found: Any) -> Any:
    """Give SciPy an array that it may work in."""
    read_only = isinstance(found, np.ndarray) and not found.flags.writeable
    return found.copy() if read_only else found


def in_a_vector(values: Any) -> Any:
    """Put all numbers of a tree into one vector, in the order of a Jacobian's rows."""
    return vector_of(leaf for leaf in flatten(values) if is_number_like(leaf))


@frozen(eq=False)
class Structure:
    """A sparse matrix of derivatives as solvers take it: places once, values at each point.

    Attributes
    ----------
    rows, columns : array of int, shape (entries,)
        Where entries may be other than zero.
    shape : tuple of int
    values : callable
        ``values(x)`` gives the entries at a vector, shape (entries,).
    """

    rows: Array
    columns: Array
    shape: tuple[int, int]
    values: Callable[[Array], Array]


def structure(
    f: Function, x0: Any, *, args: tuple[Any, ...] = (), hessian: bool = False
) -> Structure:
    """Give a sparse Jacobian or Hessian in the form that interior-point solvers ask for.

    Parameters
    ----------
    f : callable
        ``f(x, *args)``, of an array or tree: constraints, which may be a tree, or with `hessian`
        one real number.
    x0 : array or tree of real arrays
        An example of its argument. The pattern is found there.
    args : tuple
        Further arguments.
    hessian : bool
        Whether second derivatives are asked for. Only the lower triangle is given then, as IPOPT
        takes it.

    Returns
    -------
    Structure
        Its ``values`` take the vector of all elements of the tree's arrays, one after another.

    Raises
    ------
    PatternError
        By ``values``, where the function makes other calls than at `x0`.

    Examples
    --------
    >>> jacobian = structure(lambda x: x[1:] * x[:-1], np.ones(3))
    >>> jacobian.rows, jacobian.columns
    (array([0, 0, 1, 1], dtype=int32), array([0, 1, 1, 2], dtype=int32))
    >>> jacobian.values(np.array([2.0, 3.0, 4.0]))
    array([3., 2., 4., 3.])
    """
    check_callable("structure", f)
    packed = ScipyObjective(f, x0, args)
    derivative: Any = sparse_hessian(f) if hessian else sparse_jacobian(f)
    found = derivative(packed.tree(packed.x0), *args)
    pattern = derivative.pattern
    rows, columns = (places.astype(np.int32) for places in pattern.tocoo().coords)
    kept = rows >= columns if hessian else np.ones(len(rows), bool)

    def values(x: Array) -> Array:
        matrix = derivative(packed.tree(np.asarray(x, float)), *args)
        if derivative.pattern is not pattern and (derivative.pattern != pattern).nnz:
            raise PatternError(
                "structure: the function made other calls here than at x0, and has other entries"
            )
        entries: Array = matrix.data[kept]
        return entries

    return Structure(rows[kept], columns[kept], found.shape, values)
