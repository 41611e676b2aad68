/// \file
/// Attention whose memory is a matrix a head.
#pragma once

#include <cstdint>
#include <string>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The memory S of a head, (d, e), becomes exp(g) S + kᵀ (β (v - k exp(g) S)) with each token, which then asks it: q S.
struct RecurrentSpec {
  /// Heads of keys and values, and how many of the queries ask each.
  int64_t heads = 1, each = 1;
  /// float32: (b, heads, each, t, d), (b, heads, t, d) and (b, heads, t, e).
  relax::Expr query = {}, key = {}, value = {};
  /// g, (b, heads, t, d or 1), or null: 0. β, (b, heads or 1, t, 1), or null: the value is added as it is.
  relax::Expr decay = {}, beta = {};
  /// (b, heads, d, e)
  relax::Expr state = {};
};
/// What the tokens get, (b, t, heads · each · e), and the state behind the last.
Results RecurrentAttention(const NodeContext& node, const RecurrentSpec& spec);

/// What an update_rule says: whether memories decay (an error if it is unknown), and whether values are differences to
/// what is remembered.
bool Decays(const NodeContext& node, const std::string& rule);
bool TakesDifferences(const std::string& rule);

}  // namespace deuteron::onnx
