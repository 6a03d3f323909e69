"""Signatures made from those that functions have."""

from typing import Any

import numpy as np
import pytest

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.rules.base import arguments_of


def example(a: Any, /, b: Any, n: int = 2, *, mode: str = "plain", new: Any = None) -> None:
    """Stand for a function that a newer release has given a parameter."""


def test_arguments_are_sorted_with_the_defaults_that_the_function_has() -> None:
    signature = arguments_of(example, "b a", "n mode")
    assert signature(1, 2) == ((2, 1), {"n": 2, "mode": "plain"})
    assert signature(1, b=2, n=3, mode="wild") == ((2, 1), {"n": 3, "mode": "wild"})


def test_every_other_parameter_is_an_option_where_none_are_named() -> None:
    assert arguments_of(example, "a b")(1, 2) == ((1, 2), {"n": 2, "mode": "plain", "new": None})


def test_a_parameter_that_no_maker_takes_may_have_its_default() -> None:
    signature = arguments_of(example, "a b", "n")
    same = "".join(["pl", "ain"])  # equal, and not the same object
    assert signature(1, 2, mode=same, new=None) == ((1, 2), {"n": 2})


@pytest.mark.parametrize(("name", "value"), [("mode", "wild"), ("new", 0), ("new", np.ones(2))])
def test_a_parameter_that_no_maker_takes_is_refused_by_name(name: str, value: Any) -> None:
    signature = arguments_of(example, "a b", "n")
    with pytest.raises(UnsupportedArgumentError, match=f"the argument {name}= is not supported"):
        signature(1, 2, **{name: value})


def test_what_changes_nothing_may_have_any_value() -> None:
    assert arguments_of(example, "a b", "n new", ignored="mode")(1, 2, mode="wild") == (
        (1, 2),
        {"n": 2, "new": None},
    )


@pytest.mark.parametrize("arguments", [(), (1,), (1, 2, 3, 4)])
def test_wrong_arguments_are_named_as_the_function_itself_names_them(
    arguments: tuple[Any, ...],
) -> None:
    signature = arguments_of(example, "a b")
    with pytest.raises(TypeError) as ours:
        signature(*arguments)
    with pytest.raises(TypeError) as theirs:
        example(*arguments)
    assert str(ours.value) == str(theirs.value)
