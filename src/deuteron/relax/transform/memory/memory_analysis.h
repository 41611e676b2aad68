/// \file
/// Who uses the tensors that a function allocates, and when. Shared by the passes over memory.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// The allocations behind a value: those of a tuple field by field, where it is known.
struct Origins {
  std::vector<uint32_t> ids;
  std::vector<std::shared_ptr<const Origins>> fields;
};

/// One binding that allocates (builtin.alloc_tensor, memory.alloc_tensor, alloc_storage).
struct Allocation {
  Var var;
  Call call;
  /// Step of its binding, and of the last binding that touches its memory.
  int64_t first = 0;
  int64_t last = 0;
  /// Its memory may be seen after the function has returned, or by somebody whose use is not known.
  bool escapes = false;
  /// In a branch of an If.
  bool in_branch = false;
};

/// The bindings of a function, branches included, numbered in order of their text; a branch is a run of steps, so that
/// what is not used after a step is dead there on every path.
class MemoryAnalysis {
 public:
  /// `module` tells kernels from functions.
  MemoryAnalysis(const IRModule& module, const Function& function);

  const std::vector<Allocation>& allocations() const { return allocations_; }
  /// The allocations that `var` may refer to; empty if none.
  const Origins& OriginsOf(const Var& var) const;
  /// Step of a binding, by its variable.
  int64_t StepOf(const Var& var) const { return steps_.at(var.get()); }

 private:
  void VisitSeq(const SeqExpr& seq, bool in_branch);
  void VisitBinding(const Var& var, const Expr& value, bool in_branch);
  std::shared_ptr<const Origins> Of(const Expr& leaf) const;
  void Touch(const Expr& expr);
  void TouchOrigins(const Origins& origins);
  void Escape(const Expr& expr);
  void EscapeOrigins(const Origins& origins);
  bool IsDestinationPassing(const CallNode* call) const;

  const IRModule& module_;
  std::vector<Allocation> allocations_;
  std::unordered_map<const Object*, std::shared_ptr<const Origins>> origins_;
  std::unordered_map<const Object*, int64_t> steps_;
  int64_t step_ = 0;
};

}  // namespace deuteron::relax
