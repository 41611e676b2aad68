/// \file
/// Floats that a CPU computes with in float32.
#pragma once

#include "deuteron/target/target.h"

namespace deuteron::tir {

/// Whether the target has no arithmetic of this type, float16 or bfloat16 of any lanes.
inline bool IsNarrowFloat(DataType dtype, const Target& target) {
  if (dtype.is_bfloat16()) return true;
  return dtype.element() == DataType::Float(16) && !target.HasFeature("avx512fp16") && !target.HasFeature("fullfp16");
}

}  // namespace deuteron::tir
