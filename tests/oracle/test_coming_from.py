"""The programs of the pages "Coming from ...": theirs, which the pages leave out, beside ours."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from tests.oracle.oracles import oracle

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(
    r"<!-- skip: next .*?-->\n```python\n(.*?)```\n\nbecomes\n\n```python\n(.*?)```", re.DOTALL
)


def run(page: str, start: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run both programs of a page, theirs with some of the values that ours starts from."""
    pair = BLOCK.search((DOCS / f"coming-from-{page}.md").read_text())
    assert pair is not None
    ours: dict[str, Any] = {}
    exec(pair[2], ours)  # noqa: S102 - the page is ours
    given = {name: make(ours) for name, make in start.items()}
    theirs = dict(given)
    exec(pair[1], theirs)  # noqa: S102 - as above
    return theirs, ours


def test_a_program_for_autograd_ends_where_ours_does() -> None:
    oracle("autograd")
    zeros = {"w": np.zeros(3), "b": 0.0}
    same = {name: lambda ours, name=name: ours[name] for name in ("x", "y")}
    theirs, ours = run("autograd", {**same, "params": lambda ours: zeros})
    np.testing.assert_allclose(theirs["params"]["w"], ours["params"]["w"], rtol=1e-12)


def test_a_program_for_jax_takes_the_same_step() -> None:
    oracle("jax").config.update("jax_enable_x64", True)
    theirs, ours = run("jax", {})
    for _ in range(2):
        first = theirs["step"](ours["params"], ours["x"], ours["y"])
        other, ours["params"] = ours["step"](ours["params"], ours["x"], ours["y"])
        np.testing.assert_allclose(first[0], other, rtol=1e-12)


def test_a_program_for_pytorch_ends_where_ours_does() -> None:
    torch: Any = oracle("torch")

    def batches(ours: dict[str, Any]) -> Any:
        return [
            tuple(torch.tensor(a, dtype=torch.float32) for a in pair) for pair in ours["batches"]
        ]

    theirs, ours = run("pytorch", {"batches": batches})
    assert np.abs(ours["params"]["w"]).max() > 0.01
    np.testing.assert_allclose(theirs["w"].detach(), ours["params"]["w"], rtol=1e-4, atol=1e-6)


def test_a_program_for_mygrad_has_the_same_gradients() -> None:
    oracle("mygrad")
    theirs, ours = run("mygrad", {})
    np.testing.assert_allclose(theirs["x"].grad, ours["by_x"], rtol=1e-12)
    np.testing.assert_allclose(theirs["w"].grad, ours["by_w"], rtol=1e-12)
