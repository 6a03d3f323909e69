"""The pages of the site in a real browser: nothing is amiss, and nothing is wider than a phone.

TAPE_AD_SITE says where the site was built. Without it there is none to open.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.browsers import chromium

BUILT = os.environ.get("TAPE_AD_SITE")
PHONE, DESKTOP = 390, 1280
FOUND = "#search-results ul.search li a"

pytestmark = pytest.mark.skipif(not BUILT, reason="TAPE_AD_SITE says where the site was built")


@pytest.fixture(scope="module")
def window() -> Iterator[Any]:
    with chromium() as browser:
        yield browser.new_page()


@pytest.fixture
def troubles(window: Any) -> Iterator[list[str]]:
    """What the browser complains about or asks of the network."""
    found: list[str] = []

    def note(words: str, amiss: bool = True) -> None:
        if amiss:
            found.append(words)

    listeners = {
        "console": lambda message: note(message.text, message.type == "error"),
        "pageerror": lambda error: note(str(error)),
        "request": lambda request: note(request.url, request.url.startswith("http")),
    }
    for event, listener in listeners.items():
        window.on(event, listener)
    yield found
    for event, listener in listeners.items():
        window.remove_listener(event, listener)


def test_every_page_fits_a_phone_and_a_desktop(window: Any, troubles: list[str]) -> None:
    site = Path(BUILT or "")
    pages = [page for page in site.rglob("*.html") if "_static" not in page.parts]
    widths = {}
    for page in pages:
        window.set_viewport_size({"width": PHONE, "height": 844})
        window.goto(page.as_uri())
        for width in (PHONE, DESKTOP):
            window.set_viewport_size({"width": width, "height": 844})
            wide = window.evaluate("document.documentElement.scrollWidth")
            widths[page.relative_to(site).as_posix(), width] = wide
    assert len(pages) > 50
    assert {key: wide for key, wide in widths.items() if wide > key[1]} == {}
    assert troubles == []


def test_the_search_finds_a_function_without_a_server(window: Any, troubles: list[str]) -> None:
    window.goto((Path(BUILT or "") / "search.html").as_uri() + "?q=checkpoint_sequential")
    window.wait_for_selector(FOUND, timeout=20_000)
    links = window.locator(FOUND).evaluate_all("found => found.map(link => link.href)")
    assert any("api/transforms.html" in link for link in links)
    assert troubles == []
