/// \file
/// Evaluation of nodes at import: what exporters compute shapes, pads and indices with. Tensors of few elements, of any
/// rank, each element a literal or an expression in the dimensions of the model's inputs.
#pragma once

#include <optional>
#include <vector>

#include "deuteron/frontend/onnx/node_context.h"
#include "deuteron/support/each_index.h"

namespace deuteron::onnx {

/// The results of a node whose inputs have known elements; empty where the operator is not evaluated, or not on these
/// inputs. The node is converted as any other then.
std::vector<Symbolic> EvaluateKnown(const NodeContext& node);

/// The elements of an expression that is computed from constants alone, by the interpreter, whichever operators those
/// are. Null if it has too many elements, or would take too long.
Symbolic EvaluateConstant(const relax::BlockBuilder& builder, const relax::Expr& expr);

// What the list of evaluators is made of; one file a family.

/// Inputs of a node (null where one is left out) and its results (empty, or a null among them, where it is not
/// evaluated).
using Known = std::vector<Symbolic>;
using Evaluator = Known (*)(const NodeContext& node, const Known& in);

#define DEUTERON_EVALUATOR(Name) Known Evaluate##Name(const NodeContext& node, const Known& in)

// evaluate_elementwise.cc
DEUTERON_EVALUATOR(Binary);
DEUTERON_EVALUATOR(Variadic);
DEUTERON_EVALUATOR(Unary);
DEUTERON_EVALUATOR(Where);
DEUTERON_EVALUATOR(Clip);
DEUTERON_EVALUATOR(Cast);
DEUTERON_EVALUATOR(CastLike);

// evaluate_move.cc
DEUTERON_EVALUATOR(Rearranged);
DEUTERON_EVALUATOR(Transpose);
DEUTERON_EVALUATOR(Expand);
DEUTERON_EVALUATOR(Tile);
DEUTERON_EVALUATOR(Concat);
DEUTERON_EVALUATOR(Split);
DEUTERON_EVALUATOR(Slice);
DEUTERON_EVALUATOR(Pad);

// evaluate_index.cc
DEUTERON_EVALUATOR(Gather);
DEUTERON_EVALUATOR(GatherElements);
DEUTERON_EVALUATOR(GatherND);
DEUTERON_EVALUATOR(ScatterElements);
DEUTERON_EVALUATOR(ScatterND);
DEUTERON_EVALUATOR(NonZero);

// evaluate_reduce.cc
DEUTERON_EVALUATOR(Reduce);
DEUTERON_EVALUATOR(CumSum);
DEUTERON_EVALUATOR(Range);
DEUTERON_EVALUATOR(ConstantOfShape);

#undef DEUTERON_EVALUATOR

/// The number of elements of a shape that is small enough to be evaluated.
std::optional<int64_t> SmallCount(const std::vector<int64_t>& shape);
/// The integers that a tensor of literals holds.
std::optional<std::vector<int64_t>> LiteralInts(const Symbolic& tensor);
/// Axes: an attribute before operator set `input_since`, else input `index`. Nothing if they are left out or, with
/// `*known` set to false, no literals.
std::optional<std::vector<int64_t>> LiteralAxes(const NodeContext& node, const Known& in, size_t index,
                                                int64_t input_since, bool* known);

/// How far elements lie apart on each axis of a row-major tensor.
std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& shape);

/// A tensor of `shape` whose element at an index is that of `source` at the offset `offset_of(index)`. Null if it
/// is too large.
template <typename OffsetOf>
Symbolic PickElements(const SymbolicTensor& source, const std::vector<int64_t>& shape, OffsetOf offset_of) {
  const auto count = SmallCount(shape);
  if (!count) return nullptr;
  std::vector<PrimExpr> values;
  values.reserve(*count);
  ForEachIndex(shape, [&](const std::vector<int64_t>& index) { values.push_back(source.values[offset_of(index)]); });
  return MakeSymbolic(source.dtype, shape, std::move(values));
}

}  // namespace deuteron::onnx
