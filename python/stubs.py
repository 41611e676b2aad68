"""Writes the type stubs of the modules whose functions are made while they are imported: passes and operators.

    python python/stubs.py            writes them beside the modules
    python python/stubs.py --check    compares them, and ends with status 1 where one is not up to date
"""

from __future__ import annotations

import ast
import inspect
import pathlib
import sys
from typing import Any, Callable

import deuteron
from deuteron.relax import _operators

PACKAGE = pathlib.Path(__file__).resolve().parent / "deuteron"
HEAD = "# Written by python/stubs.py.\n"


def docstring(text: str | None, indent: str) -> str:
    return f'{indent}"""{text}"""\n' if text and '"""' not in text else f"{indent}...\n"


def function(name: str, made: Callable[..., Any], indent: str = "") -> str:
    signature = inspect.signature(made)
    parameters = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    words = []
    for index, each in enumerate(parameters):
        if each.kind == each.VAR_POSITIONAL:
            words.append(f"*{each.name}: Any")
            continue
        if each.kind == each.KEYWORD_ONLY and (index == 0 or parameters[index - 1].kind == each.POSITIONAL_OR_KEYWORD):
            words.append("*")
        words.append(f"{each.name}: Any" + ("" if each.default is each.empty else " = ..."))
    static = f"{indent}@staticmethod\n" if indent else ""
    returns = signature.return_annotation.__name__
    return f"{static}{indent}def {name}({', '.join(words)}) -> {returns}:\n" + docstring(made.__doc__, indent + "    ")


def group(name: str, value: Any, indent: str = "") -> str:
    """Operators of one family, as a class that only holds them."""
    body = docstring(value.__doc__, indent + "    ")
    for inner in dir(value):
        member = getattr(value, inner)
        body += function(inner, member, indent + "    ") if callable(member) else group(inner, member, indent + "    ")
    return f"{indent}class {name}:\n{body}"


def declarations(module: Any) -> str:
    """Imports, classes and functions of a source file, without what functions do."""

    class Bodies(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            documented = ast.get_docstring(node) is not None
            node.body = node.body[:1] if documented else [ast.Expr(ast.Constant(...))]
            return node

    kept = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef)
    tree = ast.parse(inspect.getsource(module))
    tree.body = [node for node in tree.body if isinstance(node, kept) and getattr(node, "name", "") not in ("__getattr__", "__dir__")]
    return ast.unparse(Bodies().visit(ast.fix_missing_locations(tree))) + "\n"


def transform_stub() -> str:
    passes = sorted(deuteron.transform._PASSES.items())
    return HEAD + declarations(deuteron.transform) + "".join(function(name, made) for name, made in passes)


def op_stub() -> str:
    text = HEAD + "from typing import Any\n\nfrom ._operators import call_dps_packed as call_dps_packed, call_tir as call_tir\n"
    text += "from ._operators import register_alter_op_layout as register_alter_op_layout\nfrom .expr import Call\n"
    for name, value in sorted(_operators.functions().items()):
        if name not in ("call_tir", "call_dps_packed"):
            text += function(name, value) if callable(value) else group(name, value)
    return text


def stubs() -> dict[pathlib.Path, str]:
    """The text of each stub by its file."""
    return {PACKAGE / "transform.pyi": transform_stub(), PACKAGE / "relax" / "op.pyi": op_stub()}


def main() -> None:
    if "--check" not in sys.argv:
        for file, text in stubs().items():
            file.write_text(text)
        return
    old = [str(file) for file, text in stubs().items() if not file.exists() or file.read_text() != text]
    sys.exit(f"not up to date: {', '.join(old)}; ./dev update writes them" if old else 0)


if __name__ == "__main__":
    main()
