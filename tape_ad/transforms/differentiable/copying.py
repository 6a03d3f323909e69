"""Copies of functions: the same code objects, bound to globals in which names mean something else.

A copy's globals are those of the original's module, seen through `converted`: functions, classes
and modules are copied when a copy first comes to them, and what the table has (`table`) is
replaced. The original is untouched.
"""

import builtins
import collections
import contextlib
import functools
import inspect
import operator
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import numpy as np

from tape_ad.base.arrays.adapters import adapter
from tape_ad.base.arrays.interpreter import unwrapped
from tape_ad.base.arrays.overridable import ACTIVE
from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import called
from tape_ad.base.trees import MISSING, content_of
from tape_ad.record.constants import CONSTANTS, as_array_constants, borrowed
from tape_ad.record.messages.callers import is_copied, variables_bound
from tape_ad.rules.numpy.bodies import bound_to
from tape_ad.transforms.differentiable.compiled import (
    Guarded,
    as_callback,
    is_compiled,
    is_dispatched,
    plain_call,
)
from tape_ad.transforms.differentiable.kinds import real, type_of
from tape_ad.transforms.differentiable.numpy_names import Elementwise
from tape_ad.transforms.differentiable.questions import refusing, unanswerable
from tape_ad.transforms.differentiable.reach import reaches
from tape_ad.transforms.differentiable.settling import note_global
from tape_ad.transforms.differentiable.table import (
    ABSENT,
    BUILTINS,
    MADE_OF_RULES,
    ORIGINALS,
    STANDARD,
    copy_of,
    forget,
    keep,
    note_source,
    note_stand_in,
    original_of,
    replaced,
    source_of,
    stands_in_for,
)
from tape_ad.transforms.differentiable.watching import (
    CLASSES,
    PLAIN,
    SIGNATURES,
    WATCHED,
    brought_up_to_date,
    is_marked,
    marks_of,
    names_left,
    parts_of_function,
    signature_of,
)

LOCK = threading.RLock()
"""Held while a copy is made, so that there is one of each."""

NAMESPACES: "weakref.WeakValueDictionary[int, Globals]" = weakref.WeakValueDictionary()
"""The globals of copies, by the identity of the original globals, which they keep alive."""

NOT_COPIED = frozenset(
    {
        *("tape_ad", "attr", "attrs", "dask", "distributed", "hypothesis", "jax", "jaxlib"),
        *("matplotlib", "narwhals", "numba", "pandas", "pytest", "_pytest", "torch", "tqdm"),
        *("llvmlite", "autograd", "IPython", "rich", "typing_extensions", "threadpoolctl"),
        "cvxpy",
    }
)
"""Packages whose functions stay: they compute nothing of handles, or have their own rules."""

NEVER_COPIED = NOT_COPIED | sys.stdlib_module_names | {"numpy"}
"""Packages whose functions are never copied, though NumPy's and Python's have stand-ins."""

WRAPPERS = ("autograd",)
"""Such packages that have NumPy's functions and SciPy's, wrapped."""

COPIED = (
    *("numpy.polynomial", "numpy.lib._polynomial_impl", "numpy.lib._index_tricks_impl"),
    *("statistics", "autograd.numpy.numpy_wrapper"),
)
"""What is copied of packages of which nothing else is."""


class Globals(dict[str, Any]):
    """The globals of the copies of one module's functions.

    Attributes
    ----------
    original : dict
        The globals of the module. What it has under a name at the time counts, and what a copy
        assigns to a global goes there.
    """

    __slots__ = ("__weakref__", "fixed", "memo", "original", "own")

    original: dict[str, Any]
    fixed: set[str]
    memo: dict[str, tuple[Any, Any]]
    own: bool

    def __missing__(self, name: str) -> Any:
        value = self.original.get(name, ABSENT)
        if type(value) in PLAIN:
            return value
        if dict.__len__(self) != len(self.fixed):
            self.write_back()
        known = self.memo.get(name)
        if known is not None and known[0] is value:
            return known[1]
        if value is ABSENT:
            return BUILTINS[name]
        if type(value) is np.ndarray:
            return borrowed(value)
        try:
            found = converted_in_scipy(value) if self.own else converted(value)
        except KeyError as error:  # which Python would take for a name that is not there
            raise RuntimeError(f"no copy of {name} could be made") from error
        if is_kept(value):
            self.memo[name] = value, found
        return found

    def write_back(self) -> None:
        """Move what copies have assigned to globals to the original module's."""
        for name in list(dict.keys(self)):
            if name not in self.fixed:
                self[name] = dict.pop(self, name)

    def __contains__(self, name: object) -> bool:
        return dict.__contains__(self, name) or name in self.original

    def __iter__(self) -> Iterator[str]:
        return iter({**self.original, **dict.fromkeys(dict.keys(self))})

    def __len__(self) -> int:
        return len(self.original.keys() | dict.keys(self))

    def __setitem__(self, name: str, value: Any) -> None:
        self.original[name] = source_of(value)
        note_global(self.original, name)

    def __delitem__(self, name: str) -> None:
        del self.original[name]

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]  # what `|` gives is a plain dict
        self.update(other)
        return self

    def copy(self) -> dict[str, Any]:
        """Copy what all names mean in copies."""
        return {**self}


for _name in ("get", "keys", "items", "values", "pop", "popitem", "clear", "update", "setdefault"):
    setattr(Globals, _name, getattr(MutableMapping, _name))


def converted_in_scipy(value: Any) -> Any:
    """Convert what stands in SciPy's own code, in which its classes are copied.

    Most counterparts that they have here know nothing of what is private to SciPy.
    """
    if isinstance(value, type) and value.__module__.startswith("scipy."):
        return converted(value) if value in adapter("scipy").WHOLE else MAKERS[type](value)
    if type(value) is types.ModuleType and value.__name__.startswith("scipy"):
        return memoized(value.__dict__["__spec__"], lambda _: view_of(value, OwnModuleCopy))
    return converted(value)


def unbound(own: Any, value: Any) -> Any:
    """Keep what stands for a function in C from being bound as a method, which that never is."""
    binds = type(own) is types.FunctionType and not hasattr(type(value), "__get__")
    return staticmethod(own) if binds and own is not value else own


def running(run: Callable[..., Any]) -> Callable[..., Any]:
    """Let `eval` or `exec` find names as copies do, and write globals to the original's module."""

    @functools.wraps(run)
    def calling(source: Any, names: Any = None, variables: Any = None, /, **options: Any) -> Any:
        frame = sys._getframe(1)
        if names is None:
            names = frame.f_globals
            if variables is None:
                variables = frame.f_locals
                if variables is not frame.f_locals:  # a proxy, made anew, that writes to variables
                    variables = {**variables}
        if type(names) is dict and is_copied(frame):  # a namespace of its own
            names.setdefault("__builtins__", vars(builtins))
            names = globals_of(names)
        if type(names) is not Globals:
            return run(source, names, variables, **options)
        if variables is not None and variables is not names:
            variables = collections.ChainMap(variables, names)
        try:
            return run(source, names, variables, **options)
        finally:
            names.write_back()

    return calling


note_stand_in(eval, running(eval))
note_stand_in(exec, running(exec))


def globals_of(original: dict[str, Any]) -> Globals:
    """Give the globals for copies of functions that have these."""
    found = NAMESPACES.get(id(original))
    if found is None:
        found = Globals()
        for name in ("__name__", "__package__", "__spec__", "__file__", "__loader__", "__path__"):
            if name in original:
                dict.__setitem__(found, name, original[name])
        dict.__setitem__(found, "__builtins__", BUILTINS)
        is_module = "__name__" in original
        registry = original.setdefault("__warningregistry__", {}) if is_module else {}
        dict.__setitem__(found, "__warningregistry__", registry)
        found.original, found.memo = original, {}
        found.own = str(original.get("__name__")).startswith("scipy.")
        found.fixed = set(dict.keys(found))
        NAMESPACES[id(original)] = found
    return found


def is_copied_module(name: str) -> bool:
    """Tell whether functions of a module are copied."""
    package = name.partition(".")[0]
    if name.startswith(COPIED) or package == "__main__":
        return True
    return package not in NEVER_COPIED


def is_copy(thing: Any) -> bool:
    """Tell whether something is a copy."""
    if type(thing) is types.FunctionType:
        return type(thing.__globals__) is Globals
    return original_of(thing) is not thing


def converted(value: Any) -> Any:  # noqa: PLR0911 - one for each kind
    """Give what something of the original code is in a copy."""
    kind = type(value)
    if kind in PLAIN:
        return value
    stand_in = replaced(value)
    if stand_in is not ABSENT:
        return stand_in
    maker = MAKERS.get(kind)
    if maker is not None:
        return maker(value)
    if isinstance(value, type):
        return MAKERS[type](value)
    if isinstance(value, types.ModuleType):
        return copied_module(value)
    if is_compiled(value):
        return memoized(value, Guarded)
    return MAKERS[object](value)


def memoized(value: Any, make: Callable[[Any], Any]) -> Any:
    """Make a copy, or give the one there is."""
    with LOCK:
        try:
            found = copy_of(value)
        except TypeError:  # what cannot be weakly referred to, or hashed
            if id(value) not in LASTING:
                LASTING[id(value)] = value, make(value)
            return LASTING[id(value)][1]
        if found is ABSENT:
            found = make(value)
            keep(value, found)
        return found


LASTING: dict[int, tuple[Any, Any]] = {}
"""The copies of compiled functions that cannot be weakly referred to, by identity."""


def copied_function(function: Any) -> Any:
    """Copy a function of Python, with its closure and defaults."""
    if type(function.__globals__) is Globals or not is_copied_module(module_of(function)):
        return adapted(function)
    with LOCK:
        found = copy_of(function)
        if found is not ABSENT:
            marks = WATCHED.get(found)
            if marks is None or brought_up_to_date(found, marks, content):
                return found
        making = IN_PROGRESS.get(id(function))
        if making is not None:
            return making
        return make_function(function)


def adapted(function: Any) -> Any:
    """Give a function that is not copied, or what stands for a few of the standard library's."""
    if hasattr(function, "dispatch") and hasattr(function, "registry"):
        return memoized(function, single_dispatch)
    if hasattr(function, "fun") and hasattr(function, "_is_autograd_primitive"):
        return memoized(function, of_primitive)
    if module_of(function).startswith("autograd."):
        return memoized(function, of_autograd)
    if function.__closure__ is not None and type(function.__globals__) is dict:
        return memoized(function, around_copies)
    return function


def of_primitive(function: Any) -> Any:
    """Give NumPy's function in place of a primitive of autograd's, but for autograd's own boxes."""
    inner = converted(function.fun)

    @functools.wraps(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        is_boxed = any(hasattr(each, "_trace") for each in args)
        return (function if is_boxed else inner)(*args, **kwargs)

    note_source(function, calling)
    return calling


def of_autograd(function: Any) -> Any:
    """Let a transform of autograd's, and what it gives, have constants as plain arrays."""

    @functools.wraps(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        given, named = plain_call(args, kwargs)
        found = function(*given, **named)
        return of_autograd(found) if type(found) is types.FunctionType else found

    note_source(function, calling)
    return calling


def around_copies(function: Any) -> Any:
    """Give a function that is not copied, as that of a decorator of Python's, around copies."""
    if module_of(function).partition(".")[0] not in sys.stdlib_module_names:
        return function
    own = closure_of(function)
    if all(map(operator.is_, own, function.__closure__)):
        return function
    copy = bound_to(function, function.__globals__, own)
    note_source(function, copy)
    WATCHED[copy] = marks_of(function)
    return copy


def single_dispatch(function: Any) -> Any:
    """Dispatch, as `functools.singledispatch` does, by the type that a handle stands for."""

    @functools.wraps(function)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        kind = original_of(type_of(args[0]))
        return converted(function.dispatch(real(kind)))(*args, **kwargs)

    note_source(function, dispatching)
    return dispatching


IN_PROGRESS: dict[int, Any] = {}


def module_of(function: Any) -> str:
    """Name the module that a function's code is of; what a doctest defines is the user's."""
    if function.__code__.co_filename.startswith("<doctest"):
        return "__main__"
    return str(function.__globals__.get("__name__") or function.__module__)


def make_function(function: Any) -> Any:
    """Make the copy of a function, which may close over itself."""
    code = function.__code__
    question = unanswerable(code)
    if question is not None:
        refused = refusing(function, question)
        note_source(function, refused)
        keep(function, refused)
        return refused
    cells = [types.CellType() for _ in code.co_freevars]
    namespace = globals_of(function.__globals__)
    first = IN_PROGRESS[id(function)] = bound_to(function, namespace, tuple(cells) or None)
    try:
        own = closure_of(function)
        copy = bound_to(function, namespace, own)
        rebind(cells, copy, own)
        convert_defaults(function, copy)
    finally:
        del IN_PROGRESS[id(function)]
    for each in (copy, first):  # also the one that what it closes over may hold
        note_source(function, each)
        if own is not None:
            WATCHED[each] = marks_of(function)
        if not namespace.own:
            SIGNATURES[each] = signature_of(function)
        each.__dict__ = function.__dict__  # the same: what is written to it is seen by both
        for name in ANNOTATIONS:
            setattr(each, name, getattr(function, name))
        each.__defaults__, each.__kwdefaults__ = copy.__defaults__, copy.__kwdefaults__
    if writes_globals(code):
        copy = writing_back(copy, namespace)
        note_source(function, copy)
    keep(function, copy)
    return copy


ANNOTATIONS = ("__annotate__",) if sys.version_info >= (3, 14) else ("__annotations__",)
"""Where the types of parameters are; later versions of Python make them when they are asked for."""


def convert_defaults(function: Any, copy: Any) -> None:
    """Give a copy the defaults of its original."""
    copy.__defaults__ = function.__defaults__ and tuple(map(converted, function.__defaults__))
    copy.__kwdefaults__ = function.__kwdefaults__ and {
        name: converted(value) for name, value in function.__kwdefaults__.items()
    }


def given_anew(copy: Any, marks: list[Any]) -> None:
    """Give a copy the code and the defaults that were assigned to its original since."""
    function = source_of(copy)
    if function is copy or all(map(is_marked, marks, parts_of_function(function))):
        return
    convert_defaults(function, copy)
    if not is_marked(marks[0], function.__code__):
        if unanswerable(function.__code__) is not None or writes_globals(function.__code__):
            forget(function)  # another is made where it is looked up
        copy.__code__ = function.__code__
    marks[:] = signature_of(function)


def rebind(cells: list[Any], copy: Any, own: Any) -> None:
    """Fill the cells of the copy that stood for one in the making."""
    for cell, now in zip(cells, own or (), strict=False):
        value = content_of(now)
        if value is not MISSING:  # as what is defined later is
            cell.cell_contents = value


def closure_of(function: Any) -> Any:
    """Give the cells of a copy: the original's, but for those that hold what is converted."""
    if function.__closure__ is None:
        return None
    assigned = names_left(function)
    cells = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
        own = cell
        if name != "__class__" and name not in assigned:
            value = content_of(cell, None)
            found = content(value)
            if found is not value:
                own = types.CellType(found)
        cells.append(own)
    return tuple(cells)


def content(value: Any) -> Any:
    """Give what a variable of an enclosing function holds in a copy."""
    return borrowed(value) if type(value) is np.ndarray else converted(value)


def bring_up_to_date() -> None:
    """Let every copy see what was bound anew around its original, or assigned to its class."""
    with LOCK:
        for copy, marks in [*WATCHED.items()]:
            brought_up_to_date(copy, marks, content)
        for copy, marks in [*SIGNATURES.items()]:
            given_anew(copy, marks)
        for made, seen in [*CLASSES.items()]:
            now = vars(original_of(made)).values()
            if len(now) != len(seen) or not all(map(operator.is_, now, seen.values())):
                PUT_ANEW[0](made, seen)


PUT_ANEW: list[Callable[[type, dict[str, Any]], None]] = []
"""What gives the copy of a class what was assigned to its original."""


@functools.lru_cache(4096)
def writes_globals(code: types.CodeType) -> bool:
    """Tell whether a function, or one in it, assigns to globals."""
    return not variables_bound(code, within=False) <= {*code.co_freevars, *code.co_cellvars}


def writing_back(copy: Any, namespace: Globals) -> Any:
    """Make a copy that assigns to globals assign to those of the original's module.

    Raises
    ------
    NoRuleError
        For generators and coroutines, whose assignments would be seen too late.
    """
    flags = copy.__code__.co_flags
    suspends = flags & (0x20 | 0x80 | 0x200)  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR

    @functools.wraps(copy)
    def writing(*args: Any, **kwargs: Any) -> Any:
        if suspends:
            raise NoRuleError(
                f"{called(copy)} is a generator or a coroutine that assigns to a global variable, "
                "which ta.differentiable does not follow; keep that in an attribute or a list"
            )
        try:
            return copy(*args, **kwargs)
        finally:
            namespace.write_back()

    return writing


def copied_module(module: types.ModuleType) -> Any:
    """Give the view of a module that copies what it is asked for; modules without any stay."""
    if isinstance(module, ModuleCopy):
        return module
    name = module.__name__
    package = name.partition(".")[0]
    if package in sys.stdlib_module_names and name not in STANDARD:
        return module
    if package in NOT_COPIED and not name.startswith(WRAPPERS):
        return module
    return memoized(module, view_of)


def view_of(module: types.ModuleType, kind: "type[ModuleCopy] | None" = None) -> "ModuleCopy":
    """Make the view of a module, with a class of its own that knows what it has been asked for."""
    names, memo = vars(module), dict[str, tuple[Any, Any]]()

    def attribute(self: ModuleCopy, name: str) -> Any:
        try:
            value, found = memo[name]
            if names[name] is value:
                return found
        except KeyError:
            pass
        if name[0] == "_":
            with contextlib.suppress(AttributeError):
                return object.__getattribute__(self, name)
        value = getattr(module, name)
        try:
            found = self._converted(value)
        except AttributeError as error:  # which Python would take for a name that is not there
            raise RuntimeError(f"no copy of {name} could be made") from error
        if is_kept(value) or replaced(value) is not ABSENT:
            memo[name] = value, found
        return found

    body: dict[str, Any] = {"__getattribute__": attribute}
    for owner in reversed(type(module).__mro__[: -len(types.ModuleType.__mro__)]):
        body |= {name: converted(vars(owner)[name]) for name in CALLED & vars(owner).keys()}
    made = type("ModuleCopy", (kind or ModuleCopy,), body)
    view: ModuleCopy = made(module.__name__, module.__doc__)
    object.__setattr__(view, "_original", module)
    for name in ("__file__", "__package__", "__path__", "__spec__", "__loader__"):
        if hasattr(module, name):
            object.__setattr__(view, name, getattr(module, name))
    ORIGINALS[view] = module
    return view


CALLED = frozenset({"__call__", "__getitem__", "__iter__", "__len__", "__contains__", "__enter__"})
"""What Python calls of the classes that some modules have."""


class ModuleCopy(types.ModuleType):
    """A view of a module that gives copies of its functions and classes."""

    _original: types.ModuleType

    def _converted(self, value: Any) -> Any:
        return converted(value)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._original, name, source_of(value))
        note_global(vars(self._original), name)

    def __delattr__(self, name: str) -> None:
        delattr(self._original, name)

    @property
    def __dict__(self) -> Any:  # type: ignore[override]  # a mapping that converts
        return globals_of(self._original.__dict__)

    def __dir__(self) -> list[str]:
        return dir(self._original)

    def __eq__(self, other: object) -> bool:
        return original_of(other) is self._original

    def __hash__(self) -> int:
        return hash(self._original)

    def __repr__(self) -> str:
        return f"<copy of {self._original!r}>"

    def __reduce__(self) -> Any:
        return __import__("importlib").import_module, (self._original.__name__,)


class OwnModuleCopy(ModuleCopy):
    """A view that SciPy's own code has of one of its modules."""

    def _converted(self, value: Any) -> Any:
        return converted_in_scipy(value)


class Modules(MutableMapping[str, Any]):
    """What stands for `sys.modules`: it gives views."""

    def __getitem__(self, name: str) -> Any:
        return converted(sys.modules[name])

    def __setitem__(self, name: str, module: Any) -> None:
        sys.modules[name] = original_of(module)

    def __delitem__(self, name: str) -> None:
        del sys.modules[name]

    def __iter__(self) -> Iterator[str]:
        return iter([*sys.modules])

    def __len__(self) -> int:
        return len(sys.modules)


note_stand_in(sys.modules, Modules())


def bound(method: Any) -> Any:
    """Bind the copy of a method's function to the object, seen as one of the copied class."""
    owner = converted(method.__self__)
    name = method.__func__.__name__
    if type(method.__func__) is not types.FunctionType:  # in C, for objects of its own class alone
        return method if owner is method.__self__ else getattr(owner, name)
    if isinstance(owner, ModuleCopy):
        return types.MethodType(converted(method.__func__), owner)
    if not isinstance(owner, type(method.__self__)):  # a counterpart, with methods of its own
        return getattr(owner, name)
    function = converted(method.__func__)
    if function is method.__func__ and owner is method.__self__:
        return method
    return types.MethodType(function, owner)


def partial(function: functools.partial[Any]) -> Any:
    """Copy what a partial calls."""
    inner = converted(function.func)
    args = tuple(map(converted, function.args))
    kwargs = {name: converted(value) for name, value in function.keywords.items()}
    return type(function)(inner, *args, **kwargs)


def remembering(function: Any) -> Any:
    """Copy what `functools.lru_cache` wraps; without handles the original and its cache serve."""
    return memoized(function, remember)


def remember(function: Any) -> Any:
    """Copy what a cache wraps, if it has to be copied."""
    inner = converted(function.__wrapped__)
    if inner is function.__wrapped__:
        return function

    @functools.wraps(function.__wrapped__)
    def dispatching(*args: Any, **kwargs: Any) -> Any:
        if reaches((args, kwargs)) or reaches(function.__wrapped__):
            return inner(*args, **kwargs)
        given, named = plain_call(args, kwargs)
        named = {name: source_of(value) for name, value in named.items()}
        return content(function(*map(source_of, given), **named))

    for name in ("cache_clear", "cache_info", "cache_parameters"):
        setattr(dispatching, name, getattr(function, name))
    note_source(function, dispatching)
    return dispatching


def listed(values: tuple[Any, ...]) -> Any:
    """Convert what is in a tuple, if anything is a function, a class or a module."""
    found = [converted(each) for each in values]
    if all(map(operator.is_, found, values)):
        return values
    return tuple.__new__(type(values), found)  # a named one, too


def builtin(function: Any) -> Any:
    """Guard a compiled function of a package; NumPy's and Python's stay."""
    if type(function.__self__) is np.ufunc:  # np.add.reduce
        return getattr(converted(function.__self__), function.__name__)
    return memoized(function, Guarded) if is_compiled(function) else function


MAKERS: dict[type, Callable[[Any], Any]] = {
    types.FunctionType: copied_function,
    types.MethodType: bound,
    types.BuiltinFunctionType: builtin,
    types.ModuleType: copied_module,
    functools.partial: partial,
    type(functools.lru_cache(max)): remembering,
    tuple: listed,
}
"""How to convert what is of exactly these types."""

KEPT = frozenset(
    {
        types.FunctionType,
        types.ModuleType,
        types.BuiltinFunctionType,
        type,
        type(functools.lru_cache(max)),
    }
)
"""Types of globals whose copy is looked up by name from then on, as long as the original stays."""


def is_kept(value: Any) -> bool:
    """Tell whether a global is of such a type, or a tuple of classes."""
    if type(value) is tuple:
        return all(isinstance(each, type) for each in value)
    return type(value) in KEPT


def by_rule(original: Any, counterpart: Any) -> Any:
    """Make of a function and its counterpart, which has a rule, what stands for it in copies.

    The original itself runs where no handle is given; of a method of an object in copies, which
    may hold constants, its copy. Classes and distributions stay.
    """
    if isinstance(original, type):
        ORIGINALS[counterpart] = original
        return counterpart
    if hasattr(counterpart, "__getitem__") or getattr(counterpart, "always", False):
        return counterpart  # for functions compiled for several types, or for constants too
    called_by_name = isinstance(original, types.FunctionType) or is_dispatched(original)
    if not called_by_name and not is_compiled(original):
        with contextlib.suppress(TypeError):  # of what cannot be weakly referred to
            ORIGINALS[counterpart] = original  # a distribution, which is asked for its class
        return counterpart

    by_lines = not hasattr(counterpart, "_implementation")  # where a capture notes no call of it

    def calling(*args: Any, **kwargs: Any) -> Any:
        if reaches((args, kwargs)):
            capture = ACTIVE.get().capture
            if capture is not None:
                capture.rounds |= by_lines
            own = {name: as_callback(value) for name, value in kwargs.items()}
            return counterpart(*map(as_callback, args), **own)
        if args and type(args[0]) in ORIGINALS and type(original) is types.FunctionType:
            return copied_function(original)(*args, **kwargs)
        given, named = plain_call(args, kwargs)
        return as_array_constants(original(*given, **named))

    return functools.wraps(original)(calling)


MADE_OF_RULES.append(by_rule)


def copying_own_code(function: Callable[..., Any]) -> None:
    """Let a copy of a function's code run where there are handles."""
    code = inspect.unwrap(function)  # what NumPy dispatches to

    @stands_in_for(function)
    def calling(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if reaches(given) or any(type(each) in CONSTANTS for each in given):
            return copy()(*args, **kwargs)
        return function(*unwrapped(args), **unwrapped(kwargs))

    copy = functools.cache(lambda: make_function(code))


MAKERS[np.vectorize] = lambda function: Elementwise(
    converted(function.pyfunc), function, function.excluded
)

for _function in (np.polydiv, np.apply_over_axes, np.fill_diagonal, np.require):
    copying_own_code(_function)
note_stand_in(np.asarray_chkfinite, make_function(np.asarray_chkfinite))


class Brackets:
    """`numpy.r_` or `numpy.c_`, whose own code joins what stands in the brackets."""

    def __init__(self, original: Any) -> None:
        self.original = original
        note_stand_in(original, self)

    def __getitem__(self, key: Any) -> Any:
        if reaches(key):
            return MAKERS[object](self.original)[key]
        return as_array_constants(self.original[unwrapped(key)])


Brackets(np.r_)
Brackets(np.c_)
