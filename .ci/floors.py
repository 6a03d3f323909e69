"""Print the oldest releases that pyproject.toml promises to work with, as constraints for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
groups = [project["dependencies"], *project["optional-dependencies"].values()]
promised = "\n".join(requirement for group in groups for requirement in group)
for name, release in re.findall(r"(?m)^([\w-]+)(?:\[\w+\])?>=([\d.]+)$", promised):
    print(f"{name}=={release}.*")  # noqa: T201 - it is for pip to read
