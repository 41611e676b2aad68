"""Patterns that back ends share, each with its annotated parts: `(pattern, annotations)`."""

from __future__ import annotations

from typing import Any, Mapping

from ... import _library
from ..dpl import DFPattern

Annotated = tuple[DFPattern, dict[str, DFPattern]]


def _make(name: str, *arguments: Any) -> Annotated:
    pattern, annotations = _library.function("dpl." + name)(*arguments)
    return pattern, dict(annotations)


def make_matmul_pattern(with_bias: bool = False, activation: str | None = None, transposed_rhs: bool = False) -> Annotated:
    """Annotated: lhs, rhs (before it is transposed), root, bias."""
    return _make("make_matmul_pattern", with_bias, activation or "", transposed_rhs)


def make_conv2d_pattern(with_bias: bool = False, activation: str | None = None) -> Annotated:
    """Annotated: input, weight, root, bias."""
    return _make("make_conv2d_pattern", with_bias, activation or "")


def make_attention_pattern(with_bias: bool = False, var_len: bool = False) -> Annotated:
    """Annotated: query, key, value, bias, …"""
    return _make("make_attention_pattern", with_bias, var_len)


def make_residual_block_pattern(
    node_output: tuple[DFPattern, Mapping[str, DFPattern]], binary_op: str = "relax.add", activation: str | None = None
) -> Annotated:
    """`node_output` combined with another value. Annotated: residual, and what it has."""
    pattern, annotations = node_output
    return _make("make_residual_block_pattern", pattern, dict(annotations), binary_op, activation or "")


def make_layer_norm_pattern() -> Annotated:
    """A layer norm."""
    return _make("make_layer_norm_pattern")


def make_rms_norm_pattern() -> Annotated:
    """A call_tir of a function of two tensors. Annotated: gv, inp, rms_norm."""
    return _make("make_rms_norm_pattern")
