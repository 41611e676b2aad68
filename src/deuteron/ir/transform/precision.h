/// \file
/// The configuration key `precision`: in what type products and convolutions of float32 may be computed.
#pragma once

#include "deuteron/ir/dtype.h"
#include "deuteron/ir/transform/pass.h"

namespace deuteron::transform {

/// The type named "f32", "bf16" or "f16". A UsageError for other names.
DataType ParsePrecision(const std::string& name);

/// What the operands of a product or convolution of float32 may be rounded to: float32, bfloat16 or float16. Sums are
/// of float32 in any case, and so is what is stored.
inline DataType ProductPrecision(const PassContext& context) { return ParsePrecision(context.GetString("precision")); }

}  // namespace deuteron::transform
