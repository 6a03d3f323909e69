"""Python numbers of handles: users may ask for them, and the code of an installed library not."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.errors import ConversionError
from tests.shorthand import handle

SOURCE = """
import numpy as np

def rate(x):
    return smallest(np.sqrt(x))

def smallest(x):
    return x.item(np.argmin(x))

def series(x):
    return [2 * each for each in x.tolist()]

class _Hidden:
    def of(self, x):
        return x.item()

hidden = _Hidden().of
"""

X = np.array([4.0, 9.0])


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install a module for a test."""
    file = tmp_path / "site-packages" / "finances.py"
    file.parent.mkdir()
    file.write_text(SOURCE, encoding="utf-8")
    spec: Any = importlib.util.spec_from_file_location("finances", file)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "finances", module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["rate", "series"])
def test_a_library_that_takes_numbers_is_named(library: Any, name: str) -> None:
    function = getattr(library, name)
    assert np.all(np.isfinite(function(X)))
    with pytest.raises(
        ConversionError, match=rf"^{name} of finances takes Python numbers .* t\.data"
    ):
        function(handle(X))
    assert function(handle(X).data) == function(X)


def test_so_is_the_module_where_the_function_has_no_public_name(library: Any) -> None:
    with pytest.raises(ConversionError, match=r"^a function of finances takes Python numbers"):
        library.hidden(handle(X[0]))


def test_a_rule_of_the_users_may_call_it(library: Any) -> None:
    rate = ta.custom_rule(pull=lambda ct, out, x: np.where(x == np.min(x), ct / (2 * out), 0.0))(
        library.rate
    )
    np.testing.assert_array_equal(ta.grad(rate)(X), [0.25, 0.0])


def test_users_read_them() -> None:
    assert handle(X).tolist() == [4.0, 9.0]
    assert handle(X).item(1) == 9.0
    assert f"{handle(X[0]):.1f}" == "4.0"
