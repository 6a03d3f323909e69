"""Calls of SciPy's functions, for `test_scipy.py`, which runs this in a process of its own.

SciPy reads SCIPY_ARRAY_API when it is imported, so one process is with it and one without. Each
call is of arrays, with numbers for what is no array. Printed are the names of those that give what
they should not.
"""

import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from attrs import frozen

import tape_ad as ta

Function = Callable[..., Any]

OLD, NEVER = (1, 14), (99,)
"""The releases of SciPy from which on a call works: the oldest that is supported, and none."""


@frozen
class Call:
    """A call of one function.

    Attributes
    ----------
    name : str
        For a report; the function's where `function` is None.
    operands : tuple of array
    function : callable or None
        What is called of the operands.
    flagged, plain : tuple of int
        The release of SciPy from which on the call works with SCIPY_ARRAY_API, and without.
    zero : bool
        Whether the result is piecewise constant, so that it may be no handle of the record.
    """

    name: str
    operands: tuple[Any, ...]
    function: Function | None = None
    flagged: tuple[int, ...] = (1, 17)
    plain: tuple[int, ...] = NEVER
    zero: bool = False

    def called(self) -> Function:
        """Find the function."""
        if self.function is not None:
            return self.function
        module, _, name = self.name.rpartition(".")
        found: Function = getattr(importlib.import_module(module), name)
        return found


RNG = np.random.default_rng(0)
X = RNG.uniform(0.3, 0.9, (5, 4))
V, W = RNG.uniform(0.2, 0.8, (2, 6))
TRANSFORMS = ["fft", "ifft", "rfft", "fft2", "fftn", "rfftn", "hfft", "ihfft", "irfft", "fftshift"]
MANY = np.concatenate([V, W, V**2, W**2])


def sp(name: str) -> Any:
    """Import one of SciPy's modules when a call wants it."""
    return importlib.import_module(f"scipy.{name}")


def vendored(name: str) -> Any:
    """Import a copy of a library that SciPy brings with it, which has moved in SciPy 1.18."""
    place = "_external" if find_spec("scipy._external") else "_lib"
    return sp(f"{place}.{name}")


def one_each(module: str, names: str, *operands: Any, **options: Any) -> Iterator[Call]:
    """Make a call of each function of a module."""
    for name in names.split():
        yield Call(f"scipy.{module}.{name}", operands, **options)


def parts(function: Function) -> Function:
    """Give the real and imaginary parts of what a function gives, added up."""

    def real(*operands: Any) -> Any:
        out = function(*operands)
        return np.real(out) + np.imag(out)

    return real


def statistic(name: str, of: str = "statistic") -> Function:
    """Give one of the results of a test."""
    return lambda *operands: getattr(getattr(sp("stats"), name)(*operands), of)


def extra(name: str) -> Any:
    """Give one of the functions with which SciPy writes for any namespace."""
    return getattr(vendored("array_api_extra"), name)


def use(name: str) -> Function:
    """Call one of them, when it is asked to."""

    def called(*operands: Any) -> Any:
        return extra(name)(*operands)

    return called


def big(p: Any) -> Any:
    """Compare an array with a number, in its namespace."""
    return p.__array_namespace__().greater(p, 0.5)


def cubature(p: Any) -> Any:
    """Integrate with a parameter that the integrand closes over."""
    xp = p.__array_namespace__()
    ends = xp.asarray([0.0]), xp.asarray([1.0])
    return sp("integrate").cubature(lambda t: xp.exp(-p[0] * t[:, 0] ** 2), *ends).estimate


def rotation(name: str, *more: Any) -> Function:
    """Give one of the forms of a rotation."""
    return lambda p: getattr(sp("spatial.transform").Rotation.from_rotvec(p[:3]), name)(*more)


def composed(p: Any) -> Any:
    """Compose two rotations, and turn a vector."""
    make = sp("spatial.transform").Rotation.from_rotvec
    return (make(p[:3]) * make(p[3:])).inv().apply(p[:3])


CALLS = [
    # Ufuncs record themselves, with the flag by way of the namespace, and before 1.17 not all.
    *one_each(
        "special",
        "digamma gamma loggamma rgamma psi exp10 exp2 cbrt exp1 j0 j1 erfinv erfcinv spence k0 k1",
        V,
        flagged=OLD,
        plain=OLD,
    ),
    *one_each(
        "special",
        "erf erfc expit logit gammaln ndtr ndtri log_ndtr i0 i0e i1 i1e entr",
        V,
        plain=OLD,
    ),
    *one_each("special", "xlogy rel_entr", V, W, plain=OLD, flagged=OLD),
    *one_each("special", "kl_div xlog1py betaln beta", V, W, plain=OLD, flagged=OLD),
    Call("gammaincc", (V,), lambda p: sp("special").gammaincc(1.5, p), plain=OLD),
    Call("chdtrc", (V,), lambda p: sp("special").chdtrc(3.0, p)),
    Call("betainc", (V,), lambda p: sp("special").betainc(2.0, 3.0, p), plain=OLD),
    *one_each("special", "logsumexp softmax log_softmax", X),
    Call("logsumexp b", (X, X + 0.1), lambda a, b: sp("special").logsumexp(a, axis=0, b=b)),
    *(
        Call(f"fft.{name}", (X,), parts(lambda a, name=name: getattr(sp("fft"), name)(a)), OLD)
        for name in TRANSFORMS
    ),
    *one_each(
        "stats",
        "gmean hmean skew kurtosis variation sem zscore gzscore tmean tvar tstd tsem entropy "
        "circmean circvar circstd kstat kstatvar differential_entropy",
        V,
    ),
    *one_each("stats", "gmean hmean skew kurtosis variation sem zscore entropy", X),
    Call("moment", (V,), lambda p: sp("stats").moment(p, 3), OLD),
    Call("skew unbiased", (V,), lambda p: sp("stats").skew(p, bias=False), OLD),
    Call("pmean", (V,), lambda p: sp("stats").pmean(p, 2)),
    Call("directional_stats", (X,), statistic("directional_stats", "mean_direction")),
    Call("describe", (V,), statistic("describe", "variance")),
    *(
        Call(f"{name} {of}", (V, W), statistic(name, of))
        for name in ("pearsonr", "ttest_ind", "ttest_rel")
        for of in ("statistic", "pvalue")
    ),
    *(
        Call(f"{name} {of}", (MANY,), statistic(name, of))
        for name in ("skewtest", "kurtosistest", "normaltest", "jarque_bera")
        for of in ("statistic", "pvalue")
    ),
    Call("bartlett", (V, W), statistic("bartlett")),
    Call("power_divergence", (V + 2,), statistic("power_divergence")),
    Call("combine_pvalues", (V,), statistic("combine_pvalues")),
    Call("spearmanr", (V, W), statistic("spearmanr"), zero=True),
    Call("rankdata", (V,), lambda p: sp("stats").rankdata(p) * p),
    *one_each("signal", "fftconvolve oaconvolve", V, W),
    Call("correlate", (V, W), lambda p, q: sp("signal").correlate(p, q, method="fft")),
    Call("hilbert", (V,), lambda p: np.imag(sp("signal").hilbert(p))),
    Call("resample", (V,), lambda p: sp("signal").resample(p, 9)),
    Call("vectorstrength", (V,), lambda p: sp("signal").vectorstrength(p, 1.0)[0]),
    *one_each("integrate", "trapezoid cumulative_trapezoid", V),
    Call("cubature", (V,), cubature),
    *one_each("optimize", "rosen rosen_der", V),
    Call("derivative", (V,), lambda p: sp("differentiate").derivative(np.sin, p).df),
    Call("jacobian", (V,), lambda p: sp("differentiate").jacobian(np.square, p).df),
    *one_each("cluster.vq", "whiten", X),
    *(
        Call(f"Rotation.{name}", (V,), rotation(name, *more))
        for name, *more in (
            ["as_matrix"],
            ["as_quat"],
            ["as_mrp"],
            ["as_rotvec"],
            ["magnitude"],
            ["as_euler", "zyx"],
        )
    ),
    Call("Rotation.apply", (V,), composed),
    # What SciPy itself is written with.
    Call("apply_where", (X,), lambda p: extra("apply_where")(big(p), (p,), np.exp, np.square)),
    Call("at", (X,), lambda p: extra("at")(p * 1.0, big(p)).multiply(p[0, 0], copy=True)),
    Call("at in place", (X,), lambda p: extra("at")(p * 1.0, (0, 1)).add(p[1, 1])),
    Call("cov", (X,), use("cov")),
    *(
        Call(f"extra {name}", (V,), lambda p, name=name, more=more: extra(name)(p, *more))
        for name, *more in (["create_diagonal"], ["pad", 2], ["partition", 2], ["sinc"])
    ),
    Call("kron", (V, W), use("kron")),
    Call("expand_dims", (V,), lambda p: extra("atleast_nd")(p, ndim=3)),
]


def fault_of(call: Call) -> str:
    """Compare a call on handles with that on constants of the same numbers, and with differences.

    Returns
    -------
    str
        What is wrong; empty if nothing is.
    """
    function, operands = call.called(), call.operands
    handles = [ta.ComputationRecord().tensor(a) for a in operands[:1]]
    handles += [handles[0].record.tensor(a) for a in operands[1:]]
    out = function(*handles)

    def value(*arrays: Any) -> Any:
        record = ta.ComputationRecord()
        return ta.stop_gradient(function(*map(record.tensor, arrays)))

    plain = function(*operands) if "namespace" not in called_names(function) else value(*operands)
    if not np.allclose(ta.stop_gradient(out), plain, rtol=1e-12, atol=1e-14):
        return "another value than of plain arrays"
    seed = np.cos(np.arange(out.size) + 1).reshape(out.shape)
    slopes = None
    if type(out) is ta.Tensor:
        slopes = out.grad(seed)
    elif not call.zero:
        return f"a {type(out).__name__}, without a gradient"
    for i, a in enumerate(operands):
        step = 1e-6 * np.cos(np.arange(a.size) * 1.7).reshape(a.shape)
        up, down = ([*operands[:i], a + s * step, *operands[i + 1 :]] for s in (1, -1))
        difference = np.sum(seed * (value(*up) - value(*down))) / 2e-6
        pushed = 0.0 if slopes is None else np.sum(slopes.wrt(handles[i]) * step) / 1e-6
        if not np.isclose(difference, pushed, rtol=1e-5, atol=1e-7):
            return f"the gradient {pushed} in place of {difference}"
    return ""


def called_names(function: Any) -> str:
    """Name what a function of this file asks of its operands."""
    return " ".join(getattr(getattr(function, "__code__", None), "co_names", ()))


def report(tried: list[Call]) -> None:
    """Try calls that should work, and print what does not, and how many there were."""
    faults = {}
    for call in tried:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=RuntimeWarning)
            try:
                fault = fault_of(call)
            except Exception as error:
                fault = f"{type(error).__name__}: {error}"
        if fault:
            faults[call.name] = fault
    json.dump({"tried": len(tried), "faults": faults}, sys.stdout)


if __name__ == "__main__":
    RELEASE = tuple(map(int, sp("version").version.split(".")[:2]))
    report([call for call in CALLS if getattr(call, sys.argv[1]) <= RELEASE])
