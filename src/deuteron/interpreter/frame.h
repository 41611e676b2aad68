/// \file
/// What is known while a graph-level function runs: the values of its variables and of its symbolic dimensions.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "deuteron/interpreter/interpreter.h"

namespace deuteron::interpreter {

/// One call of a function.
class Frame {
 public:
  /// By variable.
  std::unordered_map<const Object*, Value> values;

  /// Checks `value` against `type` and binds the symbols that occur for the first time. A UsageError that begins with
  /// `what` if they do not agree.
  void Match(const Type& type, const Value& value, const std::string& what);
  /// The value of a scalar expression; a ModelError if a symbol of it is not bound yet.
  int64_t EvalInt(const PrimExpr& expr) const;
  std::vector<int64_t> EvalInts(const Array<PrimExpr>& exprs) const;
  /// A tensor's type with numbers for symbols; other types are as they are.
  Type Concrete(const Type& type) const;

 private:
  void MatchDims(const Array<PrimExpr>& expected, const std::vector<int64_t>& actual, const std::string& what);
  /// Nothing if a symbol is not bound yet.
  std::optional<int64_t> TryEval(const PrimExpr& expr) const;

  std::unordered_map<tir::Var, int64_t, ObjectPtrHash, ObjectPtrEqual> symbols_;
};

}  // namespace deuteron::interpreter
