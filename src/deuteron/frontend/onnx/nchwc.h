/// \file
/// The layout of com.microsoft.nchwc, operators that ONNX Runtime writes into the models that it saves.
#pragma once

#include <cstdint>

#include "deuteron/frontend/onnx/model.h"

namespace deuteron::onnx {

inline constexpr std::string_view kNchwcDomain = "com.microsoft.nchwc";

/// Channels of a block, which such a model does not state: that of the CPU it was saved on, 8, or 16 with AVX-512 and
/// on 64-bit ARM. Taken from the model where only one of them fits its numbers of channels; else it is this machine's,
/// as for ONNX Runtime.
int64_t NchwcBlock(const ModelProto& model);

}  // namespace deuteron::onnx
