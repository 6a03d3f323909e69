import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.spatial
from scipy.spatial.transform import Rotation as Host
from scipy.spatial.transform import Slerp as HostSlerp

import tape_ad as ta
from tape_ad.errors import ConversionError, UnsupportedArgumentError
from tape_ad.scipy.spatial import geometric_slerp, transform
from tape_ad.scipy.spatial.rotations import projects
from tape_ad.scipy.spatial.transform import Rotation, Slerp

Array = Any

ROTVECS = np.array([[0.4, -1.1, 0.7], [2.0, 1.5, -1.2], [0.02, 0.01, -0.03]])
QUATS = Host.from_rotvec(ROTVECS).as_quat() * [[1.5], [-0.7], [1.0]]
MATRICES = Host.from_rotvec(ROTVECS).as_matrix()
VECTORS = np.array([[1.0, 2.0, -0.5], [0.3, -0.7, 1.1], [-1.0, 0.2, 0.4]])
WEIGHTS = np.sin(np.arange(1.0, 28.0))

COMPILED = not inspect.isfunction(Host.__mul__)
"""Whether SciPy's rotations are compiled, and refuse factors of any other type."""

TIMES = np.array([0.0, 1.0, 2.5])

FROM: dict[str, tuple[Callable[[Any, Array], Any], Array]] = {
    "quat": (lambda module, x: module.from_quat(x), QUATS),
    "one quat": (lambda module, x: module.from_quat(x), QUATS[0]),
    "scalar first": (lambda module, x: module.from_quat(x, scalar_first=True), QUATS),
    "matrix": (lambda module, x: module.from_matrix(x), MATRICES),
    "other matrix": (
        lambda module, x: module.from_matrix(x),
        MATRICES[0] + [[0.1, 0.2, 0.0], [0.0, -0.1, 0.1], [0.1, 0.0, 0.05]],
    ),
    "multiple of a rotation": (lambda module, x: module.from_matrix(x), 2 * MATRICES[1]),
    "rotvec": (lambda module, x: module.from_rotvec(x), ROTVECS),
    "rotvec in degrees": (lambda module, x: module.from_rotvec(x, degrees=True), 50 * ROTVECS),
    "mrp": (lambda module, x: module.from_mrp(x), VECTORS / 3),
    "extrinsic": (lambda module, x: module.from_euler("xyz", x), ROTVECS / 2),
    "intrinsic": (lambda module, x: module.from_euler("ZXZ", x, degrees=True), 30 * VECTORS),
    "one axis": (lambda module, x: module.from_euler("y", x), ROTVECS[:, :1]),
    "one angle": (lambda module, x: module.from_euler("z", x), np.array(0.4)),
}
AS: dict[str, Callable[[Any], Array]] = {
    "quat": lambda r: r.as_quat(canonical=True),
    "quat with the scalar first": lambda r: r.as_quat(canonical=True, scalar_first=True),
    "matrix": lambda r: r.as_matrix(),
    "rotvec": lambda r: r.as_rotvec(),
    "rotvec in degrees": lambda r: r.as_rotvec(degrees=True),
    "mrp": lambda r: r.as_mrp(),
    "xyz": lambda r: r.as_euler("xyz"),
    "ZYX": lambda r: r.as_euler("ZYX", degrees=True),
    "XYX": lambda r: r.as_euler("XYX"),
    "zxz": lambda r: r.as_euler("zxz"),
    "magnitude": lambda r: r.magnitude(),
    "applied": lambda r: r.apply([0.3, -0.2, 0.9]),
    "applied back": lambda r: r.apply([0.3, -0.2, 0.9], inverse=True),
    "inverse": lambda r: r.inv().as_matrix(),
    "square": lambda r: (r**2).as_matrix(),
    "half": lambda r: (r**0.5).as_rotvec(),
    "product": lambda r: (r * r.inv() * r).as_matrix(),
}


def difference(function: Callable[[Array], Array], at: Array, step: float = 1e-5) -> Array:
    """Differentiate a number by central differences, one element after the other."""
    moves = step * np.eye(at.size).reshape((at.size, *at.shape))
    slopes = [(function(at + move) - function(at - move)) / (2 * step) for move in moves]
    return np.array(slopes).reshape(at.shape)


def weighed(values: Array) -> Array:
    """Take an array to one number."""
    return np.sum(np.reshape(WEIGHTS[: values.size], values.shape) * values)


@pytest.mark.parametrize(
    ("source", "form"),
    [
        *((source, "matrix") for source in FROM),
        *(("quat", form) for form in AS if form != "matrix"),
    ],
)
def test_gradients_are_those_of_scipys_rotations(source: str, form: str) -> None:
    (make, at), use = FROM[source], AS[form]
    value, gradient = ta.value_and_grad(lambda x: weighed(use(make(Rotation, x))))(at)
    np.testing.assert_allclose(value, weighed(use(make(Host, at))), rtol=1e-11)
    expected = difference(lambda x: weighed(use(make(Host, x))), at)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(use(make(Rotation, at)), use(make(Host, at)))


@pytest.mark.parametrize("use", ["matrix", "rotvec", "mrp", "xyz", "applied", "square", "half"])
def test_no_rotation_has_both_derivatives(use: str) -> None:
    def loss(rotvec: Array) -> Array:
        return weighed(
            AS[use](Rotation.from_rotvec(rotvec)) ** 2 + AS[use](Rotation.from_rotvec(rotvec))
        )

    def of_scipy(rotvec: Array) -> Array:
        values = AS[use](Host.from_rotvec(rotvec))
        return weighed(values**2 + values)

    gradient, hessian = ta.grad(loss)(np.zeros(3)), ta.hessian(loss)(np.zeros(3))
    expected = difference(of_scipy, np.zeros(3))
    np.testing.assert_allclose(gradient, expected, atol=1e-6)
    rows = [difference(lambda x, i=i: ta.grad(loss)(x)[i], np.zeros(3)) for i in range(3)]  # type: ignore[misc]  # i is bound early
    np.testing.assert_allclose(hessian, rows, atol=1e-6)


def test_small_and_large_angles_lose_no_digits() -> None:
    for size in (1e-12, 1e-3, 0.9, 1.1, 3.1):
        v = np.array([0.6, 0.0, 0.8]) * size
        jacobian = ta.jacobian(lambda x: Rotation.from_rotvec(x).as_rotvec())(v)
        np.testing.assert_allclose(jacobian, np.eye(3), atol=1e-13)


def test_the_angle_of_no_rotation_has_a_gradient_of_zero() -> None:
    v = ta.ComputationRecord().tensor(np.zeros(3))
    np.testing.assert_array_equal(Rotation.from_rotvec(v).magnitude().grad().wrt(v), 0)


def test_vectors_are_differentiated() -> None:
    vectors = ta.ComputationRecord().tensor(VECTORS)
    gradient = weighed(Rotation.from_rotvec(ROTVECS).apply(vectors)).grad().wrt(vectors)
    seed = WEIGHTS[:9].reshape(3, 3)
    expected = Host.from_rotvec(ROTVECS).apply(seed, inverse=True)
    np.testing.assert_allclose(gradient, expected, rtol=1e-13)


@pytest.mark.parametrize("weights", [None, np.array([1.0, 0.5, 2.0])])
def test_the_mean(weights: Any) -> None:
    def loss(module: Any, rotvecs: Array) -> Array:
        return weighed(module.from_rotvec(rotvecs).mean(weights).as_matrix())

    gradient = ta.grad(lambda x: loss(Rotation, x))(ROTVECS)
    expected = difference(lambda x: loss(Host, x), ROTVECS)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_vectors_are_aligned(n: int) -> None:
    def loss(module: Any, a: Array, b: Array) -> Array:
        rotation, rest = module.align_vectors(a, b)
        return weighed(rotation.as_matrix()) + rest

    a, b = VECTORS[:n], ROTVECS[:n]
    value, gradients = ta.value_and_grad(lambda a, b: loss(Rotation, a, b), (0, 1))(a, b)
    np.testing.assert_allclose(value, loss(Host, a, b), rtol=1e-12)
    expected = difference(lambda a: loss(Host, a, b), a)
    np.testing.assert_allclose(gradients[0], expected, rtol=1e-6, atol=1e-8)
    expected = difference(lambda b: loss(Host, a, b), b)
    np.testing.assert_allclose(gradients[1], expected, rtol=1e-6, atol=1e-8)


def test_weights_of_vectors_that_are_aligned() -> None:
    weights = np.array([1.0, 0.5, 2.0])
    gradient = ta.grad(
        lambda w: weighed(Rotation.align_vectors(VECTORS, ROTVECS, w)[0].as_matrix())
    )
    expected = difference(
        lambda w: weighed(Host.align_vectors(VECTORS, ROTVECS, w)[0].as_matrix()), weights
    )
    np.testing.assert_allclose(gradient(weights), expected, rtol=1e-6, atol=1e-8)


def test_equal_singular_values_do_not_matter_to_an_alignment() -> None:
    eye = np.eye(3)
    gradient = ta.grad(lambda a: weighed(Rotation.align_vectors(a, eye)[0].as_matrix()))(eye)
    expected = difference(lambda a: weighed(Host.align_vectors(a, eye)[0].as_matrix()), eye)
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


def test_rotations_are_a_sequence() -> None:
    rotvecs = ta.ComputationRecord().tensor(ROTVECS)
    turns = Rotation.from_rotvec(rotvecs)
    assert len(turns) == 3
    assert turns.shape == (3,)
    assert turns[0].single
    again = Rotation.concatenate([turns[:1], *turns, Rotation.identity()])
    assert len(again) == 5
    np.testing.assert_allclose(again[2].as_rotvec().data, turns[1].as_rotvec().data)
    assert np.all(turns.approx_equal(turns[[0, 1, 2]]))
    with pytest.raises(TypeError, match="not subscriptable"):
        turns[0][0]
    with pytest.raises(TypeError, match="no len"):
        len(turns[0])


def test_plain_rotations_are_scipys() -> None:
    turns = Rotation.random(4, 0)
    assert isinstance(turns, Rotation)
    host = Host.from_quat(turns.as_quat())
    np.testing.assert_array_equal((turns * turns.inv()).as_quat(), (host * host.inv()).as_quat())
    np.testing.assert_allclose(turns.as_davenport(np.eye(3), "extrinsic"), turns.as_euler("xyz"))
    assert len(turns.reduce()) == 4
    assert Rotation(np.array([0.0, 0.0, 0.0, 2.0])).magnitude() == 0
    handle = ta.ComputationRecord().tensor([0.0, 0.0, 0.0, 2.0])
    np.testing.assert_array_equal(Rotation(handle).as_quat().data, [0, 0, 0, 1])


def test_rotations_are_composed_with_scipys() -> None:
    host, handles = Host.from_rotvec(ROTVECS[0]), ta.ComputationRecord().tensor(ROTVECS)
    ours, values = Rotation.from_rotvec(handles), Host.from_rotvec(ROTVECS)
    products = [(ours * host, values * host)]
    if not COMPILED:
        products.append((host * ours, host * values))
    for product, expected in products:
        np.testing.assert_allclose(product.as_matrix().data, expected.as_matrix(), atol=1e-15)
        assert np.sum(product.as_matrix()).grad().wrt(handles).all()
    with pytest.raises(TypeError):
        ours * 2.0
    joined = Rotation.concatenate([ours, host]).as_quat()
    np.testing.assert_allclose(joined[-1].data, host.as_quat(), atol=1e-15)
    assert not np.any(ours.approx_equal(host)[1:])
    assert (Rotation.from_rotvec(ROTVECS[0]) * host).approx_equal(host * host)


def test_gimbal_lock_gives_scipys_angles() -> None:
    angles = np.array([0.3, np.pi / 2, 0.4])
    for seq in ("xyz", "XYZ"):
        handle = ta.ComputationRecord().tensor(angles)
        with pytest.warns(UserWarning, match="Gimbal lock"):
            expected = Host.from_euler(seq, angles).as_euler(seq)
        ours = Rotation.from_euler(seq, handle).as_euler(seq)
        np.testing.assert_allclose(ours.data, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r, x: r.reduce(), "Rotation.reduce takes no handles"),
        (lambda r, x: r.as_davenport(np.eye(3), "e"), "write as_euler"),
        (lambda r, x: r.mean(axis=0), "axis= is not supported"),
        (lambda r, x: Rotation.align_vectors(x, x, return_sensitivity=True), "sensitivity"),
        (lambda r, x: Rotation.identity(x), "Rotation.identity takes no handles"),
    ],
)
def test_what_is_not_given_says_so(call: Any, message: str) -> None:
    x = ta.ComputationRecord().tensor(ROTVECS)
    with pytest.raises(UnsupportedArgumentError, match=message):
        call(Rotation.from_rotvec(x), x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda module, x: module.from_quat(x), "to have shape"),
        (lambda module, x: module.from_quat(np.zeros((1, 4)) * x[0, 0]), "zero norm"),
        (lambda module, x: module.from_rotvec(x[:, :2]), "to have shape"),
        (lambda module, x: module.from_euler("xx", x[:, :2]), "to be different"),
        (lambda module, x: module.from_euler("xq", x[:, :2]), "Expected axes from"),
    ],
)
def test_what_scipy_refuses_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(Host, ROTVECS)
    with pytest.raises(ValueError, match=message):
        call(Rotation, ta.ComputationRecord().tensor(ROTVECS))


def test_a_list_of_handles_says_what_to_write() -> None:
    x = ta.ComputationRecord().tensor(0.3)
    with pytest.raises(ConversionError, match="to join handles"):
        Rotation.from_euler("xyz", [x, 0.0, 0.0])


@pytest.mark.skipif(not projects(), reason="this SciPy takes any matrix")
def test_a_reflection_is_refused() -> None:
    with pytest.raises(ValueError, match="Non-positive determinant"):
        Rotation.from_matrix(-np.eye(3))
    with pytest.raises(ValueError, match="Non-positive determinant"):
        Rotation.from_matrix(ta.ComputationRecord().tensor(-np.eye(3)))


def test_rotation_at_a_constant_rate() -> None:
    def loss(module: Any, slerp: Any, times: Array, rotvecs: Array, at: Array) -> Array:
        return weighed(slerp(times, module.from_rotvec(rotvecs))(at).as_matrix())

    at = np.array([0.2, 1.4, 2.0])
    gradients = ta.grad(lambda *args: loss(Rotation, Slerp, *args), (0, 1, 2))(TIMES, ROTVECS, at)
    by_times = difference(lambda x: loss(Host, HostSlerp, x, ROTVECS, at), TIMES)
    np.testing.assert_allclose(gradients[0], by_times, rtol=1e-6, atol=1e-8)
    by_rotvecs = difference(lambda x: loss(Host, HostSlerp, TIMES, x, at), ROTVECS)
    np.testing.assert_allclose(gradients[1], by_rotvecs, rtol=1e-6, atol=1e-8)
    by_at = difference(lambda x: loss(Host, HostSlerp, TIMES, ROTVECS, x), at)
    np.testing.assert_allclose(gradients[2], by_at, rtol=1e-6, atol=1e-8)
    with pytest.raises(ValueError, match="within the range"):
        Slerp(TIMES, Rotation.from_rotvec(ROTVECS))(3.0)


@pytest.mark.parametrize("end", [[0.6, 0.8, 0.0], [1.0, 0.0, 0.0]])
def test_a_great_circle(end: Any) -> None:
    start, end, t = np.array([1.0, 0.0, 0.0]), np.array(end), np.array([0.0, 0.25, 1.0])
    handle = ta.ComputationRecord().tensor(end)
    ours = geometric_slerp(start, handle, t)
    np.testing.assert_allclose(ours.data, scipy.spatial.geometric_slerp(start, end, t), atol=1e-15)
    by_t = ta.grad(lambda t: weighed(geometric_slerp(start, end, t)))(t)
    assert np.all(np.isfinite(by_t))
    assert np.all(np.isfinite(weighed(ours).grad().wrt(handle)))


def test_an_arc_of_no_length_has_all_derivatives() -> None:
    start = np.array([0.6, 0.8])
    angle = np.arctan2(0.8, 0.6)

    def middle(a: Any) -> Any:
        return geometric_slerp(start, np.stack([np.cos(a), np.sin(a)]), 0.3)

    across = np.array([-0.8, 0.6])
    for derivative, expected in (
        (ta.jacobian(middle), 0.3 * across),
        (ta.jacobian(ta.jacobian(middle)), -(0.3**2) * start),
        (ta.jacobian(ta.jacobian(ta.jacobian(middle))), -(0.3**3) * across),
    ):
        np.testing.assert_allclose(derivative(angle), expected, rtol=1e-10)


def test_opposite_ends_of_an_arc_are_refused() -> None:
    end = ta.ComputationRecord().tensor([-0.6, -0.8])
    with pytest.raises(UnsupportedArgumentError, match="opposite"):
        geometric_slerp([0.6, 0.8], end, 0.3)


COORDINATES = np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0])
MOVE = np.vstack([np.c_[MATRICES[0], VECTORS[0]], [[0.0, 0.0, 0.0, 1.0]]])

RIGID: dict[str, tuple[Callable[..., Array], Array]] = {
    "applied": (lambda t, r, x: t.from_translation(x).apply([1.0, 2.0, 3.0]), VECTORS),
    "exponential": (lambda t, r, x: t.from_exp_coords(x).as_matrix(), COORDINATES),
    "logarithm": (lambda t, r, x: t.from_exp_coords(x).inv().as_exp_coords(), COORDINATES),
    "matrix": (lambda t, r, x: t.from_matrix(np.concatenate([x, MOVE[3:]])).as_matrix(), MOVE[:3]),
    "components": (
        lambda t, r, x: t.from_components(x[:3], r.from_rotvec(x[3:])).as_matrix(),
        COORDINATES,
    ),
    "product": (
        lambda t, r, x: (t.from_translation(x) * t.from_matrix(MOVE)).as_matrix(),
        VECTORS[0],
    ),
    "power": (lambda t, r, x: (t.from_exp_coords(x) ** 1.5).as_matrix(), COORDINATES),
    "dual": (
        lambda t, r, x: t.from_dual_quat(x).as_dual_quat(),
        np.array([0.1, 0.2, 0.3, 0.9, 0.2, 0.1, -0.3, 0.4]),
    ),
    "rotation": (lambda t, r, x: t.from_exp_coords(x).rotation.as_rotvec(), COORDINATES),
    "mean": (lambda t, r, x: t.from_exp_coords(x).mean().as_matrix(), np.sin(VECTORS @ MOVE[:3])),
}


@pytest.mark.skipif(
    not hasattr(getattr(scipy.spatial.transform, "_rigid_transform", None), "xp_backend"),
    reason="SciPy's rigid transforms are compiled, or there are none",
)
@pytest.mark.parametrize("name", RIGID)
def test_rigid_transforms(name: str) -> None:
    use, at = RIGID[name]
    at = np.hstack([at, 0.5 * at])[:, :6] if name == "mean" else at
    host, ours = scipy.spatial.transform.RigidTransform, transform.RigidTransform
    both = ta.value_and_grad(lambda x: weighed(use(ours, Rotation, x)))
    value, gradient = both(at)
    compiled = ta.compile(both)
    compiled(at * 0.9)
    np.testing.assert_allclose(compiled(at)[1], gradient, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(value, weighed(use(host, Host, at)), rtol=1e-11)
    expected = difference(lambda x: weighed(use(host, Host, x)), at)
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6)
