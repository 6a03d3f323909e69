"""Gradients as a picture: a panel for each parameter, and what cannot be drawn is said."""

import sys
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad.training import gradient_histograms

pytest.importorskip("matplotlib")


def titles(figure: Any, side: str = "left") -> list[str]:
    return [panel.get_title(loc=side) for panel in figure.axes]


def bars(panel: Any) -> list[float]:
    return [bar.get_height() for bar in panel.patches]


@pytest.mark.parametrize("values", [[1.0, np.nextafter(1.0, 2)], [1e300] * 3, [0.0], [5e-324, 0]])
def test_numbers_next_to_each_other(values: list[float]) -> None:
    figure = gradient_histograms([np.array(values)])
    assert sum(bars(figure.axes[0])) == len(values)


def test_each_parameter_has_a_panel_with_all_of_its_elements() -> None:
    rec: Any = ta.ComputationRecord()
    p = rec.bind({"layers": [{"w": np.arange(6.0).reshape(2, 3), "b": np.ones(3)}]})
    layer = p["layers"][0]
    figure = gradient_histograms(np.sum(layer["w"] ** 2 + layer["b"]).grad(), p, bins=5)
    assert titles(figure) == ["layers/0/w", "layers/0/b"]
    heights = [sum(bars(panel)) for panel in figure.axes]
    assert heights == [6, 3]
    assert len(figure.axes[0].patches) == 5


def test_a_tree_of_arrays_is_drawn_as_it_is() -> None:
    figure = gradient_histograms({"größe": np.ones(3), "none": None, "scalar": np.float32(2.0)})
    assert titles(figure) == ["größe", "scalar"]


def test_what_is_not_finite_is_counted() -> None:
    array = np.array([1.0, np.nan, np.inf, 2.0])
    figure = gradient_histograms([array, np.full(2, np.nan), np.zeros((0, 3))])
    assert titles(figure, "right") == ["1 of 4 is nan, 1 of 4 is inf", "2 of 2 are nan", ""]
    assert sum(bars(figure.axes[0])) == 2


def test_complex_gradients_are_drawn_by_their_moduli() -> None:
    figure = gradient_histograms([np.array([3 + 4j, 0])])
    assert figure.axes[0].get_xlim()[1] > 5


def test_no_parameters_make_an_empty_picture_that_can_be_saved() -> None:
    file = BytesIO()
    gradient_histograms({}).savefig(file)
    assert file.getvalue()


def test_handles_are_asked_for() -> None:
    x: Any = ta.ComputationRecord().tensor(1.0)
    with pytest.raises(TypeError, match=r"gradient_histograms\(grads, p\)"):
        gradient_histograms(x.grad())


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"gradient_histograms needs the extra examples"):
        gradient_histograms({"w": np.ones(3)})
