"""Convolution beside loops over windows: many images, weights that are not finite, any layout."""

import itertools
from typing import Any

import numpy as np
import pytest

from tape_ad.rules.nn import images
from tape_ad.rules.nn.images import Windows

Array = np.ndarray[Any, Any]

UNIT = Windows((6, 5), (3, 2), (1, 1), ((1, 1), (0, 1)), (1, 2), 2)
STEPS = Windows((6, 5), (3, 2), (2, 1), ((1, 1), (0, 1)), (1, 2), 2)
POINTS = Windows((6, 5), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1), 2)

kinds = pytest.mark.parametrize("windows", [UNIT, STEPS, POINTS])


def operands(windows: Windows) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(7, 4, *windows.size))
    w = rng.normal(size=(4, 2, *windows.kernel))
    return x, w, rng.normal(size=(7, 4, *windows.out))


def loops(x: Array, w: Array, ct: Array, windows: Windows) -> tuple[Array, Array, Array]:
    """Go over windows one by one: the result, and what its two adjoints give."""
    padding = ((0, 0), (0, 0), *windows.padding)
    padded = np.pad(x, padding)
    out, to_x, to_w = np.zeros(ct.shape), np.zeros(padded.shape), np.zeros(w.shape)
    for n, o, i, j in itertools.product(*map(range, ct.shape)):
        group = o // (w.shape[0] // windows.groups)
        channels = slice(group * w.shape[1], (group + 1) * w.shape[1])
        rows, columns = (
            slice(at * s, at * s + (k - 1) * d + 1, d)
            for at, s, k, d in zip(
                (i, j), windows.stride, windows.kernel, windows.dilation, strict=True
            )
        )
        seen = (n, channels, rows, columns)
        out[n, o, i, j] = np.sum(padded[seen] * w[o])
        to_x[seen] += ct[n, o, i, j] * w[o]
        to_w[o] += ct[n, o, i, j] * padded[seen]
    return out, to_x[windows.inside], to_w


def ours(x: Array, w: Array, ct: Array, windows: Windows) -> tuple[Array, Array, Array]:
    return (
        images.correlate_images(x, w, windows=windows),
        images.image_adjoint(ct, w, windows=windows),
        images.kernel_adjoint(x, ct, windows=windows),
    )


@kinds
@pytest.mark.parametrize("cache", [1, 4_000, 1 << 20])
def test_as_many_images_at_a_time_as_fit_into_the_cache(
    windows: Windows, cache: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "IN_CACHE", cache)
    given = operands(windows)
    for found, expected in zip(ours(*given, windows), loops(*given, windows), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@kinds
def test_a_bias_is_added_to_each_channel(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "IN_CACHE", 4_000)
    x, w, ct = operands(windows)
    bias = np.arange(4.0)
    out = images.convolve_images(x, w, bias, windows=windows)
    expected = loops(x, w, ct, windows)[0] + bias[:, None, None]
    np.testing.assert_allclose(out, expected, atol=1e-12)


def test_a_bias_of_more_precision_than_the_images() -> None:
    x, w, _ = (each.astype(np.float32) for each in operands(UNIT))
    bias = np.arange(4.0) / 3
    out = images.convolve_images(x, w, bias, windows=UNIT)
    expected = images.correlate_images(x, w, windows=UNIT) + bias[:, None, None]
    np.testing.assert_array_equal(out, expected, strict=True)


@kinds
@pytest.mark.parametrize("which", ["weights", "cotangents"])
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_what_is_not_finite_reaches_what_its_windows_see_and_no_more(
    windows: Windows, which: str, value: float
) -> None:
    x, w, ct = operands(windows)
    array = {"weights": w, "cotangents": ct}[which]
    array[1, 0, 0, 0] = array[2, 1, -1, -1] = value
    with np.errstate(invalid="ignore"):  # a sweep does so too
        found = images.image_adjoint(ct, w, windows=windows)
        expected = loops(x, w, ct, windows)[1]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@kinds
@pytest.mark.parametrize("change", [np.asfortranarray, lambda a: a[::-1, :, ::-1][::-1, :, ::-1]])
def test_any_layout_of_memory(windows: Windows, change: Any) -> None:
    given = operands(windows)
    x, w, ct = map(change, given)
    for found, expected in zip(ours(x, w, ct, windows), loops(*given, windows), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("change", [np.asfortranarray, lambda w: w[..., ::-1]])
def test_any_layout_of_the_kernels_of_one_channel_each(change: Any) -> None:
    windows = Windows((6, 5), (1, 3), (1, 1), ((0, 0), (1, 1)), (1, 1), 4)
    rng = np.random.default_rng(0)
    x, ct = rng.normal(size=(3, 4, 6, 5)), rng.normal(size=(3, 4, *windows.out))
    w = change(rng.normal(size=(4, 1, 1, 3)))
    for found, expected in zip(ours(x, w, ct, windows), loops(x, w, ct, windows), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)
