"""Which makers of partials the rows of the test table call."""

import contextlib
import functools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import attrs

from tape_ad.rules import FAST_RULES, RULES, load_scipy_rules
from tape_ad.rules.base import Rule
from tests.rules.checks import recorded
from tests.rules.rows import ROWS
from tests.rules.table import cases

__all__ = ["ANY", "makers_met", "makers_of"]

ANY = -1
"""Stands for every operand of a function of any number of them."""


def makers_of(rule: Rule) -> set[int]:
    """List the operands that a rule has a maker for."""
    if rule.variadic is not None:
        return {ANY}
    return {i for i, maker in enumerate(rule.makers) if maker is not None}


@functools.cache
def makers_met() -> Mapping[Any, set[int]]:
    """Record all rows, and list for each function the operands whose maker gave a partial."""
    met: dict[Any, set[int]] = defaultdict(set)
    with watched(met):
        for case in cases(ROWS):
            recorded(case.row, case.primals())
    return met


@contextlib.contextmanager
def watched(met: dict[Any, set[int]]) -> Iterator[None]:
    """Note whenever a maker gives a partial."""
    load_scipy_rules()  # which is not done again within, where rules are others
    rules = {
        function: attrs.evolve(
            entry,
            makers=tuple(
                maker and noted(maker, met, function, i) for i, maker in enumerate(entry.makers)
            ),
            variadic=entry.variadic and noted(entry.variadic, met, function, ANY),
        )
        for function, entry in RULES.items()
        if isinstance(entry, Rule)
    }
    straight = {function: rules[function].makers for function in FAST_RULES}
    once = mock.patch("tape_ad.rules.load_scipy_rules", return_value=None)
    with once, mock.patch.dict(RULES, rules), mock.patch.dict(FAST_RULES, straight):
        yield


def noted(
    maker: Callable[..., Any], met: dict[Any, set[int]], function: Any, position: int
) -> Callable[..., Any]:
    @functools.wraps(maker)
    def noting(*operands: Any, **options: Any) -> Any:
        partial = maker(*operands, **options)
        if partial is not None:
            met[function].add(position)
        return partial

    return noting
