"""Moments and entropies of the distributions of `tape_ad.scipy.stats`."""

from typing import Any

import numpy as np
import pytest
import scipy.stats

import tape_ad as ta
from tape_ad.errors import UnsupportedArgumentError
from tape_ad.scipy import stats
from tests.rules.checks import central_difference
from tests.sampling import some

Array = Any

SHAPES: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("gamma", "chi2", "loggamma", "weibull_min", "powerlaw"), (1.7,)),
    **dict.fromkeys(("lognorm", "gennorm", "skewnorm", "invgauss"), (0.9,)),
    **dict.fromkeys(("invgamma", "t", "pareto", "lomax"), (5.3,)),
    **dict.fromkeys(("triang", "bernoulli", "geom"), (0.4,)),
    **dict.fromkeys(("norm", "expon", "laplace", "uniform", "gumbel_r"), ()),
    "beta": (1.7, 2.4),
    "f": (5.2, 9.1),
    "genpareto": (0.14,),
    "poisson": (2.2,),
    "nbinom": (3.2, 0.4),
    "binom": (6, 0.3),
    "pearson3": (0.9,),
    **dict.fromkeys(("fisk", "invweibull", "loglaplace", "zipf", "yulesimon"), (5.8,)),
    **dict.fromkeys(("burr", "burr12"), (6.2, 2.3)),
    "mielke": (2.3, 6.2),
    "betaprime": (2.2, 5.7),
    "trapezoid": (0.3, 0.6),
    "betanbinom": (3, 5.7, 1.9),
}

BY_QUADRATURE: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("rice", "dweibull", "nakagami"), (1.7,)),
    "genextreme": (0.1,),
    **dict.fromkeys(("logser", "planck"), (0.6,)),
    "truncnorm": (-1.0, 1.5),
    "crystalball": (1.7, 6.3),
    "johnsonsu": (0.3, 2.4),
    "laplace_asymmetric": (1.3,),
    "nct": (9.3, 0.4),
    "ncx2": (4.2, 1.3),
    "nchypergeom_fisher": (20, 7, 9, 1.3),
}
"""Some of those without formulas."""

METHODS: list[Any] = [
    ("mean", (), {}),
    ("var", (), {}),
    ("std", (), {}),
    ("stats", (), {"moments": "mvsk"}),
    *(("moment", (order,), {}) for order in (1, 2, 3, 4)),
    ("entropy", (), {}),
]

SUMMED = {"binom", "zipf", "yulesimon", "betanbinom"}
"""Those whose entropies SciPy adds up to six digits or so; its lines for `binom` warn."""

CASES = [
    pytest.param(name, *method, id=f"{name}.{method[0]}{method[1] or ''}")
    for name in SHAPES
    for method in METHODS
    if method[0] != "entropy" or name not in SUMMED
    if (name, method[1]) != ("pareto", (3,))  # which SciPy integrates, to 1e-10
]


@pytest.mark.parametrize(("name", "method", "arguments", "options"), CASES)
def test_moments_have_the_gradients_of_their_values(
    name: str, method: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    discrete = isinstance(getattr(scipy.stats, name), scipy.stats.rv_discrete)
    place = (2,) if discrete else (0.3, 1.7)
    fixed: tuple[Any, ...] = SHAPES[name][:1] if name in ("binom", "betanbinom") else ()
    moving = [float(x) for x in (*SHAPES[name][len(fixed) :], *(() if discrete else place))]
    rest = place if discrete else ()

    def parts(values: Any) -> list[Any]:
        function = getattr(getattr(stats, name), method)
        result = function(*arguments, *fixed, *values, *rest, **options)
        return list(result) if isinstance(result, tuple) else [result]

    record = ta.ComputationRecord()
    handles = [record.tensor(value) for value in moving]
    found, expected = parts(handles), parts(moving)
    tangents = list(np.linspace(0.5, 1.0, len(moving)))
    slopes = central_difference(parts, moving, tangents, 1e-4)
    for one, value, slope in zip(found, expected, slopes, strict=True):
        if isinstance(one, ta.Tensor):
            assert one.data == pytest.approx(value, rel=1e-14, abs=1e-15)
            gradients = one.grad().wrt(handles)
            along = sum(g * t for g, t in zip(gradients, tangents, strict=True))
            assert along == pytest.approx(slope, rel=1e-7, abs=1e-8)
        else:
            assert one == pytest.approx(value, abs=1e-15)
            assert slope == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", some(BY_QUADRATURE, 6))
@pytest.mark.parametrize("letter", "mvske")
def test_moments_by_quadrature_to_second_order(name: str, letter: str) -> None:
    shapes = BY_QUADRATURE[name]
    fixed = shapes[:-1]

    def moment(shape: Any) -> Any:
        if letter == "e":
            return getattr(stats, name).entropy(*fixed, shape)
        return getattr(stats, name).stats(*fixed, shape, moments=letter)

    record = ta.ComputationRecord()
    shape = record.tensor(shapes[-1])
    value = moment(shape)
    assert value.data == moment(shapes[-1])
    slope = ta.grad(moment)
    (first,) = central_difference(lambda x: [moment(x[0])], [shapes[-1]], [1.0], 2e-3)
    (second,) = central_difference(lambda x: [slope(x[0])], [shapes[-1]], [1.0], 2e-3)
    assert slope(shapes[-1]) == pytest.approx(first, rel=1e-6, abs=1e-7)
    assert ta.grad(slope)(shapes[-1]) == pytest.approx(second, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    ("letter", "first", "second"),
    [
        ("m", -0.98905599532797256, 1.81495815217),
        ("v", -4.3030772285491516, 23.436678355),
        ("s", -5.9666124126670912, 24.559573319),
        ("k", -28.917688340799625, 305.23206604),
    ],
)
def test_moments_of_extremes_around_0(letter: str, first: float, second: float) -> None:
    """With the derivatives of the closed formula in 60 digits, at 0 and near it."""
    slope = ta.grad(lambda c: np.sum(stats.genextreme.stats(c, moments=letter)))
    assert slope(0.0) == pytest.approx(first, rel=1e-12)
    assert slope(1e-9) == pytest.approx(first + 1e-9 * second, rel=1e-12)
    assert ta.grad(slope)(0.0) == pytest.approx(second, rel=1e-9)
    around, beside = slope(np.array([0.0, 0.3])), slope(0.3)
    np.testing.assert_allclose(around, [first, beside], rtol=1e-12)
    edges = slope(np.array([0.1 - 1e-7, 0.1 + 1e-7, -0.1 - 1e-7, -0.1 + 1e-7]))
    np.testing.assert_allclose(edges[::2], edges[1::2], rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "method", "expected"),
    [
        ("vonmises", "var", -2.0),
        ("vonmises", "std", -np.sqrt(3) / np.pi),
        ("vonmises", "entropy", 0.0),
        ("vonmises", "median", 0.0),
        ("vonmises_line", "var", -2.0),
        ("rice", "mean", 0.0),
        ("rice", "var", 0.0),
        ("rice", "entropy", 0.0),
        ("rice", "median", 0.0),
    ],
)
def test_moments_by_a_shape_at_the_least_that_it_may_be(
    name: str, method: str, expected: float
) -> None:
    found = ta.grad(getattr(getattr(stats, name), method))(0.0)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_entropy_of_pearson3_without_skewness() -> None:
    """Its expansion is 1 / 2 log(2 pi e) - skew**2 / 12 - skew**4 / 192 + ..."""
    slope = ta.grad(lambda skew: np.sum(stats.pearson3.entropy(skew)))
    np.testing.assert_allclose(slope(np.array([0.0, 0.02])), [0, -0.02 / 6 - 0.02**3 / 48], 1e-7)
    assert ta.grad(slope)(0.0) == pytest.approx(-1 / 6, rel=1e-14)
    assert ta.grad(ta.grad(ta.grad(slope)))(0.0) == pytest.approx(-1 / 8, rel=1e-14)


def test_moments_that_do_not_exist() -> None:
    record = ta.ComputationRecord()
    df = record.tensor(1.5)
    mean, var, skew = stats.t.stats(df, moments="mvs")
    assert (float(mean.data), float(var.data)) == (0, np.inf)
    assert np.isnan(skew.data)
    assert np.isnan(var.grad().wrt(df))
    assert np.isnan(skew.grad().wrt(df))
    assert np.isnan(stats.gamma.mean(record.tensor(-1.0)).data)


@pytest.mark.parametrize(("name", "large"), [("gamma", 1e10), ("t", 1e8), ("invgamma", 1e9)])
def test_entropies_of_large_parameters(name: str, large: float) -> None:
    found = getattr(stats, name).entropy(ta.ComputationRecord().tensor(large))
    assert found.data == pytest.approx(getattr(scipy.stats, name).entropy(large), rel=1e-15)


def test_a_frozen_distribution_and_stacks_of_parameters() -> None:
    scale = ta.ComputationRecord().tensor([1.0, 2.0])
    frozen = stats.gamma([[2.0], [3.0]], scale=scale)
    assert frozen.mean().shape == (2, 2)
    np.testing.assert_allclose(np.sum(frozen.var()).grad().wrt(scale), [10, 20])
    np.testing.assert_allclose(np.sum(frozen.moment(2)).grad().wrt(scale), [36, 72])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (stats.erlang.var, "scipy.stats.erlang.var cannot be differentiated .* a; pass .*data"),
        (lambda h: stats.fatiguelife.entropy(h + 26), "not found there by quadrature; pass .data"),
        (lambda h: stats.binom.mean(h, 0.5), "scipy.stats.binom.mean .* respect to n; pass n.data"),
    ],
)
def test_what_is_refused_says_what_to_write(call: Any, says: str) -> None:
    with pytest.raises(UnsupportedArgumentError, match=says):
        call(ta.ComputationRecord().tensor(3.0))


@pytest.mark.filterwarnings("ignore:expect():RuntimeWarning")  # of SciPy's sum
@pytest.mark.parametrize("name", sorted(SUMMED - {"binom"}))
def test_entropies_that_are_summed_have_gradients(name: str) -> None:
    *fixed, shape = SHAPES[name]
    found = ta.grad(lambda s: getattr(stats, name).entropy(*fixed, s))(shape)
    theirs = getattr(scipy.stats, name).entropy
    expected = (theirs(*fixed, shape + 1e-2) - theirs(*fixed, shape - 1e-2)) / 2e-2
    assert found == pytest.approx(expected, rel=1e-4)
