"""Finds and loads libdeuteron, once. Its functions are those that it registers, when it is asked to, as "deuteron.python.NAME"."""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import pathlib
import threading
import time
import weakref
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
LIBRARY.DeuteronRegisterPython()

VERSION: str = LIBRARY.DeuteronVersion().decode()


def function(name: str) -> Any:
    """A function of the library."""
    return tvm_ffi.get_global_func("deuteron.python." + name)


class _Caller(threading.local):
    """A thread that has called the library."""

    is_known = False


# One element for each call of a function that takes long.
_calls: list[None] = []
_caller = _Caller()
# Of daemon threads those that may be between two calls.
_daemons: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
_leaving = False
# How long the end of the process waits for calls, and for threads between two to come to the next.
_PATIENCE_S = 10.0
_PATIENCE_BETWEEN_S = 0.25


def taking_long(name: str) -> Callable[..., Any]:
    """A function of the library, during which other threads run. The process ends after it: a daemon thread that came back to an
    interpreter that is gone would be unwound through frames of C++, which ends the process by a signal."""
    wrapped = function(name)

    def call(*arguments: Any) -> Any:
        if not _caller.is_known:
            _caller.is_known = True
            if threading.current_thread().daemon:
                _daemons.add(threading.current_thread())
        _calls.append(None)
        try:
            if not (_leaving and threading.current_thread().daemon):
                return wrapped(*arguments)
        finally:
            _calls.pop()
            if _leaving:
                _stay()

    return call


def _stay() -> None:
    """For a thread that the process does not wait for, until it ends."""
    _daemons.discard(threading.current_thread())
    while threading.current_thread().daemon:
        time.sleep(3600)


def _leave() -> None:
    global _leaving
    _leaving = True
    begin = time.monotonic()
    while _calls and time.monotonic() < begin + _PATIENCE_S:
        time.sleep(0.001)
    # What follows a call, results that are made and dropped, is unwound no better.
    begin = time.monotonic()
    while any(thread.is_alive() for thread in list(_daemons)) and time.monotonic() < begin + _PATIENCE_BETWEEN_S:
        time.sleep(0.001)


def _without_calls() -> None:
    """A process that was forked has none of the threads of its parent."""
    _calls.clear()
    _daemons.clear()


atexit.register(_leave)
os.register_at_fork(after_in_child=_without_calls)


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
    """A function of the library that takes long and calls functions of Python's."""
    wrapped = taking_long(name)

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
