"""The page of a record in a real browser: folding, searching, links, and how it looks."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tape_ad as ta
from tests.browser.browsers import chromium

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
ROWS = "#table tbody tr:not(.group):visible"

Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def network() -> tuple[Any, Any, Any]:
    """A record of a small network, its loss, and all handles, which have to live."""
    model = ta.nn.Sequential(
        ta.nn.Linear("encoder.0", 8, 16),
        ta.nn.relu,
        ta.nn.Residual(ta.nn.Linear("encoder.2", 16, 16)),
        ta.nn.Linear("head", 16, 3),
    )
    rec: Any = ta.ComputationRecord(trace_source=True)
    p = rec.bind(ta.nn.init(model, np.random.default_rng(0)))
    loss = np.mean(np.tanh(model(p, np.ones((5, 8)))) ** 2)
    return rec, loss, p


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open HTML in a window of its own; at the end, nothing may have gone wrong in any."""
    troubles: list[str] = []
    contexts: list[Any] = []

    def open_page(html: str, viewport: Any = DESKTOP, scheme: str = "light") -> Any:
        target = tmp_path / f"{len(contexts)}.html"
        target.write_text(html, "utf-8")
        context = browser.new_context(viewport=viewport, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: troubles.append(dialog.message))
        page.on("request", lambda request: note_request(request.url))
        page.goto(target.as_uri())
        return page

    def note_request(url: str) -> None:
        if not url.startswith(("file:", "about:srcdoc")):
            troubles.append(f"asked for {url}")

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def page(opened: Open, network: tuple[Any, Any, Any]) -> Any:
    rec, loss, _ = network
    return opened(rec.show(gradients=loss.grad()).html)


def test_a_layer_is_folded_and_unfolded_by_a_click(page: Any) -> None:
    encoder = page.get_by_role("button", name="encoder", exact=True)
    assert page.locator("#n1").is_visible()
    encoder.click()
    assert page.locator("#n1").is_hidden()
    assert page.locator("#n5").is_visible()  # of another layer
    assert encoder.get_attribute("aria-expanded") == "false"
    encoder.click()
    assert page.locator("#n1").is_visible()


def test_a_layer_within_one_that_is_unfolded_stays_as_it_was(page: Any) -> None:
    encoder = page.get_by_role("button", name="encoder", exact=True)
    page.locator("button[title='encoder/0']").click()
    encoder.click()
    encoder.click()
    assert page.locator("#n0").is_hidden()
    assert page.locator("#n2").is_visible()


def test_all_layers_are_folded_and_unfolded(page: Any, network: tuple[Any, Any, Any]) -> None:
    page.get_by_role("button", name="Fold all", exact=True).click()
    folded = page.locator(ROWS).count()
    page.get_by_role("button", name="Unfold all", exact=True).click()
    assert folded < page.locator(ROWS).count() == len(network[0])


def test_folding_goes_by_keyboard_alone(page: Any) -> None:
    page.get_by_role("button", name="encoder", exact=True).focus()
    page.keyboard.press("Enter")
    assert page.locator("#n1").is_hidden()
    page.keyboard.press("Space")
    assert page.locator("#n1").is_visible()
    assert page.evaluate("document.activeElement.title") == "encoder"


def test_everything_is_reached_by_the_tabulator(page: Any) -> None:
    names = set()
    for _ in range(80):
        page.keyboard.press("Tab")
        names.add(page.evaluate("document.activeElement.id || document.activeElement.title"))
    assert names >= {"search", "fold", "unfold", "encoder", "encoder/0", "head"}


def test_searching_shows_what_has_all_words_and_the_layers_around(page: Any) -> None:
    page.get_by_role("searchbox", name="Search").fill("linear 16")
    assert page.locator(ROWS).count() == 2
    assert page.locator("#found").inner_text().startswith("2 of ")
    page.get_by_role("searchbox", name="Search").fill("encoder/0 relu")
    assert page.locator(ROWS).count() == 1
    assert page.locator("tr.group:visible").count() == 2


def test_a_search_looks_into_folded_layers_and_ends_as_it_began(page: Any) -> None:
    page.get_by_role("button", name="Fold all", exact=True).click()
    before = page.locator(ROWS).count()
    page.get_by_role("searchbox", name="Search").fill("relu")
    assert page.locator(ROWS).count() == 1
    page.keyboard.press("Escape")
    assert page.locator(ROWS).count() == before
    assert page.locator("#found").inner_text().endswith("nodes")


def test_lines_of_the_program_are_shown_and_found(page: Any) -> None:
    page.get_by_role("searchbox", name="Search").fill("test_record_page.py bias in network")
    assert page.locator(ROWS).count() == 6
    assert "p = rec.bind(" in page.locator("#n0 .source").inner_text()


def test_a_search_that_finds_nothing_says_so(page: Any) -> None:
    page.get_by_role("searchbox", name="Search").fill("no such thing")
    assert page.get_by_text("No node has all of these words.").is_visible()
    assert page.locator("#table tbody tr:visible").count() == 0


def test_a_stroke_begins_to_search(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("relu")
    assert page.locator("#search").input_value() == "relu"
    assert page.locator(ROWS).count() == 1


def test_an_operand_leads_to_its_node_though_its_layer_is_folded(page: Any) -> None:
    page.locator("button[title='encoder/0']").click()
    page.locator("#n8 .call a").first.click()  # the sum, whose operand is what the relu gave
    target = page.locator("tr.hit")
    assert target.is_visible()
    assert "relu" in target.inner_text()
    assert page.evaluate("document.activeElement.id") == target.get_attribute("id")


def test_a_box_of_the_graph_leads_to_its_node(page: Any, network: tuple[Any, Any, Any]) -> None:
    assert page.locator(".ta-graph a").count() == len(network[0])
    page.locator('.ta-graph a[href="#n6"]').click()
    assert page.locator("#n6.hit").is_visible()


def test_a_graph_is_drawn(opened: Open, network: tuple[Any, Any, Any]) -> None:
    page = opened(network[0].show().html)
    assert page.locator(".ta-graph a").count() == len(network[0])
    boxes = page.locator(".ta-graph a rect").all()
    assert all(box.bounding_box()["width"] > 20 for box in boxes)


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_text_can_be_read(
    opened: Open, network: tuple[Any, Any, Any], viewport: Any, scheme: str
) -> None:
    rec, loss, _ = network
    page = opened(rec.show(gradients=loss.grad()).html, viewport, scheme)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= viewport["width"]
    hidden = "each => each.parentElement.scrollWidth - each.parentElement.clientWidth"
    assert page.eval_on_selector("#table", hidden) == 0
    assert page.locator("#n6").is_visible()
    background, ink = page.evaluate(
        "['backgroundColor', 'color'].map((each) => getComputedStyle(document.body)[each])"
        ".map((rgb) => rgb.match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 765)"
    )
    assert abs(background - ink) > 0.7
    assert (background > ink) == (scheme == "light")


def test_numbers_stand_below_each_other(page: Any) -> None:
    rights = page.eval_on_selector_all(
        "#table tbody tr:not(.group) .held",
        "cells => cells.map(e => e.getBoundingClientRect().right)",
    )
    assert len(rights) > 5
    assert max(rights) - min(rights) < 1


def test_a_frame_of_a_notebook_works_and_is_not_left(
    opened: Open, network: tuple[Any, Any, Any]
) -> None:
    page = opened(f"<!doctype html><h1>Notebook</h1>{network[0].show()._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.locator("#search").fill("relu")
    assert frame.locator(ROWS).count() == 1
    frame.locator("#table a:visible").first.click()
    assert frame.locator("tr.hit").is_visible()
    assert page.locator("h1").evaluate("each => getComputedStyle(each).fontSize") == "32px"


def test_names_that_are_markup_do_nothing(opened: Open) -> None:
    rec: Any = ta.ComputationRecord()
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    p = rec.bind({evil: {'"w': np.ones(2)}, "größe 重み": 1.0})
    y = p[evil]['"w'] * p["größe 重み"]
    page = opened(rec.show(gradients=y.grad(np.ones(2))).html)
    assert page.locator("img").count() == 0
    assert page.locator("#table").get_by_text("größe 重み").first.is_visible()


def test_a_long_record_opens(opened: Open) -> None:
    rec: Any = ta.ComputationRecord()
    x = rec.tensor(np.ones(2))
    for _ in range(19_999):
        x = np.sin(x)
    page = opened(rec.show().html)
    assert page.locator("#table tbody tr").count() == 2000
    assert page.get_by_text("18,000 of 20,000").is_visible()
    page.locator("#search").fill("%19998")
    assert page.locator(ROWS).count() == 2


def test_an_empty_record_opens(opened: Open) -> None:
    page = opened(ta.ComputationRecord().show().html)
    assert page.get_by_role("heading", name="A record of 0 nodes").is_visible()
