#include "deuteron/ir/transform/precision.h"

#include "deuteron/support/error.h"

namespace deuteron::transform {

DataType ParsePrecision(const std::string& name) {
  if (name == "f32") return DataType::Float(32);
  if (name == "bf16") return DataType::BFloat16();
  if (name == "f16") return DataType::Float(16);
  DEUTERON_THROW(UsageError) << "there is no precision \"" << name << "\"; products are computed in f32, bf16 or f16";
}

}  // namespace deuteron::transform
