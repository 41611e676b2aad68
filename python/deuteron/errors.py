"""Errors of the library, by whose fault they are. Their messages are those of the command."""

from __future__ import annotations

import tvm_ffi


class DeuteronError(RuntimeError):
    """Base of all."""


@tvm_ffi.error.register_error
class UsageError(DeuteronError, ValueError):
    """Wrong values of the caller's: an input of another name, shape or dtype, an option that does not exist."""


@tvm_ffi.error.register_error
class ModelError(DeuteronError):
    """A model or text that is missing, malformed, inconsistent or damaged."""


@tvm_ffi.error.register_error
class UnsupportedError(DeuteronError, NotImplementedError):
    """Valid, but outside of what is implemented, or for another processor."""


@tvm_ffi.error.register_error
class MismatchError(DeuteronError):
    """Results differ."""
