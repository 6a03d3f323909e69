"""Attention in blocks beside the same as a composition of several nodes."""

from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tape_ad import nn
from tape_ad.rules.nn import attention
from tape_ad.rules.nn.attention import attend, weights_of
from tape_ad.testing import check_grads

Array = np.ndarray[Any, Any]

SEEN = np.tri(5, dtype=bool)
RNG = np.random.default_rng


def composed(qkv: Any, mask: Array | None, scale: float) -> Any:
    return weights_of(qkv[0], qkv[1], mask, scale) @ qkv[2]


def value_and_gradient(
    function: Any, qkv: Array, seed: Array, *options: Any
) -> tuple[Array, Array]:
    handle = ta.ComputationRecord().tensor(qkv)
    out = function(handle, *options)
    return out.data, out.grad(seed).wrt(handle)


def assert_as_composed(
    qkv: Array, mask: Array | None, scale: float, rtol: float = 1e-9, atol: float = 1e-12
) -> None:
    seed = RNG(1).normal(size=qkv.shape[1:]).astype(qkv.dtype)
    found = value_and_gradient(attend, qkv, seed, mask, scale)
    expected = value_and_gradient(composed, qkv, seed, mask, scale)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def operands(*lead: int) -> Array:
    return RNG(0).normal(size=(3, *lead, 5, 2))


MASKS = [None, SEEN, np.where(SEEN, 0.5, -np.inf), SEEN[-1:] & (np.arange(5) != 1)]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("cache", [1, 100, 250, 450, 700, 1 << 19])
def test_blocks_of_any_size(
    cache: int, lead: tuple[int, ...], mask: Array | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "IN_CACHE", cache)
    assert_as_composed(operands(*lead), mask, 0.7)


@pytest.mark.parametrize("lead", [(), (3,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("cache", [1, 100, 250, 450, 700, 1 << 19])
def test_blocks_come_to_each_score_once(
    cache: int, lead: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attention, "IN_CACHE", cache)
    counts = np.zeros((*lead, 5, 6))
    for block in attention.blocks(counts.shape, counts.itemsize):
        part = attention.part(counts, block)
        part += 1
        assert part.nbytes <= max(cache, 6 * counts.itemsize)
    np.testing.assert_array_equal(counts, 1)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", [19.0, 1e3, 1e6])
def test_scores_that_are_too_large_for_exp(scale: float, mask: Array | None) -> None:
    assert_as_composed(operands(2), mask, scale, atol=1e-15 * scale)  # the gradient's own size


def test_a_row_of_large_scores_of_one_sign() -> None:
    qkv = operands()
    qkv[0, 1], qkv[1] = [-40.0, 0.0], np.abs(qkv[1]) + 1
    assert_as_composed(qkv, None, 1.0)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_a_mask_hides_is_not_in_the_gradient(value: float) -> None:
    qkv = operands(2)
    qkv[1, 0, 3:] = value
    mask = np.array([True, True, True, False, False])
    with np.errstate(invalid="ignore"):
        assert_as_composed(qkv, mask, 1.0)
        _, gradient = value_and_gradient(attend, qkv, np.ones((2, 5, 2)), mask, 1.0)
    assert np.isfinite(gradient).all()
    np.testing.assert_array_equal(gradient[1:, 0, 3:], 0)


def test_what_is_behind_hidden_keys_gets_no_gradient_even_where_it_is_infinite() -> None:
    x = np.array([[0.5, 1.0, 0.0], [2.0, 3.0, 0.0]]).T
    mask = np.array([True, True, False])

    def gradient(function: Any) -> Any:
        handle = ta.ComputationRecord().tensor(x)
        root = np.sqrt(handle)  # with an infinite slope where the mask hides it
        qkv = np.stack([x, root, x])
        return np.sum(function(qkv, mask, 1.0)[:, 0]).grad().wrt(handle)

    np.testing.assert_allclose(gradient(attend), gradient(composed), rtol=1e-12)
    assert np.isfinite(gradient(attend)).all()


def test_a_query_whose_result_is_not_chosen_may_be_nan() -> None:
    qkv = operands()
    qkv[0, 2] = np.nan
    chosen = np.array([True, True, False, True, True])[:, None]

    def gradient(function: Any) -> Any:
        handle = ta.ComputationRecord().tensor(qkv)
        return np.sum(np.where(chosen, function(handle, None, 1.0), 0.0)).grad().wrt(handle)

    np.testing.assert_allclose(gradient(attend), gradient(composed), rtol=1e-9, atol=1e-12)
    assert np.isfinite(gradient(attend)).all()


def test_a_query_that_may_look_at_nothing_is_nan() -> None:
    mask = SEEN & (np.arange(5) > 0)
    with np.errstate(invalid="ignore"):
        found, expected = attend(operands(), mask, 1.0), composed(operands(), mask, 1.0)
    assert np.isnan(found[0]).all()
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_single_precision() -> None:
    assert_as_composed(operands(2).astype(np.float32), SEEN, 0.7, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("is_causal", [False, True])
def test_heads_are_views_of_one_projection_before_and_behind(is_causal: bool) -> None:
    projected = RNG(0).normal(size=(2, 5, 3, 4, 2))
    qkv = projected.transpose(2, 0, 3, 1, 4)
    mask = SEEN if is_causal else None
    out, gradient = value_and_gradient(attend, qkv, np.ones((2, 4, 5, 2)), mask, 1.0)
    assert out.swapaxes(1, 2).flags.c_contiguous
    assert gradient.transpose(1, 3, 0, 2, 4).flags.c_contiguous


@pytest.mark.parametrize(
    ("shapes", "mask"),
    [
        (((5, 2), (6, 2), (6, 2)), None),
        (((5, 2), (5, 2), (5, 3)), None),
        (((4, 5, 2), (5, 2), (5, 2)), None),
        (((0, 5, 2),) * 3, None),
        (((3, 2),) * 3, None),
        (((5, 2),) * 3, np.ones((3, 5, 5), bool)),
        (((5, 2),) * 3, np.ones((5, 5), np.float32)),
    ],
)
def test_what_does_not_fit_into_one_node_is_composed(
    shapes: tuple[tuple[int, ...], ...], mask: Array | None
) -> None:
    record = ta.ComputationRecord()
    q, k, v = (record.tensor(RNG(i).normal(size=shape)) for i, shape in enumerate(shapes))
    out = nn.scaled_dot_product_attention(q, k, v, mask)
    assert all(node.function is not attend for node in record)
    expected = weights_of(q, k, mask, 1 / np.sqrt(2)) @ v
    np.testing.assert_allclose(out.data, expected.data, rtol=1e-12)


def test_values_that_leave_room_for_no_more() -> None:
    qkv = operands().astype(np.float32)
    qkv[0], qkv[1] = 3.0, 3.0  # weights of exp(18) before they are divided by their sum
    qkv[2] *= np.float32(1e34)
    found, expected = attend(qkv, None, 1.0), composed(qkv, None, 1.0)
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e28)


@pytest.mark.parametrize("sign", [1, -1])
def test_cotangents_that_leave_room_for_no_more(sign: int) -> None:
    qkv = operands().astype(np.float32)
    qkv[0], qkv[1] = 3.0, 3.0 * sign  # sums of weights of exp(18), or of exp(-18)
    seed = np.full((5, 2), 1e33, np.float32)
    _, found = value_and_gradient(attend, qkv, seed, None, 1.0)
    _, expected = value_and_gradient(composed, qkv, seed, None, 1.0)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e28)
    assert np.isfinite(found).all()


def test_half_precision_does_not_overflow() -> None:
    q = np.array([[4.0], [-4.0]], np.float16)  # exp(16) is more than it has room for
    out = nn.scaled_dot_product_attention(q, q, q, scale=1.0)
    assert out.dtype == np.float16
    np.testing.assert_allclose(out, q, rtol=1e-3)


def test_a_mask_that_is_learned_has_a_gradient() -> None:
    record = ta.ComputationRecord()
    q, k, v = (record.tensor(each) for each in operands())
    bias = record.tensor(np.zeros((5, 5)))
    out = nn.scaled_dot_product_attention(q, k, v, bias)
    assert np.all(np.sum(out * out).grad().wrt(bias) != 0)


def test_a_mask_may_be_filled_anew_before_the_sweep() -> None:
    qkv, mask = operands(), SEEN.copy()
    seeds = RNG(1).normal(size=(2, 5, 2))
    handle: Any = ta.ComputationRecord().tensor(qkv)
    out = attend(handle, mask, 0.5)
    expected = out.grad(seeds).wrt(handle)
    mask[...] = False
    np.testing.assert_array_equal(out.grad(seeds).wrt(handle), expected)


BLIND = np.array(
    [[True, False, True, True, True], [False] * 5, [True] * 5, [False] * 5, [True] * 5]
)


@pytest.mark.parametrize("mask", [BLIND, np.where(BLIND, 0.5, -np.inf)], ids=["bools", "scores"])
@pytest.mark.parametrize("dropout_p", [0.0, 1e-9])
def test_a_query_that_may_look_at_nothing_gets_zero(mask: Array, dropout_p: float) -> None:
    q, k, v = operands(2)
    seen = [0, 2, 4]

    def attended(q: Any, k: Any, v: Any) -> Any:
        return nn.scaled_dot_product_attention(q, k, v, mask, dropout_p, rng=RNG(0))

    def of_seen(q: Any, k: Any, v: Any) -> Any:
        return nn.scaled_dot_product_attention(q[:, seen], k, v, mask[seen])

    out = attended(q, k, v)
    assert not out[:, ~BLIND.any(-1)].any()
    np.testing.assert_allclose(out[:, seen], of_seen(q, k, v))
    for places in (0, 1, 2):
        found, wanted = (
            ta.grad(lambda *x, f=f: np.sum(np.sin(f(*x)) ** 2), places)(q, k, v)
            for f in (attended, of_seen)
        )
        np.testing.assert_allclose(found, wanted, atol=1e-14)
    if not dropout_p:
        check_grads(attended, (q, k, v))


def test_a_layer_with_a_query_that_may_look_at_nothing() -> None:
    layer = nn.MultiHeadAttention("a", 4, num_heads=2)
    store = nn.init(layer, RNG(0))
    out = layer(store, RNG(1).normal(size=(2, 5, 4)), attn_mask=BLIND)
    bias = store["a.out_proj.bias"]
    np.testing.assert_array_equal(out[:, ~BLIND.any(-1)], np.broadcast_to(bias, (2, 2, 4)))
    assert np.isfinite(out).all()
