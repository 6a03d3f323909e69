"""The package as a whole: public names, docstrings, sizes of files, and what an import brings."""

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tape_ad as ta
from tape_ad.base import errors

PACKAGE = Path(ta.__file__).parent
MODULES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("name", ta.__all__)
def test_a_public_name_exists_and_is_documented(name: str) -> None:
    assert inspect.getdoc(getattr(ta, name))


def test_the_public_names_are_sorted_and_distinct() -> None:
    assert list(ta.__all__) == sorted(set(ta.__all__))


def public_members() -> list[str]:
    members = []
    for name in ta.__all__:
        thing = getattr(ta, name)
        if isinstance(thing, type):
            members += [f"{name}.{m}" for m in vars(thing) if not m.startswith("_")]
        elif isinstance(thing, ModuleType):
            members += [f"{name}.{m}" for m in thing.__all__]
    return members


def is_documented(path: str) -> bool:
    owner, name = path.split(".")
    holder = getattr(ta, owner)
    lazy = isinstance(holder, ModuleType)
    member = getattr(holder, name) if lazy else inspect.getattr_static(holder, name)
    slot = inspect.ismemberdescriptor(member)  # which the class's docstring describes
    return slot or bool(inspect.getdoc(member))


def test_public_members_are_documented() -> None:
    assert [path for path in public_members() if not is_documented(path)] == []


def test_every_module_function_and_class_has_a_docstring() -> None:
    assert [(module, found) for module in MODULES if (found := undocumented(module))] == []


def undocumented(module: str) -> list[str]:
    tree = ast.parse((PACKAGE / module).read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    overloads = [
        n for n in tree.body if "overload" in map(ast.unparse, getattr(n, "decorator_list", []))
    ]
    public = [n for n in tree.body if isinstance(n, kinds) and not n.name.startswith("_")]
    itself = [] if ast.get_docstring(tree) else ["the module"]
    return itself + [
        node.name for node in public if not ast.get_docstring(node) and node not in overloads
    ]


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_is_a_tape_error(name: str) -> None:
    assert issubclass(getattr(errors, name), (errors.TapeError, Warning))


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("ConversionError", TypeError),
        ("DtypeError", TypeError),
        ("InPlaceError", TypeError),
        ("MissingParameterError", KeyError),
        ("MutatedInputError", RuntimeError),
        ("NoRuleError", TypeError),
        ("RecordMismatchError", ValueError),
        ("ReleasedError", RuntimeError),
        ("SeedError", ValueError),
        ("ShapeError", ValueError),
        ("StoreMismatchError", ValueError),
        ("UnsupportedArgumentError", TypeError),
    ],
)
def test_an_error_is_also_the_builtin_that_fits(name: str, builtin: type[Exception]) -> None:
    assert issubclass(getattr(errors, name), builtin)


def test_the_message_of_a_missing_parameter_is_shown_as_it_is() -> None:
    assert str(errors.MissingParameterError("no 'w' in the store")) == "no 'w' in the store"


def test_importing_brings_numpy_and_attrs_and_nothing_else() -> None:
    script = (
        "import sys, json; before = set(sys.modules); import tape_ad; "
        "print(json.dumps(sorted({m.partition('.')[0] for m in set(sys.modules) - before})))"
    )
    done = subprocess.run(  # noqa: S603 - our own script in our own interpreter
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    brought = set(json.loads(done.stdout)) - set(sys.stdlib_module_names)
    files = {name for name in brought if "cython" not in name}  # what compiled modules share
    assert files == {"tape_ad", "numpy", "attr", "attrs"}


def test_the_types_are_shipped() -> None:
    assert (PACKAGE / "py.typed").exists()


def test_errors_are_imported_from_where_tracebacks_say_they_are() -> None:
    from tape_ad.errors import ShapeError  # noqa: PLC0415 - what is tested

    assert ta.errors.ShapeError is ShapeError
    assert ShapeError.__module__ == "tape_ad.errors"
    assert dir(ta) == sorted({*ta.__all__, "__version__"})
