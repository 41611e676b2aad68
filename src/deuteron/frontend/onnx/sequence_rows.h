/// \file
/// Sequences whose length only the run tells: `rows`, their elements on a new first axis (Value::Rows) where they are
/// of one shape, else one after another (sequence_ragged.h). Positions are checked when the model runs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// The type that all of `types` are, without a shape where they are not of one; an UnsupportedError where they are of
/// different dtypes or ranks.
TensorType RowType(const NodeContext& node, const std::vector<Type>& types);
/// The types of the elements of a sequence.
std::vector<Type> ElementTypes(const NodeContext& node, const Value& sequence);
/// A sequence as rows of type `row`.
Value AsRows(const NodeContext& node, const Value& sequence, const TensorType& row);
/// A sequence with elements as rows of their type; rows as they are.
Value AsRows(const NodeContext& node, const Value& sequence);

/// How many there are, and of which rank each is.
PrimExpr RowCount(const NodeContext& node, const Value& rows);
int64_t RowRank(const NodeContext& node, const Value& rows);
/// Row `at`, from 0 on, which is not checked.
relax::Expr RowAt(const NodeContext& node, const Value& rows, const PrimExpr& at);
/// The row at the position that input `index` says.
relax::Expr RowAtInput(const NodeContext& node, const Value& rows, size_t index);
/// With `x` before the position that input `index` says, or behind the last if it is left out.
Value WithRow(const NodeContext& node, const Value& rows, const Value& x, size_t index);
/// Without the row at the position that input `index` says, or the last if it is left out.
Value WithoutRow(const NodeContext& node, const Value& rows, size_t index);
/// The rows joined along `axis`, a new one or one that each has.
relax::Expr JoinedRows(const NodeContext& node, const Value& rows, int64_t axis, bool is_new);
/// The parts of length 1 along `axis` of `x`, without that axis if it is `squeezed`.
Value RowsAlong(const NodeContext& node, const relax::Expr& x, int64_t axis, bool squeezed);

/// Of each of `first` that `then` holds as elements of different shapes, though it is not yet in that form, what those
/// are; empty where there is none.
std::vector<std::optional<TensorType>> RaggedThen(const NodeContext& node, const std::vector<Value>& first,
                                                  const std::vector<Value>& then);

/// What `first` must be for loops or branches that give `then` for it: sequences of other lengths become rows.
/// `outside` gives a type without the symbols that only the graph of `then` defines.
std::vector<Value> WithRowsWhereLengthsDiffer(const NodeContext& node, const std::vector<Value>& first,
                                              const std::vector<Value>& then,
                                              const std::function<Type(const Type&)>& outside);

}  // namespace deuteron::onnx
