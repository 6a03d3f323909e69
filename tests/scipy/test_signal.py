"""`tape_ad.scipy.signal` as a program uses it: designs, losses of spectra, and what is refused."""

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.signal

import tape_ad as ta
from tape_ad.errors import TapeError, UnsupportedArgumentError
from tape_ad.scipy import signal
from tape_ad.testing import check_grads

Array = Any

RNG = np.random.default_rng(0)
X = RNG.normal(size=40)
B, A = scipy.signal.butter(3, 0.3)
SOS = scipy.signal.butter(4, 0.3, output="sos")


def tensor(values: Array) -> Any:
    """Make a leaf of a record of its own."""
    return ta.ComputationRecord().tensor(np.asarray(values, float))


def tensors(*values: Array) -> Any:
    """Make leaves of one record."""
    rec = ta.ComputationRecord()
    return [rec.tensor(np.asarray(each, float)) for each in values]


def own_lowpass(cutoff: Any) -> tuple[list[Any], list[Any]]:
    """Design a Butterworth filter of order 2 by hand, as lists of coefficients."""
    k = np.tan(np.pi * cutoff / 2)
    scale = 1 / (1 + np.sqrt(2.0) * k + k * k)
    b = k * k * scale
    return [b, 2 * b, b], [1.0, 2 * (k * k - 1) * scale, (1 - np.sqrt(2.0) * k + k * k) * scale]


def filtered_energy(cutoff: Any, x: Any) -> Any:
    """Filter by a filter of one's own and sum squares."""
    b, a = own_lowpass(cutoff)
    return np.sum(signal.lfilter(b, a, x) ** 2)


def test_a_design_of_ones_own_flows_through_lfilter() -> None:
    check_grads(filtered_energy, (np.array(0.3), X), order=2)
    b, a = own_lowpass(0.3)
    np.testing.assert_allclose([b, a], scipy.signal.butter(2, 0.3))


def test_lists_of_handles_are_coefficients() -> None:
    cutoff = tensor(0.3)
    b, a = own_lowpass(cutoff)
    of_lists = signal.lfilter(b, a, X)
    of_arrays = signal.lfilter(np.stack(b), np.stack(a), X)
    assert np.array_equal(of_lists.data, of_arrays.data)
    assert np.array_equal(
        np.sum(of_lists**2).grad().wrt(cutoff), np.sum(of_arrays**2).grad().wrt(cutoff)
    )


def test_scipys_design_flows_through_filtfilt_to_second_order() -> None:
    def loss(cutoff: Any, x: Any) -> Any:
        b, a = signal.butter(2, cutoff)
        return np.sum(signal.filtfilt(b, a, x) ** 2)

    check_grads(loss, (np.array(0.3), X), order=2)


def test_a_hessian_of_a_filters_coefficients() -> None:
    def loss(c: Any) -> Any:
        return np.sum(np.tanh(signal.lfilter(c[:2], np.concatenate(([1.0], c[2:])), X)))

    c = np.array([0.4, 0.2, -0.5, 0.1])
    hessian = ta.hessian(loss)(c)
    step = 1e-5
    columns = [
        (ta.grad(loss)(c + step * e) - ta.grad(loss)(c - step * e)) / (2 * step) for e in np.eye(4)
    ]
    np.testing.assert_allclose(hessian, np.stack(columns, axis=1), atol=1e-6)


def test_the_jacobian_of_a_filter_is_its_impulse_responses() -> None:
    jacobian = ta.jacobian(lambda x: signal.lfilter(B, A, x))(X[:8])
    columns = [scipy.signal.lfilter(B, A, e) for e in np.eye(8)]
    np.testing.assert_allclose(jacobian, np.stack(columns, axis=1), atol=1e-14)


def test_filtering_in_pieces_is_filtering_at_once() -> None:
    x, zi = tensor(X), scipy.signal.lfilter_zi(B, A)
    first, state = signal.lfilter(B, A, x[:15], zi=zi)
    second, end = signal.lfilter(B, A, x[15:], zi=state)
    whole, last = signal.lfilter(B, A, x, zi=zi)
    weights = RNG.normal(size=40)
    pieces = np.sum(np.concatenate((first, second)) * weights) + np.sum(end**2)
    at_once = np.sum(whole * weights) + np.sum(last**2)
    np.testing.assert_allclose(pieces.grad().wrt(x), at_once.grad().wrt(x), atol=1e-13)


def test_sections_are_the_filter() -> None:
    x, sos = tensors(X, SOS)
    b, a = signal.sos2tf(sos)
    by_sections, by_coefficients = signal.sosfilt(sos, x), signal.lfilter(b, a, x)
    free = SOS[:, [0, 1, 2, 4, 5]] != 0
    for one in (x, sos):
        first, second = (np.sum(y**2).grad().wrt(one) for y in (by_sections, by_coefficients))
        if one is sos:
            first, second = (g[:, [0, 1, 2, 4, 5]][free] for g in (first, second))
        np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


def test_a_loss_of_short_time_spectra() -> None:
    target = np.abs(scipy.signal.stft(RNG.normal(size=40), nperseg=8)[2])

    def loss(x: Any) -> Any:
        return np.mean((np.abs(signal.stft(x, nperseg=8)[2]) - target) ** 2)

    check_grads(loss, (X,), order=2)


def test_a_signal_comes_back_from_its_short_time_spectra() -> None:
    x = tensor(X)
    _, back = signal.istft(signal.stft(x, nperseg=8)[2], nperseg=8)
    np.testing.assert_allclose(back.data, X, atol=1e-13)
    weights = RNG.normal(size=40)
    np.testing.assert_allclose(back.grad(weights).wrt(x), weights, atol=1e-13)


def test_a_matched_filter_finds_a_delay() -> None:
    t = np.arange(40)

    def score(delay: Any) -> Any:
        pulse = np.exp(-0.5 * (t - 20.0 - delay) ** 2 / 4)
        return signal.correlate(pulse, np.exp(-0.5 * (t - 20.0) ** 2 / 4), mode="same")[20]

    check_grads(score, (np.array(0.7),), order=2)
    assert abs(ta.grad(score)(np.array(0.0))) < 1e-12


def test_infinities_stay_where_direct_convolution_leaves_them() -> None:
    x, kernel = tensors([1.0, np.inf, 2.0, 3.0, 4.0, 5.0], [1.0, -1.0])
    out = signal.convolve(x, kernel, method="direct")
    seed = np.array([0.0, 0, 0, 0, 1.0, 0, 0])
    assert np.isfinite(out.grad(seed).wrt(x)).all()


@pytest.mark.parametrize("size", [70_000, 1])
def test_long_and_short_signals(size: int) -> None:
    x, b = tensors(RNG.normal(size=size), B)
    grads = np.sum(signal.lfilter(b, A, x) ** 2).grad()
    step = 1e-6
    up, down = (np.sum(scipy.signal.lfilter(B + sign * step, A, x.data) ** 2) for sign in (1, -1))
    np.testing.assert_allclose(grads.wrt(b).sum(), (up - down) / (2 * step), rtol=1e-6)
    assert grads.wrt(x).shape == (size,)


def test_no_samples_at_all() -> None:
    x, b = tensors(np.zeros((2, 0)), B)
    assert signal.lfilter(b, A, x).shape == (2, 0)
    assert [each.shape for each in signal.stft(x)] == [(2, 0)] * 3
    assert [each.shape for each in signal.welch(x)] == [(2, 0)] * 2


def test_a_signal_of_integers_beside_coefficients_that_are_handles() -> None:
    b = tensor(B)
    out = signal.lfilter(b, [1, 0], [1, 2, 3, 4])
    np.testing.assert_allclose(out.data, scipy.signal.lfilter(B, [1, 0], [1, 2, 3, 4]))
    np.testing.assert_allclose(out.grad(np.ones(4)).wrt(b), [10.0, 6.0, 3.0, 1.0])


def test_a_signal_that_is_not_contiguous() -> None:
    x = tensor(RNG.normal(size=(6, 8))[::2, ::-2])
    y = signal.lfilter(B, A, x, axis=0)
    np.testing.assert_allclose(y.data, scipy.signal.lfilter(B, A, x.data, axis=0))


SET = {("pass_zero", True), ("precenter", False)}

RELAXED = {"firwin", "lombscargle"}
"""What takes by name alone in one release what it takes by position in another."""


def test_every_function_has_scipys_arguments() -> None:
    for name in signal.__all__:
        theirs = getattr(scipy.signal, name)
        if inspect.isbuiltin(theirs) or inspect.ismodule(theirs):  # C code does not tell
            continue
        ours = inspect.signature(getattr(signal, name)).parameters
        theirs = inspect.signature(getattr(scipy.signal, name)).parameters
        shared = [each for each in ours if each in theirs]
        assert shared == [each for each in theirs if each in ours], name
        for each in shared:
            assert ours[each].kind == theirs[each].kind or name in RELAXED, (name, each)
            one, other = ours[each].default, theirs[each].default
            periodic = str(other).replace("_periodic", "") == str(one)  # newer names of windows
            assert periodic or one == other or (each, one) in SET, (name, each)


NUMBER = np.array(2.0)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda t: signal.lfilter(B, A, X, t), "axis"),
        (lambda t: signal.filtfilt(B, A, X, padlen=t), "padlen"),
        (lambda t: signal.filtfilt(B, A, X, method="gust", irlen=t), "irlen"),
        (lambda t: signal.resample(X, t), "num"),
        (lambda t: signal.upfirdn(B, X, down=t), "down"),
        (lambda t: signal.decimate(X, t), "q"),
        (lambda t: signal.order_filter(X, [1, 1, 1], t), "rank"),
        (lambda t: signal.wiener(X, t), "mysize"),
        (lambda t: signal.convolve2d(np.ones((3, 3)), np.ones((2, 2)), boundary=t), "boundary"),
    ],
)
def test_an_argument_without_a_derivative_is_refused_by_name(call: Any, argument: str) -> None:
    with pytest.raises(
        UnsupportedArgumentError, match=rf"(tape_ad\.scipy\.signal\.)?\w+: .*{argument}=.*\.data"
    ):
        call(tensor(NUMBER))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: signal.savgol_filter(X, t, 1),
        lambda t: signal.hilbert(X, t),
        lambda t: signal.resample_poly(X, t, 1),
        lambda t: signal.butter(t, 0.3),
        lambda t: signal.welch(X, nperseg=t),
        lambda t: signal.medfilt(X, t + 1),
    ],
)
def test_a_size_that_is_a_handle_is_refused_or_counts_as_its_value(call: Any) -> None:
    try:
        found = call(tensor(NUMBER))
    except (TapeError, TypeError):
        return
    for one, other in zip(np.atleast_1d(found), np.atleast_1d(call(2)), strict=True):
        np.testing.assert_allclose(getattr(one, "data", one), other, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda t: np.sum(np.abs(signal.freqz(B, A, worN=[0.3, 1.0], fs=t)[1])),
        lambda t: np.sum(signal.cheby1(2, t, 0.3)[0]),
        lambda t: signal.firwin(5, 0.3, width=t / 5)[1],
        lambda t: signal.firwin(5, 0.3, width=0.2, fs=t)[1],
        lambda t: np.sum(signal.resample(X, 4, window=("kaiser", t)) ** 2),
        lambda t: np.sum(signal.resample_poly(X, 2, 1, window=("kaiser", t)) ** 2),
    ],
)
def test_parameters_of_designs_and_windows_have_derivatives(function: Any) -> None:
    slope = (function(2.0 + 1e-6) - function(2.0 - 1e-6)) / 2e-6
    np.testing.assert_allclose(ta.grad(function)(2.0), slope, rtol=1e-7)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda t: signal.detrend(X, axis=t), "detrend"),
    ],
)
def test_what_is_not_given_says_so(call: Any, says: str) -> None:
    with pytest.raises((TapeError, TypeError), match=says):
        call(tensor(NUMBER))


def test_a_short_signal_is_warned_of_as_in_scipy() -> None:
    with pytest.warns(UserWarning, match=r"nperseg ?= ?256 is greater"):
        signal.welch(tensor(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        signal.welch(tensor(X), nperseg=40)


@pytest.mark.parametrize("name", ["welch", "csd", "coherence", "stft", "spectrogram"])
def test_a_window_longer_than_the_signal_is_refused(name: str) -> None:
    x = tensor(X[:4])
    signals = (x, x) if name in ("csd", "coherence") else (x,)
    with pytest.raises(ValueError, match=r"p0=0|window is longer"):
        getattr(signal, name)(*signals, window=np.ones(8), nperseg=8)


def test_wrong_shapes_name_the_function() -> None:
    with pytest.raises(TapeError, match="convolve takes two arrays of the same rank"):
        signal.convolve(tensor(X), np.ones((2, 2)))
    with pytest.raises(TapeError, match="zi has 3 elements"):
        signal.lfilter(B, A, tensor(X), zi=np.ones(2))
    with pytest.raises(ValueError, match="should be all ones"):
        signal.sosfilt(np.ones((1, 6)) * 2, tensor(X))


def test_what_ties_in_a_window_is_taken_in_its_order() -> None:
    x = tensor([2.0, 2.0, 2.0])
    assert signal.medfilt(x).grad(np.ones(3)).wrt(x).tolist() == [1.0, 2.0, 0.0]


def test_a_variance_equal_to_the_noise_is_filtered() -> None:
    x = np.array([1.0, 3.0, 2.0, 5.0])
    noise = np.mean((x[:3] - 2.0) ** 2)

    def loss(x: Any) -> Any:
        return signal.wiener(x, 3, noise)[1]

    mean = np.mean(x[:3])
    step = 1e-6 * (x[:3] - mean)
    slope = (scipy.signal.wiener(x + np.append(step, 0), 3, noise)[1] - mean) / 1e-6
    np.testing.assert_allclose(ta.grad(loss)(x)[:3] @ (x[:3] - mean), slope, rtol=1e-4)


@pytest.mark.parametrize("name", ["lp2lp_zpk", "lp2hp_zpk", "bilinear_zpk"])
def test_whole_numbers_as_roots_do_not_round_the_frequency(name: str) -> None:
    roots = [7, 2], [5, 13, 4], 3
    frequency = tensor(0.4)
    made, (below, at, above) = (
        getattr(signal, name)(*roots, frequency),
        (getattr(scipy.signal, name)(*roots, each) for each in (0.4 - 1e-6, 0.4, 0.4 + 1e-6)),
    )
    for one, other in zip(made, at, strict=True):
        np.testing.assert_allclose(getattr(one, "data", one), other, rtol=1e-14)
    slope = np.sum(made[1]).grad().wrt(frequency)
    np.testing.assert_allclose(slope, np.sum(above[1] - below[1]) / 2e-6, rtol=1e-7)


def test_the_shape_of_a_window_flows_through_a_spectrum_and_a_design() -> None:
    def loss(beta: Any) -> Any:
        density = signal.welch(X, nperseg=8, window=("kaiser", beta))[1]
        return np.sum(density**2) + np.sum(signal.firwin(5, 0.3, window=("kaiser", beta)) ** 2)

    slope = ta.grad(loss)(np.array(2.0))
    up, down = (
        np.sum(scipy.signal.welch(X, nperseg=8, window=("kaiser", beta))[1] ** 2)
        + np.sum(scipy.signal.firwin(5, 0.3, window=("kaiser", beta)) ** 2)
        for beta in (2.0 + 1e-5, 2.0 - 1e-5)
    )
    np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-6)


def test_an_image_filter_by_windows() -> None:
    if not hasattr(signal, "firwin_2d"):
        pytest.skip("SciPy has it since 1.17")

    def taps(beta: Any, circular: bool) -> Any:
        window = ("kaiser", beta) if circular else (("kaiser", beta), ("kaiser", 4.0))
        return signal.firwin_2d((4, 6), window, fc=0.4, circular=circular)

    for circular in (True, False):
        beta = tensor(3.0)
        slope = np.sum(taps(beta, circular) ** 2).grad().wrt(beta)
        up, down = (np.sum(taps(each, circular) ** 2) for each in (3.0 + 1e-5, 3.0 - 1e-5))
        np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-6)


def test_a_named_window_of_handles_is_scipys() -> None:
    for window in (4.0, ("gaussian", 1.3), ("ksr", 3.0), ("taylor", 3, 30.0)):
        parameter = tensor(window[-1] if isinstance(window, tuple) else window)
        given = (*window[:-1], parameter) if isinstance(window, tuple) else parameter
        np.testing.assert_array_equal(
            signal.get_window(given, 6).data, scipy.signal.get_window(window, 6)
        )


@pytest.mark.parametrize("b", [[1.0, 2.0, 1.0], [1.0, 0.0, 0.0], [2.0], [3.0, 1.0]])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_section_has_its_coefficients_though_roots_are_double(b: Any, dtype: Any) -> None:
    b, a = np.array(b, dtype), np.array([2.0, 0.6, 0.4], dtype)
    sections = signal.tf2sos(ta.ComputationRecord().tensor(b), a)
    expected = scipy.signal.tf2sos(b, a)
    assert sections.dtype == expected.dtype
    np.testing.assert_allclose(sections.data, expected, rtol=1e-6, atol=1e-7)
    weights = np.arange(6.0) + 1
    slopes = ta.grad(lambda b: np.sum(signal.tf2sos(b, a) * weights))(b)
    np.testing.assert_allclose(slopes, weights[: b.size] / 2, rtol=1e-6)


def test_a_signal_without_samples_stays_a_handle() -> None:
    x = ta.ComputationRecord().tensor(np.zeros(0))
    out: Any = ta.scipy.signal.lfilter([1.0], [1.0, 0.2], x)
    assert type(out) is ta.Tensor
    assert out.shape == (0,)
    assert np.sum(out).grad().wrt(x).shape == (0,)
    assert type(ta.scipy.ndimage.gaussian_filter(x, 1.0)) is ta.Tensor


def test_a_filter_that_divides_by_zero_is_named() -> None:
    x = ta.ComputationRecord().tensor(np.ones(3))
    with pytest.raises(ValueError, match=r"^lfilter: the first coefficient of a is zero"):
        ta.scipy.signal.lfilter([1.0], [0.0, 1.0], x)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("fftconvolve", ((0,), (3,))),
        ("oaconvolve", ((2, 0), (2, 3))),
    ],
)
def test_what_is_made_of_nothing_is_a_handle(name: str, shapes: Any) -> None:
    arrays = [np.ones(shape) for shape in shapes]
    record = ta.ComputationRecord()
    found = getattr(signal, name)(*map(record.tensor, arrays))
    expected = getattr(scipy.signal, name)(*arrays)
    assert isinstance(found, ta.Tensor)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)


def test_an_axis_may_stand_in_a_tuple_as_in_scipys_resample() -> None:
    x = np.random.default_rng(0).normal(size=(2, 6))
    try:
        scipy.signal.resample(x, 4, axis=(-1,))
    except TypeError:
        pytest.skip("this release of SciPy takes no tuple")
    found = signal.resample(ta.ComputationRecord().tensor(x), 4, axis=(-1,))
    np.testing.assert_allclose(found.data, scipy.signal.resample(x, 4, axis=-1), atol=1e-15)


@pytest.mark.parametrize("name", ["cspline1d_eval", "qspline1d_eval"])
def test_a_spline_far_outside_of_its_coefficients_is_mirrored_many_times(name: str) -> None:
    coefficients, points = np.array([1.0, -2.0, 0.5, 3.0]), np.linspace(-70, 90, 50)
    ours, theirs = getattr(ta.scipy.signal, name), getattr(scipy.signal, name)
    value = ours(ta.ComputationRecord().tensor(coefficients), points, 0.7, 0.2).data
    np.testing.assert_allclose(value, theirs(coefficients, points, 0.7, 0.2), atol=1e-13)
    assert np.isfinite(ta.grad(lambda c: np.sum(ours(c, points, 1e-9)))(coefficients)).all()
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="have to be finite"):
        ta.grad(lambda c: np.sum(ours(c, points, 1e-308)))(coefficients)
