"""Write docs/accuracy.md: measure the errors of native code and of NumPy, in about a minute."""

from pathlib import Path

from tests.accuracy.document import document

ACCURACY = Path(__file__).parents[2] / "docs" / "accuracy.md"


def main() -> None:
    ACCURACY.write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main()
