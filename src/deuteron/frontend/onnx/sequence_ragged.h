/// \file
/// Sequences of tensors of one dtype and rank, but of different shapes, whose length only the run tells: their elements
/// one after another in a vector, and a matrix of their shapes (Value::Ragged). What a position needs of both is read
/// when the model runs; shapes become symbols.
#pragma once

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// A sequence with elements, or rows of one shape, in this form; `row` says the rank and dtype where there are none.
Value AsRagged(const NodeContext& node, const Value& sequence, const TensorType& row);

PrimExpr RaggedCount(const NodeContext& node, const Value& ragged);
/// Element `at`, a scalar of int64 from 0 on, which is not checked.
relax::Expr RaggedAt(const NodeContext& node, const Value& ragged, const relax::Expr& at);
/// With `x` before the element `at`, or behind the last where that is how many there are.
Value WithRagged(const NodeContext& node, const Value& ragged, const relax::Expr& x, const relax::Expr& at);
Value WithoutRagged(const NodeContext& node, const Value& ragged, const relax::Expr& at);
/// The elements joined along `axis`: a new one, or one that each has, beside which their shapes must be one.
relax::Expr JoinedRagged(const NodeContext& node, const Value& ragged, int64_t axis, bool is_new);
/// The parts of `x` along `axis` whose lengths are a vector of int64, which make up the whole.
Value RaggedParts(const NodeContext& node, const relax::Expr& x, int64_t axis, const relax::Expr& lengths);

}  // namespace deuteron::onnx
