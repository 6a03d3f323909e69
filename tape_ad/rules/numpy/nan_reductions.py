"""Reductions and scans that pass nan over: nan gets no gradient.

They are the plain ones where nan is not. Where there is nothing but nan, nothing gets a gradient.
"""

from typing import Any

import numpy as np

from tape_ad.rules import facts
from tape_ad.rules.base import Entry, Maker, quiet, rule, stated
from tape_ad.rules.maps import Array
from tape_ad.rules.numpy.reductions import (
    extremum_partial,
    extremum_signature,
    mean_partial,
    mean_signature,
    product_partial,
    sum_partial,
    sum_signature,
)
from tape_ad.rules.numpy.spreads import spread_rule, std_weights, var_weights

__all__ = ["NAN_REDUCTIONS"]


def without_nan(maker: Maker) -> Maker:
    """Make the maker of a reduction that passes nan over."""

    def partial(out: Array, a: Array, *operands: Array, where: Any = True, **options: Any) -> Any:
        return maker(out, a, *operands, where=~np.isnan(a) & where, **options)

    return quiet(partial)


NAN_REDUCTIONS: dict[Any, Entry] = stated(
    facts.along(none="all"),
    {
        np.nansum: rule(without_nan(sum_partial), signature=sum_signature("nansum")),
        np.nanprod: rule(without_nan(product_partial), signature=sum_signature("nanprod")),
        np.nanmean: rule(without_nan(mean_partial), signature=mean_signature("nanmean")),
        np.nanmax: rule(without_nan(extremum_partial), signature=extremum_signature("nanmax")),
        np.nanmin: rule(without_nan(extremum_partial), signature=extremum_signature("nanmin")),
        np.nanvar: spread_rule(np.nanvar, var_weights, without_nan),
        np.nanstd: spread_rule(np.nanstd, std_weights, without_nan),
    },
)
