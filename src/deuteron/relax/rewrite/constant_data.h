/// \file
/// The data of constants, for passes that compute with it. Large weights lie where the model's file has them: mapped,
/// at any address.
#pragma once

#include <functional>
#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// The constant's elements one after the other, aligned as kernels want them: its own data, or a copy.
Tensor CompactData(const Constant& constant);
/// The same at any address, for who copies bytes: a copy only of what does not lie one after the other.
Tensor ContiguousData(const Constant& constant);
/// The constant's elements with its axis `axes[i]` as the i-th: matrices that are transposed, one after the other.
/// Undefined where axes are moved otherwise.
Tensor TransposedData(const Constant& constant, const std::vector<size_t>& axes);
/// The constant's slices along `axis` that `indices` (int32, int64) name, as relax.take gives them. Undefined where one
/// lies outside.
Tensor TakenData(const Constant& constant, const Constant& indices, size_t axis);
/// The constant's elements in another shape of as many: its own memory. Undefined if there are gaps between them.
Tensor ReshapedData(const Constant& constant, const std::vector<int64_t>& shape);
/// The box of that shape that begins at `begin`, an index of each axis. One run of a mapped file stays where it is.
/// Undefined if there are gaps between the elements.
Tensor SlicedData(const Constant& constant, const std::vector<int64_t>& begin, const std::vector<int64_t>& shape);
/// So many of the constant's one element, as relax.full and relax.broadcast_to give them.
Tensor FilledData(const Constant& constant, const std::vector<int64_t>& shape);
/// The constant's integers, of at most 32 bits, as int32 or float32; its numbers of float16 or bfloat16 as float32.
/// Undefined for others, or to others.
Tensor WidenedData(const Constant& constant, DataType dtype);
/// A constant's elements as `outer` times `extent` runs of `inner` that lie beside each other: `extent` is that of
/// `axis`.
struct Runs {
  Runs(const Constant& constant, size_t axis);
  int64_t outer = 1, extent = 1, inner = 1;
};
/// Says that something computed of the constant has taken its place: what of it lies in a mapped file leaves memory.
void LetGoOfData(const Constant& constant);
/// Calls `make` with parts [begin, end) of [0, count), all of which make `bytes`, in several threads if that pays.
void MakeInParallel(int64_t count, int64_t bytes, const std::function<void(int64_t begin, int64_t end)>& make);

}  // namespace deuteron::relax
