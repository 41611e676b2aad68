/// \file
/// Which values a call may overwrite.
#pragma once

#include <unordered_map>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// The values of a function whose memory nobody looks at after a certain binding. A call_tir_inplace promises as much
/// of its arguments; of parameters, constants and values used again it would change what others see.
class InplaceArguments {
 public:
  explicit InplaceArguments(const Function& function);

  /// Whether the destination-passing call bound to `var` may overwrite its argument `arg`: `arg` is the result of
  /// another such call in the same block of bindings or branch, never had a second name, and is not used again.
  bool MayOverwrite(const Var& var, const Expr& arg) const;
  /// Whether the destination-passing call bound to `var` is the only thing but such calls before it that uses `arg`.
  bool IsLastUse(const Var& var, const Expr& arg) const;

 private:
  struct Use {
    /// Number of the sequence of blocks that binds it, -1 if what binds it does not own its memory.
    int64_t owner = -1;
    /// Something else may refer to its memory.
    bool shared = false;
    /// The binding that uses it last.
    const Object* last = nullptr;
    int64_t last_sequence = -1;
  };

  void VisitSeq(const SeqExpr& seq);
  void VisitBinding(const Var& var, const Expr& value, int64_t sequence);
  void Share(const Expr& expr);

  std::unordered_map<const Object*, Use> uses_;
  int64_t num_sequences_ = 0;
};

}  // namespace deuteron::relax
