"""That the checks of random calls see a wrong rule."""

from typing import Any

import numpy as np
import pytest

from tape_ad.record.primals import primal
from tape_ad.rules import FAST_RULES
from tests.fuzz.drawing import Call
from tests.fuzz.problems import Attempt, problems_of

X = np.array([-0.7, 0.4, 1.2])


class UnstackedScale:
    """Reverses the factors of whatever is stacked."""

    broadcasts = False

    def __init__(self, out: Any, x: Any) -> None:
        self.factors = np.cosh(x)

    def push(self, t: Any) -> Any:
        return t * (self.factors if t.ndim == 1 else self.factors[::-1])

    pull = push


def kinds(x: Any) -> set[str]:
    attempt = Attempt(Call("np.sinh", np.sinh, (x,), {}), [x], (0,))
    return {p.kind for i in range(10) for p in problems_of(attempt, np.random.default_rng(i))}


@pytest.mark.parametrize(
    ("maker", "x", "kind"),
    [
        (lambda out, x: np.sinh(primal(x)), X, "difference"),
        (lambda out, x: np.cosh(primal(x)), X, "second"),
        (UnstackedScale, X, "stack"),
        (lambda out, x: np.cosh(x) * (1 + (x.itemsize < 8) / 99), X.astype("f4"), "single"),
    ],
)
def test_a_wrong_rule_is_seen(
    maker: Any, x: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kinds(x) == set()

    rules: Any = FAST_RULES
    monkeypatch.setitem(rules, np.sinh, (maker,))

    assert kind in kinds(x)
