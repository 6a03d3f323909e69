"""HTML as text."""

from html.parser import HTMLParser

from tape_ad.record.inspection.pages.figures import Markup, fragment, table, tag


def test_text_is_escaped_once_and_elements_never() -> None:
    inner = tag("b", '<script>"&')
    assert inner == "<b>&lt;script&gt;&quot;&amp;</b>"
    assert fragment(inner, "<") == inner + "&lt;"
    assert tag("p", inner) == f"<p>{inner}</p>"


def test_attributes_are_escaped() -> None:
    assert tag("a", title='"><script>') == '<a title="&quot;&gt;&lt;script&gt;"></a>'


def test_attributes_without_value_and_without_being() -> None:
    assert (
        tag("tr", hidden=True, open=False, title=None, data_at=0) == '<tr hidden data-at="0"></tr>'
    )


def test_text_that_is_cut_from_markup_is_text_again() -> None:
    assert fragment(Markup("<b>")[:2]) == "&lt;b"


def test_a_table_has_a_row_each_and_closes_all_its_elements() -> None:
    text = table(["name", "<b>"], [["w<", "1"], [tag("i", "b"), "2"]], right=[1], caption="<c>")
    open_elements: list[str] = []

    class Balanced(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            open_elements.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_elements.pop() == tag

    Balanced().feed(text)
    assert open_elements == []
    assert text.count("<tr") == 3
    assert "w&lt;" in text
    assert "<i>b</i>" in text
    assert "&lt;c&gt;" in text
