/// \file
/// Scalar expressions to cells of a function's heap. Internal.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "deuteron/ir/expr_functor.h"
#include "deuteron/runtime/program.h"

namespace deuteron::codegen {

/// What depends on the parameters' symbols only is computed once, at entry, into `prologue`; the rest where it is
/// needed. Equal expressions share a cell.
class ShapeCells {
 public:
  /// `mark` is told where arithmetic begins in which code.
  using Marker = std::function<void(const std::vector<uint32_t>& code)>;
  ShapeCells(runtime::FunctionSpec* function, std::vector<uint32_t>* prologue, Marker mark)
      : function_(function), prologue_(prologue), mark_(std::move(mark)) {}

  uint32_t Fresh() { return function_->num_cells++; }
  uint32_t Constant(int64_t value);
  /// The cell of a symbolic variable.
  void Define(const tir::Var& var, uint32_t cell, bool at_entry);
  std::optional<uint32_t> Lookup(const tir::Var& var) const;
  /// Whether all its variables have cells.
  bool CanCompute(const PrimExpr& expr) const;
  /// Whether the parameters alone decide it.
  bool IsKnownAtEntry(const PrimExpr& expr) const;
  /// The cell of `expr`; code that computes it goes to `here` if it cannot go to the prologue. An UnsupportedError if
  /// it is not integer arithmetic, a ModelError if a variable is not defined.
  uint32_t Get(const PrimExpr& expr, std::vector<uint32_t>* here);
  /// Code that refuses a negative `extent`, unless it cannot be: at entry, or `here` if that may not come to run.
  void RequireExtent(const PrimExpr& extent, std::vector<uint32_t>* here, bool may_not_run);

  /// Forgets what has been computed and defined outside of the prologue since the mark: that code may not have run.
  struct State {
    size_t computed, defined;
  };
  State Mark() const { return {local_.size(), local_symbols_.size()}; }
  void Rollback(const State& mark);

 private:
  uint32_t Compute(const PrimExpr& expr, std::vector<uint32_t>* here);
  uint32_t Emit(runtime::ArithOp op, std::vector<uint32_t>* code, uint32_t a, uint32_t b, uint32_t c);

  struct Known {
    PrimExpr expr;
    uint32_t cell;
    bool local;
  };
  runtime::FunctionSpec* function_;
  std::vector<uint32_t>* prologue_;
  Marker mark_;
  std::unordered_map<int64_t, uint32_t> constants_;
  std::unordered_map<const Object*, std::pair<uint32_t, bool>> symbols_;
  std::unordered_map<size_t, std::vector<Known>> computed_;
  /// Cells that were seen to be extents at entry.
  std::unordered_set<uint32_t> extents_;
  std::vector<size_t> local_;
  std::vector<const Object*> local_symbols_;
};

/// Appends an instruction.
void EmitInstruction(std::vector<uint32_t>* code, runtime::Opcode opcode, const std::vector<uint32_t>& operands);

}  // namespace deuteron::codegen
