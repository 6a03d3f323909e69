"""Linear systems of `tape_ad.scipy.signal` as objects, and what is refused of them."""

from typing import Any

import numpy as np
import pytest
import scipy.signal

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import signal
from tape_ad.testing import check_grads

Array = Any

NUM, DEN = np.array([1.0, 0.3, 3.0]), np.array([2.0, 2.4, 1.0])
TIMES = np.linspace(0.0, 2.0, 5)
INPUT = np.array([1.0, 2.0, -1.0, 3.0, 2.0])
STATES = [
    np.array(each) for each in ([[0.0, 1.0], [-2.0, -3.0]], [[1.0], [0.5]], [[0.3, 0.4]], [[0.2]])
]


def tensor(values: Array) -> Any:
    """Make a leaf of a record of its own."""
    return ta.ComputationRecord().tensor(np.asarray(values, float))


def tensors(*values: Array) -> Any:
    """Make leaves of one record."""
    rec = ta.ComputationRecord()
    return [rec.tensor(np.asarray(each, float)) for each in values]


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare outputs with SciPy's, those in tuples one by one."""
    if isinstance(theirs, tuple):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    else:
        assert ours.shape == np.shape(theirs)
        plain = ours.data if isinstance(ours, ta.Tensor) else ours
        np.testing.assert_allclose(plain, theirs, rtol=1e-10, atol=1e-12)


FORMS: dict[str, Any] = {
    "transfer function": lambda own, num, den: own.TransferFunction(num, den),
    "states": lambda own, num, den: own.lti(num, den).to_ss(),
    "zeros and poles": lambda own, num, den: own.lti(num, den).to_zpk(),
}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS.keys())
def test_a_system_does_what_scipys_does(make: Any) -> None:
    ours, theirs = make(signal, *tensors(NUM, DEN)), make(scipy.signal, NUM, DEN)
    for method, options in (
        ("impulse", {"T": TIMES}),
        ("step", {"T": TIMES}),
        ("output", {"U": INPUT, "T": TIMES}),
        ("bode", {"n": 4}),
        ("freqresp", {"w": TIMES + 0.1}),
    ):
        assert_same(getattr(ours, method)(**options), getattr(theirs, method)(**options))
    assert_same((ours.zeros, ours.poles), (theirs.zeros, theirs.poles))
    assert (ours.inputs, ours.outputs) == (1, 1)


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS.keys())
def test_a_discrete_system_does_what_scipys_does(make: Any) -> None:
    ours, theirs = (
        each.to_discrete(0.2)
        for each in (make(signal, *tensors(NUM, DEN)), make(scipy.signal, NUM, DEN))
    )
    for method, options in (
        ("impulse", {"n": 4}),
        ("step", {"n": 4}),
        ("output", {"u": INPUT, "t": TIMES}),
        ("bode", {"n": 4}),
        ("freqresp", {"n": 4}),
    ):
        assert_same(getattr(ours, method)(**options), getattr(theirs, method)(**options))
    assert "dt: 0.2" in repr(ours)
    assert "write" not in repr(ours)


def test_a_gradient_flows_through_a_system() -> None:
    def loss(num: Any, den: Any) -> Any:
        discrete = signal.TransferFunction(num, den).to_discrete(0.2, "bilinear")
        return np.sum(signal.dlsim(discrete, INPUT)[1] ** 2)

    first, last = ta.grad(loss, argnums=(0, 1))(NUM, DEN)
    step = 1e-6
    for grad, at in ((first, 0), (last, 1)):
        for i in range(3):
            moved = [[NUM, DEN], [NUM, DEN]]
            for sign, each in zip((1, -1), moved, strict=True):
                each[at] = each[at] + sign * step * np.eye(3)[i]
            up, down = (
                np.sum(
                    scipy.signal.dlsim(
                        scipy.signal.TransferFunction(*each).to_discrete(0.2, "bilinear"), INPUT
                    )[1]
                    ** 2
                )
                for each in moved
            )
            np.testing.assert_allclose(grad[i], (up - down) / (2 * step), rtol=1e-6, atol=1e-7)


def test_systems_add_and_multiply() -> None:
    ours, theirs = signal.StateSpace(*tensors(*STATES)), scipy.signal.StateSpace(*STATES)
    gain = np.array([[2.0]])
    ways: tuple[Any, ...] = (
        lambda s: s + s,
        lambda s: s - 2.0,
        lambda s: 2.0 - s,
        lambda s: s * s,
        lambda s: 2.0 * s,
        lambda s: s / 3.0,
        lambda s: s * gain,
        lambda s: gain * s,
        lambda s: s * theirs,
        lambda s: theirs + s,
    )
    for combine in ways:
        made, expected = combine(ours), combine(theirs)
        assert_same(
            (made.A, made.B, made.C, made.D), (expected.A, expected.B, expected.C, expected.D)
        )
    with pytest.raises(TypeError, match=r"different `dt`|Cannot add"):
        ours + scipy.signal.StateSpace(*STATES, dt=0.1)


def test_plain_arrays_make_scipys_own_systems() -> None:
    assert isinstance(signal.TransferFunction(NUM, DEN), scipy.signal.TransferFunction)
    assert isinstance(signal.lti(*STATES), scipy.signal.StateSpace)
    assert signal.dlti(tensor(NUM), DEN).dt is True


def test_a_system_of_the_wrong_time_is_refused() -> None:
    continuous = signal.TransferFunction(tensor(NUM), DEN)
    with pytest.raises(AttributeError, match="dlsim can only be used with discrete-time"):
        signal.dlsim(continuous, INPUT)
    with pytest.raises(AttributeError, match="lsim can only be used with continuous-time"):
        signal.lsim(continuous.to_discrete(0.1), INPUT, TIMES)


def test_the_times_of_a_response_follow_the_poles() -> None:
    def loss(den: Any) -> Any:
        times, response = signal.step((NUM, den), N=5)
        return np.sum(response * times)

    check_grads(loss, (DEN,), order=2)


def test_spectra_that_are_computed_again_and_again() -> None:
    x = np.array([1.0, 2.0, -1.0, 4.0])
    for name, args in (("CZT", (4, 3)), ("ZoomFFT", (4, [0.2, 0.6], 3))):
        ours, theirs = getattr(signal, name)(*args), getattr(scipy.signal, name)(*args)
        assert_same(ours(tensor(x)), theirs(x))
        assert np.array_equal(ours(x), theirs(x))
        assert_same(ours.points(), theirs.points())


@pytest.mark.parametrize("name", ["iirnotch", "iirpeak"])
def test_a_sampling_frequency_is_a_number(name: str) -> None:
    fs, step = tensor(2.5), 1e-6
    b, a = getattr(signal, name)(0.3, 5.0, fs)
    up, down = (
        np.sum(np.concatenate(getattr(scipy.signal, name)(0.3, 5.0, 2.5 + s)))
        for s in (step, -step)
    )
    slope = (np.sum(b) + np.sum(a)).grad().wrt(fs)
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-7)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("butter", {"N": 4, "Wn": 0.3, "btype": "high"}),
        ("cheby1", {"N": 3, "rp": 1.0, "Wn": np.array([0.3, 0.5]), "btype": "band"}),
        ("ellip", {"N": 5, "rp": 1.0, "rs": 30.0, "Wn": 0.3, "analog": True}),
    ],
)
def test_a_design_by_sections(kind: str, options: dict[str, Any]) -> None:
    def design(wn: Any) -> Any:
        return getattr(signal, kind)(**{**options, "Wn": wn}, output="sos")

    expected = getattr(scipy.signal, kind)(**options, output="sos")
    np.testing.assert_allclose(design(tensor(options["Wn"])).data, expected, rtol=1e-9, atol=1e-12)
    check_grads(lambda wn: np.sum(design(wn) ** 2 * np.arange(1, 7)), (options["Wn"],), order=2)


def test_complex_frequencies_are_refused_as_in_scipy() -> None:
    with pytest.raises((TypeError, np.exceptions.ComplexWarning)):
        signal.butter(2, ta.ComputationRecord().tensor(np.array(0.3 + 0j)))


def test_times_that_follow_poles_which_meet_are_refused() -> None:
    with pytest.raises(ta.errors.TieError, match="branches on numbers"):
        signal.impulse(([1.0], tensor([1.0, 2.0, 1.0])))
    times, _ = signal.impulse((tensor([1.0]), [1.0, 2.0, 1.0]), N=5)
    assert isinstance(times, np.ndarray)


@pytest.mark.parametrize("dt", [1, 0.1, 0.3])
def test_discrete_responses_have_as_many_samples_as_scipys(dt: float) -> None:
    system, plain = (tensor([1.0]), [1.0, -0.5], dt), ([1.0], [1.0, -0.5], dt)
    for name in ("dimpulse", "dstep"):
        assert_same(getattr(signal, name)(system), getattr(scipy.signal, name)(plain))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda a: signal.tf2zpk([1.0, 0.3], a)[1], np.poly([0.5, 0.5])),
        (lambda b: signal.tf2zpk(b, [1.0, 0.3])[0], np.poly([0.5, -0.1, 0.5])),
        (lambda a: signal.tf2sos([1.0, 0.3], a), np.poly([0.5, 0.5, 0.2, 0.2])),
        (lambda b: signal.tf2sos(b, [1.0, 0.3]), scipy.signal.butter(4, 0.3)[0]),
        (lambda a: signal.tf2sos([1.0, 0.3], a), np.array([1.0, -0.6, 0.11, -0.006, 0, 0])),
        (lambda sos: signal.sos2zpk(sos)[0], scipy.signal.butter(4, 0.3, output="sos")),
    ],
)
def test_roots_that_are_not_simple_have_no_derivative(call: Any, argument: Any) -> None:
    out = call(tensor(argument))
    np.testing.assert_array_equal(out.data, call(argument))
    with pytest.raises(ta.errors.SingularJacobianError, match="not simple has no derivative"):
        out.grad(np.ones_like(out.data))


DENSE = scipy.signal.butter(9, 0.1)[1]
"""Poles that lie close together, and are simple."""


def damping(system: Any) -> Any:
    return np.sum(np.abs(system[1]) ** 2)


def test_simple_roots_beside_others_have_their_derivative() -> None:
    sections = scipy.signal.butter(4, 0.3, output="sos")
    slopes = ta.grad(lambda sos: damping(signal.sos2zpk(sos)))(sections)
    zeros, _, _ = signal.tf2zpk([3.0, 0.0, 0.0], tensor([2.0, 5.0, 13.0]))
    np.testing.assert_array_equal(zeros, [0.0, 0.0])  # which do not depend on the denominator
    expected = np.zeros((2, 6))  # of the product of two poles, which is a coefficient over another
    expected[:, 3], expected[:, 5] = -2 * sections[:, 5], 2.0
    np.testing.assert_allclose(slopes, expected, atol=1e-12)
    assert np.all(np.isfinite(ta.grad(lambda a: damping(signal.tf2zpk([1.0], a)))(DENSE)))


FRACTIONS = [([1.0, 0.4, 0.3], [2.0, 1.0, 0.4, -0.3]), ([2.0, 0.5, 1.0, 0.7], [1.0, 0.1, -0.3])]


@pytest.mark.parametrize("name", ["residue", "residuez"])
@pytest.mark.parametrize(("b", "a"), FRACTIONS)
def test_partial_fractions(name: str, b: Any, a: Any) -> None:
    ours, b, a = getattr(signal, name), np.array(b), np.array(a)
    expected = getattr(scipy.signal, name)(b, a)
    for out, plain, own in zip(ours(*tensors(b, a)), ours(b, a), expected, strict=True):
        np.testing.assert_allclose(ta.stop_gradient(out), own, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(plain, own)

    def loss(b: Any, a: Any) -> Any:
        r, p, k = ours(b, a)
        weights = np.arange(1, r.shape[0] + 1)  # which tell the two of a pair apart
        return np.sum(np.imag(r * p * weights) + np.real(r * p)) + np.sum(k**2)

    check_grads(loss, (b, a), order=2)


def test_partial_fractions_of_poles_that_count_as_one_are_refused() -> None:
    with pytest.raises(ta.errors.UnsupportedArgumentError, match="count as one"):
        signal.residue([1.0], tensor(np.poly([0.5, 0.5, 0.1])))
    with pytest.raises(ValueError, match="must be non-zero"):
        signal.residuez([1.0], tensor([0.0, 1.0, 0.5]))


SECTIONS = np.array(
    [[0.0, 1.0, 2.0, 1.0, 0.3, 0.2], [0.0, 0.0, 1.5, 1.0, 0.1, 0.4], [1.0, 2.0, 3.0, 1.0, 0.0, 0.1]]
)


@pytest.mark.parametrize(
    ("call", "argument", "place"),
    [
        (lambda sos: signal.sos2tf(sos)[0], SECTIONS, (0, 0)),
        (lambda b: signal.residue(b, [1.0, 0.5, 0.06])[0], np.array([0.0, 1.0, 2.0]), 0),
        (lambda b: signal.residue(b, [1.0, 0.5])[0], np.array([0.0, 0.0, 3.0, 1.0]), 0),
        (lambda b: signal.residuez(b, [1.0, 0.5, 0.06])[0], np.array([2.0, 1.0, 0.0]), 2),
    ],
)
def test_a_zero_dropped_in_front_has_its_slope(call: Any, argument: Any, place: Any) -> None:
    step = np.zeros_like(argument)
    step[place] = 1e-6
    here = call(argument)
    difference = (call(argument + step)[-here.size :] - here) / 1e-6
    slope = ta.jacobian(call)(argument)[(slice(None), *np.atleast_1d(place))]
    np.testing.assert_allclose(slope, difference, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(call(ta.ComputationRecord().tensor(argument)).data, here, rtol=1e-12)


def test_a_normalized_denominator_of_handles_does_not_begin_with_0() -> None:
    with pytest.raises(ta.errors.TieError):
        signal.normalize([1.0, 2.0], ta.ComputationRecord().tensor([0.0, 1.0, 0.5]))


@pytest.mark.parametrize("call", [signal.residue, signal.tf2zpk])
def test_a_denominator_of_handles_does_not_begin_with_0(call: Any) -> None:
    with pytest.raises(UnsupportedArgumentError, match=r"leave it out, a\[1:\]"):
        call([1.0, 2.0], ta.ComputationRecord().tensor([0.0, 1.0, 0.5]))
