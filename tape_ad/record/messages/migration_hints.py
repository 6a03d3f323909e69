"""What people write who come from another library, and what to write here instead: one table.

The names are PyTorch's, JAX's, HIPS autograd's and MyGrad's. Where one of them is asked for, the
error that is raised anyway goes on with what stands here.
"""

import functools
import importlib
import inspect
import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, NoReturn, TypeVar

NOTHING: Mapping[str, str] = MappingProxyType({})

MAKE_A_LEAF = "rec = ta.ComputationRecord(); x = rec.tensor(array)"
TO_NUMPY = "t.data is the NumPy array, and t.item() the number"
GRADIENTS = "grads = loss.grad(); grads.wrt(x) is the gradient with respect to x"
NO_FLAG = "every leaf that rec.tensor(array) makes has a gradient, and rec.constant(array) has none"
NO_ZEROING = "gradients do not add up: each record and each loss.grad() begins anew"
PLAIN = (
    "calculate with plain arrays (t.data, or the parameters' dict), of which nothing is recorded"
)
NUMPYS = "NumPy's own functions take handles: np.{name}"
MODES = "a layer has no mode: say training=True in the call where it matters"
ONE_RECORD = "a record lives as long as its handles: make a fresh one for every step"
SCHEDULES = (
    "optimizer.lr = schedule(step) before each step; see Constant, StepDecay, Cosine, WarmUp"
)
EXACT = "ta.grad, ta.jacobian and ta.hessian are exact, and take functions of handles"
NO_DEVICES = "arrays are NumPy's, in the machine's own memory"
NOTHING_STATIC = "leave it out: what is neither an array nor a number is static by itself"

METHODS = """
    abs acos acosh arccos arccosh arcsin arcsinh arctan arctan2 arctanh ceil cos cosh cross diag
    diff exp expm1 exp2 flip floor fmod hypot isfinite isinf isnan kron log log10 log1p log2
    logaddexp maximum minimum median outer roll sign sin sinh sqrt square tan tanh tile trunc
    vdot where
"""

IN_PLACE = ("add_", "sub_", "mul_", "div_")

OF_MODULES: Mapping[str, Mapping[str, str]] = {
    "tape_ad": {
        **dict.fromkeys(("tensor", "Variable", "as_tensor", "from_numpy", "astensor"), MAKE_A_LEAF),
        **dict.fromkeys(("no_grad", "inference_mode", "no_autodiff", "set_grad_enabled"), PLAIN),
        "enable_grad": "what is computed of handles is recorded, always",
        **dict.fromkeys(
            ("zeros", "ones", "arange", "linspace", "eye", "full", "rand", "randn"),
            ("make arrays with NumPy, and leaves of them with rec.tensor(array)"),
        ),
        **dict.fromkeys(
            (
                *("sum", "mean", "exp", "log", "sin", "cos", "sqrt", "where", "matmul"),
                *("numpy", "jnp", "np"),
            ),
            "NumPy's own functions take handles: import numpy as np",
        ),
        **dict.fromkeys(("cat", "concat"), "np.concatenate takes handles"),
        **dict.fromkeys(("jit", "function"), "ta.compile(f)"),
        **dict.fromkeys(("vmap", "pmap"), "ta.batched(f), with in_axes= and out_axes="),
        **dict.fromkeys(("jacfwd", "jacrev"), "ta.jacobian(f), with mode= where it matters"),
        **dict.fromkeys(("backward", "GradientTape"), GRADIENTS),
        "elementwise_grad": "ta.grad(lambda x: np.sum(f(x))), or HIPS' own in ta.interop.autograd",
        "egrad": "ta.grad(lambda x: np.sum(f(x)))",
        "odeint": "ta.scipy.integrate.odeint",
        "make_jvp": "ta.jvp(f, primals, tangents)",
        "make_vjp": "ta.vjp(f, *primals)",
        "hessian_vector_product": "ta.hvp(f, x, v)",
        "grad_and_aux": "ta.value_and_grad(f, has_aux=True)",
        **dict.fromkeys(
            ("primitive", "defvjp", "defjvp", "custom_vjp", "custom_jvp"), "ta.custom_rule"
        ),
        "holomorphic_grad": "ta.vjp or ta.jvp; ta.jacobian says which parts it takes",
        "autograd": "ta.grad(f), or the record's: loss.grad().wrt(t); ta.interop.autograd is HIPS'",
        **dict.fromkeys(("save", "load"), "ta.parameters.save(path, params) and load(path)"),
        "remat": "ta.checkpoint(f)",
        "stop_grad": "ta.stop_gradient(t)",
        **{name: f"ta.nn.{name}" for name in ("Linear", "relu", "softmax")},
        **dict.fromkeys(("Adam", "AdamW", "SGD"), "ta.optim has the optimizers"),
        "lax": "loops and branches are Python's; SciPy's functions are in ta.scipy",
        **{
            name: f"ta.scipy.{name}, under SciPy's names"
            for name in (
                *("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal"),
                *("sparse", "spatial", "special", "stats"),
            )
        },
        **{name: f"ta.interop.{name}" for name in ("array_api", "autograd", "dask", "sklearn")},
        **dict.fromkeys(("random", "manual_seed"), "draw from np.random.default_rng(seed)"),
        **dict.fromkeys(("device", "device_put", "cuda"), NO_DEVICES),
        **dict.fromkeys(
            ("tree", "tree_map", "tree_util"),
            "trees are plain dicts, lists and tuples; JAX's tree functions take them",
        ),
    },
    "tape_ad.scipy.signal": {
        "place_poles": (
            "solve np.poly(A - B @ K) == np.poly(poles) for K by ta.scipy.optimize.root, which is "
            "the same for one input; SciPy's chooses among gains where there are more"
        ),
        "envelope": "np.abs(ta.scipy.signal.hilbert(x, axis=-1))",
        **dict.fromkeys(
            ("invres", "invresz"), "multiply out: np.polymul, np.polyadd and np.poly take handles"
        ),
        "closest_STFT_dual_window": (
            "SciPy's of plain windows, or np.linalg.lstsq of what the windows have to add up to"
        ),
    },
    "tape_ad.scipy.differentiate": {
        **dict.fromkeys(("derivative", "jacobian", "hessian"), EXACT),
    },
    "tape_ad.scipy.integrate": {
        "cubature": "ta.scipy.integrate.quad, or nquad",
        "nsum": "np.sum of terms enough",
        **dict.fromkeys(
            ("ode", "complex_ode", "RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"),
            "ta.scipy.integrate.solve_ivp, which has them as its methods",
        ),
    },
    "tape_ad.interop.sklearn.model_selection": dict.fromkeys(
        (
            *("cross_val_score", "cross_validate", "GridSearchCV", "RandomizedSearchCV"),
            *("HalvingGridSearchCV", "HalvingRandomSearchCV", "learning_curve"),
            *("permutation_test_score", "validation_curve"),
        ),
        "loop over KFold().split(x.data), fit to handles each time, and score by a function of "
        "tape_ad.interop.sklearn",
    ),
    "tape_ad.scipy.odr": {"ODR": "ta.scipy.optimize.curve_fit, or least_squares of both errors"},
    "tape_ad.scipy.optimize": {
        **dict.fromkeys(
            ("fmin_cobyla", "fmin_slsqp"), "ta.scipy.optimize.minimize, which has it as a method"
        ),
    },
    "tape_ad.scipy.spatial": {
        "cKDTree": "ta.scipy.spatial.KDTree",
        **dict.fromkeys(
            ("ConvexHull", "Delaunay", "HalfspaceIntersection", "SphericalVoronoi", "Voronoi"),
            "which points are neighbours has no derivative: give it points.data, and calculate "
            "areas and the like with points[simplices], in NumPy",
        ),
    },
    "tape_ad.scipy.stats": {
        "power": "it counts rejections, and is piecewise constant: pass .data of handles",
    },
    "tape_ad.scipy.stats.qmc": {
        "scale": "the sample is plain: lower + (upper - lower) * sample keeps the gradient",
        "discrepancy": "write its formula in NumPy, or give it sample.data",
        "MultivariateNormalQMC": "mean + sample @ factor.T of a plain normal sample",
    },
    "tape_ad.scipy.sparse.linalg": {
        **dict.fromkeys(
            ("lsqr", "lsmr"),
            "ta.scipy.sparse.linalg.spsolve(A.T @ A, A.T @ b), or "
            "ta.scipy.linalg.lstsq(A.toarray(), b)[0]",
        ),
        **dict.fromkeys(
            ("eigsh", "lobpcg"),
            "ta.scipy.linalg.eigh(A.toarray()), of which subset_by_index= takes some",
        ),
        "eigs": "ta.scipy.linalg.eig(A.toarray())",
        "svds": "ta.scipy.linalg.svd(A.toarray(), full_matrices=False)",
    },
    "tape_ad.nn": {
        "Module": "layers are values without data: keep parameters in a dict, and write functions",
        "functional": "the functions are in ta.nn itself: ta.nn.relu, ta.nn.cross_entropy",
        "ReLU": "ta.nn.relu is a function, and stands in ta.nn.Sequential as it is",
        "Tanh": "np.tanh is a function, and stands in ta.nn.Sequential as it is",
        "Sigmoid": "ta.nn.sigmoid is a function, and stands in ta.nn.Sequential as it is",
        "Softmax": "ta.nn.softmax(x)",
        "GELU": "ta.nn.gelu is a function, and stands in ta.nn.Sequential as it is",
        "CrossEntropyLoss": "ta.nn.cross_entropy(logits, classes)",
        "NLLLoss": "ta.nn.nll_loss(log_probabilities, classes)",
        "MSELoss": "ta.nn.mse_loss(x, y)",
        "L1Loss": "ta.nn.l1_loss(x, y)",
        "BCEWithLogitsLoss": "ta.nn.binary_cross_entropy_with_logits(logits, targets)",
        "ModuleList": "a list",
        "MultiheadAttention": "ta.nn.MultiHeadAttention",
        "Identity": "lambda x: x stands in ta.nn.Sequential as it is",
        "Dense": "ta.nn.Linear",
        "F": "the functions are in ta.nn itself: ta.nn.relu, ta.nn.cross_entropy",
        "ModuleDict": "a dict",
    },
    "tape_ad.training": {
        **dict.fromkeys(
            ("DataLoader", "TensorDataset"), "ta.training.batches(x, y, size=64, rng=rng)"
        ),
    },
    "tape_ad.optim": {
        **dict.fromkeys(("lr_scheduler", "StepLR", "CosineAnnealingLR"), SCHEDULES),
        "clip_grad_norm_": "ta.optim.clip_by_global_norm",
        "clip_grad_value_": "ta.optim.clip_by_value",
        **{name.lower(): f"ta.optim.{name}(lr=...)" for name in ("Adam", "AdamW", "SGD")},
        "apply_updates": "optimizer.step(params, gradients) changes the arrays in place",
    },
}

OF_HANDLES: Mapping[str, str] = {
    **{name: NUMPYS.format(name=name) + "(t)" for name in METHODS.split()},
    **dict.fromkeys(("backward", "gradient"), GRADIENTS),
    **dict.fromkeys(("requires_grad", "requires_grad_", "is_leaf", "constant"), NO_FLAG),
    **dict.fromkeys(("zero_grad", "null_grad", "null_gradients", "clear_graph"), NO_ZEROING),
    **dict.fromkeys(("numpy", "to_numpy", "cpu", "detach_", "block_until_ready"), TO_NUMPY),
    **dict.fromkeys(("cuda", "to"), f"{NO_DEVICES}; t.astype(np.float32) is another dtype"),
    **dict.fromkeys(("float", "half", "double", "type"), "t.astype(np.float32)"),
    **dict.fromkeys(
        ("retain_grad", "register_hook"),
        ("grads.wrt(t) gives the gradient of any handle that the program still holds"),
    ),
    **dict.fromkeys(("grad_fn", "creator"), "print(t.record) shows the nodes, and t.index which"),
    "detach": "ta.stop_gradient(t), or t.data for the NumPy array",
    "stop_gradient": "ta.stop_gradient(t)",
    "clone": "t.copy()",
    "at": "assign as to an array: t[i] = value, t[i] += value",
    "unsqueeze": "t[:, np.newaxis], or np.expand_dims(t, axis)",
    "permute": "np.transpose(t, axes)",
    "t": "t.T",
    "clamp": "t.clip(low, high)",
    "expand": "np.broadcast_to(t, shape)",
    "contiguous": "an array of any layout will do",
    "masked_fill": "np.where(mask, value, t)",
    **dict.fromkeys(("mm", "bmm", "matmul"), "t @ other"),
    "pow": "t ** other",
    **{name: f"t {sign}= other" for name, sign in zip(IN_PLACE, "+-*/", strict=True)},
    "dim": "t.ndim",
    "numel": "t.size",
    "norm": "np.linalg.norm(t)",
    **{name: f"ta.nn.{name}(t)" for name in ("softmax", "log_softmax", "relu", "sigmoid")},
}

OF_OPTIMIZERS: Mapping[str, str] = {
    "zero_grad": NO_ZEROING,
    "param_groups": "an optimizer holds no parameters: step(params, gradients) is given them",
    "state_dict": "optimizer.state is a plain dict of arrays",
    "load_state_dict": "optimizer.state is a plain dict of arrays, and may be assigned to",
    "init": "an optimizer makes its state at the first step; update begins with {}",
}

OF_LAYERS: Mapping[str, str] = {
    "forward": "a layer is called: layer(params, x)",
    "train": MODES,
    "eval": MODES,
    "state_dict": "parameters live in a dict of arrays: params = ta.nn.init(layer, rng)",
    "load_state_dict": "parameters live in a dict of arrays; ta.parameters loads and saves it",
    "zero_grad": NO_ZEROING,
    "weight": 'a layer holds no data: params["name.weight"], by the name that the layer was given',
    **dict.fromkeys(("to", "cuda", "cpu"), NO_DEVICES),
    **dict.fromkeys(("named_parameters", "children", "modules"), "layer.parameters is a dict"),
}

OF_RECORDS: Mapping[str, str] = {
    **dict.fromkeys(("reset", "clear"), ONE_RECORD),
    **dict.fromkeys(("backward", "gradient", "grad"), GRADIENTS),
    "watch": "x = rec.tensor(array), and calculate with x",
    **dict.fromkeys(("leaf", "variable"), "rec.tensor(array)"),
    "parameter": "rec.bind(params)",
}

MIGRATION_HINTS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        **OF_MODULES,
        "Tensor": OF_HANDLES,
        "ComputationRecord": OF_RECORDS,
        "Optimizer": OF_OPTIMIZERS,
        "Layer": OF_LAYERS,
        "argument": {
            "dim": "axis=",
            "keepdim": "keepdims=",
            "input": "the operand without a name",
            "requires_grad": "leave it out: rec.tensor(array) is differentiated with respect to, "
            "and a plain array or rec.constant(array) is not",
            "retain_graph": "leave it out: a record may be swept again unless release=True",
            "batch_size": "size=",
            "shuffle": "rng=, which draws a fresh order for every epoch",
            "create_graph": "ComputationRecord(within=outer), or ta.grad of ta.grad",
            "dtype": "make the array so, np.asarray(data, dtype), or write t.astype(dtype)",
            "device": NO_DEVICES,
            **dict.fromkeys(("static_argnums", "static_argnames"), NOTHING_STATIC),
        },
    }
)
"""By where the name is asked for: a module, a class, or the arguments of NumPy's functions."""


def hint_for(place: str, name: str) -> str:
    """Say what to write instead, as the end of an error; empty where no hint is known.

    Examples
    --------
    >>> hint_for("argument", "dim"), hint_for("argument", "axes")
    ('; here, axis=', '')
    """
    words = MIGRATION_HINTS.get(place, {}).get(name)
    return f"; here, {words}" if words else ""


def unexpected(function: str, arguments: Iterable[str]) -> TypeError:
    """Say that a function has no keyword argument of the first of some names."""
    name = next(iter(arguments))
    hint = hint_for("argument", name)
    return TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def attributes_of(
    module: str, packages: Collection[str] = (), functions: Mapping[str, str] = NOTHING
) -> Callable[[str], Any]:
    """Make a module's ``__getattr__``: what is imported when asked for, and hints for the rest.

    Parameters
    ----------
    module : str
        Its name. A module of SciPy's of that name may have what it has not, for plain arrays.
    packages : collection of str
        The packages and modules in it that are imported when they are first asked for.
    functions : mapping of str to str
        Functions, each with the module that it is imported from when it is first asked for.
    """
    original = module.removeprefix("tape_ad.")

    def __getattr__(name: str) -> Any:  # noqa: N807 - it becomes one
        if name in functions:
            return getattr(importlib.import_module(functions[name]), name)
        if name in packages:
            return importlib.import_module(f"{module}.{name}")
        words = hint_for(module, name)
        if not words and original != module and hasattr(sys.modules.get(original), name):
            words = f"; {original}.{name} takes plain arrays, t.data for the value of a handle"
        raise AttributeError(f"module {module!r} has no attribute {name!r}{words}")

    return __getattr__


def listed(names: Iterable[str], *more: str) -> Callable[[], list[str]]:
    """Make a module's ``__dir__``, which lists what is public in it and not what it is made of."""

    def __dir__() -> list[str]:  # noqa: N807 - it becomes one
        return sorted({*names, *more})

    return __dir__


def published(
    module: str, *tables: Mapping[str, Any], packages: Iterable[str] = (), also: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Publish the names that a module has in common with SciPy's module, and those of tables.

    They become the module's ``__all__``. What else it imports by ``*`` is what other modules of
    ours need, and is not listed.

    Parameters
    ----------
    module : str
        Its name: "tape_ad.scipy.signal" has SciPy's functions of `scipy.signal`.
    *tables : mapping of str
        Functions and classes by their names, which become attributes of the module.
    packages : iterable of str
        The modules in it that are public.
    also : iterable of str
        Public names that are not SciPy's.

    Returns
    -------
    callable, callable
        The module's ``__getattr__``, see `attributes_of`, and its ``__dir__``.
    """
    space = vars(sys.modules[module])
    for table in tables:
        space.update(table)
    theirs = getattr(sys.modules.get(module.removeprefix("tape_ad.")), "__all__", ())
    common = {name for name in theirs if not isinstance(space.get(name), ModuleType | None)}
    names = space["__all__"] = sorted(common.union(packages, also, *tables))
    return attributes_of(module), listed(names)


class ImportHints:
    """The last of Python's finders of modules: it says of names of other libraries what to write.

    Python asks it for ``import tape_ad.numpy`` and ``from tape_ad import jit`` when it has found
    nothing itself.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        """Find no module, and raise an error where the table knows better."""
        package, _, last = name.rpartition(".")
        if words := hint_for(package, last):
            raise ModuleNotFoundError(f"{package} has no {last}{words}")


class MigrationHint:
    """An attribute that objects of another library have; asking for it says what to write here.

    Descriptors, and not ``__getattr__``, because a class with that method has slow attributes.
    """

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, thing: Any, owner: type) -> NoReturn:
        raise AttributeError(self.message)

    def __set__(self, thing: Any, value: Any) -> NoReturn:
        self.__get__(thing, type(thing))


Class = TypeVar("Class", bound=type)


def with_hints(cls: Class) -> Class:
    """Let a class answer to the names of its table; it is a decorator."""
    for name, words in MIGRATION_HINTS[cls.__name__].items():
        setattr(cls, name, MigrationHint(f"{cls.__name__} has no .{name}; here, {words}"))
    if "__dir__" not in vars(cls):
        setattr(cls, "__dir__", there)  # noqa: B010 - no class in general may be assigned to
    return cls


def there(thing: Any) -> list[str]:
    """List the names of what an object has, and none that only say what to write instead."""
    cls = type(thing)
    return [
        name
        for name in object.__dir__(thing)
        if not isinstance(inspect.getattr_static(cls, name, None), MigrationHint)
    ]


class CalledOnly:
    """A method of which PyTorch has an attribute by that name; using it as a value says so.

    Parameters
    ----------
    method : function
    message : str
        What a `TypeError` says where the bound method meets an operator, and an `AttributeError`
        where something is asked of it.
    """

    messages: ClassVar[dict[Any, str]] = {}

    def __init__(self, method: Callable[..., Any], message: str) -> None:
        self.method, self.messages[method] = method, message

    def __get__(self, thing: Any, owner: type) -> Callable[..., Any]:
        return self.method if thing is None else BoundOnly(self.method, thing)

    def __set__(self, thing: Any, value: Any) -> NoReturn:
        raise AttributeError(self.messages[self.method])


class Refusing:
    """What no operator and no function of NumPy's takes: each does what ``_refuse`` does."""

    __slots__ = ()

    def _refuse(self) -> NoReturn:
        raise NotImplementedError

    def _refuse_all(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._refuse()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_all
    __truediv__ = __rtruediv__ = __matmul__ = __rmatmul__ = __pow__ = __rpow__ = _refuse_all
    __neg__ = __abs__ = __getitem__ = __len__ = __iter__ = _refuse_all
    __array__ = __array_ufunc__ = __array_function__ = _refuse_all


class BoundOnly(Refusing, functools.partial[Any]):
    """What `CalledOnly` gives for an object: it can be called."""

    __slots__ = ()

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(types.MethodType(self.func, *self.args))

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            return getattr(types.MethodType(self.func, *self.args), name)
        raise AttributeError(CalledOnly.messages[self.func])

    def __repr__(self) -> str:
        return f"<bound method {self.func.__qualname__} of {self.args[0]!r}>"

    def _refuse(self) -> NoReturn:
        raise TypeError(CalledOnly.messages[self.func])


def may_be_missing(function: Any, *values: Any) -> None:
    """Let a function's last arguments be left out, for an error of its own that says what to write.

    Its signature says to readers and checkers that they are needed.

    Parameters
    ----------
    function : function
    *values
        What the function gets for them.
    """
    there = function.__defaults__
    alike = types.FunctionType(
        function.__code__, {}, function.__name__, there, function.__closure__
    )  # without annotations, whose names may not be there yet
    alike.__kwdefaults__ = function.__kwdefaults__
    function.__signature__ = inspect.signature(alike)
    function.__defaults__ = (*values, *(there or ()))


class MissingArgument(Refusing):
    """What stands where an argument was left out: whatever is asked of it says what to write."""

    def __init__(self, message: str) -> None:
        self.message = message

    def _refuse(self) -> NoReturn:
        raise TypeError(self.message)

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(self.message)
