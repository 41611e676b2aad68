"""Arrays of other libraries as tensors and back, without copies: memory is shared."""

from __future__ import annotations

import sys
from typing import Any, Sequence

import numpy as np
import tvm_ffi

from . import _library
from .errors import UsageError

_reinterpret = _library.function("reinterpret")
_view = _library.function("view")


def numpy_dtype(name: str) -> np.dtype:
    """numpy's dtype of that name; those that numpy lacks ("bfloat16", "float8_e4m3fn") are ml_dtypes', if installed."""
    try:
        return np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, name))
        except (ImportError, AttributeError):
            raise UsageError(f"numpy has no dtype {name}; install ml_dtypes, or use tensors that have it") from None


def _is_torch(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _from_numpy(array: np.ndarray) -> Any:
    if array.dtype.kind in "OUSTmMc" or array.dtype.type is np.void or array.dtype.char == "g":
        raise UsageError(f"a tensor of {array.dtype}; tensors hold real numbers and truth values")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.isbuiltin == 1 and array.flags.writeable:
        return array  # the binding knows these, and is faster than from_dlpack
    # numpy does not hand over what is read only, or of a dtype that it does not know. The caller keeps the array.
    size = array.dtype.itemsize
    strides = () if array.flags.c_contiguous else [stride // size for stride in array.strides]
    return _view(array.ctypes.data, array.shape, strides, array.dtype.name)


def to_tensor(value: Any, dtype: str) -> Any:
    """What the binding takes for a tensor over the memory of `value`, which has to live as long: an array of numpy or torch,
    anything with DLPack, or numbers, which become of `dtype`."""
    if value is None:
        raise UsageError(f"None is no tensor of {dtype}")
    if isinstance(value, tvm_ffi.Tensor):
        return value
    if isinstance(value, np.ndarray):
        return _from_numpy(value)
    if _is_torch(value):
        # A view whose elements are those of its memory negated is not what its memory holds.
        return tvm_ffi.from_dlpack(value.detach().resolve_neg())
    if hasattr(value, "__dlpack__") and not isinstance(value, np.generic):
        return tvm_ffi.from_dlpack(value)
    if isinstance(value, (bytes, str)):
        raise UsageError(f"{type(value).__name__} is no tensor of {dtype}; numpy.frombuffer makes one of bytes")
    return _from_numpy(np.asarray(value, dtype=numpy_dtype(dtype)))


def as_tensor(array: np.ndarray) -> tvm_ffi.Tensor:
    """A tensor over the memory of `array`."""
    tensor = _from_numpy(array)
    return tensor if isinstance(tensor, tvm_ffi.Tensor) else tvm_ffi.from_dlpack(tensor)


def to_numpy(tensor: tvm_ffi.Tensor) -> np.ndarray:
    """The memory of `tensor` as numpy's array."""
    try:
        return np.from_dlpack(tensor)
    except (BufferError, RuntimeError):
        # Of a dtype that numpy does not know.
        dtype = numpy_dtype(str(tensor.dtype))
    return np.from_dlpack(_reinterpret(tensor, f"uint{8 * dtype.itemsize}")).view(dtype)


def like(values: Sequence[Any], tensors: Sequence[tvm_ffi.Tensor]) -> list[Any]:
    """`tensors` as the kind of array that `values` are: torch's if one of them is, tensors with DLPack if all are such,
    else numpy's."""
    if all(type(value) is np.ndarray for value in values):
        return [to_numpy(tensor) for tensor in tensors]
    if any(_is_torch(value) for value in values):
        torch = sys.modules["torch"]
        return [torch.from_dlpack(tensor) for tensor in tensors]
    foreign = [value for value in values if hasattr(value, "__dlpack__") and not isinstance(value, (np.ndarray, np.generic))]
    if foreign and len(foreign) == len(values):
        return list(tensors)
    return [to_numpy(tensor) for tensor in tensors]
