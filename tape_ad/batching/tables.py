"""How a function of one of a batch is computed for all: one line for each function that is known.

An entry is called as ``entry(batch, function, args, kwargs)`` and gives the results for all, with
the axis of the batch in front. It raises `Looped` where it does not know how, and the function is
called for one after the other then.
"""

from typing import Any

import numpy as np

from tape_ad.batching.along import Along, differences, norm, quantiles, rolled, transformed
from tape_ad.batching.basics import Handler, ndim_of
from tape_ad.batching.choices import (
    added,
    digitized,
    scattered,
    searched,
    taken,
    taken_along,
    windows,
)
from tape_ad.batching.elements import cast, elementwise, filled, listed
from tape_ad.batching.indexing import updated_for_all, viewed_in_all
from tape_ad.batching.products import (
    composed,
    contracted,
    convolved,
    correlated,
    crossed,
    einsum,
    inner,
    kron,
    outer,
    picked,
    polynomial,
    solve,
    trailing,
    vdot,
)
from tape_ad.batching.shapes import (
    blocks,
    broadcast,
    built,
    concatenated,
    diagonal_matrix,
    expanded,
    inserted,
    mirrored,
    on_matrices,
    padded,
    ravelled,
    reshaped,
    rotated,
    spaced,
    squeezed,
    stacked,
    tiled,
    transposed,
    triangle,
)
from tape_ad.rules.maps.indexing import added_at, scatter
from tape_ad.rules.maps.matrix_products import times_matrix
from tape_ad.rules.nn.activations import log_softmax, logsumexp, relu, sigmoid, softmax
from tape_ad.rules.nn.normal import normal_cdf
from tape_ad.rules.nn.rectifiers import elu, gelu, leaky_relu, selu, silu, softplus
from tape_ad.rules.numpy.building import filled_like, linspace
from tape_ad.rules.numpy.continued import (
    difference,
    logistic,
    over_square,
    power_derivative,
    ratio,
    signed_power,
    unit,
    within,
)
from tape_ad.rules.numpy.contractions import contract
from tape_ad.rules.numpy.sorting import stable_order
from tape_ad.rules.numpy.updates import updated, viewed

__all__ = ["HANDLERS"]

ELEMENTWISE = (
    *(np.where, np.real, np.imag, np.isreal, np.iscomplex, np.round, np.around),
    *(np.isclose, np.isposinf, np.isneginf, np.angle, np.fix, np.sinc, np.i0, np.copy, np.clip),
    *(np.nan_to_num,),
)
ACTIVATIONS = (relu, sigmoid, leaky_relu, elu, selu, gelu, silu, softplus, normal_cdf)
REDUCTIONS = (
    *(np.sum, np.mean, np.prod, np.max, np.amax, np.min, np.amin, np.ptp, np.any, np.all, np.var),
    *(np.std, np.count_nonzero, np.nansum, np.nanprod, np.nanmean, np.nanmax, np.nanmin),
    *(np.nanvar, np.nanstd, np.flip),
)
REDUCED = ("add", "multiply", "maximum", "minimum", "logical_and", "logical_or", "fmax", "fmin")

HANDLERS: dict[Any, Handler] = {
    **dict.fromkeys(ELEMENTWISE, elementwise),
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like, filled_like), filled),
    **dict.fromkeys(REDUCTIONS, Along(1, None, "all")),
    **dict.fromkeys((np.cumsum, np.cumprod, np.nancumsum, np.nancumprod), Along(1)),
    **dict.fromkeys((np.argmax, np.argmin, np.nanargmax, np.nanargmin), Along(1)),
    **dict.fromkeys((np.median, np.nanmedian), Along(1)),
    **dict.fromkeys((np.sort, np.argsort, stable_order), Along(1, -1)),
    **dict.fromkeys((np.partition, np.argpartition), Along(2, -1)),
    **dict.fromkeys((np.quantile, np.percentile, np.nanquantile, np.nanpercentile), quantiles),
    **dict.fromkeys((np.repeat, np.delete), Along(2)),
    **dict.fromkeys([getattr(np, name).reduce for name in REDUCED], Along(1, 0, "all")),
    **dict.fromkeys([getattr(np, name).accumulate for name in REDUCED], Along(1, 0)),
    **dict.fromkeys(
        (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft),
        Along(2, -1),
    ),
    **dict.fromkeys((np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn), transformed),
    **dict.fromkeys((np.fft.fftshift, np.fft.ifftshift), Along(1, None, "all", "axes")),
    **dict.fromkeys(
        (np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2),
        Along(2, (-2, -1), "all", "axes"),
    ),
    np.astype: cast,
    np.diff: differences,
    np.unwrap: Along(2, -1),
    np.roll: rolled,
    np.reshape: reshaped,
    np.ravel: ravelled,
    np.transpose: transposed,
    np.expand_dims: expanded,
    np.squeeze: squeezed,
    np.broadcast_to: broadcast,
    np.diagonal: on_matrices,
    np.trace: on_matrices,
    np.tril: triangle,
    np.triu: triangle,
    np.diag: diagonal_matrix,
    np.rot90: rotated,
    np.flipud: mirrored(0),
    np.fliplr: mirrored(1),
    np.tile: tiled,
    np.pad: padded,
    np.concatenate: concatenated,
    np.stack: stacked,
    np.hstack: built(np.atleast_1d, lambda arrays: 0 if arrays and arrays[0].ndim == 1 else 1),
    np.vstack: built(np.atleast_2d, lambda arrays: 0),
    np.dstack: built(np.atleast_3d, lambda arrays: 2),
    np.block: composed(blocks),
    np.insert: composed(inserted),
    **dict.fromkeys((np.linspace, linspace), spaced),
    np.column_stack: built(
        lambda x: np.reshape(x, (-1, 1)) if ndim_of(x) < 2 else x, lambda arrays: 1
    ),
    np.take: taken,
    np.take_along_axis: taken_along,
    np.select: listed,
    np.choose: listed,
    np.searchsorted: searched,
    np.digitize: digitized,
    np.lib.stride_tricks.sliding_window_view: windows,
    np.einsum: einsum,
    updated: updated_for_all,
    viewed: viewed_in_all,
    scatter: scattered,
    added_at: added,
    times_matrix: picked,
    contract: contracted,
    **dict.fromkeys(
        (difference, ratio, unit, over_square, logistic, signed_power, within, power_derivative),
        elementwise,
    ),
    np.outer: composed(outer),
    np.inner: composed(inner),
    np.vdot: composed(vdot),
    np.kron: composed(kron),
    np.cross: crossed,
    np.linalg.cross: crossed,
    np.polyval: composed(polynomial),
    np.convolve: composed(convolved),
    np.correlate: composed(correlated),
    **dict.fromkeys(ACTIVATIONS, elementwise),
    **dict.fromkeys((softmax, log_softmax), Along(1, -1, "all")),
    logsumexp: Along(1, None, "all"),
    np.linalg.solve: solve,
    np.linalg.norm: norm,
    **dict.fromkeys(
        (
            *(np.linalg.inv, np.linalg.pinv, np.linalg.det, np.linalg.slogdet, np.linalg.eigh),
            *(np.linalg.eigvalsh, np.linalg.eig, np.linalg.eigvals, np.linalg.svd, np.linalg.qr),
            *(np.linalg.svdvals, np.linalg.cholesky, np.linalg.matrix_rank, np.linalg.cond),
            *(np.linalg.matrix_norm, np.linalg.matrix_power, np.linalg.matrix_transpose),
            *(np.linalg.diagonal, np.linalg.trace, np.matrix_transpose),
        ),
        trailing(2),
    ),
}
