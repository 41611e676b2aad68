/// \file
/// Lowered kernels that differ in numbers alone: extents, places, scales, tables of bytes.
///
///     for i in range(56): y[i * 8] = x[i * 8] * 0.5        for i in range(n0): y[i * n1] = x[i * n1] * n2
///     for i in range(28): y[i * 4] = x[i * 4] * 0.25   →       (n0, n1, n2) = (56, 8, 0.5) or (28, 4, 0.25)
#pragma once

#include <cstdint>
#include <vector>

#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// A number as a kernel takes it (kernel_signature.h).
struct KernelNumber {
  DataType dtype;
  uint64_t bits = 0;
  /// One of the words of a table of bytes, which stay side by side.
  bool is_of_table = false;
  bool operator==(const KernelNumber& other) const = default;
};

struct NumberedKernel {
  /// Structurally equal for kernels that differ in numbers alone: variables of no kernel's own stand for these.
  PrimFunc kind;
  /// In the order in which they occur; those that code generation must know are left out.
  std::vector<KernelNumber> numbers;
};
NumberedKernel TakeNumbers(const PrimFunc& func);

/// `func` with others in the place of its numbers, of the same types.
PrimFunc WithNumbers(const PrimFunc& func, const std::vector<KernelNumber>& numbers);

/// Kernels of one kind as one.
struct SharedKernel {
  /// The first, with parameters for the numbers that are not the same in all, behind its own.
  PrimFunc func;
  /// What each of the kernels passes for them.
  std::vector<std::vector<uint64_t>> scalars;
};
SharedKernel ShareCode(const PrimFunc& first, const std::vector<const std::vector<KernelNumber>*>& numbers);

}  // namespace deuteron::tir
