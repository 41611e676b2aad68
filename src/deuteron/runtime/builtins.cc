/// \file
/// External functions that byte code calls by name: conversions between shapes and tensors, copies, views, messages.
#include <tvm/ffi/container/array.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/reflection/registry.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <vector>

#include "deuteron/runtime/message.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/support/element.h"
#include "deuteron/support/error.h"

namespace deuteron::runtime {
namespace {

using tvm::ffi::Any;
using tvm::ffi::AnyView;
using tvm::ffi::PackedArgs;

/// The format at `first`, filled in with the values after it.
std::string MessageOf(const PackedArgs& args, int first) {
  if (args.size() <= first) return "";
  std::vector<AnyView> values;
  for (int i = first + 1; i < args.size(); ++i) values.push_back(args[i]);
  return FormatMessage(std::string(args[first].cast<tvm::ffi::String>()), values);
}

/// The tensor, or a copy of it, whose elements lie one behind the other.
Tensor Compacted(const Tensor& tensor) {
  return tensor.IsContiguous() ? tensor : CopyCompact(*tensor.GetDLTensorPtr());
}

char* FirstByte(const Tensor& tensor) { return static_cast<char*>(tensor.data_ptr()) + tensor.byte_offset(); }

Tensor ShapeToTensor(tvm::ffi::Shape shape) {
  Tensor tensor = AllocTensor({static_cast<int64_t>(shape.size())}, DLDataType{kDLInt, 64, 1});
  std::copy(shape.begin(), shape.end(), static_cast<int64_t*>(tensor.data_ptr()));
  return tensor;
}

tvm::ffi::Shape TensorToShape(const Tensor& tensor) {
  if (tensor.ndim() != 1 || tensor.dtype().code != kDLInt || (tensor.dtype().bits != 64 && tensor.dtype().bits != 32)) {
    DEUTERON_THROW(ModelError) << "a shape must be a vector of integers, not "
                               << DescribeTensor(*tensor.GetDLTensorPtr());
  }
  const Tensor compact = Compacted(tensor);
  const char* data = FirstByte(compact);
  std::vector<int64_t> dims(tensor.size(0));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (tensor.dtype().bits == 64) {
      std::memcpy(&dims[i], data + 8 * i, 8);
    } else {
      int32_t narrow;
      std::memcpy(&narrow, data + 4 * i, 4);
      dims[i] = narrow;
    }
  }
  return tvm::ffi::Shape(dims);
}

/// Throws unless every element, number i counted along the last axis, is in [0, extents[i]), or in [-extents[i],
/// extents[i]) where negative ones count from the end; one extent is that of all. `what` begins the message.
template <typename T>
void CheckElements(const T* indices, int64_t count, tvm::ffi::ShapeView extents, bool from_end,
                   const std::string& what) {
  const auto period = static_cast<int64_t>(extents.size());
  if (period == 1) {
    // All are looked at without a branch, as vectors: which one is wrong is asked where one is. Too small ones are
    // negative with what may lie below 0 added, too large ones taken from the last that is right.
    // (Of 16 bytes, which all machines have, and with two sums, which stay in registers.)
    constexpr int64_t kLanes = 2;
    using Indices __attribute__((vector_size(kLanes * sizeof(T)))) = T;
    using Lanes __attribute__((vector_size(kLanes * sizeof(uint64_t)))) = uint64_t;
    const auto last = static_cast<uint64_t>(extents[0]) - 1;
    const uint64_t below = from_end ? last + 1 : 0;
    const auto outside = [&](auto index) { return (index + below) | (last - index); };
    const auto outside_at = [&](int64_t at) {
      Indices some;
      std::memcpy(&some, indices + at, sizeof(some));
      return outside(__builtin_convertvector(some, Lanes));
    };
    Lanes even = {}, odd = {};
    int64_t begin = 0;
    for (; begin + 4 * kLanes <= count; begin += 4 * kLanes) {
      even |= outside_at(begin) | outside_at(begin + 2 * kLanes);
      odd |= outside_at(begin + kLanes) | outside_at(begin + 3 * kLanes);
    }
    even |= odd;
    uint64_t any = even[0] | even[1];
    for (; begin < count; ++begin) any |= outside(static_cast<uint64_t>(int64_t{indices[begin]}));
    if (static_cast<int64_t>(any) >= 0) return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t extent = extents[static_cast<size_t>(period == 1 ? 0 : i % period)];
    if (indices[i] < (from_end ? -extent : 0) || indices[i] >= extent) {
      DEUTERON_THROW(UsageError) << what << ": index " << static_cast<int64_t>(indices[i])
                                 << " is outside of an axis of length " << extent;
    }
  }
}

Tensor CheckIndices(const Tensor& indices, const tvm::ffi::Shape& extents, bool from_end,
                    const tvm::ffi::String& what) {
  const Tensor compact = Compacted(indices);
  const char* data = FirstByte(compact);
  const bool is_int = indices.dtype().code == kDLInt;
  if (is_int && indices.dtype().bits == 64) {
    CheckElements(reinterpret_cast<const int64_t*>(data), compact.numel(), extents, from_end, std::string(what));
  } else if (is_int && indices.dtype().bits == 32) {
    CheckElements(reinterpret_cast<const int32_t*>(data), compact.numel(), extents, from_end, std::string(what));
  } else {
    DEUTERON_THROW(ModelError) << what << ": indices must be of int32 or int64, not "
                               << DescribeTensor(*indices.GetDLTensorPtr());
  }
  return indices;
}

/// A UsageError where one of `count` values is none of [least, most], or, if `is_open`, of (least, most]; the greatest
/// int64 is no bound.
template <typename T>
void CheckValues(const T* values, int64_t count, tvm::ffi::ShapeView bounds, bool is_open, const std::string& what) {
  const int64_t least = bounds[0], most = bounds[1];
  const bool is_bounded = most != INT64_MAX;
  for (int64_t i = 0; i < count; ++i) {
    const T value = values[i];
    const bool is_enough = is_open ? value > static_cast<T>(least) : value >= static_cast<T>(least);
    if (is_enough && (!is_bounded || value <= static_cast<T>(most))) continue;
    std::ostringstream message;
    message << what << " is " << value << " and has to be " << (is_open ? "above " : "at least ") << least;
    if (is_bounded) message << (is_open ? " and at most " : ", at most ") << most;
    DEUTERON_THROW(UsageError) << message.str();
  }
}

/// `values`, of int64 or float64, each of which has to lie within `bounds`. `what` begins messages.
Tensor CheckWithin(const Tensor& values, const tvm::ffi::Shape& bounds, bool is_open, const tvm::ffi::String& what) {
  const Tensor compact = Compacted(values);
  const char* data = FirstByte(compact);
  const DLDataType dtype = values.dtype();
  if (dtype.bits != 64 || (dtype.code != kDLInt && dtype.code != kDLFloat) || bounds.size() != 2) {
    DEUTERON_THROW(ModelError) << std::string(what) << ": a check of " << DescribeTensor(*values.GetDLTensorPtr())
                               << " by " << bounds.size() << " bounds";
  }
  if (dtype.code == kDLInt) {
    CheckValues(reinterpret_cast<const int64_t*>(data), compact.numel(), bounds, is_open, std::string(what));
  } else {
    CheckValues(reinterpret_cast<const double*>(data), compact.numel(), bounds, is_open, std::string(what));
  }
  return values;
}

/// Axes of a tensor of rank `rank` (negative ones count from the end) as an order of all axes: those that are not given
/// as they are, then these. The order, then its inverse: int64[2 * rank]. `what` begins messages.
Tensor MoveAxes(const Tensor& given, int64_t rank, const tvm::ffi::String& what) {
  const tvm::ffi::Shape axes = TensorToShape(given);
  std::vector<int64_t> last;
  std::vector<bool> is_last(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      DEUTERON_THROW(UsageError) << std::string(what) << ": axis " << axis << " of a tensor of rank " << rank;
    }
    last.push_back(axis < 0 ? axis + rank : axis);
    if (is_last[last.back()]) DEUTERON_THROW(UsageError) << std::string(what) << ": axis " << axis << " is given twice";
    is_last[last.back()] = true;
  }
  Tensor orders = AllocTensor({2 * rank}, DLDataType{kDLInt, 64, 1});
  auto* order = static_cast<int64_t*>(orders.data_ptr());
  int64_t next = 0;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!is_last[axis]) order[next++] = axis;
  }
  for (const int64_t axis : last) order[next++] = axis;
  for (int64_t i = 0; i < rank; ++i) order[rank + order[i]] = i;
  return orders;
}

void Copy(const Tensor& source, const Tensor& destination) {
  CopyInto(*source.GetDLTensorPtr(), *destination.GetDLTensorPtr());
}

/// The bytes of `x` from `offset` on as a tensor of another shape and dtype; what is not given is as it was.
Tensor View(const Tensor& x, const Any& shape, const Any& dtype, const Any& offset) {
  const Tensor compact = Compacted(x);
  const auto given_shape = shape.as<tvm::ffi::Shape>();
  const std::vector<int64_t> dims = given_shape.has_value()
                                        ? std::vector<int64_t>(given_shape->begin(), given_shape->end())
                                        : std::vector<int64_t>(x.shape().begin(), x.shape().end());
  const DLDataType type = dtype.as<DLDataType>().value_or(x.dtype());
  const int64_t at = offset.as<int64_t>().value_or(0);
  const int64_t bytes = TensorBytes({compact.shape().data(), compact.shape().size()}, compact.dtype());
  const int64_t needed = TensorBytes(dims, type);
  const int64_t element = ElementBytes(type);
  if (at < 0 || at % element != 0 || needed > bytes - at) {
    DEUTERON_THROW(ModelError) << "memory.view: " << needed << " bytes of " << DTypeName(type) << " from byte " << at
                               << " on do not lie in " << DescribeTensor(*x.GetDLTensorPtr()) << ", which has " << bytes
                               << "; an offset is a multiple of the size of an element";
  }
  char* data = FirstByte(compact) + at;
  return ViewTensor(data, dims, type, std::make_shared<Tensor>(compact));
}

/// R.print(format, values...): a line on standard error.
void Print(PackedArgs args, Any* result) {
  std::fprintf(stderr, "%s\n", MessageOf(args, 0).c_str());
  *result = tvm::ffi::Array<Any>();
}

bool IsTrue(const AnyView& condition) {
  const auto tensor = condition.try_cast<Tensor>();
  if (!tensor.has_value()) return condition.cast<bool>();
  return *FirstByte(*tensor) != 0;
}

/// R.assert_op(condition, format, values...)
void Assert(PackedArgs args, Any* result) {
  if (!IsTrue(args[0])) {
    const std::string message = MessageOf(args, 1);
    DEUTERON_THROW(ModelError) << "assertion failed" << (message.empty() ? "" : ": ") << message;
  }
  *result = tvm::ffi::Array<Any>();
}

/// What stands for results that cannot be computed.
void Fail(const tvm::ffi::String& message) { DEUTERON_THROW(ModelError) << message; }

tvm::ffi::Shape ShapeOf(const Tensor& tensor) { return tvm::ffi::Shape(tensor.shape()); }

}  // namespace

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("deuteron.vm.copy", Copy)
      .def("deuteron.vm.view", View)
      .def_packed("deuteron.vm.print", Print)
      .def_packed("deuteron.vm.assert", Assert)
      .def("deuteron.vm.fail", Fail)
      .def("deuteron.vm.shape_to_tensor", ShapeToTensor)
      .def("deuteron.vm.tensor_to_shape", TensorToShape)
      .def("deuteron.vm.check_indices",
           [](const Tensor& indices, const tvm::ffi::Shape& extents, const tvm::ffi::String& what) {
             return CheckIndices(indices, extents, /*from_end=*/true, what);
           })
      .def("deuteron.vm.check_positions",
           [](const Tensor& indices, const tvm::ffi::Shape& extents, const tvm::ffi::String& what) {
             return CheckIndices(indices, extents, /*from_end=*/false, what);
           })
      .def("deuteron.vm.check_within",
           [](const Any& values, const tvm::ffi::Shape& bounds, const tvm::ffi::String& what) -> Any {
             if (const auto shape = values.as<tvm::ffi::Shape>()) {
               CheckValues(shape->data(), static_cast<int64_t>(shape->size()), bounds, /*is_open=*/false,
                           std::string(what));
               return values;
             }
             return CheckWithin(values.cast<Tensor>(), bounds, /*is_open=*/false, what);
           })
      .def("deuteron.vm.check_above",
           [](const Tensor& values, const tvm::ffi::Shape& bounds, const tvm::ffi::String& what) {
             return CheckWithin(values, bounds, /*is_open=*/true, what);
           })
      .def("deuteron.vm.move_axes", MoveAxes)
      .def("deuteron.vm.shape_of", ShapeOf);
}

}  // namespace deuteron::runtime
