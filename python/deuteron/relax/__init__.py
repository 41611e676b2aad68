"""The graph level: patterns, and passes under the names that TVM's documents import them by."""

from . import backend, dpl, transform

__all__ = ["backend", "dpl", "transform"]
