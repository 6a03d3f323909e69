"""One test for all rows of a function: thousands of tiny tests take longer to run than to check."""

import functools
from collections import defaultdict
from collections.abc import Callable, Collection
from typing import Any

import pytest

from tape_ad.core.arena import called
from tests.rules.table import Case, Row

__all__ = ["for_each"]


def for_each(checked: Collection[Row | Case]) -> Callable[[Callable[[Any], None]], Any]:
    """Make a check of a row or a case into a test that makes it of all those of a function.

    A failure names the row, and the rows that come after it are not checked.
    """
    groups: dict[Any, list[Row | Case]] = defaultdict(list)
    for each in checked:
        groups[each.row.function if isinstance(each, Case) else each.function].append(each)
    parameters = [pytest.param(group, id=called(function)) for function, group in groups.items()]
    assert parameters

    def decorate(check: Callable[[Any], None]) -> Any:
        @pytest.mark.parametrize("group", parameters)
        @functools.wraps(check)
        def test(group: list[Row | Case]) -> None:
            for each in group:
                try:
                    check(each)
                except BaseException as error:
                    error.add_note(f"This was met in the row {each}.")
                    raise

        del test.__wrapped__  # pytest would read its signature
        return test

    return decorate
