"""A real browser to open pages in: Chromium, which the group `browser` drives.

Without either, the tests that ask for one are skipped, unless the environment variable
TAPE_AD_BROWSER says ``required``.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["chromium"]

REQUIRED = os.environ.get("TAPE_AD_BROWSER") == "required"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser without a window."""
    if not REQUIRED:
        pytest.importorskip("playwright", reason="playwright is in the group `browser`")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an optional extra

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None and not REQUIRED:
        pytest.skip("no Chromium is installed")
    assert program, f"none of {', '.join(PROGRAMS)} is installed"
    with sync_playwright() as driver:
        root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium has no sandbox for root
        browser = driver.chromium.launch(
            executable_path=program, args=["--no-sandbox"] if root else []
        )
        yield browser
        browser.close()
