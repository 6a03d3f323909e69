"""Rows for the activations and losses of our own."""

import numpy as np

from tape_ad.rules.nn import activations, cross_entropies
from tests.rules.table import POSITIVE, REAL, Row, elementwise, plain

__all__ = ["ROWS"]

ROWS: list[Row] = [
    *elementwise(activations.relu, REAL, jax="nn.relu"),
    *elementwise(activations.sigmoid, REAL, jax="nn.sigmoid"),
    *(
        Row(activations.logsumexp, [REAL(2, 3, 4)], options=options, jax="scipy.special.logsumexp")
        for options in ({}, {"axis": 1}, {"axis": (0, -1), "keepdims": True})
    ),
    Row(activations.logsumexp, [REAL()], jax="scipy.special.logsumexp"),
    Row(activations.logsumexp, [REAL(0, 3)], options={"axis": 1}, jax="scipy.special.logsumexp"),
    *(
        Row(function, [REAL(2, 3, 4)], options=options, jax=jax)
        for function, jax in (
            (activations.softmax, "nn.softmax"),
            (activations.log_softmax, "nn.log_softmax"),
        )
        for options in ({}, {"axis": 0}, {"axis": (0, 2)}, {"axis": None})
    ),
    *(
        Row(function, [REAL(0, 3)], jax=jax)
        for function, jax in (
            (activations.softmax, "nn.softmax"),
            (activations.log_softmax, "nn.log_softmax"),
        )
    ),
    Row(
        cross_entropies.cross_entropy,
        [REAL(4, 3), plain([0, 2, 1, 2])],
        jax=lambda jax: (
            lambda logits, targets: (
                -jax.numpy.mean(jax.nn.log_softmax(logits)[np.arange(4), targets])
            )
        ),
    ),
    *(
        Row(
            cross_entropies.cross_entropy,
            [REAL(*shape), POSITIVE(*shape)],
            jax=lambda jax: (
                lambda logits, targets: (
                    -jax.numpy.mean(jax.numpy.sum(targets * jax.nn.log_softmax(logits), axis=-1))
                )
            ),
        )
        for shape in ((4, 3), (3,), (2, 2, 3))
    ),
    Row(
        cross_entropies.cross_entropy,
        [REAL(3), plain(1)],
        jax=lambda jax: lambda logits, target: -jax.nn.log_softmax(logits)[target],
    ),
]
