/// \file
/// A Composite function as the pattern that made it sees it: its operands by their roles.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "deuteron/backend/json/json_serializer.h"
#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron::backend {

/// What one registered pattern matched: while a graph is partitioned (from the context of its check), or later, when
/// its function is translated.
struct MatchedComposite {
  /// "cublas.matmul_bias"
  std::string name;
  /// What the annotated parts of the pattern matched, by name.
  Map<String, relax::Expr> roles;
  /// The call that computes the result.
  relax::Expr result;
  /// The value of a variable that is bound within the match; other expressions are their own.
  std::function<relax::Expr(const relax::Expr&)> value_of;

  bool Has(const char* role) const { return roles.find(role) != roles.end(); }
  relax::Expr At(const char* role) const { return roles.at(role); }
  /// The type of a tensor of known shape; a Refusal if it is none.
  const TensorTypeNode* TensorAt(const char* role) const;
  /// The attributes of the operator that `role` is a call of.
  template <typename AttrsNode>
  const AttrsNode* AttrsAt(const char* role) const {
    return static_cast<const AttrsNode*>(value_of(At(role)).as<relax::CallNode>()->attrs.get());
  }
};

/// Why a library cannot compute a match: "…: it holds WHY".
struct Refusal {
  std::string why;
};
inline void Require(bool holds, const char* why) {
  if (!holds) throw Refusal{why};
}
/// The type of a tensor of known shape; a Refusal otherwise.
const TensorTypeNode* KnownTensor(const relax::Expr& expr);
/// An attribute of `count` numbers, of which one may stand for all, and two of four for both sides (a padding). A
/// Refusal if there are others.
std::vector<int64_t> Expanded(const Array<int64_t>& values, size_t count);

/// A Refusal unless the right operand of the product `root` is `rhs` with its last two axes exchanged: the patterns
/// take every transposition.
void RequireTransposedRhs(const MatchedComposite& composite);

/// Matches the registered patterns of the function's name again. An UnsupportedError if none matches, as where a
/// constant that the pattern wants was not bound.
MatchedComposite MatchComposite(const std::string& name, const relax::Function& function);

/// Translates a match; throws a Refusal for what the library cannot compute.
using Describe = std::function<JsonKernel(const MatchedComposite&)>;

/// The registered patterns whose names begin with `prefix`, the highest priority first, taking only what `describe`
/// translates as well.
std::vector<relax::FusionPattern> TranslatablePatterns(std::string_view prefix, const Describe& describe);

/// A generator of graphs by `describe`, for the plugin `library`.
relax::ExternalFunction GenerateGraph(const relax::CodegenRequest& request, const std::string& library,
                                      const Describe& describe);

}  // namespace deuteron::backend
