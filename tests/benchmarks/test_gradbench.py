"""GradBench's protocol, and its objectives against formulas that others have and complex steps."""

import io
import json
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import scipy.spatial.transform
import scipy.special
import scipy.stats

import tape_ad as ta
from benchmarks.gradbench import by_hand
from benchmarks.gradbench.descent import SLOPES, argmax, argmin
from benchmarks.gradbench.evals import EVALS, ba, det, gmm, ht, llsq, lse, lstm, ode
from benchmarks.gradbench.evals.particle import missed
from benchmarks.gradbench.protocol import Tool
from benchmarks.gradbench.tasks import agree
from tests.benchmarks.gradbench_inputs import INPUTS, POINTS, posed
from tests.sampling import EVERY_ROW, some

Array = np.ndarray[Any, Any]


def evaluated(tool: Tool, module: str, function: str, given: Any) -> Any:
    message = {"id": 3, "kind": "evaluate", "module": module, "function": function, "input": given}
    response = tool.answer(message)
    assert response["success"], response["error"]
    return response


def answered(module: str, function: str, given: Any = None) -> Any:
    given = INPUTS[module] if given is None else given
    return evaluated(Tool("eager", compiled=False), module, function, given)["output"]


def steps(function: Any, x: Array) -> Array:
    """Differentiate what plain NumPy computes, by complex steps: exact to rounding."""
    derivatives = []
    for i in range(x.size):
        moved = x.astype(complex)
        moved.flat[i] += 1e-30j
        derivatives.append(np.imag(function(moved)) / 1e-30)
    return np.moveaxis(np.array(derivatives), 0, -1).reshape(*np.shape(derivatives[0]), *x.shape)


def test_messages_are_answered_line_by_line() -> None:
    lines = [
        {"id": 0, "kind": "start", "eval": "hello"},
        {"id": 1, "kind": "define", "module": "hello"},
        {"id": 2, "kind": "evaluate", "module": "hello", "function": "square", "input": 3.0},
        {"id": 3, "kind": "analysis", "of": 2, "valid": True},
        {"id": 4, "kind": "evaluate", "module": "hello", "function": "double", "input": 9},
        {"id": 5, "kind": "end"},
    ]
    out = io.StringIO()
    Tool("ours").serve([json.dumps(line) + "\n" for line in lines], out)
    started, defined, square, analysed, double, ended = map(json.loads, out.getvalue().splitlines())
    assert started == {"id": 0, "tool": "ours"}
    assert defined == {"id": 1, "success": True}
    assert (square["id"], square["output"], double["output"]) == (2, 9.0, 18.0)
    assert [each["name"] for each in square["timings"]] == ["evaluate"]
    assert (analysed, ended) == ({"id": 3}, {"id": 5})


def test_what_is_not_there_is_told_and_not_raised() -> None:
    tool = Tool("ours")
    assert not tool.answer({"id": 1, "kind": "define", "module": "nothing"})["success"]
    lost = {"id": 2, "kind": "evaluate", "module": "hello", "function": "cube", "input": 3.0}
    response = tool.answer(lost)
    assert (response["id"], response["success"]) == (2, False)
    assert "cube" in response["error"]


def test_functions_run_as_often_and_as_long_as_asked() -> None:
    often = evaluated(Tool("ours"), "lse", "primal", {"x": [1.0, 2.0], "min_runs": 5})
    assert len(often["timings"]) == 5
    long = evaluated(Tool("ours"), "lse", "primal", {"x": [1.0], "min_seconds": 0.01})
    assert sum(each["nanoseconds"] for each in long["timings"]) >= 1e7


@pytest.mark.parametrize("module", some(INPUTS, 4, first=1))
def test_compiled_answers_are_eager_ones(module: str) -> None:
    compiled = Tool("compiled")
    for function in EVALS[module]:
        expected = answered(module, function)
        again = {"min_runs": 3} | INPUTS[module] if module != "hello" else INPUTS[module]
        assert agree(evaluated(compiled, module, function, again)["output"], expected)
    assert json.dumps(expected)


def test_bundle_adjustment_turns_as_scipy_does() -> None:
    (cameras, points, _), _, _ = ba.prepare(INPUTS["ba"])
    turned = scipy.spatial.transform.Rotation.from_rotvec(cameras[0, :3]).apply(points[0])
    np.testing.assert_allclose(ba.rotated(cameras[:1, :3], points[:1])[0], turned, rtol=1e-13)


def test_bundle_adjustments_blocks_are_the_sparse_jacobian() -> None:
    arguments = ba.prepare(INPUTS["ba"])
    jacobian = ta.sparse_jacobian(ba.objective)
    matrix = jacobian(*arguments)
    assert jacobian.colors == 2
    columns, starts, width = ba.structure(*arguments[:2])
    blocks = scipy.sparse.csr_array(
        (ba.blocks(*arguments), columns, starts), (len(starts) - 1, width)
    )
    np.testing.assert_allclose(blocks.toarray(), matrix.toarray(), rtol=1e-12, atol=1e-12)


def test_bundle_adjustments_blocks_are_those_by_hand() -> None:
    arguments = ba.prepare(INPUTS["ba"])
    assert agree(ba.blocks(*arguments), by_hand.blocks(*arguments))


def test_bundle_adjustments_jacobian_by_complex_steps() -> None:
    p, observed, pixels = ba.prepare(INPUTS["ba"])
    sizes = np.cumsum([p[0].size, p[1].size])

    def residuals(flat: Array) -> Any:
        cameras, points, weights = np.split(flat, sizes)
        off, rest = ba.objective(
            (cameras.reshape(-1, 11), points.reshape(-1, 3), weights), observed, pixels
        )
        return np.concatenate([off.ravel(), rest])

    flat = np.concatenate([each.ravel() for each in p])
    matrix = ta.sparse_jacobian(ba.objective)(p, observed, pixels).toarray()
    assert agree(matrix, steps(residuals, flat))


def test_bundle_adjustment_without_a_rotation_has_its_limit() -> None:
    given = INPUTS["ba"] | {"cam": [0.0, 0.0, 0.0, *INPUTS["ba"]["cam"][3:]]}
    nearly = INPUTS["ba"] | {"cam": [1e-9, 0.0, 0.0, *INPUTS["ba"]["cam"][3:]]}
    still, turned = (np.array(answered("ba", "jacobian", x)["vals"]) for x in (given, nearly))
    np.testing.assert_allclose(still, turned, rtol=1e-6, atol=1e-6)


def test_bundle_adjustment_answers_in_the_order_of_adbench() -> None:
    answer = answered("ba", "jacobian")
    assert answer["rows"] == [*range(0, 15 * 30, 15), 620]
    assert answer["cols"][:15] == [*range(11), 33, 34, 35, 48]
    assert answer["cols"][-1] == 67
    assert answer["vals"][-1] == -2 * INPUTS["ba"]["w"]


def test_determinant_and_its_gradient() -> None:
    (matrix,) = det.prepare(INPUTS["det"])
    assert agree(answered("det", "primal"), np.linalg.det(matrix))
    adjugate = np.linalg.det(matrix) * np.linalg.inv(matrix).T
    assert agree(answered("det", "gradient"), adjugate.ravel())


def log_posterior(p: Any, x: Array, gamma: float, m: int, places: Array) -> Any:
    """The same from SciPy's densities."""
    d = x.shape[1]
    precisions = [q.T @ q for q in gmm.factors(p, places)]
    phi = scipy.special.softmax(p["alpha"])
    density = sum(
        weight * scipy.stats.multivariate_normal(mu, np.linalg.inv(a)).pdf(x)
        for weight, mu, a in zip(phi, p["mu"], precisions, strict=True)
    )
    prior = scipy.stats.wishart(d + m + 1, np.eye(d) / gamma**2)
    return np.sum(np.log(density)) + sum(prior.logpdf(a) for a in precisions)


def test_mixture_is_the_posterior_of_scipys_densities() -> None:
    assert agree(answered("gmm", "objective"), log_posterior(*gmm.prepare(INPUTS["gmm"])))


def test_mixtures_gradient_by_differences() -> None:
    p, x, gamma, m, places = gmm.prepare(INPUTS["gmm"])
    gradient = answered("gmm", "jacobian")
    for name, values in p.items():
        step = 1e-5 * np.random.default_rng(0).normal(size=values.shape)
        up, down = (
            log_posterior({**p, name: values + s}, x, gamma, m, places) for s in (step, -step)
        )
        assert (up - down) / 2 == pytest.approx(np.sum(gradient[name] * step), rel=1e-6)


def test_triangles_are_filled_by_columns() -> None:
    p = {"q": np.zeros((1, 3)), "l": np.array([[2.0, 3.0, 4.0]])}
    np.testing.assert_array_equal(
        gmm.factors(p, gmm.layout(3))[0], [[1, 0, 0], [2, 1, 0], [3, 4, 1]]
    )


def test_clusters_cost_and_direction() -> None:
    points, centres = np.array(POINTS), np.array(POINTS[-4:])
    squares = np.sum((points[:, None] - centres) ** 2, axis=2)
    assert agree(answered("kmeans", "cost"), squares.min(axis=1).sum())
    nearest = squares.argmin(axis=1)
    means = np.array([points[nearest == i].mean(axis=0) for i in range(4)])
    assert agree(answered("kmeans", "dir"), centres - means)


def test_polynomials_distance_from_a_step() -> None:
    x, n = llsq.prepare(INPUTS["llsq"])
    t = np.linspace(-1, 1, n)
    assert agree(answered("llsq", "primal"), np.sum((np.sign(t) - np.polyval(x[::-1], t)) ** 2) / 2)
    assert agree(answered("llsq", "gradient"), steps(lambda x: llsq.primal(x, n), x))


def test_logarithm_of_exponentials_sum() -> None:
    (x,) = lse.prepare(INPUTS["lse"])
    assert agree(answered("lse", "primal"), scipy.special.logsumexp(x))
    assert agree(answered("lse", "gradient"), scipy.special.softmax(x))


def loss_by_loops(main: Any, extra: Any, state: Any, sequence: Any) -> Any:
    """Go through the text number by number, as ADBench's description has it."""
    sigmoid = scipy.special.expit
    b = len(extra[0])
    state = np.array(state)
    total = 0.0
    for t in range(len(sequence) - 1):
        x = [sequence[t][i] * extra[0][i] for i in range(b)]
        for layer in range(len(main) // 2):
            weight, bias = main[2 * layer], main[2 * layer + 1]
            hidden, cell = state[2 * layer], state[2 * layer + 1]
            for i in range(b):
                f, g, o, c = (slice(gate * b + i, gate * b + i + 1) for gate in range(4))
                new = sigmoid(hidden[i] * weight[g][0] + bias[g][0])
                new *= np.tanh(hidden[i] * weight[c][0] + bias[c][0])
                cell[i] = cell[i] * sigmoid(x[i] * weight[f][0] + bias[f][0]) + new
                hidden[i] = sigmoid(x[i] * weight[o][0] + bias[o][0]) * np.tanh(cell[i])
            x = list(hidden)
        y = [x[i] * extra[1][i] + extra[2][i] for i in range(b)]
        normaliser = np.log(2 + sum(np.exp(y)))
        total += sum(sequence[t + 1][i] * (y[i] - normaliser) for i in range(b))
    return -total / (b * (len(sequence) - 1))


def test_recurrent_network_by_loops_and_complex_steps() -> None:
    (main, extra), state, sequence = lstm.prepare(INPUTS["lstm"])
    assert agree(answered("lstm", "objective"), loss_by_loops(main, extra, state, sequence))
    of_main = steps(lambda main: lstm.objective((main, extra), state, sequence), main)
    of_extra = steps(lambda extra: lstm.objective((main, extra), state, sequence), extra)
    expected = np.concatenate([of_main.ravel(), of_extra.ravel()])
    assert agree(answered("lstm", "jacobian"), expected)


def test_chain_of_equations_ends_where_its_polynomials_do() -> None:
    x, s = ode.prepare(INPUTS["ode"])
    powers = np.cumprod(x * ode.END / np.arange(1, 6))[:4]  # exact to the fourth order
    assert agree(answered("ode", "primal")[:4], powers)
    assert agree(answered("ode", "gradient"), steps(lambda x: ode.last(x, s), x))


def hand_by_loops(theta: Any, data: Any, us: Any) -> Any:
    """Pose a hand bone by bone and vertex by vertex, as ADBench's description has it."""
    model = data["model"]
    turn = scipy.spatial.transform.Rotation.from_euler
    angles = np.zeros((len(model["parents"]), 3))
    at = iter(theta[6:])
    for finger in range(5):
        for joint in (2, 3, 4):
            angles[4 * finger + joint, 0] = next(at)
            if joint == 2:
                angles[4 * finger + joint, 1] = next(at)
    absolutes: list[Any] = []
    for bone, parent in enumerate(model["parents"]):
        local = np.eye(4)
        x, z, y = angles[bone]
        local[:3, :3] = turn("xyz", [x, y, z]).as_matrix()
        relative = np.array(model["base_relatives"][bone]) @ local
        absolutes.append(relative if parent < 0 else absolutes[parent] @ relative)
    transforms = [a @ b for a, b in zip(absolutes, model["inverse_base_absolutes"], strict=True)]
    vertices = []
    for base, weights in zip(model["base_positions"], model["weights"], strict=True):
        at_rest = sum(w * (t @ base)[:3] for w, t in zip(weights, transforms, strict=True))
        at_rest[0] *= -1 if model["is_mirrored"] else 1
        whole = scipy.spatial.transform.Rotation.from_rotvec(theta[:3]).as_matrix()
        vertices.append(whole @ at_rest + theta[3:6])
    found = []
    for i, number in enumerate(data["correspondences"]):
        if len(us):
            corners = [vertices[vertex] for vertex in model["triangles"][number]]
            parts = [us[i][0], us[i][1], 1 - us[i][0] - us[i][1]]
            place = sum(part * corner for part, corner in zip(parts, corners, strict=True))
        else:
            place = vertices[number]
        found.append(np.array(data["points"][i]) - place)
    return np.concatenate(found)


@pytest.mark.parametrize("given", [INPUTS["ht"], posed([])], ids=["complicated", "simple"])
def test_hands_residuals_by_loops(given: Any) -> None:
    expected = hand_by_loops(np.array(given["theta"]), given["data"], given["us"])
    assert agree(answered("ht", "objective", given), expected)


def test_hands_jacobian_by_complex_steps() -> None:
    theta, us, hand, points = ht.prepare(INPUTS["ht"])
    by_theta = steps(lambda theta: ht.complicated(theta, us, hand, points), theta)
    by_us = steps(lambda us: ht.complicated(theta, us, hand, points), us).sum(axis=1)
    assert agree(answered("ht", "jacobian"), np.concatenate([by_us, by_theta], axis=1))


def test_simple_hands_jacobian_by_complex_steps() -> None:
    given = posed([])
    theta, _, hand, points = ht.prepare(given)
    expected = steps(lambda theta: ht.simple(theta, hand, points), theta)
    assert agree(answered("ht", "jacobian", given), expected)


MODES = ["ff", "fr", "rf", "rr"]
"""How the outer derivative is taken, and how the inner one: forward or in reverse."""


@pytest.mark.parametrize("modes", some(MODES, 4, first=1))
def test_particles_path_and_its_derivative(modes: str) -> None:
    w = np.array([0.2])
    outer, inner = (SLOPES[mode] for mode in modes)
    up, down = (missed(w + step, inner) for step in (1e-6, -1e-6))
    slope = outer(lambda w: missed(w, inner))(w)
    assert slope[0] == pytest.approx((up - down) / 2e-6, rel=1e-6)


def test_the_particle_meets_the_origin_where_it_was_published_to() -> None:
    assert missed(np.array([0.2071918746486116]), SLOPES["r"]) < 1e-8


@pytest.mark.parametrize("slope", SLOPES.values(), ids=SLOPES)
def test_searches_end_at_both_ends(slope: Any) -> None:
    def well(x: Any) -> Any:
        return np.sum((x - 1) ** 2) * 1e3

    low = argmin(well, np.zeros(2), slope)
    high = argmax(lambda x: -well(x), np.zeros(2), slope)
    np.testing.assert_allclose(low, 1, atol=1e-5)
    np.testing.assert_array_equal(high, low)


@pytest.mark.skipif(not EVERY_ROW, reason="takes a minute; set TAPE_AD_EVERY_ROW=1")
@pytest.mark.parametrize("modes", MODES)
def test_searches_find_what_gradbench_publishes(modes: str) -> None:
    assert agree(answered("particle", modes, {"w": 0.0}), 0.2071918746486116)
    found = np.array(answered("saddle", modes, {"start": [1.0, 1.0]}))
    np.testing.assert_allclose(found, 8.246324826140356e-06, rtol=1e-8)
