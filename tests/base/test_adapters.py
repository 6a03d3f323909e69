"""Rules that an installed distribution brings for a package, by an entry point."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = '''
import numpy as np

def halved(x):
    """Halve an array, or leave it to its type."""
    own = getattr(type(x), "__array_function__", None)
    if own not in (None, np.ndarray.__array_function__):
        return x.__array_function__(halved, (type(x),), (x,), {})
    return np.asarray(x) / 2

class Grid:
    """An array with a spacing, which knows none of NumPy's protocols."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.dtype = self.values.shape, self.values.dtype
'''

RULES = """
import acme
import numpy as np
from tape_ad.extend import facts, rules

rules.add_rules({acme.halved: rules.rule(
    lambda out, x: np.full(x.shape, 0.5),
    signature=lambda x: ((x,), {}),
    facts=facts.ELEMENTWISE,
)})

def operand(grid):
    return grid.values
"""

LOADED = "print('acme_rules' in sys.modules, 'importlib.metadata' in sys.modules)"
"""Whether the rules are loaded, and whether anybody has looked for them."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "acme.py").write_text(PACKAGE)
    (tmp_path / "acme_rules.py").write_text(RULES)
    install(tmp_path, "acme-gradients", "acme = acme_rules")
    return tmp_path


def install(site: Path, distribution: str, *entry_points: str) -> None:
    """Put what pip would write of a distribution on a path."""
    info = site / f"{distribution.replace('-', '_')}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("\n".join(["[tape_ad]", *entry_points, ""]))


def run(site: Path, *lines: str) -> list[str]:
    """Run a program with a path in a new interpreter, and give what it prints."""
    program = "\n".join(["import sys", "import numpy as np", "import tape_ad as ta", *lines])
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    found = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    return found.stdout.splitlines()


def error_of(call: str, kind: str = "AdapterError") -> list[str]:
    """Write a call that is to raise, and print what."""
    return ["try:", f"    {call}", f"except ta.errors.{kind} as error:", "    print(error)"]


def test_rules_are_loaded_when_a_function_is_called_on_a_handle(site: Path) -> None:
    assert run(
        site,
        "import acme",
        "x = ta.ComputationRecord().tensor([1.0, 2.0])",
        "np.sum(np.fft.fft(x).real)",
        LOADED,
        "print(acme.halved(np.ones(2)))",
        LOADED,
        "print(np.sum(acme.halved(x)).grad().wrt(x))",
        LOADED,
        "print(ta.batched(acme.halved)(np.ones((2, 1))).tolist())",
    ) == ["False False", "[0.5 0.5]", "False False", "[0.5 0.5]", "True True", "[[0.5], [0.5]]"]


def test_rules_are_loaded_when_an_array_of_the_package_is_met(site: Path) -> None:
    assert run(
        site,
        "import acme",
        "grid = acme.Grid([1.0, 2.0])",
        LOADED,
        "x = ta.ComputationRecord().tensor(grid)",
        LOADED,
        "print(x)",
        "class Finer(acme.Grid): pass",
        "print((x * Finer([3.0, 4.0])).data)",
        "print(np.sum(np.where([True, False], x, grid)).grad().wrt(x))",
        "print((x * x).grad(seed=grid).wrt(x))",
        "print(ta.batched(ta.grad(lambda x: x * x))(grid))",
    ) == [
        "False False",
        "True True",
        "Tensor(%0, float64[2], [1. 2.])",
        "[3. 8.]",
        "[1. 0.]",
        "[2. 8.]",
        "[2. 4.]",
    ]


def test_an_array_of_another_package_is_refused_as_ever(site: Path) -> None:
    (site / "other.py").write_text(PACKAGE)
    assert run(
        site,
        "import other",
        *error_of("ta.ComputationRecord().tensor(other.Grid([1.0]))", "DtypeError"),
        "x = ta.ComputationRecord().tensor([1.0])",
        *error_of("other.halved(x)", "NoRuleError"),
        "print('acme_rules' in sys.modules)",
    ) == [
        "the data of a leaf cannot be differentiated: a Grid is neither a number nor an array, and "
        "what it does with a handle is not recorded; compute with the numbers in it",
        "halved has no rule, so its gradient would be lost; write it with functions that have one, "
        "or apply it to t.data if no gradient is meant to flow",
        "False",
    ]


def test_a_ufunc_does_not_tell_its_package(site: Path) -> None:
    (site / "acme.py").write_text("import numpy as np\ntwice = np.frompyfunc(float, 1, 1)\n")
    (site / "acme_rules.py").write_text(
        "import acme\nfrom tape_ad.extend import rules\n"
        "rules.add_rules({acme.twice: rules.rule(lambda out, x: 2.0)})\n"
    )
    install(site, "unused", "unmet = missing_rules")
    assert run(
        site,
        "unknown = np.frompyfunc(float, 1, 1)",
        "x = ta.ComputationRecord().tensor([1.0])",
        *error_of("unknown(x)", "NoRuleError"),
        LOADED,
        "import acme",
        *error_of("acme.twice(x)", "DtypeError"),
        LOADED,
    )[1::2] == ["False True", "True True"]


def test_a_function_has_a_counterpart_in_copies_of_code(site: Path) -> None:
    (site / "acme.py").write_text(
        "import numpy as np\n\ndef sine(x):\n    return np.sin(np.asarray(x))\n"
    )
    (site / "acme_rules.py").write_text(
        "import acme\nimport numpy as np\n\n"
        "def counterpart(original, default):\n"
        "    return np.sin if original is acme.sine else default\n"
    )
    assert run(
        site,
        "import acme",
        "copy = ta.differentiable(lambda x: acme.sine(2 * x))",
        LOADED,
        "print(ta.grad(copy)(0.0), copy(0.0))",
    ) == ["False False", "2.0 0.0"]


def test_rules_that_cannot_be_imported_are_told_by_their_distribution(site: Path) -> None:
    (site / "acme_rules.py").write_text("import acme_core\n")
    message = (
        "the rules for acme that acme-gradients 1.2 (entry point acme = acme_rules) brings cannot "
        "be imported (ModuleNotFoundError: No module named 'acme_core'); update that distribution, "
        "or uninstall it"
    )
    assert run(
        site,
        "import acme",
        "x = ta.ComputationRecord().tensor([1.0])",
        *error_of("acme.halved(x)"),
        *error_of("acme.halved(x)"),
        *error_of("x * acme.Grid([1.0])"),
        "print((x * 2).data)",
    ) == [message, message, message, "[2.]"]


def test_two_distributions_for_one_package_are_an_error(site: Path) -> None:
    install(site, "acme-rules", "acme = acme")
    (message,) = run(
        site,
        "import acme",
        "x = ta.ComputationRecord().tensor([1.0])",
        *error_of("acme.halved(x)"),
    )
    assert "acme-rules 1.2 (entry point acme = acme)" in message
    assert "acme-gradients 1.2 (entry point acme = acme_rules)" in message


def test_a_program_registers_an_adapter_of_its_own(site: Path) -> None:
    (site / "other.py").write_text(PACKAGE.replace("halved", "halves"))
    (site / "other_rules.py").write_text("def operand(grid):\n    return grid.values + 1\n")
    assert run(
        site,
        "import other",
        "x = ta.ComputationRecord().tensor([1.0])",
        *error_of("ta.ComputationRecord().tensor(other.Grid([1.0]))", "DtypeError"),
        "from tape_ad.extend.packages import register_adapter",
        "register_adapter('other', 'other_rules')",
        "print('other_rules' in sys.modules, (x * other.Grid([1.0])).data)",
    )[-1:] == ["False [2.]"]
