/// \file
/// Operators whose results are as large as the data says: external functions that byte code calls by name.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

constexpr DLDataType kInt64{kDLInt, 64, 1};

Tensor Compact(const Tensor& tensor) {
  return tensor.IsContiguous() && tensor.byte_offset() == 0 ? tensor : CopyCompact(*tensor.GetDLTensorPtr());
}

Tensor FromInts(const std::vector<int64_t>& values) {
  Tensor tensor = AllocTensor({static_cast<int64_t>(values.size())}, kInt64);
  std::copy(values.begin(), values.end(), static_cast<int64_t*>(tensor.data_ptr()));
  return tensor;
}

/// A float of `bits` bits as an integer in the order of the numbers: -0 is 0, every NaN the same and above infinity.
int64_t FloatKey(uint64_t word, int bits, uint64_t infinity) {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t magnitude = word & (sign - 1);
  if (magnitude > infinity) return static_cast<int64_t>(infinity) + 1;
  return (word & sign) != 0 ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

/// Elements of a compact tensor as integers that compare as the elements do.
std::vector<int64_t> OrderedKeys(const Tensor& tensor) {
  const DLDataType dtype = tensor.dtype();
  const int bytes = dtype.bits / 8;
  const bool is_float = dtype.code == kDLFloat || dtype.code == kDLBfloat;
  const bool supported =
      (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && dtype.lanes == 1 &&
      (is_float ? bytes > 1 : dtype.code == kDLInt || dtype.code == kDLUInt || dtype.code == kDLBool);
  if (!supported) DEUTERON_THROW(UnsupportedError) << "elements of " << DTypeName(dtype) << " cannot be compared";
  uint64_t infinity = 0;
  if (dtype.code == kDLBfloat) infinity = 0x7f80;
  if (dtype.code == kDLFloat) infinity = bytes == 2 ? 0x7c00 : bytes == 4 ? 0x7f800000 : 0x7ff0000000000000;
  const char* data = static_cast<const char*>(tensor.data_ptr());
  std::vector<int64_t> keys(static_cast<size_t>(tensor.numel()));
  for (size_t i = 0; i < keys.size(); ++i) {
    uint64_t word = 0;
    std::memcpy(&word, data + i * bytes, bytes);
    if (is_float) {
      keys[i] = FloatKey(word, dtype.bits, infinity);
    } else if (dtype.code == kDLInt) {
      const int shift = 64 - dtype.bits;
      keys[i] = static_cast<int64_t>(word << shift) >> shift;
    } else {
      // Unsigned numbers of 64 bits keep their order shifted by half of their range.
      keys[i] = std::bit_cast<int64_t>(bytes == 8 ? word ^ (uint64_t{1} << 63) : word);
    }
  }
  return keys;
}

/// Elements whose bits are looked at together.
constexpr int64_t kGroup = 64;

/// Bit i: whether some bit of `mask` is set in word i of so many, 64 at most, at any address.
template <typename Word>
uint64_t SetOnes(const char* data, int64_t count, uint64_t mask) {
  uint64_t set = 0;
  if (sizeof(Word) == 1 && count == kGroup) {
    constexpr uint64_t kOnes = 0x0101010101010101, kLow = 0x7f * kOnes;
    for (int64_t i = 0; i < kGroup; i += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, data + i, 8);
      bytes &= (mask & 0xff) * kOnes;
      // The highest bit of each byte that is not zero; then these side by side.
      const uint64_t highest = (((bytes & kLow) + kLow) | bytes) & ~kLow;
      set |= ((highest >> 7) * 0x0102040810204080 >> 56) << i;
    }
    return set;
  }
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, data + static_cast<size_t>(i) * sizeof(Word), sizeof(Word));
    set |= static_cast<uint64_t>((word & static_cast<Word>(mask)) != 0 ? 1 : 0) << i;
  }
  return set;
}

template <typename Word>
Tensor NonZeroWords(const Tensor& x, uint64_t mask) {
  const auto* data = static_cast<const char*>(x.data_ptr());
  std::vector<uint64_t> groups(static_cast<size_t>((x.numel() + kGroup - 1) / kGroup));
  int64_t count = 0;
  for (size_t group = 0; group < groups.size(); ++group) {
    const int64_t first = static_cast<int64_t>(group) * kGroup;
    const char* begin = data + static_cast<size_t>(first) * sizeof(Word);
    groups[group] = SetOnes<Word>(begin, std::min(kGroup, x.numel() - first), mask);
    count += std::popcount(groups[group]);
  }
  const int rank = x.ndim();
  Tensor indices = AllocTensor({rank, count}, kInt64);
  if (rank == 0) return indices;
  auto* row = static_cast<int64_t*>(indices.data_ptr()) + (rank - 1) * count;
  int64_t* next = row;
  for (size_t group = 0; group < groups.size(); ++group) {
    for (uint64_t set = groups[group]; set != 0; set &= set - 1) {
      *next++ = static_cast<int64_t>(group) * kGroup + std::countr_zero(set);
    }
  }
  // A row has the numbers of lines along its axis and those before, and leaves to the row before it those without.
  for (int axis = rank - 1; axis > 0; --axis, row -= count) {
    const int64_t extent = x.size(axis);
    // They ascend: most are in the line of the one before.
    int64_t line = 0, begin = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (row[i] - begin >= extent) {
        line = row[i] / extent;
        begin = line * extent;
      }
      row[i] -= begin;
      row[i - count] = line;
    }
  }
  return indices;
}

/// The indices of elements that are not zero, in row-major order: int64[rank, count], as numpy.nonzero stacked. A
/// scalar has no indices: int64[0, count].
Tensor NonZero(const Tensor& x) {
  const Tensor compact = Compact(x);
  const DLDataType dtype = compact.dtype();
  const int64_t bytes = ElementBytes(dtype);
  // Minus zero is zero.
  const uint64_t mask = IsFloat(dtype) ? (uint64_t{1} << (8 * bytes - 1)) - 1 : ~uint64_t{0};
  if (bytes == 1) return NonZeroWords<uint8_t>(compact, mask);
  if (bytes == 2) return NonZeroWords<uint16_t>(compact, mask);
  return bytes == 4 ? NonZeroWords<uint32_t>(compact, mask) : NonZeroWords<uint64_t>(compact, mask);
}

/// The different slices of a tensor along one axis (its elements, if the axis is negative).
class UniqueFinder {
 public:
  UniqueFinder(const Tensor& x, int64_t axis) : x_(Compact(x)), flat_(axis < 0) {
    if (axis >= x_.ndim())
      DEUTERON_THROW(UsageError) << "unique along axis " << axis << " of " << DescribeTensor(*x_.GetDLTensorPtr());
    length_ = flat_ ? x_.numel() : x_.size(axis);
    for (int64_t i = 0; i < axis; ++i) outer_ *= x_.size(i);
    for (int64_t i = axis + 1; !flat_ && i < x_.ndim(); ++i) inner_ *= x_.size(i);
    axis_ = axis;
    keys_ = OrderedKeys(x_);
  }

  /// In ascending order, or in order of first occurrence.
  void Find(bool sorted) {
    if (outer_ * inner_ == 1 && FindNumbers(sorted)) return;
    FindSlices(sorted);
  }

  Tensor Values() const {
    std::vector<int64_t> shape = {static_cast<int64_t>(first.size())};
    if (!flat_) {
      shape.assign(x_.shape().begin(), x_.shape().end());
      shape[axis_] = static_cast<int64_t>(first.size());
    }
    Tensor values = AllocTensor(shape, x_.dtype());
    const int64_t run = inner_ * (ElementBytes(x_.dtype()));
    const char* from = static_cast<const char*>(x_.data_ptr());
    char* to = static_cast<char*>(values.data_ptr());
    for (int64_t i = 0; i < outer_; ++i) {
      for (const int64_t slice : first) {
        std::memcpy(to, from + (i * length_ + slice) * run, run);
        to += run;
      }
    }
    return values;
  }

  /// Of each different slice: where it occurs first, and how often; of each slice, which of them it is.
  std::vector<int64_t> first;
  std::vector<int64_t> counts;
  std::vector<int64_t> inverse;

 private:
  /// Single numbers are told apart by a table of those met so far (open addressing, linear probing; half of it stays
  /// empty), in order of occurrence. False, having found nothing, of numbers chosen to meet in one place.
  bool FindNumbers(bool sorted) {
    const size_t size = std::bit_ceil(2 * keys_.size() + 1);
    std::vector<int64_t> table(size, -1);
    inverse.resize(length_);
    int64_t patience = 16 * length_;
    for (int64_t i = 0; i < length_; ++i) {
      // The product's high bits depend on all bits of the key (Knuth, The Art of Computer Programming 3, 6.4).
      const uint64_t mixed = std::bit_cast<uint64_t>(keys_[i]) * 0x9E3779B97F4A7C15;
      size_t slot = mixed >> (65 - std::bit_width(size));
      while (table[slot] >= 0 && keys_[first[table[slot]]] != keys_[i] && --patience > 0) slot = (slot + 1) % size;
      if (patience <= 0) {
        first.clear();
        counts.clear();
        return false;
      }
      if (table[slot] < 0) {
        table[slot] = static_cast<int64_t>(first.size());
        first.push_back(i);
        counts.push_back(0);
      }
      inverse[i] = table[slot];
      ++counts[table[slot]];
    }
    if (sorted) Reorder([this](int64_t a, int64_t b) { return keys_[first[a]] < keys_[first[b]]; });
    return true;
  }

  void FindSlices(bool sorted) {
    std::vector<int64_t> order(length_);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](int64_t a, int64_t b) { return Compare(a, b) < 0; });
    inverse.resize(length_);
    for (size_t i = 0; i < order.size(); ++i) {
      if (i == 0 || Compare(order[i - 1], order[i]) != 0) {
        first.push_back(order[i]);
        counts.push_back(0);
      }
      ++counts.back();
      inverse[order[i]] = static_cast<int64_t>(first.size()) - 1;
    }
    if (!sorted) Reorder([this](int64_t a, int64_t b) { return first[a] < first[b]; });
  }

  int Compare(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < outer_; ++i) {
      const int64_t* x = keys_.data() + (i * length_ + a) * inner_;
      const int64_t* y = keys_.data() + (i * length_ + b) * inner_;
      for (int64_t k = 0; k < inner_; ++k) {
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
      }
    }
    return 0;
  }

  /// Puts those that are different into the order of their numbers that `before` says.
  template <typename Before>
  void Reorder(const Before& before) {
    std::vector<int64_t> order(first.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), before);
    std::vector<int64_t> rank(order.size()), new_first, new_counts;
    for (size_t i = 0; i < order.size(); ++i) {
      rank[order[i]] = static_cast<int64_t>(i);
      new_first.push_back(first[order[i]]);
      new_counts.push_back(counts[order[i]]);
    }
    for (int64_t& which : inverse) which = rank[which];
    first = std::move(new_first);
    counts = std::move(new_counts);
  }

  Tensor x_;
  bool flat_;
  int64_t axis_ = 0;
  int64_t length_ = 0;
  int64_t outer_ = 1;
  int64_t inner_ = 1;
  std::vector<int64_t> keys_;
};

/// numpy.unique; NaNs are equal. A tensor, or a tuple of the results asked for. `axis` -1: of the elements.
tvm::ffi::Any Unique(const Tensor& x, bool sorted, bool index, bool inverse, bool counts, int64_t axis) {
  UniqueFinder finder(x, axis);
  finder.Find(sorted);
  tvm::ffi::Array<tvm::ffi::Any> results = {finder.Values()};
  if (index) results.push_back(FromInts(finder.first));
  if (inverse) results.push_back(FromInts(finder.inverse));
  if (counts) results.push_back(FromInts(finder.counts));
  return results.size() == 1 ? results[0] : tvm::ffi::Any(results);
}

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef().def("deuteron.vm.nonzero", NonZero).def("deuteron.vm.unique", Unique);
}

}  // namespace deuteron::runtime
