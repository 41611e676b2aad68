/// \file
/// Operators of com.microsoft on sequences of different lengths, one after the other, where the sums of their lengths
/// say where each begins.
#include <string>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

/// A causal convolution by channel, of tokens (tokens, channels) behind a state (sequences, channels, length) each.
class VarlenConvolution {
 public:
  explicit VarlenConvolution(const NodeContext& node) : node_(node) {
    const Array<PrimExpr> shape = node.Shape(0), weight = node.Shape(1);
    if (shape.size() != 2 || weight.size() != 3) node.Fail("its input must be of rank 2, its weights of rank 3");
    tokens_ = shape[0];
    channels_ = shape[1];
    kernel_ = node.StaticDim(node.X(1), 2, "the size of the kernel");
    dilation_ = node.Int("dilation", 1);
    if (dilation_ < 1) node.Fail("a dilation of " + std::to_string(dilation_));
    before_ = I64((kernel_ - 1) * dilation_);
    const Expr sums = node.CastTo(node.X(2), kPosition);
    sequences_ = node.Simplify(node.Shape(sums)[0] - 1);
    begins_ = Ends(sums, 0);
    ends_ = Ends(sums, 1);
    const DataType wide = DataType::Float(32);
    const Expr state = node.WithShape(node.X(4), {sequences_, channels_, before_});
    const Expr rows = node.Reshaped(node.Emit(relax::PermuteDims(state, {0, 2, 1})),
                                    {node.Simplify(sequences_ * before_), channels_});
    all_ = node.CastTo(node.Emit(relax::Concat({node.X(0), rows}, 0)), wide);
  }

  Results Convert() {
    Results results = {Convolved(), FinalState()};
    const int64_t capacity = node_.Int("state_update_capacity", 0);
    if (capacity < 0) node_.Fail("state_update_capacity is " + std::to_string(capacity));
    if ((capacity > 0) != node_.Has(5)) node_.Fail("capture_count goes with a positive state_update_capacity");
    if (node_.Wants(2)) results.emplace_back(Captured(capacity));
    return results;
  }

 private:
  Expr Ends(const Expr& sums, int64_t from) const {
    const PrimExpr end = node_.Simplify(sequences_ + I64(from));
    const Expr part = node_.Emit(relax::StridedSlice(sums, {0}, {I64(from)}, {end}, {I64(1)}));
    return node_.WithShape(part, {sequences_});
  }
  Expr Number(int64_t value) const { return node_.Scalar(kPosition, static_cast<double>(value)); }
  Expr Dim(const PrimExpr& value) const { return node_.ScalarOf(kPosition, value); }

  /// Rows of tokens and states: those at `place` of sequence `sequence`, which begins at token `begin`; of its state
  /// where a place lies before it.
  Expr RowsAt(const Expr& sequence, const Expr& begin, const Expr& place) const {
    const Expr state = relax::Add(Dim(tokens_), relax::Multiply(relax::Add(sequence, Number(1)), Dim(before_)));
    const Expr at = node_.Emit(
        relax::Where(relax::GreaterEqual(place, Number(0)), relax::Add(begin, place), relax::Add(state, place)));
    const PrimExpr rows = node_.Simplify(tokens_ + sequences_ * before_);
    return node_.Emit(relax::Take(all_, node_.CheckedPositions(at, {rows}), 0));
  }

  Expr Convolved() const {
    // The sequence of a token: how many have ended.
    const Expr token = Positions(node_, tokens_);
    const Expr has_ended = node_.Emit(
        relax::LessEqual(node_.Reshaped(ends_, {I64(1), sequences_}), node_.Reshaped(token, {tokens_, I64(1)})));
    const Expr sequence = node_.CheckedPositions(
        node_.Emit(relax::Sum(node_.CastTo(has_ended, kPosition), std::vector<int64_t>{1})), {sequences_});
    const Expr begin = node_.Emit(relax::Take(begins_, sequence, 0));
    const Expr place = node_.Emit(relax::Subtract(token, begin));
    const Expr weight = node_.CastTo(node_.WithShape(node_.X(1), {channels_, I64(1), I64(kernel_)}), node_.DType(all_));
    Expr y;
    for (int64_t tap = 0; tap < kernel_; ++tap) {
      const Expr column = node_.Reshaped(
          node_.Emit(relax::StridedSlice(weight, {2}, {I64(tap)}, {I64(tap + 1)}, {I64(1)})), {I64(1), channels_});
      const Expr from = node_.Emit(relax::Subtract(place, Number((kernel_ - 1 - tap) * dilation_)));
      const Expr product = relax::Multiply(RowsAt(sequence, begin, from), column);
      y = node_.Emit(y.defined() ? relax::Add(y, product) : product);
    }
    if (node_.Has(3)) y = SumOf(node_, y, node_.CastTo(WithDim(node_, node_.X(3), 0, channels_), node_.DType(y)));
    const std::string activation = node_.Str("activation", "none");
    if (activation == "silu" || activation == "swish") {
      y = node_.Emit(relax::nn::Silu(y));
    } else if (activation != "none") {
      node_.Fail("activation '" + activation + "' is unknown");
    }
    return node_.CastTo(y, node_.DType(0));
  }

  /// Numbers of sequences, or what they begin with, for `count` places each.
  Expr ForPlaces(const Expr& x, const PrimExpr& count) const {
    return node_.Emit(relax::BroadcastTo(node_.Reshaped(x, {sequences_, I64(1)}), {sequences_, count}));
  }

  Expr FinalState() const {
    const Expr length = node_.Reshaped(node_.Emit(relax::Subtract(ends_, begins_)), {sequences_, I64(1)});
    const Expr last = node_.Reshaped(Positions(node_, before_), {I64(1), before_});
    const Expr place = node_.Emit(relax::Add(relax::Subtract(length, Dim(before_)), last));
    const Expr rows = RowsAt(ForPlaces(Positions(node_, sequences_), before_), ForPlaces(begins_, before_), place);
    return node_.CastTo(node_.Emit(relax::PermuteDims(rows, {0, 2, 1})), node_.DType(4));
  }

  Expr Captured(int64_t capacity) const {
    const PrimExpr count = I64(capacity);
    if (capacity == 0) return node_.Emit(relax::Zeros({sequences_, count, channels_}, node_.DType(0)));
    const Expr length = node_.Emit(relax::Subtract(ends_, begins_));
    const Expr asked = node_.WithShape(node_.CastTo(node_.X(5), kPosition), {sequences_});
    const Expr most = node_.Reshaped(node_.Emit(relax::Minimum(asked, length)), {sequences_, I64(1)});
    const Expr slot = node_.Reshaped(Positions(node_, count), {I64(1), count});
    const Expr is_there = node_.Emit(relax::Less(slot, most));
    const Expr place = node_.Emit(relax::Where(is_there, slot, Number(0)));
    const Expr rows = RowsAt(ForPlaces(Positions(node_, sequences_), count), ForPlaces(begins_, count), place);
    const Expr mask = node_.Reshaped(is_there, {sequences_, count, I64(1)});
    return node_.CastTo(node_.Emit(relax::Where(mask, rows, node_.Scalar(node_.DType(rows), 0))), node_.DType(0));
  }

  const NodeContext& node_;
  PrimExpr tokens_, channels_, sequences_;
  int64_t kernel_ = 0, dilation_ = 1;
  /// Places of a state.
  PrimExpr before_;
  Expr begins_, ends_, all_;
};

}  // namespace

Results ConvertVarlenCausalConvWithState(const NodeContext& node) { return VarlenConvolution(node).Convert(); }

}  // namespace deuteron::onnx
