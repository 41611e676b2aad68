/// \file
/// What the operators of attention, of ONNX and of com.microsoft, are made of.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// (b, s, heads * d) → (b, heads, s, d); tensors of rank 4 as they are.
relax::Expr SplitHeads(const NodeContext& node, const relax::Expr& x, int64_t heads);
/// (b, heads, s, d) → (b, s, heads * d)
relax::Expr MergeHeads(const NodeContext& node, const relax::Expr& x);

/// Columns [begin, end) of the last axis, which must have them.
relax::Expr Columns(const NodeContext& node, const relax::Expr& x, const PrimExpr& begin, const PrimExpr& end);

/// The columns of queries, keys and values among `width`: those of attribute qkv_hidden_sizes, else thirds.
Array<PrimExpr> SizesOfProjections(const NodeContext& node, const PrimExpr& width);

/// What positions of queries and keys are counted in.
inline const DataType kPosition = DataType::Int(32);
/// 0, 1, … below `count`.
relax::Expr Positions(const NodeContext& node, const PrimExpr& count);
/// 0 where `visible`, `otherwise` elsewhere.
relax::Expr BiasOf(const NodeContext& node, const relax::Expr& visible, double otherwise, DataType dtype);
/// The bias of scores, for the first of `keys` keys, as one for all of them.
relax::Expr ForKeys(const NodeContext& node, const relax::Expr& bias, const PrimExpr& keys);

/// `given` (b, heads, its capacity, d), of `capacity`, with `x` (b, heads, s, d) behind the first `past` of each row,
/// (b or 1, 1); what it did not have is 0, and what lies behind `x`, if that `clears`.
relax::Expr WithRows(const NodeContext& node, const relax::Expr& given, const relax::Expr& x, const relax::Expr& past,
                     const PrimExpr& capacity, bool clears);

/// 0 where a query may look, -inf where not: key j of query i if j <= i + offset.
relax::Expr CausalBias(const NodeContext& node, const PrimExpr& queries, const PrimExpr& keys, const PrimExpr& offset,
                       DataType dtype);

/// Rows of input `input`, cosines or sines, at `positions` (b, s).
relax::Expr AnglesAt(const NodeContext& node, size_t input, const relax::Expr& positions);

/// `x` (b, heads, s, d), its first `rotary` columns (all if 0) turned by the angles whose cosines and sines are given,
/// each (b or 1, s, rotary / 2): halves of the columns, or neighbours, are pairs.
relax::Expr Rotate(const NodeContext& node, const relax::Expr& x, const relax::Expr& cosines, const relax::Expr& sines,
                   const PrimExpr& rotary, bool interleaved);

/// softmax(q · kᵀ · scale + biases) · v
struct AttentionSpec {
  /// (b, heads, s, d); keys and values may have fewer heads, each for as many of the queries' in a row.
  relax::Expr query;
  relax::Expr key;
  relax::Expr value;
  /// Nothing: 1 / √d.
  std::optional<double> scale = std::nullopt;
  /// Added to the scores, which are (b, heads, s, s').
  std::vector<relax::Expr> biases = {};
  /// Bounds scores by c · tanh(x / c); 0: does not. Before the biases, or after them.
  double softcap = 0;
  bool cap_after_biases = false;
  /// A score a head (a vector), beside those of the keys, whose weight goes nowhere. May be null.
  relax::Expr sink = relax::Expr();
  /// What softmax is computed in; nothing: the dtype of the query.
  std::optional<DataType> softmax_dtype = std::nullopt;
};
struct AttentionResult {
  relax::Expr y;
  /// The products of queries and keys, with the biases, bounded, and what softmax makes of them.
  relax::Expr products, biased, capped, weights;
};
AttentionResult Attend(const NodeContext& node, const AttentionSpec& spec);

/// Gives keys and values the batch of the queries, keys the size of their heads, values the number of the keys.
void Align(const NodeContext& node, AttentionSpec* spec);

}  // namespace deuteron::onnx
