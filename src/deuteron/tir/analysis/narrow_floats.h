/// \file
/// Floats that a CPU computes with in float32.
#pragma once

#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/cost.h"

namespace deuteron::tir {

/// float16 and bfloat16 of any lanes.
inline bool Is16BitFloat(DataType dtype) { return dtype.is_bfloat16() || dtype.element() == DataType::Float(16); }

/// Whether arithmetic of this type, of any lanes, is done in float32: of bfloat16, and of float16. AVX512-FP16 has
/// arithmetic of the latter, but products, sums and elementary functions are float32, and to bring what they take and
/// give from one to the other and back takes longer than that saves (a vision transformer 1.1 times, MobileNetV2 1.15).
inline bool IsNarrowFloat(DataType dtype, const Target& target) {
  return Is16BitFloat(dtype) && (dtype.is_bfloat16() || !target.HasFeature("fullfp16"));
}

/// Whether a tensor, of known extents, fits the second cache beside a panel where it is held in float32.
inline bool FitsWidened(const Array<PrimExpr>& shape, const Target& target) {
  int64_t bytes = sizeof(float);
  const int64_t most = CostModel(target.machine).BesidePanelBytes();
  for (const PrimExpr& dim : shape) {
    const auto extent = AsConstInt(dim);
    if (!extent || *extent < 1 || *extent > most / bytes) return false;
    bytes *= *extent;
  }
  return true;
}

}  // namespace deuteron::tir
