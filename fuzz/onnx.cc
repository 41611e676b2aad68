/// Any bytes are imported as an ONNX model or refused by a user's error; what is imported is a well-formed module.
/// Inputs are changed field by field (protobuf.h), so that most of them are messages.
#include <cstdint>
#include <string_view>

#include "check.h"
#include "deuteron/frontend/onnx/import.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "protobuf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  deuteron::Limits limits;
  limits.nodes = 1000;
  limits.elements = 1 << 20;
  limits.compile_bytes = int64_t{1} << 30;
  limits.compile_seconds = 10;
  const deuteron::LimitScope scope(limits);
  deuteron::AcceptsOrRefuses([&] {
    const deuteron::IRModule module =
        deuteron::onnx::Parse({reinterpret_cast<const char*>(data), size}, {.limits = limits});
    deuteron::relax::CheckWellFormed(module);
  });
  return 0;
}

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most) __attribute__((weak));

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return deuteron::fuzz::MutateMessage(data, size, most, seed, LLVMFuzzerMutate);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* first, size_t first_size, const uint8_t* second,
                                            size_t second_size, uint8_t* out, size_t most, unsigned seed) {
  return deuteron::fuzz::CrossMessages({first, first_size}, {second, second_size}, out, most, seed);
}
