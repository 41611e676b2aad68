"""The samples of the pages, in order, each page's as one program."""

import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page, count", [("python.md", 13), ("getting-started.md", 3)])
def test_samples(path, monkeypatch, page, count):
    monkeypatch.chdir(path.parent)
    blocks = re.findall(r"^```py\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S)
    assert len(blocks) == count
    # A file: a class whose source is read needs one.
    program = path.parent / "page.py"
    program.write_text("\n".join(blocks))
    names = {"__name__": "page", "__file__": str(program)}
    import linecache
    import sys
    import types

    module = types.ModuleType("page")
    module.__dict__.update(names)
    monkeypatch.setitem(sys.modules, "page", module)
    linecache.checkcache(str(program))
    exec(compile(program.read_text(), str(program), "exec"), module.__dict__)
