"""Finds and loads libdeuteron, once. Its functions are those that it registers as "deuteron.python.NAME"."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any

# First: the process has one libtvm_ffi, that of the package apache-tvm-ffi.
import tvm_ffi

FOLDER = pathlib.Path(os.environ.get("DEUTERON_LIBRARY_FOLDER", pathlib.Path(__file__).resolve().parent / "lib"))
LIBRARY = ctypes.CDLL(str(FOLDER / "libdeuteron.so"))
LIBRARY.DeuteronVersion.restype = ctypes.c_char_p

VERSION: str = LIBRARY.DeuteronVersion().decode()


def function(name: str) -> Any:
    """A function of the library."""
    return tvm_ffi.get_global_func("deuteron.python." + name)
