#include "deuteron/target/machine.h"

namespace deuteron {

double Machine::OpsPerCycle(DataType dtype) const {
  if (dtype == DataType::Float(64)) return ops.f64;
  if (dtype == DataType::Float(16)) return ops.f16;
  if (dtype.is_bfloat16()) return ops.bf16;
  if (dtype.is_integer() && dtype.bits() == 8) return ops.i8;
  return ops.f32;
}

double Machine::OpsPerSecond(DataType dtype) const {
  return OpsPerCycle(dtype) * ghz * 1e9 * static_cast<double>(std::min(threads, cores));
}

double Machine::CopiedBytesPerCycle() const {
  return std::min(core_gbps, memory_gbps / static_cast<double>(std::max<int64_t>(threads, 1))) / ghz;
}

}  // namespace deuteron
