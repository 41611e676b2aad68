"""Questions about functions of the graph level, and their clean-up."""

from __future__ import annotations

from typing import Any

from .. import _library


def remove_all_unused(func: Any) -> Any:
    """`func` without bindings of dataflow blocks that nothing uses."""
    return _library.function("remove_all_unused")(func)
