"""`compile`, as users call it."""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, Never, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from tape_ad.programs.engines import engine_named
from tape_ad.programs.replay.compiled import Compiled
from tape_ad.programs.replay.explaining import title
from tape_ad.record.messages.migration_hints import unexpected

__all__ = ["compile"]

Function = Callable[..., Any]
Arguments = ParamSpec("Arguments")
Output = TypeVar("Output")

if TYPE_CHECKING:

    class Typed(Compiled, Generic[Arguments, Output]):
        """A compiled function, with the signature of the function."""

        def __call__(self, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Output: ...
        def __getattr__(self, name: str) -> Any: ...

    class Decorator(Protocol):
        """What compiles a function."""

        def __call__(self, f: Callable[Arguments, Output], /) -> Typed[Arguments, Output]: ...


@overload
def compile(f: np.ufunc, *, engine: str = "auto") -> Any: ...  # noqa: A001 - the same
@overload
def compile(  # noqa: A001 - the field's word, and users write ta.compile
    f: Callable[Arguments, Output],
    *,
    engine: str = "auto",
    max_programs: int = 16,
    threads: int = 1,
    check_every: int | None = None,
) -> "Typed[Arguments, Output]": ...
@overload
def compile(  # noqa: A001 - the same
    f: None = None,
    *,
    engine: str = "auto",
    max_programs: int = 16,
    threads: int = 1,
    check_every: int | None = None,
) -> "Decorator": ...
def compile(  # noqa: A001 - the same
    f: Function | None = None,
    *,
    engine: str = "auto",
    max_programs: int = 16,
    threads: int = 1,
    check_every: int | None = None,
    **unknown: Never,
) -> Any:
    """Make a function that is captured by its first two calls and replayed by later ones.

    All that `f` does with its arguments by NumPy, by derivatives of this library and by Python is
    written down as a flat program of NumPy calls, which later calls run without `f`. Where Python
    asks for a value (``if``, ``float``, ``range``, a mask), the answer is *guarded*: a call for
    which it is another runs `f` again, and gets a program of its own.

    Parameters
    ----------
    f : callable
        A function of arrays and numbers, bare or in dicts, lists, tuples, attrs classes and
        dataclasses. Its results depend on its arguments, on arrays elsewhere (in a closure, for
        example) that may be written to between calls, and on variables elsewhere, which are
        watched: where one is bound to something else, `f` is captured anew. It has no effect but
        what it returns. Without it, `compile` is a decorator with options.
    engine : {"auto", "numpy", "native"}
        What replays. "numpy" calls NumPy, and gives the bits that `f` gives. "native" has LLVM
        compile the calls, many of them to one loop: quicker, with results that are rounded
        otherwise, and without NumPy's floating-point warnings; it needs the extra `compile`.
        "auto" is "native" where that is installed, and else "numpy".
    max_programs : int
        How many programs there may be for arguments of the same structure, shapes and dtypes; with
        more, `f` runs by itself, and a `CompileWarning` says which line asks for a value each time.
    threads : int
        How many may share the work on an array of 100,000 elements or more. The results are the
        same for any number. Of the engines only "native" makes use of it; NumPy's products of
        matrices have threads of their own.
    check_every : int, optional
        After how many replays `f` itself is run beside one, to compare the results. With 0 that
        happens only as long as the arguments have had the same numbers since the capture. When
        left out, it is as often as costs at most a twentieth of the time of the replays.

    Returns
    -------
    Compiled
        Called as `f` is. It has `programs`, `explain`, `check` and `clear` besides.

        Arrays and numbers among the arguments (but bools) may vary. All else belongs to the key
        that programs are kept by: structure, shapes, dtypes, strides, strings, bools, None and
        other objects that have a hash.

        Called with handles, it is one node of their record, with a compiled derivative. Called by
        a function that is being captured itself, it runs `f`; so too with arrays of objects or
        strings and those of other libraries.

    Raises
    ------
    TypeError
        When `f` cannot be called, or is no function of arrays (a class, a coroutine).
    ValueError
        When `engine`, `max_programs`, `threads` or `check_every` is not one of the values above.
    ImportError
        When `engine` is "native" and LLVM is not installed.
    CaptureError
        By a call: when `f` does what cannot be replayed. It names the line. So it does at the
        second call when a number or an array from elsewhere is another than at the first: a
        random draw, for example, which should be an argument.
    ProgramMismatchError
        By a call: when `f`, run beside a replay, gives something else. The program is forgotten.

    Examples
    --------
    >>> import numpy as np, tape_ad as ta
    >>> def loss(w, x, y):
    ...     return np.mean((np.tanh(x @ w) - y) ** 2)
    >>> fast = ta.compile(ta.value_and_grad(loss))
    >>> w, x, y = np.array([0.5, -0.5]), np.eye(2), np.ones(2)
    >>> for _ in range(3):
    ...     value, gradient = fast(w, x, y)
    >>> value, gradient
    (np.float64(1.2135...), array([-0.4230..., -1.1498...]))
    >>> fast
    <compiled loss: 1 program>

    As a decorator:

    >>> @ta.compile(max_programs=4)
    ... def root(a):
    ...     x = a
    ...     while abs(x * x - a) > 1e-12:
    ...         x = (x + a / x) / 2
    ...     return x
    >>> root(2.0), root(2.0), root(2.0)
    (1.414213562373095, 1.414213562373095, 1.414213562373095)
    """
    if unknown:
        raise unexpected("compile", unknown)
    engine_named(engine)
    if type(max_programs) is not int or max_programs < 1:
        raise ValueError(f"max_programs is a number of programs from 1 on, not {max_programs!r}")
    if type(threads) is not int or threads < 1:
        raise ValueError(f"threads is a number of threads from 1 on, not {threads!r}")
    if check_every is not None and (type(check_every) is not int or check_every < 0):
        raise ValueError(
            f"check_every is a number of replays, 0 for never to check, not {check_every!r}"
        )
    options: dict[str, Any] = {"engine": engine, "max_programs": max_programs}
    options |= {"threads": threads, "check_every": check_every}
    if f is None:
        return functools.partial(compile, **options)
    check_callable(f)
    own = getattr(type(f), "compiled_by", None)
    if own is not None:  # it gives what no program does, made of arrays that one does
        return own(f, compile(**options))
    return Compiled(f, **options)


def check_callable(f: Any) -> None:
    """Refuse what is no function of arrays."""
    if isinstance(f, (staticmethod, classmethod)):
        raise TypeError(
            f"compile got a {type(f).__name__}; write @{type(f).__name__} above @ta.compile, not "
            "below it"
        )
    if inspect.isclass(f):
        raise TypeError(
            f"compile takes a function of arrays, but it got the class {f.__name__}; compile one "
            "of its methods, or an instance that can be called"
        )
    if not callable(f):
        raise TypeError(
            f"compile takes a function and gives a function, but it got a {type(f).__name__}; "
            "write compile(f)(x)"
        )
    for word, test in (
        ("async", inspect.iscoroutinefunction),
        ("yield", inspect.isgeneratorfunction),
    ):
        if test(f):
            raise TypeError(
                f"{title(f)} gives its results bit by bit ({word}), which no program does; compile "
                "the function of arrays that it calls"
            )
