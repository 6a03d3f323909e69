"""What came of all calls, put together by module."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tests.calls.names import things_of

__all__ = ["BAD", "OTHERS", "WAYS", "Case", "cases_of", "summary_of"]

WAYS = {
    "own": "as it stands",
    "flag": "with SciPy's flag",
    "copy": "under `ta.differentiable`",
    "ours": "under `ta.scipy`",
}
"""The ways to make a call, from what asks least of who makes it."""

OTHERS = ("clear", "cryptic", "detached", "wrong")
BAD = ("wrong", "detached", "cryptic")


@frozen
class Case:
    """What came of one argument of one call, in the worst of the ways to make it.

    Attributes
    ----------
    name, what, place : str
        The function, the methods called, and the argument.
    kind : str
    smooth : str
        "constant" where the result does not depend on the argument, "unclear" where differences
        cannot tell.
    told : dict of str to list
        What came of each of the `WAYS`.
    """

    name: str
    what: str
    place: str
    kind: str
    smooth: str
    told: Mapping[str, list[str]]

    @property
    def is_bad(self) -> bool:
        return self.kind in BAD

    def is_right(self, way: str) -> bool:
        return self.told.get(way, [""])[0] == "right"

    def __str__(self) -> str:
        told = "; ".join(
            f"{way} {kind} {story}".strip() for way, (kind, story) in self.told.items()
        )
        return f"{self.kind}: {self.name} {self.what} {self.place} [{self.smooth}] {told}"


def cases_of(plain: list[dict[str, Any]], flagged: list[dict[str, Any]]) -> list[Case]:
    """Put together what came of the same call with SciPy's flag and without."""
    ways: dict[tuple[str, ...], dict[str, Any]] = {}
    for way, lines in (("own", plain), ("flag", flagged)):
        for line in lines:
            key = (line["name"], str(line["call"]), line["what"], line["place"])
            entry = ways.setdefault(key, {"smooth": line["smooth"]})
            entry[way] = line["own"]
            entry |= {other: line[other] for other in ("copy", "ours") if other in line}
    cases = []
    for (name, _, what, place), entry in ways.items():
        smooth = entry.pop("smooth")
        cases.append(Case(name, what, place, kind_of(entry), smooth, entry))
    return cases


def kind_of(told: Mapping[str, list[str]]) -> str:
    """Find the worst that came, or the best where nothing is bad."""
    kinds = {kind for kind, _ in told.values()}
    return next((kind for kind in (*BAD, "right", "clear") if kind in kinds), "slow")


def counts_of(cases: list[Case]) -> dict[str, int]:
    """Count the calls, those that are right in each way and in any, and the others.

    A refusal of an argument that the result does not depend on, a tolerance, is no gradient
    missed, and is not counted.
    """
    counted = [
        case
        for case in cases
        if case.is_bad or case.kind == "right" or (case.kind, case.smooth) == ("clear", "smooth")
    ]
    right = [case for case in counted if case.kind == "right"]
    kinds = Counter(case.kind for case in counted)
    return {
        "calls": len(counted),
        "right": len(right),
        **{way: sum(case.is_right(way) for case in right) for way in WAYS},
        **{kind: kinds[kind] for kind in OTHERS},
    }


def summary_of(module: str, cases: list[Case]) -> dict[str, Any]:
    """Put together what is kept of a module: the counts, what goes wrong, and which names."""
    by_name = defaultdict(list)
    for case in cases:
        if case.smooth == "smooth" and case.kind != "slow":
            by_name[case.name].append(case)
    names = defaultdict(list)
    for name, _ in things_of(module):
        names[sort_of(by_name[name])].append(name)
    return {
        "counts": counts_of(cases),
        "bad": sorted(
            {f"{case.kind}: `{case.name}`, {case.place}" for case in cases if case.is_bad}
        ),
        "names": names,
    }


def sort_of(cases: list[Case]) -> str:
    """Tell what comes of a function's calls altogether."""
    if not cases:
        return "no real argument in the examples"
    right = [case for case in cases if case.kind == "right"]
    if len(right) < len(cases):
        return "an error for some arguments" if right else "an error"
    whole = [way for way in WAYS if all(case.is_right(way) for case in cases)]
    return whole[0] if whole else "several"
