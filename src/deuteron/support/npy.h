/// \file
/// numpy's file format for one array (NEP 1; versions 1 to 3).
#pragma once

#include <tvm/ffi/container/tensor.h>

#include <string>

namespace deuteron {

/// The array in `path`, contiguous in row-major order (a column-major file is transposed). Throws a
/// UsageError if the file is missing, malformed, too short for its shape, or of a dtype that tensors lack.
/// A two-byte void (`V2`, what numpy makes of ml_dtypes' bfloat16) reads as bfloat16.
tvm::ffi::Tensor ReadNpy(const std::string& path);

/// Writes a contiguous tensor of host memory. Throws a UsageError if the file cannot be written.
void WriteNpy(const std::string& path, const tvm::ffi::Tensor& tensor);

}  // namespace deuteron
