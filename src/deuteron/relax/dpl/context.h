/// \file
/// Patterns of several expressions of one dataflow block, and how they use each other.
///
///     PatternContext context;
///     DFPattern x = Wildcard(), query, key;
///     {
///       PatternContext::Scope scope(context);
///       query = IsOp("relax.matmul")(x, Wildcard());   // used as arguments: recorded in the context
///       key = IsOp("relax.matmul")(x, Wildcard());
///       query >> IsOp("relax.reshape").VarArgs();      // only used by
///     }
///     std::optional<VarMatches> matches = context.MatchDfb(block);
///
/// Patterns that take part match different variables each (one to one); every combination is tried before the answer
/// is no.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/relax/dpl/pattern.h"

namespace deuteron::relax::dpl {

/// The variables whose values patterns matched; parameters for those that matched them.
using VarMatches = Map<DFPattern, Var>;

/// `consumer` uses `producer`.
struct UseConstraint {
  DFPattern producer;
  DFPattern consumer;
  /// As this argument; -1: as any, or in any other way.
  int64_t index = -1;
  /// Nothing else uses it.
  bool only = false;
};

class PatternContext {
 public:
  PatternContext();

  /// Makes a context the current one of this thread while it lives.
  class Scope {
   public:
    explicit Scope(const PatternContext& context);
    ~Scope();
    Scope(const Scope&) = delete;
  };
  static bool HasCurrent();
  /// A UsageError if there is none.
  static PatternContext Current();

  void Add(UseConstraint constraint) const;
  /// All have provably the same shape.
  void AddSameShape(std::vector<DFPattern> patterns) const;
  const std::vector<UseConstraint>& uses() const { return state_->uses; }
  const std::vector<std::vector<DFPattern>>& same_shapes() const { return state_->same_shapes; }

  /// The first match in `block`; `function`, if given, is the one that the block stands in: uses after the block count.
  std::optional<VarMatches> MatchDfb(const DataflowBlock& block, const Function& function = Function()) const;

 private:
  struct State {
    std::vector<UseConstraint> uses;
    std::vector<std::vector<DFPattern>> same_shapes;
  };
  /// Shared by the copies of a context.
  std::shared_ptr<State> state_;
};

/// Patterns of which each is used by the next. `a >> b >> c` and `a ^ b` make them.
class PatternSeq {
 public:
  PatternSeq(DFPattern pattern);  // NOLINT(google-explicit-constructor)
  template <std::derived_from<DFPattern> Pattern>
  PatternSeq(const Pattern& pattern) : PatternSeq(DFPattern(pattern)) {}  // NOLINT(google-explicit-constructor)
  /// Records in the current context that each is used by the next (and by nothing else, if `only_use`).
  explicit PatternSeq(std::vector<DFPattern> patterns, bool only_use = false);

  /// The last pattern is used by the first of `other`: recorded in the current context, if there is one.
  PatternSeq UsedBy(const PatternSeq& other, int64_t index = -1) const { return Link(other, index, false); }
  PatternSeq OnlyUsedBy(const PatternSeq& other, int64_t index = -1) const { return Link(other, index, true); }
  /// New patterns that match the same, in the same relations, recorded in the current context.
  PatternSeq Dup() const;
  const std::vector<DFPattern>& patterns() const { return patterns_; }
  const DFPattern& operator[](size_t index) const { return patterns_.at(index); }

 private:
  struct Edge {
    int64_t index;
    bool only;
  };
  PatternSeq() = default;
  PatternSeq Link(const PatternSeq& other, int64_t index, bool only) const;
  std::vector<DFPattern> patterns_;
  std::vector<Edge> edges_;
};

/// Only used by.
PatternSeq operator>>(const PatternSeq& a, const PatternSeq& b);
/// Used by.
PatternSeq operator^(const PatternSeq& a, const PatternSeq& b);

}  // namespace deuteron::relax::dpl
