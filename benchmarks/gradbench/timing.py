"""A time of ours beside another's."""

from attrs import frozen


@frozen
class Timing:
    """Two times, in seconds, and how they should compare.

    Attributes
    ----------
    what, beside : str
    ours, theirs : float
    at_most : float
        The greatest ratio of ours to theirs that is aimed at.
    problem : str
        Why there are no times, if there are none.
    """

    what: str
    beside: str
    ours: float
    theirs: float
    at_most: float
    problem: str = ""

    def __str__(self) -> str:
        if self.problem:
            return f"{self.what:46} {self.problem}"
        ratio = self.ours / self.theirs
        word = "" if ratio <= self.at_most else "  MISSED"
        return (
            f"{self.what:46} {1e3 * self.ours:9.4g} ms  {self.beside:28}"
            f" {1e3 * self.theirs:10.4g} ms  ratio {ratio:.3g}, aim {self.at_most:g}{word}"
        )
