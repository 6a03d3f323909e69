"""Functions of our own that array types of others take over, or decline."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.base.arrays.overridable import overridable


@overridable
def total(x: Any, y: Any = 0.0, *, scale: Any = 1.0) -> Any:
    return (np.asarray(x) * y).sum() * scale


class Foreign:
    """It takes nothing over, and says in `asked` that it was asked."""

    def __init__(self, asked: list[Any], answer: Any = NotImplemented) -> None:
        self.asked, self.answer = asked, answer

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self.asked.append((type(self), types, args, kwargs))
        return self.answer


class Other(Foreign):
    pass


class Child(Foreign):
    pass


def test_a_type_that_declines_is_a_type_error_as_in_numpy() -> None:
    x: Any = Foreign([])
    with pytest.raises(TypeError) as numpys:
        np.sum(x)
    with pytest.raises(TypeError) as ours:
        nn.relu(x)
    assert str(ours.value) == str(numpys.value).replace("numpy.sum", f"{nn.relu.__module__}.relu")
    with pytest.raises(TypeError, match="no implementation found for"):
        total(1.0, scale=x)


@pytest.mark.parametrize("kinds", [(Foreign, Child, Foreign), (Other, Child, Foreign, Other)])
def test_types_are_asked_in_numpys_order(kinds: Any) -> None:
    asked: list[Any] = []
    args = [kind(asked) for kind in kinds]
    with pytest.raises(TypeError, match="no implementation"):
        np.concatenate(args)
    expected, asked[:] = [(kind, types) for kind, types, _, _ in asked], []

    @overridable
    def joined(*parts: Any) -> None: ...

    with pytest.raises(TypeError, match="no implementation"):
        joined(*args)
    assert [(kind, types) for kind, types, _, _ in asked] == expected


def test_the_first_answer_counts() -> None:
    asked: list[Any] = []
    assert total(Foreign(asked), Child(asked, "child"), scale=Other(asked, "other")) == "child"
    assert [kind for kind, *_ in asked] == [Child]
    asked.clear()
    assert total(Child(asked), scale=Other(asked, "other")) == "other"
    assert [kind for kind, *_ in asked] == [Child, Other]


def test_a_handle_and_a_foreign_array_are_both_asked() -> None:
    asked: list[Any] = []
    t = ta.ComputationRecord().tensor(np.ones(2))
    assert total(Foreign(asked, "foreign"), t) == "foreign"
    assert asked[0][1] == (Foreign, ta.Tensor)


class Labelled(np.ndarray[Any, Any]):
    """A subclass of ndarray that leaves the work to NumPy."""

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return "labelled", super().__array_function__(function, types, args, kwargs)


def test_a_subclass_may_leave_the_call_to_ndarray() -> None:
    x = np.ones(2).view(Labelled)
    assert total(x, np.ones(2)) == ("labelled", 2.0)
    assert total(np.ones(2), y=x) == ("labelled", 2.0)


def test_a_subclass_without_a_protocol_of_its_own_is_an_array(tmp_path: Path) -> None:
    x = np.memmap(tmp_path / "x", mode="w+", shape=2)
    assert total(x, y=x) == 0.0
    assert nn.relu(x.astype(float)).sum() == 0.0
