"""What others than the dispatch have to know of a function, said once, beside its rule.

Batching, Dask, the compiler and whoever else works on whole arrays read facts where each would have
a table of its own. Most of them are one idea, NumPy's signatures of generalized ufuncs: over which
of its last axes a function mixes elements, so that all axes in front of those may be a stack.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from attrs import evolve, field, frozen

__all__ = [
    "ELEMENTWISE",
    "SHAPED_BY_VALUES",
    "UNKNOWN",
    "Facts",
    "along",
    "composed",
    "cores",
    "depending",
    "elementwise",
    "leading",
    "letters",
    "moves",
]

TERM = re.compile(r"\(([^()]*)\)(!?)")
SIGNATURE = re.compile(r"\([^()]*\)!?(,\([^()]*\)!?)*->(\.\.\.|(\([^()]*\)(,\([^()]*\))*)?)")


@frozen
class Core:
    """The last axes of one operand, over which a function mixes its elements.

    Attributes
    ----------
    names : tuple of str
        A name for each; axes of one name have one length.
    optional : bool
        Whether the last of them may be missing, so that a vector stands for a matrix of one column.
    single : bool
        Whether there is never a stack of this operand.
    """

    names: tuple[str, ...]
    optional: bool = False
    single: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it is not said how many they are; there is one at least."""
        return self.names == ("...",)

    @property
    def ndim(self) -> int:
        """The number of these axes."""
        return len(self.names)


def read(signature: str) -> tuple[tuple[Core, ...], tuple[Core, ...] | None]:
    """Read a signature: the cores of the operands, and of the results where they are said.

    Raises
    ------
    ValueError
        When it is none.
    """
    if not SIGNATURE.fullmatch(signature):
        raise ValueError(f"{signature!r} is no signature; write it as in '(m,n),(n,k?)->(m,k?)'")
    inputs, _, outputs = signature.partition("->")
    return cores_in(inputs), None if outputs == "..." else cores_in(outputs)


def cores_in(terms: str) -> tuple[Core, ...]:
    """Read the cores on one side of a signature."""
    found = []
    for names, single in TERM.findall(terms):
        each = tuple(names.split(",")) if names else ()
        optional = bool(each) and each[-1].endswith("?")
        found.append(Core(tuple(name.rstrip("?") for name in each), optional, bool(single)))
    return tuple(found)


KINDS: dict[tuple[str, ...], Callable[[Any], bool]] = {
    ("signature", "axis", "lengths", "routine"): lambda value: type(value) is str,
    ("operands", "beside", "moves"): lambda value: type(value) is tuple,
    ("body", "by", "reduces"): lambda value: value is None or callable(value),
    ("shape_by_values", "dtype_by_values", "about_shapes", "view", "writes"): {
        True,
        False,
    }.__contains__,
    ("none", "may_raise"): {"flat", "all", True, False, "indexed", None}.__contains__,
}
"""What facts may be."""


@frozen(eq=False)
class Facts:
    """What is known of a function, beside its rule.

    Attributes
    ----------
    signature : str
        Over which of their last axes the operands' elements are mixed, in NumPy's notation for
        generalized ufuncs. ``?`` behind a name: the axis may be missing. ``!`` behind an operand:
        there is never a stack of it. ``...`` for results: as many and as large as they are. Empty
        where nothing is known.
    operands : tuple of str
        The names of the parameters that the signature is about; the first ones if there are none.
    axis : str
        The parameter that names the axes over which elements of the first operand are mixed.
    none : {"flat", "all"}
        What None is for that parameter: the axis of the flattened array, or all axes.
    lengths : str
        The parameter with a length for each axis; where it is given, None is the last axes.
    body : callable or None
        The function as a composition: a few lines of NumPy, which never branch on values.
    beside : tuple of str
        Further operands of a function along axes, which are broadcast against the first.
    by : callable or None
        ``by(arguments)``: the facts for a call, where they depend on its arguments. These are a
        mapping of names to values, with defaults.
    shape_by_values : bool
        Whether a result's shape depends on values, for some arguments at least.
    dtype_by_values : bool
        Whether the result's dtype depends on values.
    about_shapes : bool
        Whether the result depends on shapes and dtypes alone, as that of ``np.shape`` does.
    view : bool
        Whether the result shows the memory of the first operand, where it can.
    moves : tuple of str
        The parameters whose elements, and constants beside them, are those of the result; which
        ones depends on shapes and on the other parameters alone.
    reduces : ufunc or None
        The ufunc whose ``reduce`` it is.
    writes : bool
        Whether it writes to its first argument.
    may_raise : bool, "indexed" or None
        Whether it raises for some values, so that a program keeps a call of it though nobody needs
        the result; "indexed" if only where there is an array of indices, as those may be out of
        range. None where that is not said: then a function of NumPy's or of elements does not, and
        one of another package may.
    routine : str
        LAPACK's routine that does it, without the letter of a precision: a compiler may call that.

    Examples
    --------
    >>> Facts("(m,n),(n,k?)->(m,k?)").inputs[1]
    Core(names=('n', 'k'), optional=True, single=False)
    """

    signature: str = ""
    operands: tuple[str, ...] = ()
    axis: str = ""
    none: Literal["flat", "all"] = "flat"
    lengths: str = ""
    body: Callable[..., Any] | None = None
    beside: tuple[str, ...] = ()
    by: Callable[[Mapping[str, Any]], "Facts"] | None = None
    shape_by_values: bool = False
    dtype_by_values: bool = False
    about_shapes: bool = False
    view: bool = False
    moves: tuple[str, ...] = ()
    reduces: np.ufunc | None = None
    writes: bool = False
    may_raise: bool | Literal["indexed"] | None = None
    routine: str = ""
    inputs: tuple[Core, ...] = field(init=False)
    outputs: tuple[Core, ...] | None = field(init=False)

    @inputs.default
    def _read_inputs(self) -> tuple[Core, ...]:
        for names, right in KINDS.items():
            for name in names:
                if not right(value := getattr(self, name)):
                    raise TypeError(f"the fact {name!r} of a function cannot be {value!r}")
        return read(self.signature)[0] if self.signature else ()

    @outputs.default
    def _read_outputs(self) -> tuple[Core, ...] | None:
        return read(self.signature)[1] if self.signature else None

    @property
    def is_elementwise(self) -> bool:
        """Whether no axis is mixed, and all operands are broadcast."""
        return self.signature == "()->()"

    def composed_of(self, body: Callable[..., Any]) -> "Facts":
        """Give these facts and a body; see `composed`."""
        return evolve(self, body=getattr(body, "__wrapped__", body))

    def also(self, **others: Any) -> "Facts":
        """Give these facts and others."""
        return evolve(self, **others)


UNKNOWN = Facts()
"""The facts of a function of which none are said."""

ELEMENTWISE = Facts("()->()")
"""The facts of a function of elements: all its arguments that are arrays are broadcast."""

SHAPED_BY_VALUES = Facts(shape_by_values=True)
"""The facts of a function of which nothing else is said: a program that replays it has to look."""


def elementwise(*operands: str) -> Facts:
    """Say that a function works element by element on what some of its parameters name.

    Parameters
    ----------
    *operands : str
        The names of these parameters.

    Returns
    -------
    Facts

    Examples
    --------
    >>> elementwise("x").is_elementwise  # of interp(x, xp, fp), where xp and fp are shared
    True
    """
    return Facts("()->()", operands)


def cores(signature: str, *operands: str) -> Facts:
    """Say over which last axes a function mixes the elements of its operands.

    Examples
    --------
    >>> [core.ndim for core in cores("(n,n),(n,k?)->(n,k?)").inputs]
    [2, 2]
    """
    return Facts(signature, operands)


def along(
    axis: str = "axis",
    none: Literal["flat", "all"] = "flat",
    *,
    lengths: str = "",
    beside: tuple[str, ...] = (),
) -> Facts:
    """Say that a function mixes the elements of its first operand over the axes that it is told.

    Parameters
    ----------
    axis : str
        The parameter that names the axes.
    none : {"flat", "all"}
        What None is for it: the axis of the flattened array, or all axes.
    lengths : str
        The parameter with a length for each axis, if there is one.
    beside : tuple of str
        Further operands, which are broadcast against the first.

    Returns
    -------
    Facts

    Examples
    --------
    >>> along(none="all").axis  # of np.sum
    'axis'
    """
    return Facts(axis=axis, none=none, lengths=lengths, beside=beside)


def moves(*operands: str) -> Facts:
    """Say that each element of the result is one of those of some operands, or a constant.

    Which one depends on shapes and on the other parameters alone. An operand may be a list of
    arrays; ``*`` stands for all arguments of a function of any number.

    Parameters
    ----------
    *operands : str
        The names of the parameters.

    Returns
    -------
    Facts

    Examples
    --------
    >>> moves("v").moves  # of np.diagflat
    ('v',)
    """
    return Facts(moves=operands)


def depending(by: Callable[[Mapping[str, Any]], Facts]) -> Facts:
    """Say that the facts depend on the arguments of a call, which are given by their names.

    Parameters
    ----------
    by : callable
        ``by(arguments)`` gives the facts for a call; `arguments` maps names to values, with
        defaults.

    Returns
    -------
    Facts

    Examples
    --------
    >>> facts = depending(lambda given: cores(f"{letters(given['rank'])}->..."))
    >>> facts.by({"rank": 2}).signature
    '(a0,a1)->...'
    """
    return Facts(by=by)


def composed(body: Callable[..., Any]) -> Facts:
    """Say that a function is a few lines of NumPy, whatever they are called with.

    Of a function of ours that is overridable, these may be its own.

    Parameters
    ----------
    body : callable
        The lines. They branch on shapes and options, never on values.

    Returns
    -------
    Facts

    Examples
    --------
    >>> composed(lambda x: x * x).body(3.0)
    9.0
    """
    return UNKNOWN.composed_of(body)


def leading(operand: str) -> Facts:
    """Say that any axes in front of an operand may be a stack, however many are mixed.

    Parameters
    ----------
    operand : str
        The name of the parameter.

    Returns
    -------
    Facts

    Examples
    --------
    >>> leading("t").operands
    ('t',)
    """
    return Facts("(...)->...", (operand,))


def letters(count: int) -> str:
    """Write the axes of a core by their number alone: ``(a0,a1)``, for a signature.

    Examples
    --------
    >>> letters(2)
    '(a0,a1)'
    """
    return f"({','.join(f'a{i}' for i in range(count))})"
