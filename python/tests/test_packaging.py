import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from deuteron import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_wheel_is_built_as_the_preset_is():
    """Else `./dev wheel` and `pip install .` compile again what has been compiled, and ship other code than is tested."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    [release] = [each["cacheVariables"] for each in presets if each["name"] == "release"]
    project = (ROOT / "pyproject.toml").read_text()
    section = project.split("[tool.scikit-build.cmake.define]")[1].split("\n[")[0]
    defined = dict(re.findall(r'^(\w+) = "(.*)"$', section, re.MULTILINE))
    assert f'cmake.build-type = "{release.pop("CMAKE_BUILD_TYPE")}"' in project
    assert {name: defined.get(name) for name in release} == release


def test_the_compiler_is_no_larger_than_promised(tmp_path):
    """70 MiB in the wheel, stripped, LLVM's library among them: auditwheel, which gives dependencies other names, adds 1.6."""
    cache = _library.FOLDER.parent / "CMakeCache.txt"
    released = cache.exists() and re.search(r"^DEUTERON_STATIC_LLVM:\w+=ON$", cache.read_text(), re.MULTILINE)
    if shutil.which("strip") is None or not released:
        pytest.skip("not the library as it is released")
    names = ["libdeuteron.so", "libdeuteron_llvm.so"]
    for name in names:
        subprocess.run(["strip", "-o", tmp_path / name, _library.FOLDER / name], check=True)
    assert sum(os.path.getsize(tmp_path / name) for name in names) <= (70 - 1.6) * 2**20


def test_a_runtime_of_another_build_is_refused(tmp_path):
    """Not met with a crash: its name for itself is another."""
    runtime = (_library.FOLDER / "libdeuteron_runtime.so").read_bytes()
    [name] = set(re.findall(rb"libdeuteron_runtime_is_of_another_build_[0-9a-f]{12}", runtime))
    (tmp_path / "libdeuteron_runtime.so").write_bytes(runtime.replace(name, name[:-12] + b"0" * 12))
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", "import deuteron"], env=environment, capture_output=True, text=True)
    assert ran.returncode == 1 and "ImportError" in ran.stderr and "of different builds" in ran.stderr, ran.stderr
