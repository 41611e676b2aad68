"""Operators: functions that make calls of them, under the names of the language (docs/language.md).

    y = op.nn.conv2d(x, weight, strides=2, padding=1)

Arguments and attributes stand by position or by name as in the text form; `help(op.nn.conv2d)` lists them. Types are inferred when
the call is bound, by a BlockBuilder or a Function.
"""

from . import _operators

globals().update(_operators.functions())

# Those that take types.
from ._operators import call_dps_packed, call_tir, register_alter_op_layout  # noqa: E402, F401


def __getattr__(name):  # type: ignore[no-untyped-def]
    raise AttributeError(f"there is no operator {name}")
