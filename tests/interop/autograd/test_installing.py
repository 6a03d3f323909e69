"""`install_as_autograd`, in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def output_of(program: str) -> str:
    """Run a program with this checkout in front of what is installed."""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(  # noqa: S603 - the programs stand below
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


IMPORTS = [
    "import autograd.numpy as np",
    "from autograd import numpy as np",
    "import autograd.numpy.numpy_wrapper as np",
    "from autograd.numpy import sum, array; import types; "
    "np = types.SimpleNamespace(sum=sum, array=array)",
    "from autograd.numpy import *; import types; np = types.SimpleNamespace(sum=sum, array=array)",
]


@pytest.mark.parametrize("statement", IMPORTS)
def test_every_way_to_import_gives_our_modules(statement: str) -> None:
    program = f"""
from tape_ad.interop import install_as_autograd
install_as_autograd()
{statement}
from autograd import grad
print(grad(lambda x: np.sum(np.array([x * x, 3 * x])))(2.0))
print(grad.__module__)
"""
    assert output_of(program).splitlines() == [
        "7.0",
        "tape_ad.interop.autograd.differential_operators",
    ]


def test_a_module_has_one_identity_under_both_names() -> None:
    program = """
from tape_ad.interop import install_as_autograd
import tape_ad.interop.autograd.numpy.linalg as ours
install_as_autograd()
import autograd.numpy.linalg as theirs, autograd.numpy, autograd
import importlib
print(ours is theirs, theirs.__name__, theirs.__spec__.name, autograd.__version__)
print(importlib.import_module("autograd.numpy.linalg") is ours)
"""
    name = "tape_ad.interop.autograd.numpy.linalg"
    assert output_of(program).splitlines() == [f"True {name} {name} 1.9.1", "True"]


def test_neither_scipy_nor_autograd_is_imported_before_it_is_asked_for() -> None:
    program = """
import sys
from tape_ad.interop import install_as_autograd
install_as_autograd()
import autograd.numpy, autograd.misc.optimizers, autograd.test_util, autograd.extend
print(sorted(name for name in sys.modules if name.split(".")[0] == "scipy"))
print([m.__name__ for n, m in sys.modules.items() if n.startswith("autograd")
       if not m.__name__.startswith("tape_ad.interop.autograd")])
"""
    assert output_of(program).splitlines() == ["[]", "[]"]


def test_a_function_named_as_its_module_stays_a_function() -> None:
    program = """
from tape_ad.interop import install_as_autograd
install_as_autograd()
import autograd.misc.flatten
from autograd.misc import flatten
from autograd.misc.flatten import flatten_func
print(flatten([1.0, 2.0])[0].tolist())
"""
    assert output_of(program) == "[1.0, 2.0]"


def test_a_missing_module_is_missing() -> None:
    program = """
from tape_ad.interop import install_as_autograd
install_as_autograd()
try:
    import autograd.nothing
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert output_of(program) == "autograd.nothing"


FAKE = """
import sys, types
fake = sys.modules["autograd"] = types.ModuleType("autograd")
fake.numpy = sys.modules["autograd.numpy"] = types.ModuleType("autograd.numpy")
from tape_ad.interop import install_as_autograd, uninstall_autograd
"""


def test_a_name_that_is_taken_is_not_taken_over() -> None:
    program = f"""{FAKE}
try:
    install_as_autograd()
except ImportError as error:
    print("imported already" in str(error), "replace=True" in str(error))
import autograd
print(autograd is fake)
"""
    assert output_of(program).splitlines() == ["True True", "True"]


def test_a_name_that_is_replaced_comes_back() -> None:
    program = f"""{FAKE}
with install_as_autograd(replace=True):
    install_as_autograd()  # a second time is nothing
    import autograd.numpy
    print(autograd.__name__, autograd.numpy.__name__)
import autograd.numpy
print(autograd is fake, autograd.numpy is fake.numpy)
uninstall_autograd()  # and here nothing either
print(autograd is fake)
"""
    lines = output_of(program).splitlines()
    assert lines == ["tape_ad.interop.autograd tape_ad.interop.autograd.numpy", "True True", "True"]
