#include "deuteron/driver/random_tensor.h"

#include "deuteron/ir/scalar_format.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"

namespace deuteron {

Tensor RandomTensor(const std::vector<int64_t>& shape, DataType dtype, std::mt19937_64* random) {
  Tensor tensor = runtime::AllocTensor(shape, dtype);
  const int64_t count = tensor.numel();
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> integer(0, dtype.bits() >= 32 ? 1 : 99);
  const auto fill = [&](auto* data, auto&& draw) {
    for (int64_t i = 0; i < count; ++i) data[i] = static_cast<std::remove_reference_t<decltype(*data)>>(draw());
  };
  void* data = tensor.data_ptr();
  const auto draw_float = [&] { return normal(*random); };
  const auto draw_int = [&] { return integer(*random); };
  if (dtype.is_bool()) {
    fill(static_cast<uint8_t*>(data), [&] { return integer(*random) % 2; });
  } else if (FindFloatFormat(dtype) != nullptr) {
    auto* element = static_cast<char*>(data);
    for (int64_t i = 0; i < count; ++i, element += dtype.bytes()) {
      StoreFloat(element, dtype, RoundToFormat(dtype, normal(*random)));
    }
  } else if (dtype.is_float() && dtype.bits() == 32) {
    fill(static_cast<float*>(data), draw_float);
  } else if (dtype.is_float() && dtype.bits() == 64) {
    fill(static_cast<double*>(data), draw_float);
  } else if (dtype.bits() < 8) {
    std::uniform_int_distribution<int> code(0, (1 << dtype.bits()) - 1);
    fill(static_cast<uint8_t*>(data), [&] { return code(*random); });
  } else if (dtype.bits() == 8) {
    fill(static_cast<uint8_t*>(data), draw_int);
  } else if (dtype.bits() == 16) {
    fill(static_cast<uint16_t*>(data), draw_int);
  } else if (dtype.bits() == 32) {
    fill(static_cast<uint32_t*>(data), draw_int);
  } else if (dtype.bits() == 64) {
    fill(static_cast<uint64_t*>(data), draw_int);
  } else {
    DEUTERON_THROW(UnsupportedError) << "random input of dtype " << dtype << "; give it with --input";
  }
  return tensor;
}

}  // namespace deuteron
