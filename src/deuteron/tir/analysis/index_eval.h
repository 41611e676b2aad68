/// \file
/// Index expressions at given values of their variables: a number, or bounds.
///
/// What the verifier reports it has seen at concrete values, so that nothing correct is ever reported.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "deuteron/ir/prim_expr.h"

namespace deuteron::tir {

/// Values of variables; one that is missing is not known.
class IndexEvaluator {
 public:
  void Set(const Var& var, std::optional<int64_t> value);
  /// The lane of vectors that is looked at.
  void set_lane(int64_t lane) { lane_ = lane; }

  /// The value of an integer or boolean expression; nothing where it depends on memory, floats or variables
  /// without a value, divides by zero or leaves int64.
  std::optional<int64_t> Eval(const PrimExpr& expr);

 private:
  std::optional<int64_t> EvalBinary(const BinaryNode* op);
  std::optional<int64_t> EvalCall(const CallNode* op);
  std::unordered_map<const Object*, int64_t> values_;
  int64_t lane_ = 0;
};

/// By how much an index grows from one value of a variable to the next, wherever the others stand; nothing where that
/// is not constant.
std::optional<int64_t> StepAlong(const PrimExpr& index, const Var& var);

/// Inclusive bounds.
struct Interval {
  int64_t min = 0;
  int64_t max = 0;
};

/// Bounds of variables.
class IntervalEvaluator {
 public:
  /// A variable set twice has the union of both.
  void Set(const Var& var, std::optional<Interval> interval);
  /// Bounds of an integer expression that hold whatever its variables are within theirs; nothing if unknown.
  std::optional<Interval> Eval(const PrimExpr& expr);

 private:
  std::optional<Interval> EvalBinary(const BinaryNode* op);
  std::unordered_map<const Object*, std::optional<Interval>> intervals_;
};

}  // namespace deuteron::tir
