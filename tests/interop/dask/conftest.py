"""A cluster within this process, which several files of tests share."""

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

# They are programs, with doctests
collect_ignore = [] if find_spec("distributed") else ["curvature.py", "kills.py", "outcomes.py"]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client
