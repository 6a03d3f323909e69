"""The rule tables: which NumPy function has which partials.

Importing all of them takes half as long as importing NumPy. So those that most programs need are
imported here, and the others when a function is met that is not in these.
"""

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tape_ad.base.arrays.adapters import adapter, adapters_met
from tape_ad.base.errors import NoRuleError
from tape_ad.base.naming import called
from tape_ad.rules.base import Entry, Maker, Rule, merged
from tape_ad.rules.facts import UNKNOWN, Facts
from tape_ad.rules.nn.activations import ACTIVATIONS
from tape_ad.rules.nn.affine import AFFINE
from tape_ad.rules.nn.cross_entropies import CROSS_ENTROPY
from tape_ad.rules.numpy.building import BUILDING
from tape_ad.rules.numpy.einsum import EINSUM
from tape_ad.rules.numpy.elementwise import ELEMENTWISE
from tape_ad.rules.numpy.indexing import INDEXING
from tape_ad.rules.numpy.products import PRODUCTS
from tape_ad.rules.numpy.reductions import REDUCTIONS
from tape_ad.rules.numpy.scans import SCANS
from tape_ad.rules.numpy.shaping import JOINING, SHAPING
from tape_ad.rules.numpy.sorting import SORTING
from tape_ad.rules.numpy.spreads import SPREADS
from tape_ad.rules.numpy.updates import UPDATES
from tape_ad.rules.plain_maps import PLAIN_MAPS
from tape_ad.rules.sparse_products import SPARSE

RULES: dict[Callable[..., Any], Entry] = {}
"""What is known of each function; see `load_lazy_tables` and `load_scipy_rules`."""

FAST_RULES: dict[Callable[..., Any], tuple[Maker, ...]] = {}
"""The makers of those functions that the dispatch records in straight lines."""


WITH_THEIR_TABLES = frozenset({"tape_ad"}) | sys.stdlib_module_names
"""Packages whose functions no table has that is still to be loaded: ours come with their tables."""


def add_rules(table: Mapping[Any, Entry]) -> None:
    """Add a table to the rules. Adding it again, from another thread too, changes nothing.

    Parameters
    ----------
    table : mapping
        An entry for each function: a `Rule`, `Derivation`, `Constant`, `Filled` or `Refused`. The
        function is a ufunc, or answers NEP 18, as NumPy's do and those that are `overridable`.

    Raises
    ------
    ValueError
        When a function has other rules already.

    Examples
    --------
    >>> import numpy as np
    >>> from tape_ad.rules.base import rule
    >>> add_rules({np.tanh: rule(lambda out, x: 1 - out * out)})
    Traceback (most recent call last):
        ...
    ValueError: <ufunc 'tanh'> has two rules
    """
    for function, entry in table.items():
        if RULES.setdefault(function, entry) is not entry:
            raise ValueError(f"{function!r} has two rules")
        if isinstance(entry, Rule) and entry.straight:
            FAST_RULES[function] = entry.makers


@functools.cache
def load_lazy_tables() -> None:
    """Add the rules of the tables that `import tape_ad` leaves out, as most programs need none."""
    add_rules(importlib.import_module("tape_ad.rules.lazy_tables").LAZY_TABLES)


def load_scipy_rules() -> None:
    """Add the rules for SciPy's functions, once somebody has imported SciPy's module.

    Importing SciPy takes several times as long as importing this library, so nobody pays for it
    who does not use it.
    """
    if "scipy.special" in sys.modules:
        add_rules(adapter("scipy.special").SPECIAL)


def entry_of(function: Callable[..., Any]) -> Entry:
    """Look up what the tables say of a function, or what it says of itself.

    Raises
    ------
    NoRuleError
        When no table has it.
    """
    entry = RULES.get(function)
    if entry is not None:
        return entry
    entry = getattr(function, "tape_ad_rule", None)
    for load in (load_lazy_tables, load_scipy_rules):
        if entry is None:
            load()
            entry = RULES.get(function)
    if entry is None:
        for _ in adapters_met(function):  # which add their rules as they are imported
            entry = RULES.get(function, entry)
    if entry is None:
        raise NoRuleError(
            f"{called(function)} has no rule, so its gradient would be lost; write it with "
            "functions that have one, or apply it to t.data if no gradient is meant to flow"
        )
    return entry


def facts_of(function: Callable[..., Any]) -> Facts:
    """Look up what the loaded tables say of a function, beside its rule; it takes one look.

    Parameters
    ----------
    function : callable

    Returns
    -------
    Facts
        `UNKNOWN` where nothing is said, or no table has been loaded that says it.

    Examples
    --------
    >>> import numpy as np
    >>> facts_of(np.cumsum).axis
    'axis'
    """
    entry = RULES.get(function)
    if entry is not None:
        return entry.facts
    own = getattr(function, "tape_ad_rule", None)
    return UNKNOWN if own is None else own.facts


def known_facts(function: Callable[..., Any]) -> Facts:
    """Look up what is known of a function, and load the tables that may know it.

    Parameters
    ----------
    function : callable

    Returns
    -------
    Facts
        `UNKNOWN` where nothing is said, or no table has the function.

    Examples
    --------
    >>> import numpy as np
    >>> known_facts(np.unique).shape_by_values
    True
    """
    entry = RULES.get(function)
    if entry is not None:
        return entry.facts
    if str(getattr(function, "__module__", None)).partition(".")[0] in WITH_THEIR_TABLES:
        return UNKNOWN
    try:
        return entry_of(function).facts
    except NoRuleError:
        return UNKNOWN


def call_signature(function: Callable[..., Any]) -> inspect.Signature:
    """Give the parameters of a function; of one in C that tells nobody, those that its facts name.

    NumPy's functions in C tell theirs from its release 2.4 on.

    Parameters
    ----------
    function : callable

    Returns
    -------
    inspect.Signature

    Examples
    --------
    >>> import numpy as np
    >>> list(call_signature(np.cumsum).parameters)
    ['a', 'axis', 'dtype', 'out']
    """
    try:
        return inspect.signature(function)
    except ValueError:
        names = facts_of(function).operands
        kind, default = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.empty
        return inspect.Signature(
            [
                inspect.Parameter(name, kind, default=None if i else default)
                for i, name in enumerate(names)
            ]
        )


add_rules(
    merged(
        *(ELEMENTWISE, REDUCTIONS, SHAPING, BUILDING, PLAIN_MAPS, INDEXING, JOINING, PRODUCTS),
        *(SPARSE, ACTIVATIONS, CROSS_ENTROPY, AFFINE, SPREADS, SCANS, SORTING, EINSUM, UPDATES),
    )
)
