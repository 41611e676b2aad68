/// \file
/// numpy's file format for one array (NEP 1; versions 1 to 3).
#pragma once

#include <tvm/ffi/container/tensor.h>

#include <optional>
#include <string>

namespace deuteron {

/// The array in `path`, contiguous in row-major order (a column-major file is transposed). Throws a
/// UsageError if the file is missing, malformed, too short for its shape, or of a dtype that tensors lack.
/// numpy has no names for ml_dtypes' types: elements of two untyped bytes (`V2`) read as bfloat16, those of one (`V1`:
/// float8_e4m3fn, int4, …) as `untyped`, if it is given and its elements take a byte, `f1` as float8_e5m2.
tvm::ffi::Tensor ReadNpy(const std::string& path, std::optional<DLDataType> untyped = std::nullopt);

/// Writes a contiguous tensor of host memory; types that numpy has no names for as untyped bytes (`V1`, `V2`), which
/// `numpy.load(path).view(ml_dtypes.int4)` understands. Throws a UsageError if the file cannot be written.
void WriteNpy(const std::string& path, const tvm::ffi::Tensor& tensor);

}  // namespace deuteron
