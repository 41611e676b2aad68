/// \file
/// The safetensors format: named tensors in one file that can be mapped. A length of eight bytes, a JSON header with
/// dtype, shape and place of every tensor, then the data. https://github.com/huggingface/safetensors#format
#pragma once

#include <tvm/ffi/container/tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deuteron {

/// Whether the format has a name for the dtype.
bool SafeTensorsKnow(DLDataType dtype);

/// Tensors by name, in the order of their data.
using NamedTensors = std::vector<std::pair<std::string, tvm::ffi::Tensor>>;

/// The tensors in `bytes`, which `owner` keeps alive: those whose data is aligned for their dtype lie there, others are
/// copied. `path` is for messages. A ModelError if a length, an offset or a shape does not fit the bytes, tensors
/// overlap or leave gaps, or the header is no such JSON; an UnsupportedError for a dtype that tensors lack. Takes
/// memory in proportion to the bytes only.
NamedTensors ParseSafeTensors(std::string_view bytes, const std::string& path,
                              const std::shared_ptr<const void>& owner);

/// The tensors of the file `path`, which is mapped. Errors as above, and a ModelError if it cannot be read.
NamedTensors ReadSafeTensors(const std::string& path);

/// Writes contiguous tensors of host memory, of distinct names; each begins at a multiple of its element, those of
/// whole lines of 64 bytes at a multiple of that. A file that
/// is there is replaced in one step: tensors that are mapped from it stay valid. A UsageError if the file cannot be
/// written, an UnsupportedError for a dtype that the format lacks.
void WriteSafeTensors(const std::string& path, const NamedTensors& tensors);

}  // namespace deuteron
