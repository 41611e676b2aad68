"""Modules and what they are made of.

Every node of the IR is an object with its fields as attributes (docs/language.md says what they mean), found by the library's
own reflection: `module["main"].body.blocks[0].bindings[0].value.op.name`.
"""

from __future__ import annotations

from typing import Any

import tvm_ffi

from . import _library

_show = _library.function("show")


@tvm_ffi.register_object("deuteron.relax.Expr", init=False)
class Expr(tvm_ffi.Object):
    """A graph-level expression."""

    @property
    def ty(self) -> Any:
        """Its type; None before it is known."""
        return _library.function("type_of")(self)


@tvm_ffi.register_object("deuteron.IRModule", init=False)
class IRModule(tvm_ffi.Object):
    """Functions of both levels by name. Never changes."""

    def script(self) -> str:
        """Its text, which `deuteron.script.parse` reads back."""
        return _library.function("script")(self)

    def show(self) -> None:
        """Prints it, without the data of large constants."""
        print(self)

    def __str__(self) -> str:
        return _show(self)

    def __repr__(self) -> str:
        return _show(self)

    def __getitem__(self, name: str) -> Any:
        """The function of that name; a ModelError that lists those that exist."""
        return _library.function("lookup")(self, name if isinstance(name, str) else name.name_hint)

    def __contains__(self, name: str) -> bool:
        return any(var.name_hint == name for var in self.functions)

    def get_global_vars(self) -> list[Any]:
        """The names of its functions."""
        return list(self.functions)

    def functions_items(self) -> list[tuple[Any, Any]]:
        """(name, function) of each, in order of name."""
        return sorted(self.functions.items(), key=lambda item: item[0].name_hint)

    @staticmethod
    def from_expr(function: Any) -> IRModule:
        """A module whose function `main` is `function`."""
        from .relax.block_builder import BlockBuilder

        builder = BlockBuilder()
        builder.add_func(function.with_attr("global_symbol", "main"), "main")
        return builder.get()

    def with_function(self, var: Any, function: Any) -> IRModule:
        """A module in which `var` is `function`."""
        return _library.function("with_function")(self, var, function)


def text(node: Any) -> str:
    """A function, expression, type, binding or statement as text."""
    return _show(node)


def structural_equal(a: Any, b: Any, map_free_vars: bool = False) -> bool:
    """The same up to renaming of variables; constants by content."""
    return _library.function("structural_equal")(a, b, map_free_vars)


def assert_structural_equal(a: Any, b: Any, map_free_vars: bool = False) -> None:
    """Raises ValueError with the place of the first difference."""
    if not structural_equal(a, b, map_free_vars):
        mismatch = _library.function("first_mismatch")(a, b, map_free_vars)
        raise ValueError(f"they differ at {mismatch or 'the top'}")


def check_well_formed(module: IRModule) -> None:
    """Raises with what is wrong of a module and where."""
    _library.function("check_well_formed")(module)
