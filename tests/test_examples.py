"""The programs in examples/, run as a newcomer runs them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tape_ad as ta
from tests.sampling import one_share_in_three

ROOT = Path(__file__).parent.parent


def run(
    name: str, folder: Path, *options: str, **variables: str
) -> "subprocess.CompletedProcess[str]":
    """Run an example in a folder; a RuntimeWarning of NumPy's is an error there too."""
    command = [sys.executable, "-W", "error::RuntimeWarning", str(ROOT / "examples" / name)]
    return subprocess.run(  # noqa: S603  # our own programs
        [*command, *options],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"} | variables,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def test_01_linear_relu(tmp_path: Path) -> None:
    result = run("01_linear_relu.py", tmp_path)
    assert result.stderr == ""
    losses = [float(loss) for loss in re.findall(r"(?m)^step \d+: loss (\S+)$", result.stdout)]
    assert len(losses) == 5
    assert losses[0] > 0.5
    assert losses[-1] < 0.005
    before, after = (
        part.count(".") for part in re.findall(r"(?s)(?:before|after):\n[ .o\n]+", result.stdout)
    )
    assert before > 40  # of the 61 dots of the curve, those that the learnt one does not hide
    assert after < 20
    assert "gradient at the ReLUs of the last step has shape (61, 16)\n" in result.stdout
    assert result.stdout.endswith("%8: float64[61,1] = power %7, 2\n%9: float64[] = mean %8\n")
    assert not list(tmp_path.iterdir())


def test_02_train_digits_cut_short(tmp_path: Path) -> None:
    result = run("02_train_digits.py", tmp_path, "--epochs", "1", "--out", "made/here")
    assert result.returncode == 1
    assert result.stderr == "the goal of 0.96 was missed\n"
    (accuracy,) = re.findall(r"(?m)^held-out accuracy (0\.\d{4}) \(360 images\)", result.stdout)
    assert 0.5 < float(accuracy) < 0.96
    assert re.search(r"(?m)^epoch 1/1 .* held-out loss 0\.\d{4}, accuracy 0\.\d{3}", result.stdout)

    params = ta.parameters.load(tmp_path / "made/here/digits.npz")
    shapes = {name: array.shape for name, array in params.items()}
    assert shapes == {
        "hidden.weight": (64, 128),
        "hidden.bias": (128,),
        "output.weight": (128, 10),
        "output.bias": (10,),
    }
    assert {array.dtype for array in params.values()} == {np.dtype(np.float32)}
    assert (tmp_path / "made/here/digits.png").read_bytes().startswith(b"\x89PNG")


def test_03_scipy_minimize(tmp_path: Path) -> None:
    result = run("03_scipy_minimize.py", tmp_path, "--out", ".")
    assert result.returncode == 0, result.stderr
    assert "x = [1. 1. 1. 1. 1. 1. 1. 1. 1. 1.]\n" in result.stdout
    evaluations = [int(n) for n in re.findall(r"(?m)(\d+) evaluations$", result.stdout)]
    rosenbrock, rosenbrock_differences, logistic, logistic_differences = evaluations
    assert rosenbrock_differences > 10 * rosenbrock
    assert logistic_differences > 30 * logistic
    distances = re.findall(r"(?m)difference between the two results: (\S+)$", result.stdout)
    assert [float(distance) < 1e-5 for distance in distances] == [True, True]
    assert re.search(r"(?m)^  tumours told apart rightly: 98\.\d%$", result.stdout)
    assert (tmp_path / "minimize.png").read_bytes().startswith(b"\x89PNG")


@one_share_in_three(1)
def test_06_train_mnist_cut_short(tmp_path: Path) -> None:
    result = run("06_train_mnist.py", tmp_path, "--epochs", "1", "--out", "made/here")
    assert result.returncode == 1
    assert result.stderr == (
        "the goal of 0.945 was missed by the feed-forward network\n"
        "the goal of 0.97 was missed by the convolutional network\n"
    )
    reached = re.findall(r"(?m)held-out accuracy (0\.\d{4}) after", result.stdout)
    assert [0.8 < float(accuracy) < 0.95 for accuracy in reached] == [True, True]
    assert re.search(r"(?m)^feed-forward: step 63/63: loss .*, accuracy 0\.\d+, ", result.stdout)
    for picture in ("curves", "confusion", "filters"):
        png = (tmp_path / f"made/here/mnist_{picture}.png").read_bytes()
        assert png.startswith(b"\x89PNG")
    saved = ta.training.load_checkpoint(tmp_path / "made/here/mnist_convolutional.npz")
    assert saved.step == saved.state["step"] == 63
    assert saved.params["first.weight"].shape == (16, 1, 5, 5)


def test_07_char_transformer_cut_short(tmp_path: Path) -> None:
    result = run("07_char_transformer.py", tmp_path, "--steps", "40", "--out", ".")
    assert result.returncode == 1
    assert result.stderr == "the goal of 2.2 was missed\n"
    (loss,) = re.findall(r"(?m)^held-out loss (\d\.\d{3}) nats per letter", result.stdout)
    assert 2.2 < float(loss) < 3.2
    assert "\nReturn the " in result.stdout
    assert len(ta.parameters.load(tmp_path / "char_transformer.npz")) == 30


@pytest.mark.parametrize("name", ["08_parallel_training.py", "12_distributed.py"])
def test_an_extra_that_is_absent_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('no distributed here')")
    result = run(name, tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert result.returncode == 1
    assert "pip install 'tape-ad[distributed]'" in result.stderr


@one_share_in_three(1)
def test_04_implicit_differentiation(tmp_path: Path) -> None:
    result = run("04_implicit_differentiation.py", tmp_path, "--out", ".")
    assert result.returncode == 0, result.stderr
    assert "dE/de = 1.021026302761, exactly 1.021026302761\n" in result.stdout
    before, after = re.findall(r"(?m)^loss in cross-validation: (\S+) -> (\S+)$", result.stdout)[0]
    assert float(after) < 0.85 * float(before)
    assert re.search(r"(?m)^held-out tumours told apart rightly: 9[5-9]\.\d%$", result.stdout)
    assert (tmp_path / "penalties.png").read_bytes().startswith(b"\x89PNG")


@one_share_in_three(1)
def test_05_ode_adjoint(tmp_path: Path) -> None:
    result = run("05_ode_adjoint.py", tmp_path, "--out", ".")
    assert result.returncode == 0, result.stderr
    rates = [float(rate) for rate in re.findall(r"(?m)= (\S+) per year$", result.stdout)]
    # the posterior means of Carpenter's case study, which has the same errors and weak priors
    np.testing.assert_allclose(rates, [0.545, 0.0276, 0.803, 0.0241], rtol=0.03)
    assert (tmp_path / "lynx_and_hare.png").read_bytes().startswith(b"\x89PNG")


@one_share_in_three(1)
def test_09_compiled(tmp_path: Path) -> None:
    result = run("09_compiled.py", tmp_path, "--out", ".")
    assert result.returncode == 0, result.stderr
    eager, compiled = (int(n) for n in re.findall(r"(?m), (\d+) us for each of", result.stdout))
    assert compiled < eager
    (apart,) = re.findall(r"(?m)difference between both ways: (\S+)$", result.stdout)
    assert float(apart) < 1e-6
    (distance,) = re.findall(r"(?m)mean from the fit: (\S+) standard deviations$", result.stdout)
    assert float(distance) < 0.5
    assert (tmp_path / "compiled.png").read_bytes().startswith(b"\x89PNG")


@one_share_in_three(1)
def test_10_tune_pipeline(tmp_path: Path) -> None:
    result = run("10_tune_pipeline.py", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    slopes = re.search(r"in one warp: (\S+); by differences (\S+)\n", result.stdout)
    assert slopes is not None
    np.testing.assert_allclose(float(slopes[1]), float(slopes[2]), rtol=1e-4)
    found = re.findall(
        r"(?m)^(?:validation error|error for .*:) (\S+) before, (\S+) after$", result.stdout
    )
    (validated, tuned), (unseen, improved) = [tuple(map(float, pair)) for pair in found]
    assert tuned < 0.9 * validated
    assert improved < unseen
    assert (tmp_path / "pipeline.png").read_bytes().startswith(b"\x89PNG")


def test_11_bundle_adjustment(tmp_path: Path) -> None:
    result = run("11_bundle_adjustment.py", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "2 colours" in result.stdout
    (off,) = re.findall(r"(?m): (\S+) pixels off, noise 0\.3$", result.stdout)
    assert float(off) < 0.3
    assert (tmp_path / "bundle_adjustment.png").read_bytes().startswith(b"\x89PNG")


def test_13_other_peoples_code(tmp_path: Path) -> None:
    pytest.importorskip("fluids")
    pytest.importorskip("numpy_financial")
    result = run("13_other_peoples_code.py", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    slopes = re.search(r"in one diameter: (\S+); by differences (\S+)\n", result.stdout)
    assert slopes is not None
    np.testing.assert_allclose(float(slopes[1]), float(slopes[2]), rtol=1e-5)
    costs = re.search(r"(?m)^cost (\S+) before, (\S+) after$", result.stdout)
    assert costs is not None
    assert float(costs[2]) < 0.95 * float(costs[1])
    assert (tmp_path / "pipes.png").read_bytes().startswith(b"\x89PNG")
