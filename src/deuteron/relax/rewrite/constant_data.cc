#include "deuteron/relax/rewrite/constant_data.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "deuteron/relax/rewrite/channel_panels.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/element.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron::relax {
namespace {

/// A thread is asked for so many bytes at least.
constexpr int64_t kBytesOfThread = 1 << 18;

/// `count` matrices of `rows` rows of `columns`, one after the other.
struct Matrices {
  int64_t count, rows, columns;
};

/// The matrices whose transposition the permutation is: but for axes of one element, some stay in front, and of the
/// others the last ones come first.
std::optional<Matrices> MatricesOf(const ffi::ShapeView& shape, const std::vector<size_t>& axes) {
  std::vector<size_t> moved;
  for (const size_t axis : axes) {
    if (shape[axis] != 1) moved.push_back(axis);
  }
  std::vector<size_t> in_order = moved;
  std::sort(in_order.begin(), in_order.end());
  const size_t front =
      static_cast<size_t>(std::mismatch(moved.begin(), moved.end(), in_order.begin()).first - moved.begin());
  const auto begin = moved.begin() + static_cast<ptrdiff_t>(front);
  const auto elements = [&](auto from, auto to) {
    int64_t product = 1;
    for (; from != to; ++from) product *= shape[*from];
    return product;
  };
  if (begin == moved.end()) return Matrices{1, 1, elements(moved.begin(), begin)};
  const auto first = in_order.begin() + static_cast<ptrdiff_t>(front);
  const auto split = std::find(begin, moved.end(), *first);
  std::vector<size_t> turned(split, moved.end());
  turned.insert(turned.end(), begin, split);
  if (!std::equal(turned.begin(), turned.end(), first)) return std::nullopt;
  return Matrices{elements(moved.begin(), begin), elements(split, moved.end()), elements(begin, split)};
}

/// Of the tensor's memory what lies so many bytes behind its beginning, as one of that shape.
Tensor PartOf(const Tensor& data, int64_t bytes, const std::vector<int64_t>& shape) {
  char* const begin = static_cast<char*>(data.data_ptr()) + data.byte_offset() + bytes;
  return runtime::ViewTensor(begin, shape, data.dtype(), std::make_shared<const Tensor>(data));
}

}  // namespace

Tensor CompactData(const Constant& constant) {
  const DLTensor& data = *constant->data.GetDLTensorPtr();
  const bool ready = runtime::IsKernelReady(data) && data.byte_offset == 0;
  return ready ? constant->data : runtime::CopyCompact(data);
}

Tensor ContiguousData(const Constant& constant) {
  return constant->data.IsContiguous() ? constant->data : CompactData(constant);
}

Tensor TransposedData(const Constant& constant, const std::vector<size_t>& axes) {
  const Tensor& data = constant->data;
  const DLDataType dtype = data.dtype();
  const auto matrices = MatricesOf(data.shape(), axes);
  if (!matrices || data.numel() == 0 || dtype.bits % 8 != 0 || dtype.lanes != 1 || !data.IsContiguous())
    return Tensor();
  std::vector<int64_t> shape;
  for (const size_t axis : axes) shape.push_back(data.shape()[axis]);
  Tensor result = runtime::AllocTensor(shape, DataType(dtype));
  const auto& [count, rows, columns] = *matrices;
  const int64_t bytes = ElementBytes(dtype);
  const char* in = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
  auto* out = static_cast<char*>(result.data_ptr());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i * rows * columns * bytes;
    MoveRowsLast(in + at, out + at, rows, rows, columns, /*window=*/1, bytes);
  }
  return result;
}

Tensor TakenData(const Constant& constant, const Constant& indices, size_t axis) {
  const DLDataType dtype = constant->data.dtype();
  const DataType index_type(indices->data.dtype());
  if (dtype.bits % 8 != 0 || (index_type != DataType::Int(32) && index_type != DataType::Int(64))) return Tensor();
  const Tensor data = ContiguousData(constant), order = CompactData(indices);
  const ffi::ShapeView shape = data.shape();
  const int64_t extent = shape[axis];
  std::vector<int64_t> places;
  for (int64_t i = 0; i < order.numel(); ++i) {
    const auto* index = static_cast<const char*>(order.data_ptr()) + i * index_type.bytes();
    places.push_back(LoadInteger(index, index_type));
    if (places.back() < 0 || places.back() >= extent) return Tensor();
  }
  const auto at_axis = static_cast<ptrdiff_t>(axis);
  std::vector<int64_t> taken(shape.begin(), shape.begin() + at_axis);
  taken.insert(taken.end(), order.shape().begin(), order.shape().end());
  taken.insert(taken.end(), shape.begin() + at_axis + 1, shape.end());
  Tensor result = runtime::AllocTensor(taken, DataType(dtype));
  const int64_t outer = std::accumulate(shape.begin(), shape.begin() + at_axis, int64_t{1}, std::multiplies<>());
  const int64_t slice =
      std::accumulate(shape.begin() + at_axis + 1, shape.end(), ElementBytes(dtype), std::multiplies<>());
  const char* in = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
  auto* out = static_cast<char*>(result.data_ptr());
  for (int64_t i = 0; i < outer; ++i, in += extent * slice) {
    for (const int64_t place : places) {
      std::memcpy(out, in + place * slice, static_cast<size_t>(slice));
      out += slice;
    }
  }
  return result;
}

Tensor ReshapedData(const Constant& constant, const std::vector<int64_t>& shape) {
  const Tensor& data = constant->data;
  const int64_t elements = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  return data.IsContiguous() && data.numel() == elements ? PartOf(data, 0, shape) : Tensor();
}

Tensor SlicedData(const Constant& constant, const std::vector<int64_t>& begin, const std::vector<int64_t>& shape) {
  const Tensor& data = constant->data;
  const DLDataType dtype = data.dtype();
  if (dtype.bits % 8 != 0 || !data.IsContiguous()) return Tensor();
  const ffi::ShapeView whole = data.shape();
  // From the last axis that is cut on, the box is a run of memory for each index of those before.
  size_t cut = shape.size();
  while (cut > 0 && shape[cut - 1] == whole[cut - 1]) --cut;
  const size_t outer = cut == 0 ? 0 : cut - 1;
  std::vector<int64_t> steps(shape.size(), ElementBytes(dtype));
  for (size_t axis = shape.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * whole[axis];
  int64_t at = 0, runs = 1, run = ElementBytes(dtype);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    at += begin[axis] * steps[axis];
    (axis < outer ? runs : run) *= shape[axis];
  }
  const char* const from = static_cast<const char*>(data.data_ptr()) + data.byte_offset() + at;
  if (runs == 1 && MappedFile::Holds(from, static_cast<size_t>(run))) return PartOf(data, at, shape);
  Tensor result = runtime::AllocTensor(shape, DataType(dtype));
  if (run == 0) return result;
  auto* out = static_cast<char*>(result.data_ptr());
  std::vector<int64_t> index(outer, 0);
  for (int64_t i = 0; i < runs; ++i, out += run) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < outer; ++axis) offset += index[axis] * steps[axis];
    std::memcpy(out, from + offset, static_cast<size_t>(run));
    for (size_t axis = outer; axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
  }
  return result;
}

Tensor FilledData(const Constant& constant, const std::vector<int64_t>& shape) {
  const DLDataType dtype = constant->data.dtype();
  if (constant->data.numel() != 1 || dtype.bits % 8 != 0) return Tensor();
  Tensor result = runtime::AllocTensor(shape, DataType(dtype));
  const int64_t bytes = ElementBytes(dtype);
  const char* element = static_cast<const char*>(constant->data.data_ptr()) + constant->data.byte_offset();
  MakeInParallel(result.numel(), result.numel() * bytes, [&](int64_t begin, int64_t end) {
    char* const out = static_cast<char*>(result.data_ptr()) + begin * bytes;
    const int64_t total = (end - begin) * bytes;
    if (total == 0) return;
    std::memcpy(out, element, static_cast<size_t>(bytes));
    // Twice as much each time, from what the first cache still holds.
    constexpr int64_t kMostAtOnce = 1 << 13;
    for (int64_t made = bytes, length = 0; made < total; made += length) {
      length = std::min({made, total - made, kMostAtOnce / bytes * bytes});
      std::memcpy(out + made, out, static_cast<size_t>(length));
    }
  });
  return result;
}

Tensor WidenedData(const Constant& constant, DataType dtype) {
  const DataType from(constant->data.dtype());
  Tensor result;
  const auto widen = [&]<typename To, typename From>(To, From, const auto& convert) {
    const Tensor data = sizeof(From) == 1 ? ContiguousData(constant) : CompactData(constant);
    const auto shape = data.shape();
    result = runtime::AllocTensor({shape.begin(), shape.end()}, dtype);
    const char* const bytes = static_cast<const char*>(data.data_ptr()) + data.byte_offset();
    MakeInParallel(data.numel(), data.numel() * static_cast<int64_t>(sizeof(To)), [&](int64_t begin, int64_t end) {
      const auto* const in = reinterpret_cast<const From*>(bytes);
      auto* const out = static_cast<To*>(result.data_ptr());
      convert(in + begin, end - begin, out + begin);
    });
  };
  const auto widen_to = [&](auto to) {
    const auto copy = [](const auto* in, int64_t count, auto* out) { std::copy_n(in, count, out); };
    if (from == DataType::Int(8)) widen(to, int8_t{}, copy);
    if (from == DataType::UInt(8)) widen(to, uint8_t{}, copy);
    if (from == DataType::Int(16)) widen(to, int16_t{}, copy);
    if (from == DataType::UInt(16)) widen(to, uint16_t{}, copy);
    if (from == DataType::Int(32)) widen(to, int32_t{}, copy);
  };
  if (dtype == DataType::Int(32)) widen_to(int32_t{});
  if (dtype == DataType::Float(32)) widen_to(float{});
  if (dtype == DataType::Float(32) && (from == DataType::Float(16) || from == DataType::BFloat16())) {
    widen(float{}, uint16_t{},
          [&](const uint16_t* in, int64_t count, float* out) { WidenFloats(in, count, from, out); });
  }
  return result;
}

Runs::Runs(const Constant& constant, size_t axis) {
  const auto shape = constant->data.shape();
  for (size_t i = 0; i < axis; ++i) outer *= shape[i];
  extent = shape[axis];
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
}

void LetGoOfData(const Constant& constant) {
  const auto bytes = static_cast<size_t>(constant->data.numel() * ElementBytes(constant->data.dtype()));
  MappedFile::LetGo(static_cast<const char*>(constant->data.data_ptr()) + constant->data.byte_offset(), bytes);
}

void MakeInParallel(int64_t count, int64_t bytes, const std::function<void(int64_t, int64_t)>& make) {
  const int64_t most = std::min<int64_t>({count, bytes / kBytesOfThread, runtime::UsableThreads()});
  const int64_t parts = std::max<int64_t>(most, 1);
  using Make = std::function<void(int64_t, int64_t)>;
  const auto body = [](void* closure, int64_t begin, int64_t end) {
    (*static_cast<const Make*>(closure))(begin, end);
    return 0;
  };
  // A thread that were made for each constant would be waited for until the system has begun it.
  runtime::ParallelFor(static_cast<int>(parts), count, /*grain=*/1, body, const_cast<Make*>(&make));
}

}  // namespace deuteron::relax
