"""What is imported, and when."""

import subprocess
import sys

import pytest

from tests.sampling import some


def python(program: str) -> str:
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(  # noqa: S603  # our own code in our own interpreter
        command, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_tables_that_few_programs_need_come_when_one_does() -> None:
    printed = python("""
import sys
import numpy as np
import tape_ad as ta

x = ta.ComputationRecord().tensor([1.0, 2.0, 3.0])
y = np.sum(np.tanh(x) @ np.ones((3, 2)))
print("tape_ad.rules.numpy.fft" in sys.modules)
y = np.sum(np.abs(np.fft.rfft(x)) ** 2)
print("tape_ad.rules.numpy.fft" in sys.modules, y.grad().wrt(x).round(6).tolist())
""")
    assert printed == "False\nTrue [9.0, 12.0, 15.0]"


def test_llvm_is_loaded_for_native_code_alone() -> None:
    pytest.importorskip("llvmlite")
    printed = python("""
import sys
import numpy as np
import tape_ad as ta

names = ("llvmlite", "tape_ad.programs.engines.native")
there = lambda: [name for name in names if name in sys.modules]
for engine in ("numpy", "auto", "native"):
    f = ta.compile(lambda x: np.sum(x * x), engine=engine)
    print(engine, there())
    if engine == "numpy":
        print([f(np.ones(3)) for _ in range(4)][-1], there())
""")
    assert printed.splitlines() == [
        "numpy []",
        "3.0 []",
        "auto []",
        "native ['llvmlite', 'tape_ad.programs.engines.native']",
    ]


def test_without_llvm_all_is_as_it_was() -> None:
    printed = python("""
import sys
sys.modules["llvmlite"] = None
import numpy as np
import tape_ad as ta

f = ta.compile(lambda x: np.sum(x * x))
print([f(np.ones(3)) for _ in range(4)][-1], "native" in f.explain())
try:
    ta.compile(np.sum, engine="native")
except ImportError as error:
    print(error)
""")
    assert printed.splitlines() == [
        "3.0 False",
        "engine='native' needs the extra compile: pip install 'tape-ad[compile]', or use "
        "engine='numpy'",
    ]


def test_no_peer_and_no_extra_is_imported() -> None:
    printed = python("""
import sys
import tape_ad

print([name for name in ("scipy", "torch", "jax", "matplotlib", "rich") if name in sys.modules])
""")
    assert printed == "[]"


@pytest.mark.parametrize("share", some(range(3), 3))
def test_names_that_scipy_has_dropped_take_no_other_with_them(share: int) -> None:
    pytest.importorskip("scipy")
    packages = """
        fft integrate interpolate linalg ndimage optimize signal signal.windows sparse sparse.linalg
        spatial spatial.distance special stats
    """
    printed = python(f"""
import importlib
import scipy.optimize
import scipy.stats
import tape_ad as ta

packages = {packages.split()}
for theirs in [importlib.import_module(f"scipy.{{each}}") for each in packages]:
    names = {{*theirs.__all__}} - {{"csr_array", "coo_array", "eye_array", "vstack"}}
    for name in sorted(names)[{share}::3]:  # but what sparse derivatives are made of
        delattr(theirs, name)
print(all(len(dir(importlib.import_module(f"tape_ad.scipy.{{each}}"))) > 2 for each in packages))
""")
    assert printed == "True"


def test_what_scipy_has_dropped_is_an_error_where_it_is_called() -> None:
    pytest.importorskip("scipy")
    printed = python("""
import scipy.linalg

del scipy.signal.sosfreqz
import tape_ad.scipy.signal

print(len(tape_ad.scipy.signal.butter(2, 0.3)))
try:
    tape_ad.scipy.signal.sosfreqz([[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]])
except AttributeError as error:
    print(error)
""")
    assert printed.splitlines() == [
        "2",
        "module 'tape_ad.scipy.signal' has no attribute 'sosfreqz'",
    ]


def test_importing_statistics_takes_little_beside_scipy() -> None:
    pytest.importorskip("scipy")
    printed = python("""
import sys
import scipy.stats
import tape_ad

calls = 0

def seen(frame, event, argument):
    global calls
    calls += event == "call"

sys.setprofile(seen)
import tape_ad.scipy.stats
sys.setprofile(None)
print(calls)
""")
    assert 0 < int(printed) < 60_000  # some 3 us each, so less than 0.2 s


def test_without_dask_the_extra_is_named() -> None:
    printed = python("""
import sys
sys.modules["distributed"] = None
import tape_ad as ta

try:
    ta.interop.dask.value_and_grad
except ImportError as error:
    print(error)
print(hasattr(ta.interop.dask, "__all__"), "dask" in sys.modules)
""")
    assert printed.splitlines() == [
        "tape_ad.interop.dask.value_and_grad needs the extra distributed: "
        "pip install 'tape-ad[distributed]'",
        "True False",
    ]


def test_an_error_that_names_a_function_of_ours_imports_nothing() -> None:
    pytest.importorskip("scipy")
    printed = python("""
import sys
import numpy as np
import scipy.fft
import scipy.linalg
import tape_ad as ta

x = ta.ComputationRecord().tensor(np.arange(3.0))
before = set(sys.modules)
for call in (scipy.fft.dct, scipy.fft.dct, scipy.linalg.toeplitz):
    try:
        print(call(x))
    except TypeError as error:
        print("write tape_ad." in str(error))
print({name for name in set(sys.modules) - before if name.startswith("tape_ad.")} - {
    "tape_ad.base.naming"})
""")
    assert printed.splitlines() == ["True", "True", "True", "set()"]


def test_a_python_without_its_lock_is_refused() -> None:
    printed = python("""
import sys
sys._is_gil_enabled = lambda: False
try:
    import tape_ad
except ImportError as error:
    print(error)
sys._is_gil_enabled = lambda: True
import tape_ad as ta
print(ta.grad(lambda x: x * x)(3.0))
""")
    refused, gradient = printed.splitlines()
    assert "PYTHON_GIL=1" in refused
    assert gradient == "6.0"
