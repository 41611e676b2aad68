/// \file
/// A search that goes on with the best texts of each row, its beams, and keeps the best that have ended.
#pragma once

#include <functional>
#include <vector>

#include "deuteron/frontend/onnx/generation.h"

namespace deuteron::onnx {

/// What the search asks of a model.
struct BeamModel {
  /// The words that texts begin with, (rows, length).
  relax::Expr words;
  /// What the model makes of these, a row of scores and of caches for each.
  Decoded first;
  /// What it makes of words (rows · beams, 1), after `number` others that were generated behind those.
  std::function<Decoded(const relax::Expr& words, const PrimExpr& number, const std::vector<relax::Expr>& caches)> next;
  /// The axis of rows in caches.
  int64_t cache_rows = 0;
};

/// The number of beams that the node's input 3 says.
PrimExpr BeamsOf(const NodeContext& node);
/// `x` (rows, …), each row as often as there are beams: (rows · beams, …).
relax::Expr ForBeams(const NodeContext& node, const relax::Expr& x, const PrimExpr& beams);

/// The outputs of BeamSearch.
Results SearchBeams(const NodeContext& node, const SearchInputs& at, const PrimExpr& beams, const PrimExpr& longest,
                    const BeamModel& model);

}  // namespace deuteron::onnx
