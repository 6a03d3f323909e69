"""What came of all calls, put together by module."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from attrs import frozen

from tests.calls.names import things_of

__all__ = ["BAD", "KINDS", "Case", "cases_of", "summary_of"]

KINDS = ("right", "right under ours", "clear", "cryptic", "detached", "wrong")
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
        What came of each way: "own", "flag" and "ours".
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
            if "ours" in line:
                entry["ours"] = line["ours"]
    cases = []
    for (name, _, what, place), entry in ways.items():
        smooth = entry.pop("smooth")
        cases.append(Case(name, what, place, kind_of(entry), smooth, entry))
    return cases


def kind_of(told: Mapping[str, list[str]]) -> str:
    """Find the worst that came, or the best where nothing is bad."""
    kinds = {way: kind for way, (kind, _) in told.items()}
    for bad in BAD:
        if bad in kinds.values():
            return bad
    if "right" in (kinds.get("own"), kinds.get("flag")):
        return "right"
    if kinds.get("ours") == "right":
        return "right under ours"
    return "clear" if "clear" in kinds.values() else "slow"


def counts_of(cases: list[Case]) -> dict[str, int]:
    """Count the kinds.

    A refusal of an argument that the result does not depend on, a tolerance, is no gradient
    missed, and is not counted.
    """
    counted = Counter(
        case.kind
        for case in cases
        if case.is_bad or "right" in case.kind or (case.kind == "clear" and case.smooth == "smooth")
    )
    return {kind: counted[kind] for kind in KINDS}


def summary_of(module: str, cases: list[Case]) -> dict[str, Any]:
    """Put together what is kept of a module: the counts, what goes wrong, and which names."""
    by_name = defaultdict(set)
    for case in cases:
        if case.smooth == "smooth" and case.kind in KINDS:
            by_name[case.name].add(case.kind)
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


def sort_of(kinds: set[str]) -> str:
    """Tell what comes of a function's calls altogether."""
    if not kinds:
        return "no real argument in the examples"
    if kinds <= {"right"}:
        return "the library's name"
    if kinds <= {"right", "right under ours"}:
        return "ours"
    return (
        "an error" if not kinds & {"right", "right under ours"} else "an error for some arguments"
    )
