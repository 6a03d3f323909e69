"""Take the picture of a record's page: ``python docs/pictures/page.py``.

The first block of docs/inspecting.md is run, its page opened in Chromium, and what is seen written
to record-page.png beside this file. Needs pip install --group browser, and Chromium.
"""

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "inspecting.md"
SIZE: Any = {"width": 1240, "height": 1270}


def main() -> None:
    """Run the block, and look."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - tests import this file

    text = PAGE.read_text(encoding="utf-8")
    found = next(re.finditer(r"(?ms)^```python\n(.*?)^```$", text))
    above = "\n" * text[: found.start(1)].count("\n")  # so that lines are found in the page
    names: dict[str, Any] = {}
    exec(compile(above + found[1], PAGE, "exec"), names)  # noqa: S102 - the project's own page
    program = shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        target = names["page"].save(Path(folder) / "record.html")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, device_scale_factor=1.5)
        page.goto(target.as_uri())
        page.screenshot(path=HERE / "record-page.png")
        browser.close()
    print(f"wrote {HERE / 'record-page.png'}")


if __name__ == "__main__":
    main()
