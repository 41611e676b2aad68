/// \file
/// Who uses what in a dataflow block, as one walk over it finds it.
#pragma once

#include <cstddef>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "deuteron/backend/dnnl/quantized.h"
#include "deuteron/relax/expr.h"

namespace deuteron::backend::dnnl {

/// A chain of operators that oneDNN computes as one kernel.
struct Chain {
  /// Of its composite, "dnnl.matmul".
  const char* name;
  /// Bindings, by number in their block.
  std::vector<size_t> members;
};

/// Of the names of composites: kernels that keep the layout of images between others that have their own.
inline bool IsPooling(std::string_view name) { return name.find("_pool") != std::string_view::npos; }
inline bool IsBetween(std::string_view name) { return name == "dnnl.concat" || name == "dnnl.binary"; }

/// Bindings are counted from 0.
class BlockUses {
 public:
  /// With `quantized`, bindings that only make operands of quantised operators numbers are passed over.
  BlockUses(const relax::BindingBlock& block, bool quantized);

  const std::vector<relax::Binding>& bindings() const { return bindings_; }
  const relax::Var& var(size_t index) const { return bindings_[index]->var; }
  /// The binding of a value; null if it is none of this block.
  const size_t* Definition(const Object* value) const;
  /// Bindings that use a value, in order.
  const std::vector<size_t>& Users(const Object* value) const;
  /// The binding of a value that is an operand of quantised operators; null if it is none.
  const size_t* Operand(const Object* value) const;

  /// Bindings that use a value, those that only make it a number passed over.
  std::vector<size_t> ReadersOf(const relax::Var& var) const;
  /// Bindings of tensors that binding `index` reads, likewise.
  void CollectSources(size_t index, std::set<size_t>* sources) const;

 private:
  void ReadOperand(size_t index);

  std::vector<relax::Binding> bindings_;
  std::unordered_map<const Object*, size_t> defined_;
  std::unordered_map<const Object*, std::vector<size_t>> users_;
  /// Values that are quantised operands of those that use them, and where they are bound.
  QuantizedOperands operands_;
  std::unordered_map<const Object*, size_t> operand_at_;
};

}  // namespace deuteron::backend::dnnl
