"""The shape of the package: layers that import downward, and no cycle of files."""

import ast
import importlib
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import tape_ad as ta
from tests.layers import LAYERS, PAGE, with_table

ROOT = Path(__file__).parent.parent
LEVELS = {part: level for level, layer in enumerate(LAYERS) for part in layer}
MOST_PARTS = 16


def name_of(path: Path) -> str:
    """Give the name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


PATHS = {name_of(path): path for path in sorted((ROOT / "tape_ad").rglob("*.py"))}


@cache
def nodes(module: str) -> list[ast.AST]:
    """List all nodes of a module's syntax tree."""
    return list(ast.walk(ast.parse(PATHS[module].read_text(encoding="utf-8"))))


def package_of(module: str) -> str:
    """Give the package that a module is in, or is."""
    return module if PATHS[module].name == "__init__.py" else module.rpartition(".")[0]


def named_in_strings(module: str) -> Iterator[str]:
    """List what is imported or looked for by a name in a string."""
    for node in nodes(module):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            function = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if function in ("import_module", "find_spec", "__import__"):
                yield str(node.args[0].value)


def imported(module: str) -> Iterator[str]:
    """List what a module imports, inside functions and for type checkers too."""
    yield from named_in_strings(module)
    for node in nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package_of(module).split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" for alias in node.names]
            yield from (name if name in PATHS else base for name in names)


@pytest.fixture(name="graph", scope="module")
def imports_within_the_package() -> dict[str, set[str]]:
    """List what each module imports of the package, but for the one that only publishes."""
    graph = {module: {*imported(module)} & PATHS.keys() - {module} for module in PATHS}
    return graph | {"tape_ad": set()}


def part_of(module: str) -> str:
    """Give the top-level part that a module is in: ``rules``."""
    return module.split(".")[1]


def test_no_files_import_each_other_in_a_cycle(graph: dict[str, set[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("a cycle of files: " + " <- ".join(error.args[1]))


def test_a_layer_imports_from_layers_below_alone(graph: dict[str, set[str]]) -> None:
    arrows = [
        (module, other)
        for module, others in graph.items()
        for other in others - {"tape_ad"}
        if part_of(module) != part_of(other)
    ]
    assert [
        f"{module} imports {other}"
        for module, other in sorted(arrows)
        if LEVELS[part_of(module)] <= LEVELS[part_of(other)]
    ] == []


def test_every_part_has_a_layer_and_they_are_few() -> None:
    parts = {part_of(module) for module in PATHS if module != "tape_ad"}
    assert parts == LEVELS.keys()
    assert len(parts) <= MOST_PARTS


def test_no_module_names_one_of_another_package_in_a_string() -> None:
    assert [
        f"{module} names {name}"
        for module in PATHS
        if module != "tape_ad"
        for name in named_in_strings(module)
        if name.startswith("tape_ad.") and part_of(name) != part_of(module)
    ] == []


def test_the_page_for_contributors_lists_the_layers_of_the_contract() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page), "run python -m tests.layers"


FACES = (
    *("", ".errors", ".extend", ".extend.arrays", ".extend.rules", ".interop", ".interop.dask"),
    *(".nn", ".optim", ".parameters", ".scipy", ".testing", ".training"),
)


def public_names(module: str) -> set[str]:
    """List what a module binds, as editors and type checkers see it, without running it."""
    found: set[str] = set()
    for node in nodes(module):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            found |= set(literal_all(f"{node.module}"))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return {name for name in found if name[0] != "_"}


def named_as_they_are(module: str) -> set[str]:
    """List what a module imports under its own name, ``a as a``, which publishes it."""
    imports = [node for node in nodes(module) if isinstance(node, ast.ImportFrom)]
    return {each.name for node in imports for each in node.names if each.asname == each.name}


def literal_all(module: str) -> list[str]:
    """Give a module's `__all__`, as it is written."""
    for node in nodes(module):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise AssertionError(f"{module} has no __all__ that can be read")


@pytest.mark.parametrize("face", FACES)
def test_completion_offers_what_is_public_alone(face: str) -> None:
    module = importlib.import_module(f"tape_ad{face}")
    listed = {name for name in dir(module) if name[0] != "_"}
    assert listed == set(getattr(module, "__all__", named_as_they_are(f"tape_ad{face}")))
    assert public_names(f"tape_ad{face}") - listed == set()


def bound_in(kind: type) -> set[str]:
    """List what a class binds, as it is written."""
    classes = [node for node in nodes(kind.__module__) if isinstance(node, ast.ClassDef)]
    body = [part for node in classes if node.name == kind.__qualname__ for part in node.body]
    found = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    targets: list[ast.expr] = [node.target for node in body if isinstance(node, ast.AnnAssign)]
    targets += [each for node in body if isinstance(node, ast.Assign) for each in node.targets]
    return found | {each.id for each in targets if isinstance(each, ast.Name)}


def test_completion_of_a_handle_offers_little_that_is_not_public() -> None:
    handle = ta.ComputationRecord().tensor(1.0)
    kinds = [kind for kind in type(handle).__mro__ if kind.__module__.startswith("tape_ad.")]
    offered = {name for kind in kinds for name in bound_in(kind) if name[0] != "_"}
    assert {"data", "grad", "item", "sum", "T"} <= offered
    known = {"answer_with", "earlier", "interpreter", "mark", "memory", "snapshot"}
    assert offered - {*dir(handle)} <= known
