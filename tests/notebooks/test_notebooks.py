"""The notebooks in examples/: what is stored is what their code shows."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.running import NOTEBOOKS, REQUIRED, code_of, differences, digest, load, run

needs_jupyter = pytest.mark.skipif(
    not REQUIRED and importlib.util.find_spec("nbclient") is None,
    reason="the extra jupyter is not installed",
)
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} >= {"first_gradients", "fit_a_model"}


@each
def test_all_cells_ran_from_top_to_bottom(path: Path) -> None:
    notebook = load(path)
    cells = code_of(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert notebook["metadata"]["code_that_ran"] == digest(notebook)


@each
def test_no_cell_has_an_error_or_a_word_of_warning(path: Path) -> None:
    outputs = [output for cell in code_of(load(path)) for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {
        "display_data",
        "execute_result",
        "stream",
    }
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []


@each
def test_a_file_is_small_and_knows_nothing_of_a_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text) < 400_000
    assert str(Path.home()) not in text
    assert "/tmp/" not in text  # noqa: S108 - nothing is written there
    assert "site-packages" not in text


@each
def test_it_begins_with_a_title_and_says_what_it_needs(path: Path) -> None:
    first = load(path)["cells"][0]
    assert first["cell_type"] == "markdown"
    assert first["source"][0].startswith("# ")
    assert "tape-ad[examples,jupyter]" in "".join(first["source"])


@each
def test_links_lead_somewhere(path: Path) -> None:
    text = "".join(
        "".join(cell["source"]) for cell in load(path)["cells"] if cell["cell_type"] == "markdown"
    )
    targets = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert [name for name in targets if not (path.parent / name).exists()] == []


@needs_jupyter
@each
def test_it_shows_what_is_stored(path: Path) -> None:
    stored = load(path)
    assert differences(stored, run(stored)) == []


def notebook_of(*sources: str) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{i}",
            "metadata": {},
            "outputs": [],
            "source": source,
        }
        for i, source in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@needs_jupyter
def test_what_the_library_shows_is_in_a_saved_notebook() -> None:
    found = run(
        notebook_of(
            "import numpy as np\nimport tape_ad as ta\n"
            "t = ta.ComputationRecord().tensor([1.0, 2.0])\nt",
            "f = ta.compile(lambda x: x + 1)\nf",
            "ta.parameters.summary({'w': np.ones(2)})",
            "with ta.training.progress(1000, 'run') as report:\n"
            "    for i in range(1000):\n        report(loss=0.5)",
            "import math\ntry:\n    math.exp(t[0])\nexcept TypeError as error:\n    print(error)",
        )
    )
    handle, compiled, store, progress, error = (cell["outputs"] for cell in code_of(found))
    assert "".join(handle[0]["data"]["text/plain"]) == "Tensor(%0, float64[2], [1. 2.])"
    assert "%0: float64[2] = leaf" in "".join(handle[0]["data"]["text/html"])
    assert "<details>" in "".join(compiled[0]["data"]["text/html"])
    assert "<table" in "".join(store[0]["data"]["text/html"])
    assert "".join(store[0]["data"]["text/plain"]).startswith("name")
    (bar,) = progress  # one output, written over: neither a thousand lines nor an empty widget
    assert "run: step 1000/1000: loss 0.5" in "".join(bar["data"]["text/plain"])
    assert '<progress value="1000" max="1000">' in "".join(bar["data"]["text/html"])
    assert "(line 3 of cell In[5])" in "".join(error[0]["text"])
    assert len(json.dumps(found)) < 10_000
