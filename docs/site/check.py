"""Check a built site: ``python docs/site/check.py docs/_build``.

Every link leads to a file and a place in it, nothing is fetched from elsewhere, and every public
name is described.
"""

import argparse
import sys
from html.parser import HTMLParser
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from urllib.parse import unquote, urlsplit

import tape_ad as ta

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""The elements that make a browser load something, with the attribute that says what."""


class Page(HTMLParser):
    """The places of a page, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.add(values["href"])
        if values.get(LOADS.get(tag, ""), "") and values.get("rel") != "canonical":
            self.loaded.add(values[LOADS[tag]])


def faults_of_links(site: Path, pages: dict[Path, Page]) -> list[str]:
    """Follow every link from page to page."""
    faults = []
    for path, page in pages.items():
        for link in sorted(page.links | page.loaded):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto"):
                if link in page.loaded:
                    faults.append(f"{path.relative_to(site)} loads {link} from elsewhere")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            if not target.is_file() or (
                place and target in pages and place not in pages[target].places
            ):
                faults.append(f"{path.relative_to(site)} links to {link}, which is not there")
    return faults


def faults_of_names(pages: dict[Path, Page]) -> list[str]:
    """Look for public names that no page describes, or names in a table."""
    places = set().union(*(page.places for page in pages.values()))
    public = [f"tape_ad.{name}" for name in ta.__all__ if not ismodule(getattr(ta, name))]
    described = (
        "nn",
        "optim",
        "scipy.optimize",
        "parameters",
        "testing",
        "training",
        "errors",
    )
    for name in described:
        module = import_module(f"tape_ad.{name}")
        own = set(module.__all__) & vars(module).keys()  # SciPy's pages describe copies of its code
        public += [f"{module.__name__}.{each}" for each in sorted(own)]
    modules = {name for name in public if name in sys.modules or name == "tape_ad.nn.tanh"}
    packages = [
        *("nn", "optim", "parameters", "testing", "training"),
        *(f"interop.{name}" for name in ("array_api", "autograd", "dask", "sklearn")),
        *(f"scipy.{name}" for name in ta.scipy.__all__),
    ]
    described_modules = {f"module-tape_ad.{name}" for name in packages}
    return [
        f"no page describes {name}"
        for name in sorted({*public, *described_modules} - modules - places)
    ]


def main() -> int:
    """Print what is wrong, and return how many faults there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    site = parser.parse_args().site.resolve()
    static = site / "_static"
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    pages = {path: page for path, page in pages.items() if not path.is_relative_to(static)}
    faults = faults_of_links(site, pages) + faults_of_names(pages)
    print(*faults, f"{len(pages)} pages, {len(faults)} faults", sep="\n")  # noqa: T201 - a program
    return bool(faults or not pages)


if __name__ == "__main__":
    sys.exit(main())
