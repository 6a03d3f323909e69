"""What the names of Python, NumPy and SciPy mean in copies: a row for each, and what is refused."""

import array
import cmath
import math
import statistics
import warnings
from collections.abc import Callable
from typing import Any, ClassVar, cast

import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg.cython_lapack
import scipy.signal
import scipy.sparse
import scipy.special
import scipy.stats

import tape_ad as ta

X = np.array([0.3, 0.5, 0.7, 0.2])

Function = Callable[[Any], Any]


def filled(make: Callable[..., Any], *args: Any) -> Function:
    def fill(x: Any) -> Any:
        a = make(*args)
        a[0] = x[1] * x[2]
        return a.sum() + a[0] ** 2

    return fill


def written(function: Callable[..., Any], *args: Any) -> Function:
    def write(x: Any) -> Any:
        a = np.zeros((2, 2))
        function(a, *[x[each] if isinstance(each, slice) else each for each in args])
        return np.sum(a**2 + a)

    return write


def filled_by(a: Any, values: Any) -> Any:
    np.fill_diagonal(a, values, wrap=True)
    return np.sum(a**2 * np.arange(a.size).reshape(a.shape))


def viewed(x: Any) -> Any:
    a = np.zeros(4)
    same = a.view()
    a[3] = x[1]
    return same.sum() ** 2


MULTIPLY = [float.__mul__]


def at_some_places(function: Any, x: Any) -> Any:
    a = np.array([1.0, 0.4, 2.0])
    function.at(a, [0, 1, 1, 2], x)
    function.at(a, 1, x[0])
    return np.sum(a**2 * [1.0, 2.0, 3.0])


def resized(x: Any) -> Any:
    y = x**2
    y.resize((2, 3), refcheck=False)
    return np.sum(y * np.arange(6.0).reshape(2, 3)) + y.shape[1]


def indexed(x: Any) -> Any:
    total: Any = 0.0
    with np.nditer(x.reshape(2, 2), flags=["multi_index"]) as iteration:
        while not iteration.finished:
            total = total + iteration[0] ** 2 * (1 + iteration.multi_index[0])
            iteration.iternext()
    return total


def written_by_nditer(y: Any) -> Any:
    iteration: Any = np.nditer(y, op_flags=["readwrite"])
    for each in iteration:
        each[...] = each**2
    return np.sum(y) + y[0]


def sorted_in_place(x: Any) -> Any:
    a = np.array(x)
    a.sort()
    return np.sum(a * np.arange(4.0) ** 2)


def partitioned(x: Any) -> Any:
    a = x.copy()
    a.partition(1)
    return a[0] + 2 * a[1]


def by_flat(x: Any) -> Any:
    a, b = np.zeros((2, 2)), x.reshape(2, 2).copy()
    a.flat[1] = x[0]
    a.flat[2:] = x[1:3]
    b.flat[::3] = 1.0
    b.flat[1] = a.flat[2] ** 2
    return sum(each**2 for each in a.flat) + np.sum(b * [[1.0, 2.0], [3.0, 4.0]]) + len(b.flat)


def filled_and_put(x: Any) -> Any:
    a, b, c = x.copy(), np.zeros(3), np.array([3.0, 1.0, 2.0])
    a.put([0, 2], x[1] ** 2)
    b.fill(x[3])
    c.sort()
    c.put([[0], [1]], x[2:])
    return np.sum(a**2) + np.sum(b**2) + np.sum(c**2)


TABLE = np.array([1.0, 2.0])


def of_a_table(x: Any) -> Any:
    own = TABLE.copy()
    own[0] = x[1]
    own += x[0]
    return np.sum(own**2) + TABLE.dot(x[:2])


def drawn(name: str, *parameters: Any) -> Function:
    def draw(x: Any) -> Any:
        given = [x[each] if isinstance(each, int) else each for each in parameters]
        np.random.seed(1)  # noqa: NPY002 - as other people's code does
        sources = np.random.default_rng(3), np.random.RandomState(4), np.random
        return sum(np.sum(getattr(each, name)(*given) ** 2) for each in sources)

    return draw


def drawn_in_several_dimensions(x: Any) -> Any:
    cov = np.array([[2.0, x[0]], [x[0], 1.0]])
    rng, older = np.random.default_rng(2), np.random.RandomState(2)
    return np.sum(rng.multivariate_normal(x[1:3], cov, 3) ** 2) + np.sum(
        older.multivariate_normal(x[1:3], cov) ** 2
    )


def chosen(x: Any) -> Any:
    rng = np.random.RandomState(2)
    return np.sum(rng.choice(x, 3) * [1.0, 2.0, 3.0]) + np.sum(rng.permutation(x) * np.arange(4.0))


def over_several(x: Any) -> Any:
    total, out = 0.0, np.zeros((2, 4))
    pairs: Any = np.nditer([x, np.arange(8.0).reshape(2, 4)])
    for a, b in pairs:
        total = total + a * b
    with np.nditer([x, out], op_flags=[["readonly"], ["writeonly"]]) as iteration:
        written: Any = iteration
        for a, b in written:
            b[...] = a**3
    made: Any = np.nditer([x, x[::-1], None], op_dtypes=[None, float, float])
    for a, b, c in made:
        c[...] = a * b
    columns: Any = np.nditer(x.reshape(2, 2), order="F")
    rest = sum((i + 1) * a for i, a in enumerate(columns))
    return total + np.sum(out * out[::-1]) + np.sum(made.operands[2] * x) + rest


def written_one_by_one(x: Any) -> Any:
    out, elements = np.zeros(4), np.array(x).flat
    iteration: Any = np.nditer(
        [x, out], flags=["multi_index"], op_flags=[["readonly"], ["readwrite"]]
    )
    while not iteration.finished:
        iteration[1] = iteration[0] * (1 + iteration.multi_index[0])
        iteration.iternext()
    return np.sum(out**2) + next(elements) * next(elements) + np.sum(elements.copy() ** 3)


def written_at_places(x: Any) -> Any:
    counts, around, within, corners = np.zeros(3), np.zeros(4), np.zeros(4), np.zeros((2, 2))
    np.add.at(counts, [0, 0, 2], 1.0)
    np.put(around, [5, -1], [x[0], x[1]], mode="wrap")
    np.put(within, [9, 1], [x[2], x[3]], mode="clip")
    np.put_along_axis(corners, np.array([0, 3]), x[:2], None)
    return np.sum(counts * x[:3]) + np.sum(around * x) + np.sum(within**2) + np.sum(corners**2)


def made_like(x: Any) -> Any:
    pair = np.asarray([x[0], x[1]], dtype=object)
    several = np.full_like(x, x[1], shape=(3,)) * x[0] + np.full_like(np.zeros(3), x[2])
    plain = np.fromiter((1.0, 2.0), float) * x[:2]
    return pair[0] * pair[1] + np.sum(several) + np.sum(plain) + np.sum(np.array(object=x) ** 2)


def called_for_several(x: Any) -> Any:
    squared = np.vectorize(otypes=[float])(lambda a: a**2)
    one, other = np.vectorize(lambda a: (a, a * 2))(x)
    total: Any = np.sum(np.apply_along_axis(np.sum, 1, np.ones((2, 3))))
    total += sum(each * x[index] for index, each in np.ndenumerate(np.array([1.0, 2.0])))
    numbers: Any = np.nditer(np.array([1.0, 3.0]))
    total += sum(float(each) for each in numbers)
    windows = np.lib.stride_tricks.sliding_window_view(x, 2)
    return np.sum(squared(x)) + np.sum(one * other) + total * x[0] + np.sum(windows**2)


class Metres(np.ndarray[Any, Any]):
    """Arrays with a method."""

    def __new__(cls, values: Any) -> Any:
        return np.asarray(values).view(cls)

    def doubled(self) -> Any:
        return self * 2


def with_lists(x: Any) -> Any:
    a, b = np.arange(1.0, 3.0), np.zeros((3, 2))
    pair = [x[0], x[1]]
    b[0] = pair
    b[:2, 1] = (x[2], 3.0)
    b += [x[3], x[0]]
    b[[0, 2]] = [[x[1], 1.0], pair]
    total = pair * a + a / pair - pair + a**pair + (a @ pair) + pair @ a + x[:2] * pair
    return np.sum(b**2 * np.arange(6.0).reshape(3, 2)) + np.sum(total) + np.sum(x[0] * (pair < a))


def by_keys(x: Any) -> Any:
    values = list(x)
    powers = {each: i + 1.0 for i, each in enumerate(values)}
    powers[values[0]] += 1.0
    pairs = {(i, each): each for i, each in enumerate(values)}
    members = {values[0], values[1], values[0]}
    found = sum(each ** powers[each] for each in values) + sum(key[1] * pairs[key] for key in pairs)
    return found + sum(members) * len(members) * (values[1] in powers)


def of_polynomials(x: Any) -> Any:
    kinds = ("Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre")
    values = sum(getattr(np.polynomial, name)(x)(0.4) for name in kinds)
    product = np.polynomial.Polynomial(x) * np.polynomial.Polynomial([1.0, 2.0])
    return values + product.deriv()(0.5) + product.integ()(0.3) + np.poly1d(x)(0.3)


def masked(x: Any) -> Any:
    a, plain = np.ma.asarray(x), np.ma.array([1.0, 2.0, 3.0, 4.0])
    assert not np.any(np.ma.getmask(a))
    assert not np.ma.is_masked(a)
    rest = np.sum(a.filled(0.0) * a.compressed()) + a.mask
    rest += np.ma.masked_less(plain, 2.5).sum() * x[0]
    assert isinstance(plain, np.ma.MaskedArray)
    return np.sum((plain - a) * np.ma.filled(a) * a) + np.sum(plain.dot(np.ones(4))) + rest


def number_matched(x: Any) -> Any:
    match x[0]:
        case float():
            return x[0] * 2
    return x[0] * 3


def dispatched_by_namespace(x: Any) -> Any:
    xp = x.__array_namespace__()
    return xp.sum(xp.asarray([x[0], 1.0]) ** 2)


def matched(x: Any) -> Any:
    match x:
        case np.ndarray():
            return x[0] * 2
    return x[0] * 3


def statistics_of(x: Any) -> Any:
    values = list(x)
    means = statistics.fmean(x) + statistics.variance(x) + statistics.pstdev(values)
    more = statistics.median(values) + statistics.harmonic_mean(x) + statistics.geometric_mean(x)
    line = statistics.linear_regression(values, [1.0, 2.0, 4.0, 3.0]).slope
    normal = statistics.NormalDist(x[0], x[1])
    means += statistics.harmonic_mean(values, weights=[1.0, 2.0, 3.0, 4.0]) ** 2
    normals = normal.cdf(0.3) + normal.pdf(0.3) + normal.inv_cdf(x[2]) ** 2
    normals += statistics.NormalDist.from_samples(values).stdev ** 3
    return means + more + line + normals + statistics.quantiles(x, n=3)[1]


def of_poly1d(x: Any) -> Any:
    p = np.poly1d([x[0], -3.0, x[1]])
    quotient = (p * np.poly1d(x) ** 2 / np.poly1d([1.0, x[2]]))[0]
    return np.sum(p.r**2) + quotient(x[3]) + p.deriv()(0.5) * p.integ(k=1)(p)[1] + FIXED(x[0])


FIXED = np.poly1d([1.0, 2.0, 3.0])


def ordered_by_nditer(x: Any) -> Any:
    turned, total = x.reshape(2, 2).T, 0.0
    each: Any
    for i, each in enumerate(np.nditer(turned)):
        total += i * each**2
    iteration: Any
    for flag in ("c_index", "f_index"):
        iteration = np.nditer(turned, [flag])
        total += sum((i + 1) * iteration.index * each for i, each in enumerate(iteration))
    both: Any = np.nditer([x + 1j * x[::-1], None])
    for given, made in both:
        made[...] = given**2
    return total + np.sum(np.real(both.operands[1]) ** 2)


def shuffled(x: Any) -> Any:
    rng, y, z = np.random.default_rng(1), x.copy(), list(x)
    rng.shuffle(y)
    rng.shuffle(z)
    rows = rng.permuted(np.outer(x, x), axis=1)
    return np.sum(rows[:, 0] ** 2) + np.sum(y**2 * np.arange(4)) + z[0] * z[1] ** 2


class Giving:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.values) * 2.0


def numbers_of_math(x: Any) -> Any:
    found = math.remainder(x[0], 0.11) + math.nextafter(x[1], 1.0) + math.fmod(x[2], 0.11)
    found += math.exp2(x[0]) + math.cbrt(x[1]) + math.lgamma(x[2]) + math.erf(x[3])
    found += math.hypot(*x) + math.prod(each**2 for each in x) + math.fsum([x[0], 1.0])
    return found + (x[0] if x[1].is_integer() else x[2])


def changed(a: Any) -> Any:
    """Change an array in place, and give what it is then."""
    same = np.asarray(a)
    a[0] *= a[1]
    a += 1.0
    return np.sum(same**3)


class Numbering(type):
    def __getitem__(cls, i: int) -> int:
        return 2 * i


class Numbered(metaclass=Numbering):
    def __init__(self, value: Any) -> None:
        self.value = value


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value


def of_derived_metaclasses(x: Any) -> Any:
    class Named(Numbering):
        def __call__(cls, value: Any) -> Any:
            return type.__call__(cls, value * 2)

    class Derived(Numbered, metaclass=Named):
        pass

    class Lone(Plain, metaclass=Named):
        pass

    is_kept = (type(Derived) is Named) * (type(Numbered) is Numbering) * (type(Plain) is type)
    return Derived(x[0]).value ** 2 * Derived[3] * Lone(x[1]).value * is_kept


def broadcast_again(x: Any) -> Any:
    pairs = np.broadcast(x, 2.0)
    first, place = next(pairs)[0], pairs.index
    several = sum(a * b for a, b in pairs) + sum(a for a, _ in pairs)  # which is at its end
    pairs.reset()
    return first * place * several + next(pairs)[0]


def of_a_metaclass(x: Any) -> Any:
    class Doubling(type):
        def __call__(cls, *args: Any) -> Any:
            made = type.__call__(cls, *args)
            made.value = made.value * 2
            return made

    class Held(metaclass=Doubling):
        def __init__(self, value: Any) -> None:
            self.value = value

    assert isinstance(Held, Doubling)
    assert not isinstance(int, Doubling)
    return Held(x[0]).value ** 2


BY_TYPE = {np.float64: 2.0, np.ndarray: 3.0}
FACTORS: Any = {np.float64: 2.0, float: 3.0}


SCALARS = (int, float)
BOTH = (float, np.float64)


def factor_of_a_variable(x: Any) -> Any:
    kind = type(x[0])
    return x[0] * FACTORS[kind]


class Factors:
    table: ClassVar[Any] = {float: 3.0, int: 1.0}


class OfBuiltins:
    sine: Any = math.sin
    longest: Any = math.hypot
    joined: Any = np.array
    number: Any = float

    def __init__(self, value: Any) -> None:
        self.value = value

    def __float__(self) -> float:
        return float(self.value) ** 2

    def __complex__(self) -> complex:
        return complex(self.value, 1.0)

    def computed(self, x: Any) -> Any:
        total = self.sine(x[0]) + self.longest(x[0], x[1]) + self.number(x[2]) ** 2
        return total + np.sum(self.joined([x[3], 1.0]) ** 2)


def of_methods_in_c(x: Any) -> Any:
    class Local(OfBuiltins):
        largest: Any = max
        tangent: Any = math.tan
        joined: Any = np.asarray

    found = OfBuiltins(1.0).computed(x) + Local(x[1]).computed(x) + Local.tangent(x[0])
    return found + Local(1.0).largest(x[0], x[1]) ** 2


def by_text(x: Any) -> Any:
    class Names:
        def __getitem__(self, name: str) -> Any:
            return {"u": x[1]}[name]

    class Scope:
        exec("w = 2.0")  # noqa: S102 - the form itself is tried

    names, own, others = {"v": x[0], "np": np}, dict[str, Any](), cast(Any, Names())
    exec("q = np.sin(v)\ndef f(t): return np.asarray(t) ** 2\nr = f(q)", names)  # noqa: S102 - the form itself is tried
    exec("z = a * 2", {"a": x[3]}, own)  # noqa: S102 - the same
    doubled = own["z"] * vars(Scope)["w"]
    return names["r"] + doubled + eval("u**2 + math.cos(u)", {"math": math}, others)  # noqa: S307 - the same


SPARSE = scipy.sparse.csr_array([[1.0, 2.0], [0.0, 3.0]])


def with_sparse_arrays(x: Any) -> Any:
    ones, own = np.ones(2), scipy.sparse.csr_array(np.outer(x[:2], x[2:]))
    return np.sum((ones @ SPARSE) * x[:2]) + (ones @ own @ ones) ** 2 + (SPARSE * ones).sum() * x[0]


MASK = np.array([[True, False], [False, True]])

ROWS: dict[str, Function] = {
    "nditer of several": over_several,
    "elements of nditer and flat": written_one_by_one,
    "writing at places": written_at_places,
    "a user's arrays": lambda x: np.sum(np.asarray(Metres([1.0, 2.0]).doubled()) * x[:2] ** 2),
    "arrays like others": made_like,
    "functions of several": called_for_several,
    "lists beside arrays": with_lists,
    "keys and members": by_keys,
    "classes of polynomials": of_polynomials,
    "statistics of lists": statistics_of,
    "numbers of math": numbers_of_math,
    "arange": lambda x: (
        np.sum(np.arange(x[0], 1.0, 0.2) ** 2)
        + np.sum(np.arange(0, 1, step=x[1] * 0.3) ** 2)
        + np.sum(np.arange(0.0, stop=x[2], step=0.2) * x[3])
    ),
    "vectorize without an argument": lambda x: np.sum(
        np.vectorize(lambda a, p: a * p[1], excluded=["p"])(x, p=[2.0, x[1]])
    ),
    "initial of a ufunc": lambda x: (
        np.add.reduce(x, initial=x[0]) + np.multiply.reduce(x, initial=x[1] * 2)
    ),
    "lists in more functions": lambda x: (
        np.sum(np.pad([x[0], x[1]], 1, constant_values=2.0) ** 2)
        + np.sum(np.abs(np.fft.fft([x[0], x[1], 1.0])) ** 3)
        + np.bincount([0, 1, 1], weights=[x[0], 1.0, x[2]]) @ [1.0, 2.0]
        + np.histogram([0.1, 0.5], bins=2, weights=[x[0], x[1]])[0] @ [1.0, 2.0]
        + np.sum(np.polyadd([x[0], 1.0], [x[1]]) ** 2)
    ),
    "asarray": lambda x: np.sum(np.asarray(x) ** 2),
    "asarray of a list": lambda x: np.sum(np.asarray([x[0], 1.0, x[1]]) ** 2),
    "asarray of nested lists": lambda x: np.sum(np.array([[x[0], x[1]], [1, x[2]]]) ** 2),
    "array copies": lambda x: np.sum(np.array(x) ** 2),
    "asanyarray": lambda x: np.sum(np.asanyarray(x, dtype=float) ** 2),
    "ascontiguousarray": lambda x: np.sum(np.ascontiguousarray(x[0]) ** 2),
    "asfortranarray": lambda x: np.sum(np.asfortranarray(x) ** 2),
    "asarray_chkfinite": lambda x: np.sum(np.asarray_chkfinite(x) ** 2),
    "require": lambda x: np.sum(np.require(x, float, "C") ** 2),
    "atleast_1d of a number": lambda x: np.sum(np.atleast_1d(x[0]) ** 2),
    "atleast_2d": lambda x: np.sum(np.atleast_2d(x)[0] ** 2) + np.sum(np.atleast_2d([x[0]])),
    "atleast_3d": lambda x: np.sum(np.atleast_3d(x.reshape(2, 2))[:, :, 0] ** 2),
    "astype copies": lambda x: changed(x.astype(float)) + np.sum(x**2),
    "np.copy copies": lambda x: changed(np.copy(x)) + np.sum(x**2),
    "np.array copies": lambda x: changed(np.array(x)) + np.sum(x**2),
    "asarray does not": lambda x: changed(np.asarray(x + 0.0)),
    "a table of types": lambda x: x[0] * BY_TYPE[type(x[0])] + np.sum(x) * BY_TYPE[type(x)],
    "types that are alike": lambda x: (
        x[0] * (type(x[0]) is type(x[1])) * (type(x[0]) in BOTH) + x[1] * (type(x[0]) is int)
    ),
    "a metaclass": of_a_metaclass,
    "metaclasses derived from those of copies": of_derived_metaclasses,
    "functions in C as attributes": of_methods_in_c,
    "an object that gives a number": lambda x: (
        float(OfBuiltins(x[0])) + abs(complex(OfBuiltins(x[1]))) ** 2
    ),
    "eval and exec": by_text,
    "sparse arrays beside arrays": with_sparse_arrays,
    "broadcast": lambda x: (
        sum(a * b for a, b in np.broadcast(x, [[x[0]], [2.0]])) * np.broadcast(x, 1.0).size
    ),
    "broadcast again": broadcast_again,
    "ndmin": lambda x: np.sum(np.array(x, ndmin=3) ** 2),
    "zeros": filled(np.zeros, 3),
    "ones": filled(np.ones, 3),
    "empty": filled(lambda: np.empty(1)),
    "full": filled(np.full, 3, 2.0),
    "empty_like": filled(lambda: np.empty_like(np.ones(1))),
    "zeros_like": filled(np.zeros_like, np.ones(3)),
    "ones_like": filled(np.ones_like, np.ones(3)),
    "full_like": filled(np.full_like, np.ones(3), 2.0),
    "eye": filled(lambda: np.eye(2).ravel()),
    "full of a handle": lambda x: np.sum(np.full((2, 2), x[0]) ** 2),
    "copy": filled(np.copy, np.ones(3)),
    "arange of numbers": filled(np.arange, 3.0),
    "fromiter": lambda x: np.sum(np.fromiter((each**2 for each in x), float)),
    "float64": lambda x: np.float64(x[0]) ** 2,
    "float": lambda x: float(x[0]) ** 2,
    "complex": lambda x: abs(complex(x[0], x[1]) ** 2),
    "item": lambda x: x[:1].item() ** 2 + x.item(1),
    "tolist": lambda x: sum(each**2 for each in x.tolist()),
    "sum": sum,
    "min and max": lambda x: max(x) ** 2 + min(x),
    "abs and pow": lambda x: abs(-x[0]) + pow(x[1], 3),
    "where of lists": lambda x: np.sum(np.where([True, False], [x[0], 1.0], [2.0, x[1]]) ** 2),
    "max of a list": lambda x: np.max([x[0], x[1] ** 2]),
    "math": lambda x: (
        math.sin(x[0]) + math.atan2(x[1], x[2]) + math.log(x[3], 3) + math.gamma(x[0])
    ),
    "math of several": lambda x: math.hypot(x[0], x[1]) + math.fsum(x) + math.prod(x),
    "math.dist": lambda x: math.dist(x[:2], x[2:]),
    "math.modf": lambda x: math.modf(x[0] + 1)[0] ** 2 + math.floor(x[1]),
    "math.frexp": lambda x: math.frexp(x[0])[0] ** 2 * math.frexp(x[0])[1],
    "hasattr": lambda x: (
        x[0] ** (2 if hasattr(x, "__len__") and not hasattr(x[0], "__len__") else 3)
    ),
    "view": viewed,
    "cmath": lambda x: abs(cmath.exp(x[0] * 1j) + cmath.sqrt(-x[1])),
    "statistics": lambda x: statistics.mean(x) + statistics.stdev(x) + statistics.pvariance(x),
    "int": lambda x: np.arange(3)[int(x[0] * 5)] * x[1],
    "copyto": written(np.copyto, slice(0, 2)),
    "put": written(np.put, [0, 3], slice(0, 2)),
    "place": written(np.place, MASK, slice(0, 3)),
    "putmask": written(np.putmask, MASK, slice(0, 3)),
    "fill_diagonal": written(np.fill_diagonal, slice(1, 3)),
    "put_along_axis": written(
        lambda a, v: np.put_along_axis(a, np.array([[0], [1]]), v[:, None], 1), slice(0, 2)
    ),
    "put_along_axis for all columns": written(
        lambda a, v: np.put_along_axis(a, np.array([[1]]), v, 0), slice(0, 2)
    ),
    "fill_diagonal of a tall matrix": lambda x: filled_by(np.zeros((7, 2)), x[:2]),
    "r_ with a text": lambda x: np.sum(np.r_["0,2", x, x[::-1] ** 2] ** 2),
    "vectorize": lambda x: np.sum(np.vectorize(lambda a, b: math.exp(a) * b)(x, 2.0)),
    "frompyfunc": lambda x: np.sum(np.frompyfunc(math.sin, 1, 1)(x)),
    "apply_along_axis": lambda x: np.sum(np.apply_along_axis(np.cumsum, 0, x.reshape(2, 2)) ** 2),
    "ndenumerate": lambda x: sum(index[0] * each**2 for index, each in np.ndenumerate(x)),
    "nditer": lambda x: sum(np.square(each) for each in np.nditer(x)),
    "r_": lambda x: np.sum(np.r_[x[0], 1.0, x[1:]] ** 2),
    "c_": lambda x: np.sum(np.c_[x, np.ones(4)] @ [2.0, 1.0]),
    "Polynomial": lambda x: np.polynomial.Polynomial(x)(1.5),
    "Polynomial.fit": lambda x: np.polynomial.Polynomial.fit(np.arange(4.0), x, 2)(0.3),
    "sort": sorted_in_place,
    "partition": partitioned,
    "flat": by_flat,
    "fill and put": filled_and_put,
    "a table": of_a_table,
    **{name: drawn(name, 0, 1) for name in ("normal", "laplace", "gumbel", "logistic", "uniform")},
    "lognormal": drawn("lognormal", 0, 1, (2, 3)),
    **{name: drawn(name, 0) for name in ("exponential", "rayleigh", "weibull", "pareto", "power")},
    "gamma": drawn("gamma", 2.0, 1),
    "multivariate_normal": drawn_in_several_dimensions,
    "choice": chosen,
    "masked arrays": masked,
    "match": number_matched,
    "namespace": dispatched_by_namespace,
    "round": lambda x: round(x[0] * 10) * x[1] + np.round(x[2] * 10) * x[1],
    "clip": lambda x: np.sum(np.clip(x, 0.25, x[1], np.zeros(4)) ** 2),
    "copy modes": lambda x: np.sum(np.array(x, copy=None) ** 2),
    "initial": lambda x: np.sum(x, initial=x[0] ** 2) + np.max(x, initial=x[1] * 3),
    "atleast_1d": lambda x: np.sum(np.atleast_1d([x[0], 1.0]) ** 2),
    "lists in ufuncs": lambda x: np.sum(np.sin([x[0], x[1]]) * np.add.reduce([x[2], x[3]])),
    "lists in lists": lambda x: np.concatenate([[x[0], 1.0], x[:3] ** 2]) @ np.append([x[0]], x),
    "rows in lists": lambda x: np.sum(np.vstack([[x[0], 1.0], [2.0, x[1]]]) ** 2),
    "a list for a matrix": lambda x: np.linalg.det([[x[0], 1.0], [x[2], x[1]]]),
    "add.at": written(np.add.at, ([0, 0, 1],), np.s_[:2]),
    "multiply.at": lambda x: at_some_places(np.multiply, x),
    "maximum.at": lambda x: at_some_places(np.maximum, x),
    "subtract.at": lambda x: at_some_places(np.subtract, x),
    "float's methods": lambda x: float.__mul__(x[0], x[1]) + float.__sub__(2.0, x[2]),
    "float's methods in tables": lambda x: MULTIPLY[0](x[0], x[1]),
    "resize": resized,
    "nditer with an index": indexed,
    "nditer that writes": lambda x: written_by_nditer(np.array(x)),
    "diag": lambda x: np.sum(np.diag([x[0]] * 3) * x[1]),
    "poly": lambda x: np.sum(np.poly(x) ** 2),
    "polydiv": lambda x: np.sum(np.polydiv([1.0, x[0], x[1]], [1.0, x[2]])[0] ** 2),
    "histogram": lambda x: np.sum(np.histogram(x, 3)[1] ** 2),
    "vectorize with a signature": lambda x: np.sum(
        np.vectorize(np.dot, signature="(n),(n)->()")(np.stack([x, x**2]), x)
    ),
    "np.linalg": lambda x: np.linalg.norm([x[0], x[1]]),
    "poly1d": of_poly1d,
    "apply_over_axes": lambda x: np.sum(np.apply_over_axes(np.sum, np.outer(x, x), [0, 1])) ** 2,
    "nditer in the order of memory": ordered_by_nditer,
    "triangular": drawn("triangular", -1.0, 0, 2.0),
    "triangular of all": drawn("triangular", 3, 0, 2, (2, 3)),
    "shuffle and permuted": shuffled,
    "an object that gives an array": lambda x: np.sum(np.exp(Giving(x)) * np.asarray([Giving(x)])),
    "a rule of SciPy's": lambda x: np.sum(scipy.signal.lfilter([x[0], 1.0], [1.0, x[1]], x)),
    "a class of SciPy's": lambda x: scipy.interpolate.CubicSpline(np.arange(4.0), x)(1.3),
    "a distribution": lambda x: scipy.stats.norm.logpdf(0.3, x[0], x[1]),
    "SciPy's own Python": lambda x: scipy.stats.genextreme.logpdf(0.2, x[0]),
    "a ufunc of SciPy's": lambda x: scipy.special.gammaln(x[0]),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_name_keeps_the_gradient(name: str) -> None:
    function = ROWS[name]
    value, slopes = ta.value_and_grad(ta.differentiable(function))(X)
    steps = np.eye(4) * 1e-6
    differences = [(function(X + h) - function(X - h)) / 2e-6 for h in steps]

    np.testing.assert_allclose(value, function(X), rtol=1e-13)
    np.testing.assert_allclose(slopes, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ROWS)
def test_a_name_keeps_the_second_derivative(name: str) -> None:
    slope = ta.grad(ta.differentiable(ROWS[name]))
    v = np.array([0.3, -0.5, 0.2, 0.7])

    curved = ta.hvp(ta.differentiable(ROWS[name]), X, v)

    differences = (slope(X + 1e-6 * v) - slope(X - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(curved, differences, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("function", "error", "match"),
    [
        (lambda x: math.sqrt(-x[0]), ValueError, "math domain error|nonnegative"),
        (float, TypeError, "only 0-dimensional"),
        (matched, ta.errors.NoRuleError, "case ndarray"),
        (lambda x: x[0] * (x.__class__ is np.ndarray), ta.errors.NoRuleError, "__class__"),
        (lambda x: x[0] * (x.dtype.type is np.float64), ta.errors.NoRuleError, "dtype.type"),
        (lambda x: x[0] * (type(float(x[0])) is float), ta.errors.NoRuleError, "isinstance"),
        (lambda x: float(f"{x[0]:.6f}"), ta.errors.ConversionError, "text made of a handle"),
        (lambda x: float("%.6f" % x[0]), ta.errors.ConversionError, "text made of a handle"),  # noqa: UP031 - the form itself is tried
        (lambda x: float("{:.6f}".format(x[0])), ta.errors.ConversionError, "text made"),  # noqa: UP032 - the same
        (lambda x: float(np.array2string(x[0])), ta.errors.NoRuleError, "text of a handle"),
        (lambda x: hash(x[0]), TypeError, "unhashable"),
        (lambda x: np.sum(np.arange(x[0] * 10) * x[1]), ta.errors.NoRuleError, "whole numbers"),
        (lambda x: {x: 1.0}, TypeError, "unhashable"),
        (lambda x: x[0] * len(x[1].as_integer_ratio()), ta.errors.NoRuleError, "two integers"),
        (lambda x: np.ma.array([1.0, 2.0], mask=[False, True]) * x[0], ta.errors.TapeError, "mask"),
        (lambda x: np.nditer(x, flags=["external_loop"]), ta.errors.NoRuleError, "ndindex"),
        (lambda x: scipy.linalg.lapack.dgetrf(np.eye(2) * x[0]), ta.errors.NoRuleError, "compiled"),
        (
            lambda x: sum(array.array("d", x)),
            ta.errors.ConversionError,
            "write lists or np.asarray",
        ),
        (
            lambda x: np.array([(x[0], 1.0)], dtype=[("a", float), ("b", float)])["a"].sum(),
            ta.errors.DtypeError,
            "no derivative",
        ),
        (lambda x: np.random.default_rng(0).beta(x[0], 1.0), ta.errors.NoRuleError, "take scipy"),
        (lambda x: np.random.default_rng(0).poisson(x[0]), ta.errors.NoRuleError, "rng.poisson"),
        (lambda x: np.random.default_rng(0).gamma(x[0]), ta.errors.NoRuleError, "branch on shape="),
        (lambda x: np.round(x, 3).sum(), ta.errors.NoRuleError, "constant between its steps"),
        (lambda x: round(x[0], 3), ta.errors.NoRuleError, "constant between its steps"),
        (lambda x: x.view(np.int64), ta.errors.NoRuleError, "reads the bytes"),
        (
            lambda x: np.ma.array(x, mask=[True, False, False, False]).sum(),
            ta.errors.NoRuleError,
            "with a mask",
        ),
        (
            lambda x: np.ma.masked_array(x, [True, False, False, False]).sum(),
            ta.errors.ConversionError,
            "drop its gradient",
        ),
        (lambda x: np.sum(np.eye(4).view(np.matrix) * x), ta.errors.DtypeError, "np.asarray of a"),
        (lambda x: np.frompyfunc(max, 2, 1).reduce(x), ta.errors.NoRuleError, "no rule"),
        (lambda x: np.sum(Metres(x)), ta.errors.NoRuleError, "Metres is a subclass of numpy"),
        (lambda x: np.ma.masked_less(x, 0.4).sum(), ta.errors.ConversionError, "drop its gradient"),
    ],
)
def test_what_has_no_meaning_is_an_error(function: Function, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        ta.grad(ta.differentiable(function))(X)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_of_a_handle_is_an_error() -> None:
    with pytest.raises(ta.errors.ConversionError, match="drop its gradient"):
        ta.grad(ta.differentiable(lambda x: np.sum(np.asmatrix(x))))(X)


def test_a_key_that_is_found_by_another_handle_is_a_tie() -> None:
    def looked_up(x: Any) -> Any:
        table = {x[0]: x[0] ** 2}
        return table[x[1]] + table.get(x[1], 0.0)

    with pytest.raises(ta.errors.TieError, match=r"line \d+ of test_names.py.*ta.stop_gradient"):
        ta.grad(ta.differentiable(looked_up))(np.array([0.5, 0.5]))
    with pytest.raises(KeyError):
        ta.grad(ta.differentiable(looked_up))(np.array([0.5, 0.7]))


def test_compiled_code_may_write_to_an_array_that_it_is_given_twice() -> None:
    def rotated(x: Any) -> Any:
        m = np.eye(3) * 2
        flat = m.ravel()
        options = {"n": 3, "offx": 0, "offy": 3, "overwrite_x": True, "overwrite_y": True}
        scipy.linalg.blas.drot(flat, flat, 0.6, 0.8, **options)
        return np.sum(m * np.arange(9.0).reshape(3, 3)) * x[0]

    value, _ = ta.value_and_grad(ta.differentiable(rotated))(X)

    np.testing.assert_allclose(value, rotated(X))


def test_a_tie_in_the_code_of_a_package_is_an_error() -> None:
    code = compile(
        "def transformed(x, power):\n"
        "    x = np.asarray(x)\n"
        "    if power == 0.0:\n"
        "        return np.log(x)\n"
        "    return (x**power - 1) / power\n",
        "/lib/site-packages/boxes.py",
        "exec",
    )
    space: dict[str, Any] = {"__name__": "boxes", "np": np}
    exec(code, space)  # noqa: S102 - as a package would be imported
    f = ta.differentiable(lambda power: np.sum(space["transformed"]([1.0, 2.0], power)))

    assert np.isfinite(ta.grad(f)(1.0))
    with pytest.raises(ta.errors.TieError, match=r"line \d+ of test_names.py"):
        ta.grad(f)(0.0)


def test_a_text_that_is_only_read_has_the_value() -> None:
    texts: list[str] = []

    def told(x: Any) -> Any:
        warnings.warn(f"rate {x[0]:.2f}", stacklevel=1)
        try:
            message = f"too small: {x[1]:.2f}"
            raise ValueError(message)
        except ValueError as error:
            texts.append(str(error))
        try:
            raise ValueError("too small: %.2f" % x[1])  # noqa: UP031 - the form itself is tried
        except ValueError:
            return x[0] ** 2

    with pytest.warns(UserWarning, match=r"rate Tensor\(0\.30\)"):
        np.testing.assert_allclose(ta.grad(ta.differentiable(told))(X), [0.6, 0, 0, 0])
    assert texts == ["too small: Tensor(0.50)"]


def test_code_that_asks_for_types_as_no_copy_can_runs_as_it_is_on_plain_arrays() -> None:
    f = ta.differentiable(lambda x, y: x[0] ** 2 * (matched(y) + (y.dtype.type is np.float64)))

    with pytest.raises(ta.errors.NoRuleError, match="dtype"):
        ta.grad(f)(X, X)
    g = ta.differentiable(lambda x, y: x[0] ** 2 * matched(np.asarray(y)))
    np.testing.assert_allclose(ta.grad(g)(X, X), [0.36, 0, 0, 0])


def test_methods_of_generators_may_be_defaults() -> None:
    def drawn(scale: Any, draw: Any = np.random.standard_normal) -> Any:
        return np.sum(scale * draw(size=3))

    assert np.shape(ta.grad(ta.differentiable(drawn))(2.0)) == ()


def test_the_shape_of_an_array_without_views_is_assigned_to() -> None:
    def columns(x: Any) -> Any:
        y = np.asarray(x) * 1.0
        y.shape = (2, 1)
        z = np.zeros(2)
        z.shape = (1, 2)
        y[0] = 3 * y[0]
        return np.sum(y * np.array([[1.0], [2.0]])) + np.sum(z)

    np.testing.assert_array_equal(ta.grad(ta.differentiable(columns))(np.ones(2)), [3.0, 2.0])

    def seen_by_two(x: Any) -> Any:
        y = x * 1.0
        z = y[:1]
        y.shape = (2, 1)
        return np.sum(y) + np.sum(z)

    with pytest.raises(ta.errors.InPlaceError, match="reshape"):
        ta.grad(ta.differentiable(seen_by_two))(np.ones(2))


def test_a_method_that_rounds_at_decimals_is_refused_in_copies() -> None:
    def rounded(x: Any) -> Any:
        return np.sum(x.round(2) * x)

    with pytest.raises(ta.errors.NoRuleError, match="to 2 decimals is constant"):
        ta.grad(ta.differentiable(rounded))(np.array([0.123, 0.456]))


def test_a_power_that_is_complex_of_pythons_floats_is_refused_in_copies() -> None:
    def root(x: Any) -> Any:
        return x**0.5

    with pytest.raises(ta.errors.UnsupportedArgumentError, match=r"-4 \*\* 0.5 is a complex"):
        ta.grad(ta.differentiable(root))(-4.0)
    assert ta.grad(ta.differentiable(root))(4.0) == 0.25


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_a_number_of_pythons_may_be_captured(engine: Any) -> None:
    def rooted(x: Any) -> Any:
        return np.sqrt(x) + float(x)

    fast = ta.compile(lambda x: 2 * ta.differentiable(rooted)(x), engine=engine)
    for number in (3.0, 4.0, 9.0, 16.0):
        assert fast(number) == 2 * (np.sqrt(number) + number)


@pytest.mark.parametrize(
    "take",
    [
        np.ascontiguousarray,
        np.asfortranarray,
        np.asarray_chkfinite,
        lambda b: np.asarray(b, order="C"),
        lambda b: np.array(b, copy=None),
        lambda b: np.array(b, copy=False),
        lambda b: np.require(b, float, "C"),
        lambda b: np.ascontiguousarray(b.reshape(-1, 1).T),
        lambda b: np.asfortranarray(np.outer(b, b)),
        lambda b: np.ascontiguousarray(b[::2]),
        lambda b: np.asarray(b[::2], order="F"),
        np.array,
    ],
)
def test_what_lies_in_order_is_no_copy(take: Any) -> None:
    def changed(x: Any) -> Any:
        b = x * 1.0
        taken = take(b)
        taken *= 2
        return b

    slope = ta.jacobian(ta.differentiable(changed))(X)
    np.testing.assert_array_equal(slope, np.diag(changed(X) / X))


def test_flat_elements_are_compared_and_attributes_of_handles_alone_are_not_there() -> None:
    @ta.differentiable
    def chosen(x: Any) -> Any:
        none: Any = np.zeros(3)
        if np.any(none.flat != 0):
            return np.sum(none) * x.sum()
        if (x.flat > 0).all() and not (x.flat < 0.1).any():
            x = x * 3
        if getattr(x, "index", None) is None and getattr(x[0], "__len__", None) is None:
            x = x * 7
        return np.sum(x) if getattr(x, "shape", ()) == X.shape else x[0]

    assert chosen(X) == 21 * np.sum(X)
    np.testing.assert_array_equal(ta.grad(chosen)(X), np.full(X.shape, 21.0))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[0] * FACTORS[type(float(x[0]))],
        lambda x: x[0] * Factors.table.get(type(x[0]), 1.0),
        lambda x: x[0] * {float: 2.0, np.float64: 1.0}[type(x[0])],
        lambda x: x[0] * [FACTORS][0][(kind := type(x[0]))] * len(kind.__name__),
        lambda x: x[0] * (type(x[0]) in SCALARS),
        lambda x: x[0] * (type(x[0]) == type(1.0)),  # noqa: E721, UP003 - the form itself is tried
        lambda x: x[0] * ((type(x[0]), 1) == (float, 1)),
        lambda x: x[0] * ({type(each) for each in x} <= {int, float}),
        lambda x: x[0] * (set(map(type, x)) == {float}),
        lambda x: x[0] * (type(x[0]).__name__ == "float"),
        factor_of_a_variable,
    ],
)
def test_a_table_that_tells_pythons_numbers_from_numpys_is_refused(function: Function) -> None:
    with pytest.raises(ta.errors.NoRuleError, match="is the key of a table that has another entry"):
        ta.grad(ta.differentiable(function))(X)


def test_the_least_type_of_handles_is_that_of_their_numbers() -> None:
    f = ta.differentiable(lambda x: x * np.ones(2, np.mintypecode([x, 1j * x, "f"])))
    assert f(ta.ComputationRecord().tensor([1.0, 2.0])).dtype == complex
