#include "deuteron/frontend/onnx/beam_search.h"

#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/sorting.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

PrimExpr BeamsOf(const NodeContext& node) { return node.Dim(3, "num_beams", 1); }

Expr ForBeams(const NodeContext& node, const Expr& x, const PrimExpr& beams) {
  Array<PrimExpr> shape = node.Shape(x), column = shape, whole = shape;
  column.insert(column.begin() + 1, I64(1));
  whole.insert(whole.begin() + 1, beams);
  shape.Set(0, node.Simplify(shape[0] * beams));
  return node.Reshaped(node.Emit(relax::BroadcastTo(node.Reshaped(x, column), whole)), shape);
}

namespace {

const DataType kPlace = DataType::Int(64);
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The greatest elements of each row, the first of equal ones first, and where they are.
struct Greatest {
  Expr values, places;
};

class Search {
 public:
  Search(const NodeContext& node, const SearchInputs& at, const PrimExpr& beams, const PrimExpr& longest,
         const BeamModel& model)
      : node_(node), model_(model), rules_(node, at), beams_(beams), longest_(longest) {
    const Array<PrimExpr> shape = node.Shape(model.words);
    rows_ = shape[0];
    given_ = shape[1];
    texts_ = node.Simplify(rows_ * beams);
    filler_ = node.RequiredInt("pad_token_id");
    end_ = node.RequiredInt("eos_token_id");
    constexpr size_t kLengthPenalty = 5;
    length_penalty_ = node.Has(kLengthPenalty) ? node.CastTo(node.Reshaped(node.X(kLengthPenalty), {}), kScore)
                                               : node.Scalar(kScore, 1);
  }

  Results Run() {
    const PrimExpr returned = node_.Dim(4, "num_return_sequences", 1, beams_);
    State state = Begun();
    const Decoded& first = model_.first;
    const Expr allowed = rules_.Applied(LogProbabilities(first.scores), model_.words, given_, /*is_first=*/true);
    const PrimExpr words = node_.Shape(allowed)[1];
    const Expr column = node_.Reshaped(allowed, {rows_, I64(1), words});
    state =
        Advanced(state, node_.Emit(relax::Add(column, node_.Reshaped(state.scores, {rows_, beams_, I64(1)}))), given_);
    const Expr begun_scores = sums_;
    Results states = {state.texts, state.scores, state.done, state.ended_texts, state.ended_scores, state.last};
    for (const Expr& cache : first.caches) {
      // One for all beams of a row so far.
      const Expr parents = node_.Emit(relax::FloorDivide(parents_, node_.ScalarOf(kPlace, beams_)));
      states.emplace_back(node_.Emit(relax::Take(cache, parents, model_.cache_rows)));
    }
    const bool keeps_scores = node_.Wants(2);
    const auto step = [&](const PrimExpr& number, const Results& now) {
      const auto value = [&](size_t i) { return node_.importer()->ExprOf(now[i], Span()); };
      const State before = StateOf(value);
      std::vector<Expr> caches;
      for (size_t i = 6; i < now.size(); ++i) caches.push_back(value(i));
      const PrimExpr length = node_.Simplify(given_ + number + 1);
      const Decoded next = model_.next(node_.Reshaped(before.last, {texts_, I64(1)}), number, caches);
      const Expr ruled = rules_.Applied(LogProbabilities(next.scores), before.texts, length, /*is_first=*/false);
      const Expr all = node_.Reshaped(ruled, {rows_, beams_, words});
      const Expr sums = node_.Emit(relax::Add(all, node_.Reshaped(before.scores, {rows_, beams_, I64(1)})));
      const State after = Advanced(before, sums, length);
      LoopStep result{
          .condition = GoesOn(node_, after.done),
          .states = {after.texts, after.scores, after.done, after.ended_texts, after.ended_scores, after.last}};
      for (const Expr& cache : next.caches) {
        result.states.emplace_back(node_.Emit(relax::Take(cache, parents_, model_.cache_rows)));
      }
      if (keeps_scores) result.outputs.emplace_back(sums_);
      return result;
    };
    const PrimExpr more = node_.Simplify(longest_ - given_ - 1);
    Expr other_scores;
    if (!IsZero(more)) {
      const Results last = EmitLoop(node_, more, Value(GoesOn(node_, state.done)), states, step);
      const auto value = [&](size_t i) { return node_.importer()->ExprOf(last[i], Span()); };
      if (keeps_scores) other_scores = value(states.size());
      state = StateOf(value);
    }
    Results results = Finished(state, returned);
    if (keeps_scores) results.emplace_back(AllScores(begun_scores, other_scores));
    return results;
  }

 private:
  /// Texts (rows · beams, longest) with fillers behind their words, the sums of the logarithms of their words'
  /// probabilities; which rows are done; as many that have ended, (rows, beams, longest), the best first, with their
  /// scores (-inf where there is none); the texts' last words, (rows · beams).
  struct State {
    Expr texts, scores, done, ended_texts, ended_scores, last;
  };

  /// The state whose parts are values of these numbers.
  State StateOf(const std::function<Expr(size_t)>& value) const {
    return {.texts = node_.WithShape(value(0), {texts_, longest_}),
            .scores = node_.WithShape(value(1), {texts_}),
            .done = node_.WithShape(value(2), {rows_}),
            .ended_texts = node_.WithShape(value(3), {rows_, beams_, longest_}),
            .ended_scores = node_.WithShape(value(4), {rows_, beams_}),
            .last = node_.WithShape(value(5), {texts_})};
  }

  Expr Filled(const Array<PrimExpr>& shape, DataType dtype, double value) const {
    return node_.Emit(relax::Full(shape, node_.Scalar(dtype, value)));
  }

  State Begun() const {
    const Expr words = ForBeams(node_, model_.words, beams_);
    const Expr rest = Filled({texts_, node_.Simplify(longest_ - given_)}, kWordId, static_cast<double>(filler_));
    // All beams of a row are the same: one of them counts.
    const Expr is_first = node_.Emit(relax::Equal(Positions(node_, beams_), node_.Scalar(kPosition, 0)));
    const Expr scores = node_.Emit(relax::Where(is_first, node_.Scalar(kScore, 0), node_.Scalar(kScore, -1e9)));
    const Expr for_rows = node_.Emit(relax::BroadcastTo(node_.Reshaped(scores, {I64(1), beams_}), {rows_, beams_}));
    return {.texts = node_.WithShape(node_.Emit(relax::Concat({words, rest}, 1)), {texts_, longest_}),
            .scores = node_.Reshaped(for_rows, {texts_}),
            .done = node_.Emit(relax::Zeros({rows_}, DataType::Bool())),
            .ended_texts = Filled({rows_, beams_, longest_}, kWordId, static_cast<double>(filler_)),
            .ended_scores = Filled({rows_, beams_}, kScore, -kInfinity)};
  }

  Expr LogProbabilities(const Expr& scores) const { return node_.Emit(relax::nn::LogSoftmax(scores, 1)); }

  Greatest GreatestOf(const Expr& x, const PrimExpr& count) const {
    const auto number = AsConstInt(count);
    const relax::Var pair = node_.Emit(number ? relax::TopK(x, *number, 1, "both", /*largest=*/true, kPlace)
                                              : relax::DynamicTopK(x, count, 1, "both", /*largest=*/true, kPlace));
    const Array<PrimExpr> shape = {rows_, count};
    return {node_.WithShape(node_.Field(pair, 0), shape), node_.WithShape(node_.Field(pair, 1), shape)};
  }

  /// Numbers of rows, (rows, 1), times `count`.
  Expr RowStarts(const PrimExpr& count) const {
    const Expr row = node_.Reshaped(node_.CastTo(Positions(node_, rows_), kPlace), {rows_, I64(1)});
    return node_.Emit(relax::Multiply(row, node_.ScalarOf(kPlace, count)));
  }

  /// What a sum of logarithms counts for a text of `length` words.
  Expr ByLength(const Expr& sums, const PrimExpr& length) const {
    return relax::Divide(sums, relax::Power(node_.ScalarOf(kScore, length), length_penalty_));
  }

  Expr First(const Expr& x) const {
    return node_.WithShape(node_.Emit(relax::StridedSlice(x, {1}, {I64(0)}, {beams_}, {I64(1)})), {rows_, beams_});
  }

  /// The `count` best of those that have ended and of texts (rows, beams) with these scores.
  std::pair<Expr, Expr> Merged(const State& state, const Expr& texts, const Expr& scores, const PrimExpr& count) const {
    const PrimExpr both = node_.Simplify(beams_ * 2);
    const Greatest best =
        GreatestOf(node_.WithShape(node_.Emit(relax::Concat({state.ended_scores, scores}, 1)), {rows_, both}), count);
    const Expr all =
        node_.Emit(relax::Concat({state.ended_texts, node_.Reshaped(texts, {rows_, beams_, longest_})}, 1));
    const Expr flat = node_.Reshaped(all, {node_.Simplify(rows_ * both), longest_});
    return {node_.Emit(relax::Take(flat, relax::Add(best.places, RowStarts(both)), 0)), best.values};
  }

  /// What `sums` (rows, beams, words) of texts of `length` words and one more make of the state. Leaves them, and which
  /// text each of the new ones continues, for the caches.
  State Advanced(const State& before, const Expr& sums, const PrimExpr& length) {
    sums_ = sums;
    const PrimExpr words = node_.Shape(sums)[2];
    // One of two candidates a beam may end: there are enough that do not.
    const PrimExpr candidates = node_.Simplify(beams_ * 2);
    const Greatest best = GreatestOf(node_.Reshaped(sums, {rows_, node_.Simplify(beams_ * words)}), candidates);
    const Expr count = node_.ScalarOf(kPlace, words);
    const Expr word = node_.Emit(relax::FloorMod(best.places, count));
    const Expr parent = node_.Emit(relax::Add(relax::FloorDivide(best.places, count), RowStarts(beams_)));
    const Expr ends = node_.Emit(relax::Equal(word, node_.Scalar(kPlace, static_cast<double>(end_))));
    const Expr is_done = node_.Reshaped(before.done, {rows_, I64(1)});

    const Expr lowest = node_.Scalar(kScore, -kInfinity);
    const Expr counts = relax::LogicalAnd(First(ends), relax::LogicalNot(is_done));
    const Expr ended = node_.Emit(relax::Where(counts, ByLength(First(best.values), length), lowest));
    const Expr texts = node_.Emit(relax::Take(before.texts, node_.Reshaped(First(parent), {texts_}), 0));
    State after;
    std::tie(after.ended_texts, after.ended_scores) = Merged(before, texts, ended, beams_);
    after.done = node_.Emit(
        relax::LogicalOr(before.done, node_.Reshaped(IsDone(best.values, after.ended_scores, length), {rows_})));

    // Those that do not end come first: the sort is stable.
    const Expr order =
        First(node_.Emit(relax::Argsort(node_.CastTo(ends, DataType::Int(8)), 1, /*descending=*/false, kPlace)));
    const auto chosen = [&](const Expr& x, const Expr& otherwise) {
      const Expr taken = node_.Emit(relax::GatherElements(x, order, 1));
      return node_.Reshaped(node_.Emit(relax::Where(is_done, otherwise, taken)), {texts_});
    };
    after.scores = chosen(best.values, node_.Scalar(kScore, 0));
    after.last = node_.CastTo(chosen(word, node_.Scalar(kPlace, static_cast<double>(filler_))), kWordId);
    parents_ = chosen(parent, node_.Scalar(kPlace, 0));
    const Expr continued = node_.Emit(relax::Take(before.texts, parents_, 0));
    after.texts = node_.Emit(relax::SliceScatter(continued, node_.Reshaped(after.last, {texts_, I64(1)}), length,
                                                 node_.Simplify(length + 1), I64(1), /*axis=*/1));
    return after;
  }

  /// Whether as many texts as there are beams have ended and no candidate of these scores can become better, (rows, 1).
  Expr IsDone(const Expr& candidates, const Expr& ended, const PrimExpr& length) const {
    const Expr worst = node_.Emit(relax::StridedSlice(ended, {1}, {node_.Simplify(beams_ - 1)}, {beams_}, {I64(1)}));
    const Expr is_full = relax::Greater(worst, node_.Scalar(kScore, -kInfinity));
    if (node_.Flag("early_stopping", false)) return node_.Emit(is_full);
    // Of rows behind the first ONNX Runtime looks at candidates from `beams` times their number on.
    const PrimExpr count = node_.Simplify(beams_ * 2);
    const Expr within = node_.Reshaped(node_.CastTo(Positions(node_, count), kPlace), {I64(1), count});
    const Expr at = node_.Emit(relax::Add(within, RowStarts(beams_)));
    const Expr seen = node_.Emit(relax::Take(node_.Reshaped(candidates, {node_.Simplify(rows_ * count)}), at, 0));
    const Expr best = node_.Emit(relax::Max(seen, std::vector<int64_t>{1}, /*keepdims=*/true));
    return node_.Emit(relax::LogicalAnd(is_full, relax::GreaterEqual(worst, ByLength(best, length))));
  }

  /// The texts that are returned, and their scores. Where a row is not done all are as long as texts get.
  Results Finished(const State& state, const PrimExpr& returned) const {
    const Expr is_done = node_.Reshaped(state.done, {rows_, I64(1)});
    const Expr scores = node_.Reshaped(state.scores, {rows_, beams_});
    const Expr open = node_.Emit(relax::Where(is_done, node_.Scalar(kScore, -kInfinity), ByLength(scores, longest_)));
    const auto [texts, best] = Merged(state, state.texts, open, returned);
    return {texts, best};
  }

  /// Sums of all steps, of the first and of `others` (may be null), zeros behind the last that was made.
  Expr AllScores(const Expr& first, const Expr& others) const {
    Array<PrimExpr> shape = node_.Shape(first);
    if (!others.defined()) {
      shape.insert(shape.begin(), I64(1));
      return node_.Reshaped(first, shape);
    }
    const PrimExpr made = node_.Shape(others)[0];
    const PrimExpr steps = node_.Simplify(longest_ - given_);
    shape.insert(shape.begin(), I64(1));
    const Expr begun = node_.Reshaped(first, shape);
    shape.Set(0, node_.Simplify(steps - made - 1));
    const Expr rest = node_.Emit(relax::Zeros(shape, kScore));
    shape.Set(0, steps);
    return node_.WithShape(node_.Emit(relax::Concat({begun, others, rest}, 0)), shape);
  }

  const NodeContext& node_;
  const BeamModel& model_;
  WordRules rules_;
  PrimExpr beams_, longest_, rows_, given_, texts_;
  int64_t filler_ = 0, end_ = 0;
  Expr length_penalty_;
  /// Of the last step.
  Expr sums_, parents_;
};

}  // namespace

Results SearchBeams(const NodeContext& node, const SearchInputs& at, const PrimExpr& beams, const PrimExpr& longest,
                    const BeamModel& model) {
  return Search(node, at, beams, longest, model).Run();
}

}  // namespace deuteron::onnx
