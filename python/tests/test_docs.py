"""The samples of docs/python.md, in order, as one program."""

import pathlib
import re

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_samples(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    blocks = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    assert len(blocks) == 10
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
