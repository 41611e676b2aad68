"""Finds and loads libdeuteron, once. Its functions are those that it registers as "deuteron.python.NAME"."""

from __future__ import annotations

import ctypes
import functools
import os
import pathlib
import threading
from typing import Any, Callable

# First: the process has one libtvm_ffi, that of the package apache-tvm-ffi.
import tvm_ffi

FOLDER = pathlib.Path(os.environ.get("DEUTERON_LIBRARY_FOLDER", pathlib.Path(__file__).resolve().parent / "lib"))


def _open() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(FOLDER / "libdeuteron.so"))
    except OSError as error:
        if "libdeuteron_runtime_is_of_another_build" not in str(error):
            raise
        text = f"libdeuteron.so and the libdeuteron_runtime.so that it finds are of different builds: install both of one ({error})"
        raise ImportError(text) from None


LIBRARY = _open()
LIBRARY.DeuteronVersion.restype = ctypes.c_char_p

VERSION: str = LIBRARY.DeuteronVersion().decode()


def function(name: str) -> Any:
    """A function of the library."""
    return tvm_ffi.get_global_func("deuteron.python." + name)


class _Raised(threading.local):
    """What a function of Python's raised that the library called in this thread."""

    error: BaseException | None = None


_raised = _Raised()


def callback(body: Callable[..., Any]) -> Callable[..., Any]:
    """`body` as the library may call it: what it raises comes out of the function of `calling` as it is. (The binding knows only
    some kinds of exceptions.)"""

    @functools.wraps(body)
    def call(*arguments: Any) -> Any:
        try:
            return body(*arguments)
        except BaseException as error:
            _raised.error = error
            raise

    return call


def calling(name: str) -> Callable[..., Any]:
    """A function of the library that calls functions of Python's."""
    wrapped = function(name)

    def call(*arguments: Any) -> Any:
        _raised.error = None
        try:
            return wrapped(*arguments)
        except BaseException:
            error, _raised.error = _raised.error, None
            if error is not None:
                raise error from None
            raise

    return call
