import json
import pathlib
import re

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
