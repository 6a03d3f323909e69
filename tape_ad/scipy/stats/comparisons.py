"""Tests whose results have intervals, for confidence levels that may be handles too."""

from typing import Any, NoReturn

import numpy as np
from attrs import define, field, frozen

from tape_ad.errors import UnsupportedArgumentError
from tape_ad.extend.arrays import Array, Shape, any_handle, array_of, plain
from tape_ad.extend.patterns import dense
from tape_ad.extend.rules import Entry, arguments_of, overridable, rule
from tape_ad.scipy.installed import scipy
from tape_ad.scipy.stand_ins import stands_for
from tape_ad.scipy.stats.methods import ppf, sf
from tape_ad.scipy.stats.samples import ConfidenceInterval, floating

__all__ = ["tukey_hsd"]


# Groups


@frozen(eq=False)
class TukeyHSDResult:
    """What is told of the means of all pairs of groups.

    Attributes
    ----------
    statistic : array or Tensor, shape (n, n)
        The differences of the means.
    """

    statistic: Any
    _errors: Any = field(repr=False)
    _groups: int = field(repr=False)
    _df: Any = field(repr=False)
    _told: Any = field(repr=False)

    def __str__(self) -> str:
        return str(self._told)

    @property
    def pvalue(self) -> Any:
        """How likely differences as large are; it has no second derivative, and they have."""
        if not any_handle(self.statistic):
            return self._told.pvalue
        t = np.absolute(self.statistic) / self._errors
        groups = np.float64(self._groups)
        return sf(t, groups, self._df, 0.0, 1.0, name="studentized_range")

    def confidence_interval(self, confidence_level: Any = 0.95) -> ConfidenceInterval:
        """Give the bounds of the differences.

        Parameters
        ----------
        confidence_level : number or Tensor, between 0 and 1
        """
        if not 0 < confidence_level < 1:
            raise ValueError("Confidence level must be between 0 and 1.")
        groups = np.float64(self._groups)
        reach = ppf(confidence_level, groups, self._df, 0.0, 1.0, name="studentized_range")
        reach = reach * self._errors
        return ConfidenceInterval(self.statistic - reach, self.statistic + reach)


def tukey_hsd(*args: Any, equal_var: bool = True) -> TukeyHSDResult:
    """Compare the means of all pairs of groups; see `scipy.stats.tukey_hsd`.

    Parameters
    ----------
    *args : array or Tensor, shape (n,)
        Two groups or more.
    equal_var : bool
        Whether the groups have one variance. Else there are p-values and intervals of plain arrays
        alone, for the degrees of freedom depend on the samples.

    Returns
    -------
    TukeyHSDResult
    """
    options = {} if equal_var else {"equal_var": False}  # which SciPy 1.15 brought
    told = scipy.stats.tukey_hsd(*plain(args), **options)
    arrays = [floating(array_of(x)) for x in args]
    sizes = np.array([x.shape[0] for x in arrays])
    means = np.stack([np.mean(x) for x in arrays])
    variances = np.stack([np.var(x, ddof=1) if x.size > 1 else 0.0 * x[0] for x in arrays])
    groups, total = len(args), int(np.sum(sizes))
    df: Any = np.float64(total - groups)
    if equal_var:
        inside = np.sum(variances * (sizes - 1)) / df
        errors = np.sqrt((1 / sizes + 1 / sizes[:, None]) * inside / 2)
    else:
        shares = variances / sizes
        sums, parts = shares[:, None] + shares, shares**2 / (sizes - 1)
        errors, df = np.sqrt(sums / 2), sums**2 / (parts[:, None] + parts)
    differences = means[:, None] - means if any_handle(args) else told.statistic
    return TukeyHSDResult(differences, errors, groups, df, told)


THEIRS = scipy.stats._multicomp._pvalue_dunnett


@overridable
def likelihoods(statistic: Array, rho: Any, df: int, alternative: str, rng: Any) -> Array:
    """Integrate at random points how likely statistics of Dunnett's are."""
    return THEIRS(rho, df, statistic, alternative, rng)


@stands_for(THEIRS)
def pvalue_of_dunnett(
    rho: Any, df: int, statistic: Array, alternative: str, rng: Any = None
) -> Array:
    """Give values without a derivative, which is refused where it is asked for."""
    return likelihoods(statistic, rho, df, alternative, rng)


@define(eq=False, repr=False)
class Undefined:
    """What stands for the derivative of numbers that are drawn: there is none."""

    pattern = dense
    shape: Shape
    parent: Shape

    def push(self, t: Array) -> Array:
        """Give no number; all that is computed forward meets what nobody asks for."""
        return np.full((*t.shape[: t.ndim - len(self.parent)], *self.shape), np.nan)

    def pull(self, ct: Array) -> NoReturn:
        raise UnsupportedArgumentError(
            "scipy.stats.dunnett: pvalue is integrated at random points, and has no derivative "
            "here; ask for it with .data of the samples"
        )


LIKELIHOODS: dict[Any, Entry] = {
    likelihoods: rule(
        lambda out, statistic, **options: Undefined(out.shape, statistic.shape),
        signature=arguments_of(likelihoods, "statistic"),
    ),
}
