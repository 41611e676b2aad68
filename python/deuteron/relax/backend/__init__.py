"""Patterns of libraries: the registry, and templates."""

from . import pattern_registry, patterns

__all__ = ["pattern_registry", "patterns"]
