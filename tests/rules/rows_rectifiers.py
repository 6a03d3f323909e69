"""Rows for the activations that act element by element."""

from typing import Any

from tape_ad.rules.nn import rectifiers
from tests.rules.table import REAL, Row, elementwise

__all__ = ["ROWS"]


def tanh_gelu(jax: Any) -> Any:
    """Choose JAX's approximation by a flag instead of a word."""
    return lambda x, approximate: jax.nn.gelu(x, approximate=approximate == "tanh")


ROWS: list[Row] = [
    *elementwise(rectifiers.leaky_relu, REAL, jax="nn.leaky_relu"),
    Row(rectifiers.leaky_relu, [REAL(2, 3)], options={"negative_slope": 0.2}, jax="nn.leaky_relu"),
    *elementwise(rectifiers.elu, REAL, jax="nn.elu"),
    Row(rectifiers.elu, [REAL(2, 3)], options={"alpha": 0.5}, jax="nn.elu"),
    *elementwise(rectifiers.selu, REAL, jax="nn.selu"),
    *elementwise(
        rectifiers.gelu, REAL, jax=lambda jax: lambda x: jax.nn.gelu(x, approximate=False)
    ),
    Row(rectifiers.gelu, [REAL(2, 3)], options={"approximate": "tanh"}, jax=tanh_gelu),
    *elementwise(rectifiers.normal_cdf, REAL, jax="scipy.special.ndtr"),
    *elementwise(rectifiers.silu, REAL, jax="nn.silu"),
    *elementwise(rectifiers.softplus, REAL, jax="nn.softplus"),
    Row(
        rectifiers.softplus,
        [REAL(2, 3)],
        options={"beta": 3.0, "threshold": 4.0},
        no_jax="JAX has no beta and no threshold",
        torch="nn.functional.softplus",
    ),
    *(
        Row(rectifiers.glu, [REAL(*shape)], options=options, jax="nn.glu")
        for shape, options in (
            ((2, 4), {}),
            ((4,), {}),
            ((4, 2, 3), {"axis": 0}),
            ((3, 4, 2), {"axis": 1}),
            ((3, 4, 2), {"axis": -2}),
            ((0, 4), {}),
        )
    ),
]
