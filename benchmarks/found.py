"""All that a run finds out."""

from attrs import define, field

from benchmarks.beside import Beside
from benchmarks.compiled import compiled_targets
from benchmarks.functions import function_targets
from benchmarks.growth import GROWTHS, RecordCost, growth
from benchmarks.imports import IMPORT_TARGET
from benchmarks.libraries import FORWARD, LIBRARIES, OURS, OURS_COMPILED, OURS_NATIVE, PLAIN
from benchmarks.native import native_targets
from benchmarks.results import FREE, Result, Target
from benchmarks.tables import rounded

__all__ = ["Run", "losses"]

NO_PEERS = frozenset({OURS, OURS_COMPILED, OURS_NATIVE, PLAIN, FORWARD})

EQUAL = 1.05
"""Below which ratio two needs count as equal."""


@define
class Run:
    """What was found in all."""

    setting: dict[str, str]
    versions: dict[str, str]
    missing: dict[str, str]
    results: list[Result] = field(factory=list)
    functions: list[Result] = field(factory=list)
    imports: dict[str, float] = field(factory=dict)
    growths: dict[str, dict[int, float]] = field(factory=dict)
    overheads: dict[str, dict[str, float]] = field(factory=dict)
    besides: list[Beside] = field(factory=list)
    cost: RecordCost = FREE

    def targets(self) -> list[Target]:
        """All bounds that were looked at, without the compiled and the dropped ones."""
        return [target for target in self._all_targets() if not target.dropped]

    def compiled_targets(self) -> list[Target]:
        """The bounds on compiled functions, by the NumPy engine."""
        return compiled_targets(self.results, self.functions, self.overheads.get("numpy", {}))

    def native_targets(self) -> list[Target]:
        """The bounds on compiled functions, by the native engine."""
        overheads = self.overheads.get("native", {})
        return native_targets(self.results, self.functions, overheads, self.besides)

    def dropped(self) -> list[Target]:
        """The bounds that NumPy written by hand does not keep either."""
        return [target for target in self._all_targets() if target.dropped]

    def _all_targets(self) -> list[Target]:
        found = [target for result in self.results for target in result.time_targets(self.cost)]
        found += [target for result in self.results for target in result.memory_targets()]
        found += function_targets(self.functions)
        if self.imports:
            what = "import of tape_ad beyond NumPy's, milliseconds"
            found.append(Target(what, self.imports["tape_ad"], IMPORT_TARGET))
        for name, per_element in self.growths.items():
            what = f"time per element, the slowest number / the quickest: {name}"
            found.append(Target(what, growth(per_element), GROWTHS[name].bound))
        return found


def losses(found: Run) -> dict[str, list[str]]:
    """List where others need less than we do, and how many times as much we need.

    NumPy's forward pass is left out, for it derives nothing, and so is what else is ours.
    """
    lost: dict[str, list[tuple[float, str]]] = {}
    for result in found.results:
        looked: list[tuple[str, dict[str, float]]] = [
            ("", {name: times.median for name, times in result.times.items()}),
            (", allocated memory", dict(result.peaks)),
            (", resident memory", dict(result.resident)),
        ]
        for what, needs in looked:
            for name, need in needs.items():
                ratio = needs.get(OURS, 0.0) / need
                if name not in NO_PEERS and ratio >= EQUAL:
                    entry = (ratio, result.workload.name + what)
                    lost.setdefault(LIBRARIES[name].title, []).append(entry)
    ours = found.imports.get("tape_ad", 0.0)
    for module, taken in found.imports.items():
        if taken * EQUAL <= ours and not module.startswith("tape_ad"):
            lost.setdefault(module, []).append((ours / taken, "import"))
    return {
        title: [f"{rounded(ratio, 2)} x {what}" for ratio, what in sorted(entries, reverse=True)]
        for title, entries in lost.items()
    }
