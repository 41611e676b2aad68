"""Type stubs are up to date; what is public is documented and annotated."""

import importlib
import inspect
import pathlib
import pkgutil
import subprocess
import sys

import pytest

import deuteron

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODULES = [name for _, name, _ in pkgutil.walk_packages(deuteron.__path__, "deuteron.") if "._" not in name and not name.endswith((".torch", ".__main__"))]


def test_stubs_are_up_to_date():
    result = subprocess.run([sys.executable, ROOT / "python" / "stubs.py", "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def _own(module):
    """Functions and classes that the module defines."""
    for name, value in vars(module).items():
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__ and (inspect.isfunction(value) or inspect.isclass(value)):
            yield f"{module.__name__}.{name}", value


def _methods(name, owner):
    for method, value in vars(owner).items():
        value = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if not method.startswith("_") and inspect.isfunction(value):
            yield f"{name}.{method}", value


@pytest.mark.parametrize("name", ["deuteron", *MODULES])
def test_public_names_are_documented_and_annotated(name):
    module = importlib.import_module(name)
    assert module.__doc__
    problems = []
    for path, value in _own(module):
        if not value.__doc__:
            problems.append(f"{path} has no docstring")
        for place, each in [(path, value)] if inspect.isfunction(value) else _methods(path, value):
            signature = inspect.signature(each)
            missing = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
            if missing or signature.return_annotation is signature.empty:
                problems.append(f"{place} lacks annotations: {missing or 'of what it returns'}")
    assert not problems, "\n".join(problems)
