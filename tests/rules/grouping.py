"""One test for all rows of a function, as starting thousands of tests takes longer than they do."""

import functools
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

import pytest

from tape_ad.base.naming import called
from tests.rules.table import Case

__all__ = ["for_each", "package"]


def named_function(checked: Any) -> str:
    """Give the name of the function of a row or of a case of one."""
    return called(checked.row.function if isinstance(checked, Case) else checked.function)


def package(checked: Any) -> str:
    """Give the package of that function, for checks that take less than to start a test."""
    return named_function(checked).rpartition(".")[0] or "no package"


def for_each(
    checked: Collection[Any], by: Callable[[Any], str] = named_function
) -> Callable[[Callable[[Any], None]], Any]:
    """Make a check of one thing into a test that makes it of all those of a group.

    A failure names the one that it is about, and those that come after it are not checked.

    Parameters
    ----------
    checked : collection
        Rows, cases of them, or anything that has a group.
    by : callable
        Gives the name of the group.
    """
    groups: dict[str, list[Any]] = defaultdict(list)
    for each in checked:
        groups[by(each)].append(each)
    parameters = [pytest.param(group, id=name) for name, group in groups.items()]
    assert parameters

    def decorate(check: Callable[[Any], None]) -> Any:
        @pytest.mark.parametrize("group", parameters)
        @functools.wraps(check)
        def test(group: list[Any]) -> None:
            for each in group:
                try:
                    check(each)
                except BaseException as error:
                    error.add_note(f"This was met with {each}.")
                    raise

        del test.__wrapped__  # pytest would read its signature
        return test

    return decorate
