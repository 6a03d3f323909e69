"""Engines for tests that are of all of them."""

import pytest

from tape_ad.programs import engines


@pytest.fixture(params=["numpy", "native"])
def either_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let ``engine="auto"`` be one engine, and then the other."""
    known = engines.ENGINES
    monkeypatch.setattr(engines, "ENGINES", {**known, "auto": known[request.param]})
    return str(request.param)
