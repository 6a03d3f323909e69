"""Print what pyproject.toml promises to work with.

python .ci/promised.py pythons      the versions of Python, oldest first
python .ci/promised.py libraries    the oldest release of each library, as constraints for pip
"""

import re
import sys
import tomllib
from pathlib import Path

ALL = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
PROJECT = ALL["project"]


def pythons() -> list[str]:
    """List the versions of Python that the classifiers name."""
    classifiers = "\n".join(PROJECT["classifiers"])
    return re.findall(r"(?m)^Programming Language :: Python :: (3\.\d+)$", classifiers)


def libraries() -> list[str]:
    """List the lower bounds of all requirements, the lowest of each library, with its bug fixes."""
    groups = [
        PROJECT["dependencies"],
        *PROJECT["optional-dependencies"].values(),
        *ALL["dependency-groups"].values(),
    ]
    required = "\n".join(requirement for group in groups for requirement in group)
    oldest = re.findall(r"(?m)^([\w-]+)(?:\[\w+\])?>=([\d.]+)$", required)
    lowest: dict[str, str] = {}
    for name, release in sorted(oldest, key=lambda one: [*map(int, one[1].split("."))]):
        lowest.setdefault(name, release)
    return sorted(f"{name}=={release}.*" for name, release in lowest.items())


asked = {"pythons": pythons, "libraries": libraries}[sys.argv[1]]
print("\n".join(asked()))  # noqa: T201 - for a shell or pip to read
