/// \file
/// A hash of functions for tables of those that are structurally equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "deuteron/ir/module.h"
#include "deuteron/tir/function.h"

namespace deuteron::tir {

/// The same for functions that are structurally equal, up to renaming of variables. It reads what tells kernels apart
/// (operators, numbers, extents, which variables and buffers are used where) by the visitor: a twentieth of the time of
/// StructuralHash, which reads every field by reflection. Of annotations and attributes, numbers and texts count.
uint64_t StructureHash(const PrimFunc& func);

/// For each of functions the first one that is structurally equal to it, found in several threads.
std::vector<size_t> FirstEqual(const std::vector<PrimFunc>& funcs, size_t threads);

/// For unordered_map: kernels that are structurally equal are one key.
struct HashOfStructure {
  size_t operator()(const PrimFunc& func) const { return static_cast<size_t>(StructureHash(func)); }
};
struct EqualStructure {
  bool operator()(const PrimFunc& a, const PrimFunc& b) const { return StructurallyEqual(a, b); }
};

}  // namespace deuteron::tir
