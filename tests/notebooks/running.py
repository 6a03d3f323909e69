"""Run the notebooks in examples/, and compare what they show with what is stored in them."""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

__all__ = ["NOTEBOOKS", "REQUIRED", "Notebook", "code_of", "differences", "digest", "load", "run"]

ROOT = Path(__file__).parents[2]

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))

REQUIRED = os.environ.get("TAPE_AD_JUPYTER") == "required"
"""Whether what runs notebooks has to be installed; without it, tests are skipped."""

SECONDS = 60
"""How long a cell may take."""

Notebook = dict[str, Any]


def load(path: Path) -> Notebook:
    """Read a notebook's file."""
    notebook: Notebook = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def code_of(notebook: Notebook) -> list[dict[str, Any]]:
    """Give the cells of code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def digest(notebook: Notebook) -> str:
    """Tell one notebook's code from another's."""
    text = "\n\n".join("".join(cell["source"]) for cell in code_of(notebook))
    return hashlib.sha256(text.encode()).hexdigest()


def run(notebook: Notebook) -> Notebook:
    """Run all cells in a new kernel, from top to bottom, and give the notebook with its outputs.

    Raises
    ------
    nbclient.exceptions.CellExecutionError
        When a cell fails.
    """
    import nbformat
    from nbclient import NotebookClient
    from traitlets.config import Config

    node = nbformat.reads(json.dumps(notebook), as_version=4)
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    environment |= {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        sockets = {"transport": "ipc", "ip": f"{folder}/kernel"}  # ports may be taken meanwhile
        client = NotebookClient(
            node,
            timeout=SECONDS,
            record_timing=False,
            coalesce_streams=True,  # what is printed comes in pieces, as it happens
            config=Config({"KernelManager": sockets}),
        )
        client.execute(env=environment, cwd=str(ROOT / "examples"))
    found: Notebook = json.loads(nbformat.writes(node))
    for cell in code_of(found):
        cell["metadata"].pop("execution", None)
    found["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "code_that_ran": digest(found),
    }
    return found


def shown(cell: dict[str, Any]) -> list[Any]:
    """Give what a cell shows, in a form to be compared: texts, and the kinds of all else."""
    found: list[Any] = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            text = "".join(output["text"])
            if found and found[-1][0] == output["name"]:  # printed a little later
                text = found.pop()[1] + text
            found.append((output["name"], text))
        else:
            data = output.get("data", {})
            found.append((output["output_type"], sorted(data), "".join(data.get("text/plain", ""))))
    return found


def differences(stored: Notebook, found: Notebook) -> list[str]:
    """Say which cells show something else; of one that is tagged "varies", only the kinds count."""
    told = []
    pairs = zip(code_of(stored), code_of(found), strict=True)
    for number, (before, now) in enumerate(pairs, 1):
        one, other = shown(before), shown(now)
        if "varies" in before["metadata"].get("tags", ()):
            one, other = [each[:-1] for each in one], [each[:-1] for each in other]
        if one != other:
            told.append(f"cell {number} shows {other}, and {one} is stored")
    return told
