"""The evals, each in a file of its name."""

from benchmarks.gradbench.evals import (
    ba,
    det,
    gmm,
    hello,
    ht,
    kmeans,
    llsq,
    lse,
    lstm,
    ode,
    particle,
    saddle,
)
from benchmarks.gradbench.tasks import Tasks

EVALS: dict[str, Tasks] = {
    module.__name__.rpartition(".")[2]: module.TASKS
    for module in (ba, det, gmm, hello, ht, kmeans, llsq, lse, lstm, ode, particle, saddle)
}
