#include "deuteron/relax/transform/operators/quantized_weight.h"

#include <algorithm>

#include "deuteron/relax/rewrite/constant_data.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/target/target.h"
#include "deuteron/tir/analysis/factors.h"

namespace deuteron::relax {
namespace {

constexpr int64_t kLeastElements = int64_t{1} << 14;

bool IsSmallInteger(DataType dtype) { return (dtype.is_int() || dtype.is_uint()) && dtype.bits() <= 8; }

template <typename T>
void FillBlocks(const Spread& spread, int64_t rows, int64_t columns, int64_t least, const Tensor& packed) {
  const Tensor data = CompactData(spread.data);
  const int64_t blocks = packed.shape()[0], groups = packed.shape()[1], length = packed.shape()[2];
  auto* to = static_cast<T*>(packed.data_ptr());
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t group = 0; group < groups; ++group) {
      for (int64_t c = block * length; c < (block + 1) * length; ++c) {
        *to++ = c < columns ? static_cast<T>(NumberAt(data, spread.At(group * rows, c)) - static_cast<double>(least))
                            : T{0};
      }
    }
  }
}

}  // namespace

void Spread::Transpose() {
  std::swap(shape[0], shape[1]);
  std::swap(repeats[0], repeats[1]);
  is_transposed = !is_transposed;
}

void Spread::Shorten(size_t axis, int64_t length) {
  if (shape[axis] != 1) shape[axis] = (length + repeats[axis] - 1) / repeats[axis];
}

bool Spread::Covers(const std::array<int64_t, 2>& whole) const {
  for (const size_t axis : {0, 1}) {
    if (shape[axis] != 1 && shape[axis] != (whole[axis] + repeats[axis] - 1) / repeats[axis]) return false;
  }
  return true;
}

void Quantized::Transpose() {
  numbers.Transpose();
  scales.Transpose();
  if (zeros) zeros->Transpose();
}

bool IsHeld(const Quantized& weight) {
  const Spread& numbers = weight.numbers;
  if (numbers.repeats != std::array<int64_t, 2>{1, 1} || numbers.data->data.ndim() != 2) return false;
  if (!IsSmallInteger(DataType(numbers.data->data.dtype()))) return false;
  const DataType scale(weight.scales.data->data.dtype());
  if (!scale.is_float() && !scale.is_bfloat16()) return false;
  if (numbers.shape[0] * numbers.shape[1] < kLeastElements || !weight.scales.Covers(numbers.shape)) return false;
  // A scale for each row multiplies the data.
  if (weight.scales.shape[0] != 1 && weight.scales.repeats[0] == 1) return false;
  if (!weight.zeros) return true;
  const Spread& zeros = *weight.zeros;
  if (!zeros.Covers(numbers.shape)) return false;
  return zeros.shape[0] == 1 || (weight.scales.shape[0] != 1 && zeros.repeats[0] == weight.scales.repeats[0]);
}

double NumberAt(const Tensor& tensor, int64_t at) {
  const DLDataType dtype = tensor.dtype();
  const auto* data = static_cast<const char*>(tensor.data_ptr()) + at * ElementBytes(dtype);
  return IsFloat(dtype) ? LoadFloat(data, dtype) : static_cast<double>(LoadInteger(data, dtype));
}

std::optional<double> ZeroOf(const Spread& zeros) {
  const Tensor data = CompactData(zeros.data);
  if (data.numel() == 0) return std::nullopt;
  const double first = NumberAt(data, 0);
  for (int64_t i = 1; i < data.numel(); ++i) {
    if (NumberAt(data, i) != first) return std::nullopt;
  }
  return first;
}

bool AreHalves(const Constant& numbers) {
  if (DataType(numbers->data.dtype()) != DataType::UInt(8)) return false;
  const Tensor data = CompactData(numbers);
  const auto* bytes = static_cast<const uint8_t*>(data.data_ptr());
  uint8_t bits = 0;
  for (int64_t i = 0; i < data.numel(); ++i) bits |= bytes[i];
  return bits <= 15;
}

Constant ByBlocks(const Spread& spread, int64_t groups, int64_t rows, int64_t columns, int64_t length, bool are_bytes,
                  int64_t least) {
  const DataType dtype = are_bytes ? DataType::UInt(8) : DataType::Float(32);
  const Tensor packed = runtime::AllocTensor({(columns + length - 1) / length, groups, length}, dtype);
  if (are_bytes) {
    FillBlocks<uint8_t>(spread, rows, columns, least, packed);
  } else {
    FillBlocks<float>(spread, rows, columns, least, packed);
  }
  return Constant(packed, spread.data->span);
}

Constant PackNumbers(const Spread& numbers, int64_t length, bool has_halves, int64_t least) {
  const auto [depth, columns] = numbers.shape;
  const int64_t blocks = (columns + length - 1) / length, rows = has_halves ? (depth + 1) / 2 : depth;
  const DLDataType dtype = numbers.data->data.dtype();
  Tensor packed = runtime::AllocTensor({blocks, rows, length},
                                       has_halves || dtype.code == kDLUInt ? DataType::UInt(8) : DataType::Int(8));
  const Tensor data = CompactData(numbers.data);
  const auto* from = static_cast<const char*>(data.data_ptr());
  auto* to = static_cast<uint8_t*>(packed.data_ptr());
  const auto number = [&](int64_t row, int64_t column) {
    if (row >= numbers.shape[0] || column >= numbers.shape[1]) return uint8_t{0};
    return static_cast<uint8_t>(LoadInteger(from + numbers.At(row, column), dtype) - least);
  };
  MakeInParallel(blocks, blocks * rows * length, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      for (int64_t row = 0; row < rows; ++row) {
        uint8_t* const out = to + (block * rows + row) * length;
        for (int64_t c = 0; c < length; ++c) {
          const int64_t column = block * length + c;
          out[c] = has_halves ? static_cast<uint8_t>(number(2 * row, column) | number(2 * row + 1, column) << 4)
                              : number(row, column);
        }
      }
    }
  });
  return Constant(std::move(packed), numbers.data->span);
}

std::optional<WeightBytes> AsBytes(const Quantized& weight, int64_t block) {
  // Steps of eight rows; sums of a block that float32 has.
  constexpr int64_t kRowsOfStep = 8, kMostRows = 512;
  const int64_t depth = weight.numbers.shape[0];
  const bool is_of_block = weight.scales.shape[0] == 1 ? depth <= block : weight.scales.repeats[0] == block;
  if (!is_of_block || block % kRowsOfStep != 0 || block > kMostRows) return std::nullopt;
  const Target& target = Target::Current();
  const DataType given(weight.numbers.data->data.dtype());
  WeightBytes bytes{given.bits() <= 4 || AreHalves(weight.numbers.data), tir::MultipliesSignedBytes(target), 0, block,
                    1};
  // Of pairs of bytes, sums of products with numbers of 4 bits fit 16 bits.
  const bool has_pairs = bytes.has_halves && target.HasFeature("avx2");
  if (!bytes.has_sign && !tir::MultipliesBytes(target) && !has_pairs) return std::nullopt;
  constexpr int64_t kHalf = 128;
  if (bytes.has_halves) {
    bytes.least = given.is_int() ? -(int64_t{1} << (given.bits() - 1)) : 0;
  } else if (given.is_int() != bytes.has_sign) {
    bytes.least = given.is_int() ? -kHalf : kHalf;
  }
  const auto zero = weight.zeros ? ZeroOf(*weight.zeros) : std::optional(0.0);
  if (zero) bytes.factor = *zero - static_cast<double>(bytes.least);
  return bytes;
}

Constant PackWords(const Spread& numbers, const WeightBytes& bytes, int64_t length) {
  const auto [depth, columns] = numbers.shape;
  const int64_t panels = (columns + length - 1) / length, rows_of_word = bytes.has_halves ? 8 : 4;
  const int64_t words = (depth + bytes.block - 1) / bytes.block * bytes.block / rows_of_word;
  const DLDataType dtype = numbers.data->data.dtype();
  Tensor packed = runtime::AllocTensor({panels, words, length}, DataType::Int(32));
  const Tensor data = CompactData(numbers.data);
  const auto* from = static_cast<const char*>(data.data_ptr());
  auto* to = static_cast<uint32_t*>(packed.data_ptr());
  const auto number = [&](int64_t row, int64_t column) {
    if (row >= numbers.shape[0] || column >= numbers.shape[1]) return uint32_t{0};
    return static_cast<uint32_t>(
        static_cast<uint8_t>(LoadInteger(from + numbers.At(row, column), dtype) - bytes.least));
  };
  MakeInParallel(panels, panels * words * length * 4, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      for (int64_t word = 0; word < words; ++word) {
        for (int64_t c = 0; c < length; ++c) {
          uint32_t value = 0;
          for (int64_t row = 0; row < rows_of_word; ++row) {
            value |= number(word * rows_of_word + row, panel * length + c) << (row % 4 * 8 + row / 4 * 4);
          }
          to[(panel * words + word) * length + c] = value;
        }
      }
    }
  });
  return Constant(std::move(packed), numbers.data->span);
}

}  // namespace deuteron::relax
