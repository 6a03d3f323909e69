"""The page that shows a record, made of plain data."""

import re
import webbrowser
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from tape_ad.record.inspection.pages import record_page
from tape_ad.record.inspection.pages.figures import Range
from tape_ad.record.inspection.pages.lines import Line, Look
from tape_ad.record.inspection.pages.record_page import Page

FLOAT = np.dtype(float)
EVIL = '"><script>alert(1)</script>'


def chain(size: int) -> Look:
    first = Line(0, "leaf", "leaf a/w", (), (2,), FLOAT, 0, name="a/w", held=True)
    rest = [Line(i, "exp", f"exp %{i - 1}", (i - 1,), (2,), FLOAT, 16) for i in range(1, size)]
    return Look((first, *rest), 16 * (size - 1))


class Elements(HTMLParser):
    """What stands in a page: its elements by name, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def count(self, name: str) -> int:
        return sum(tag == name for tag, _ in self.found)


def test_a_page_asks_the_network_for_nothing() -> None:
    page = Elements(Page(chain(5)).html)
    asked = [attrs[key] for _, attrs in page.found for key in ("src", "href") if key in attrs]
    assert asked
    assert all(re.fullmatch(r"#n\d+", each or "") for each in asked)
    assert "@import" not in Page(chain(5)).html
    assert "default-src 'none'" in str(page.found)


def test_names_and_lines_that_are_markup_are_shown_as_text() -> None:
    call, source = f"{EVIL} {EVIL}=2", (EVIL, 3, EVIL)
    line = Line(0, EVIL, call, (), (), FLOAT, 0, f"{EVIL}/w", source, text=EVIL)
    page = Elements(Page(Look((line,), 0)).html)
    assert page.count("script") == 1
    assert "alert(1)" in page.text
    assert Elements(Page(Look((line,), 0))._repr_html_()).count("script") == 0


def test_every_node_has_a_row_with_links_to_what_it_was_made_of() -> None:
    page = Elements(Page(chain(4)).html)
    rows = [attrs["id"] for tag, attrs in page.found if tag == "tr" and attrs.get("id")]
    assert sorted(filter(None, rows)) == ["n0", "n1", "n2", "n3"]
    assert "exp %2" in page.text


def test_gradients_and_lines_have_columns_where_there_are_any() -> None:
    assert "gradient" not in Elements(Page(chain(2)).html).text
    line = Line(0, "leaf", "leaf", (), (2,), FLOAT, 0, gradient=Range(0.5, 2, 1, 0, 3))
    page = Elements(Page(Look((line,), 0, root=0)).html)
    assert "gradients of %0" in page.text
    assert "is nan" in page.text


def test_a_large_record_shows_its_ends_and_says_so() -> None:
    html = Page(chain(5000)).html
    assert html.count('<tr id="n') == record_page.SHOWN
    assert "%1000 to %3999 (3,000 of 5,000)" in html
    assert 'id="n999"' in html
    assert 'id="n4999"' in html
    assert "<svg" not in html
    assert len(html) < 1_500_000


def test_an_empty_record_has_a_page() -> None:
    assert "A record of 0 nodes" in Page(Look((), 0)).html


@pytest.mark.parametrize(
    ("name", "start"), [("r.html", "<!doctype"), ("r.svg", "<svg"), ("r.dot", "digraph")]
)
def test_what_is_saved_is_told_by_the_suffix(name: str, start: str, tmp_path: Path) -> None:
    page = Page(chain(3))
    assert page.save(tmp_path / name) == tmp_path / name
    assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_a_suffix_that_says_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.html, \.htm, \.svg, .*got '\.png'"):
        Page(chain(3)).save(tmp_path / "r.png")
    assert list(tmp_path.iterdir()) == []


def test_a_page_opens_in_the_browser_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    target = Page(chain(3)).open()
    assert opened == [target.as_uri()]
    target.unlink()


def test_a_notebook_shows_it_in_a_frame_of_its_own() -> None:
    ((tag, attrs),) = Elements(Page(chain(3))._repr_html_()).found
    assert tag == "iframe"
    assert (attrs["srcdoc"] or "").startswith("<!doctype html>")


def test_a_repr_says_what_can_be_done() -> None:
    assert (
        repr(Page(chain(1))) == "<Page of 1 node: .open(), .save('record.html'), .html, .svg, .dot>"
    )
