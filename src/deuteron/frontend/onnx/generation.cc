#include "deuteron/frontend/onnx/generation.h"

#include <algorithm>

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/lengths.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/gather.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/statistical.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::onnx {

using relax::Expr;

Expr WithoutRepeated(const NodeContext& node, const Expr& scores, const Expr& ids, int64_t size, double worst) {
  const Array<PrimExpr> words = node.Shape(ids), shape = node.Shape(scores);
  const PrimExpr count = node.Simplify(Max(words[1] - I64(size - 1), I64(0)));
  if (IsZero(count)) return scores;
  const auto slice = [&](const PrimExpr& begin, const PrimExpr& length) {
    const Expr part = node.Emit(relax::StridedSlice(ids, {1}, {begin}, {node.Simplify(begin + length)}, {I64(1)}));
    return node.WithShape(part, {shape[0], length});
  };
  // Behind so many words that the last ones are there, however few the row has.
  const bool is_long = AsConstInt(count).has_value() || size == 1;
  const Expr filler = is_long ? Expr() : Expr(node.Emit(relax::Zeros({shape[0], I64(size - 1)}, node.DType(ids))));
  const Expr all = is_long ? ids : Expr(node.Emit(relax::Concat({filler, ids}, 1)));
  const PrimExpr first = is_long ? words[1] - I64(size - 1) : words[1];
  Expr same = node.Emit(relax::Ones({shape[0], count}, DataType::Bool()));
  for (int64_t i = 0; i + 1 < size; ++i) {
    const PrimExpr at = node.Simplify(first + I64(i));
    const Expr word =
        node.Emit(relax::StridedSlice(all, {1}, {at}, {node.Simplify(at + 1)}, {I64(1)}, /*assume_inbound=*/true));
    same = node.Emit(relax::LogicalAnd(same, relax::Equal(slice(I64(i), count), word)));
  }
  const DataType dtype = node.DType(scores);
  const Expr bound = node.Emit(
      relax::Where(same, node.Scalar(dtype, worst), node.Scalar(dtype, std::numeric_limits<double>::infinity())));
  const Expr next = node.CheckedPositions(node.CastTo(slice(I64(size - 1), count), DataType::Int(64)), {shape[1]});
  return node.Emit(relax::ScatterElements(scores, next, bound, 1, "min"));
}

Expr IsWord(const NodeContext& node, const Expr& scores, int64_t word) {
  const PrimExpr count = node.Shape(scores)[1];
  const Expr ids = node.Emit(relax::Arange(I64(0), count, I64(1), DataType::Int(64)));
  return node.Reshaped(node.Emit(relax::Equal(ids, node.Scalar(DataType::Int(64), static_cast<double>(word)))),
                       {I64(1), count});
}

Expr GoesOn(const NodeContext& node, const Expr& ended) {
  const Expr open = node.CastTo(node.Emit(relax::LogicalNot(ended)), DataType::Int(8));
  return node.CastTo(node.Emit(relax::Max(open)), DataType::Bool());
}

WordRules::WordRules(const NodeContext& node, const SearchInputs& at)
    : node_(node), at_(at), end_word_(node.RequiredInt("eos_token_id")) {}

Expr WordRules::Penalised(const Expr& scores, const Expr& ids) const {
  const Array<PrimExpr> shape = node_.Shape(scores);
  const DataType flag = DataType::Int(8);
  const Expr at = node_.CheckedPositions(node_.CastTo(ids, DataType::Int(64)), {shape[1]});
  const Expr none = node_.Emit(relax::Zeros(shape, flag)), ones = node_.Emit(relax::Ones(node_.Shape(ids), flag));
  const Expr is_there = node_.CastTo(node_.Emit(relax::ScatterElements(none, at, ones, 1)), DataType::Bool());
  const Expr penalty = node_.CastTo(node_.Reshaped(node_.X(at_.repetition_penalty), {}), kScore);
  const Expr below = relax::Less(scores, node_.Scalar(kScore, 0));
  const Expr less = relax::Where(below, relax::Multiply(scores, penalty), relax::Divide(scores, penalty));
  return node_.Emit(relax::Where(is_there, less, scores));
}

Expr WordRules::Applied(Expr scores, const Expr& sequences, const PrimExpr& length, bool is_first) const {
  const Expr lowest = node_.Scalar(kScore, kLowestScore);
  const PrimExpr words = node_.Shape(scores)[1];
  const int64_t repeated = node_.Int("no_repeat_ngram_size", 0);
  const bool penalises = node_.Has(at_.repetition_penalty) && node_.ConstFloat(at_.repetition_penalty) != 1;
  if (penalises || repeated > 0) {
    const Expr ids =
        node_.Emit(relax::StridedSlice(sequences, {1}, {I64(0)}, {length}, {I64(1)}, /*assume_inbound=*/true));
    if (penalises) scores = Penalised(scores, ids);
    if (repeated > 0) scores = WithoutRepeated(node_, scores, ids, repeated, kLowestScore);
  }
  const auto where_allowed = [&](const Expr& mask) {
    const Expr allowed = relax::NotEqual(mask, node_.Scalar(node_.DType(mask), 0));
    return Expr(node_.Emit(relax::Where(allowed, scores, lowest)));
  };
  if (node_.Has(at_.vocab_mask)) {
    scores = where_allowed(node_.Reshaped(WithDim(node_, node_.X(at_.vocab_mask), 0, words), {I64(1), words}));
  }
  if (is_first && node_.Has(at_.prefix_mask)) {
    scores = where_allowed(node_.WithShape(node_.X(at_.prefix_mask), node_.Shape(scores)));
  }
  if (node_.Has(at_.min_length) && node_.ConstFloat(at_.min_length) != 0) {
    const Expr least = node_.CastTo(node_.Reshaped(node_.X(at_.min_length), {}), DataType::Int(64));
    const Expr is_short = relax::Less(node_.ScalarOf(DataType::Int(64), length), least);
    const Expr hidden = relax::LogicalAnd(IsWord(node_, scores, end_word_), is_short);
    scores = node_.Emit(relax::Where(hidden, lowest, scores));
  }
  if (node_.Has(at_.temperature)) {
    const Expr divisor = node_.CastTo(node_.Reshaped(node_.X(at_.temperature), {}), kScore);
    scores = node_.Emit(relax::Divide(scores, divisor));
  }
  return scores;
}

Prompt PromptOf(const NodeContext& node, const SearchInputs& at) {
  if (node.Rank(0) != 2) node.Fail("input_ids must be of rank 2 and are of rank " + std::to_string(node.Rank(0)));
  Prompt prompt;
  prompt.ids = node.CastTo(node.X(0), kWordId);
  const Array<PrimExpr> shape = node.Shape(prompt.ids);
  const Expr zero = node.Scalar(kWordId, 0);
  const Expr filler = node.Scalar(kWordId, static_cast<double>(node.RequiredInt("pad_token_id")));
  const Expr seen = node.Emit(relax::NotEqual(prompt.ids, filler));
  const Expr counted = node.CastTo(seen, kWordId);
  prompt.mask =
      node.Has(at.attention_mask) ? node.WithShape(node.CastTo(node.X(at.attention_mask), kWordId), shape) : counted;
  // Places count words that are no fillers, whatever a mask says.
  const Expr before = node.Emit(relax::Cumsum(counted, 1, DataType::Void(), /*exclusive=*/true));
  prompt.positions = node.Emit(relax::Where(seen, before, zero));
  prompt.counts = node.Emit(relax::Sum(counted, std::vector<int64_t>{1}));
  return prompt;
}

PrimExpr LongestOf(const NodeContext& node, const PrimExpr& prompt) {
  const PrimExpr longest = node.Dim(1, "max_length", 1);
  RequireAtLeast(node, {node.Simplify(longest - prompt)}, 1, "what max_length allows beyond the words that are given");
  return longest;
}

GptDecoder::GptDecoder(const NodeContext& node, const PrimExpr& longest)
    : node_(node), longest_(longest), graph_(node.GraphAttr("decoder")), is_in_place_(ReadForm(graph_)) {
  if (node.HasAttr("init_decoder") && ReadForm(node.GraphAttr("init_decoder")) != is_in_place_) {
    node.Fail("the caches of init_decoder and decoder are of different forms");
  }
}

bool GptDecoder::ReadForm(const GraphProto& graph) const {
  constexpr size_t kFirst = 3;
  const size_t given = graph.inputs.size(), made = graph.outputs.size();
  if (made < 2 || (given != made + 2 && given != made + 3)) {
    node_.Unsupported("a decoder of " + std::to_string(given) + " inputs and " + std::to_string(made) +
                      " results: (input_ids, position_ids, attention_mask, past_0, …) → (logits, present_0, …) and, "
                      "with caches that are written in place, past_sequence_length can be; export the model without "
                      "attention for a device");
  }
  const bool is_masked = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const NodeProto& inner) {
    return inner.op_type == "DecoderMaskedSelfAttention";
  });
  if (is_masked) {
    node_.Unsupported(
        "a decoder with DecoderMaskedSelfAttention, whose caches a device lays out: export the model "
        "without use_decoder_masked_attention");
  }
  for (size_t i = kFirst; i < made + 2; ++i) {
    const ValueInfoProto& past = graph.inputs[i];
    if (past.dims.size() != 5 || !past.dims[2].value || !past.dims[4].value) {
      node_.Fail("cache '" + std::string(past.name) +
                 "' of its decoder must be (2, rows, heads, length, size of heads) "
                 "with numbers for heads and their size");
    }
  }
  return given == made + 3;
}

Decoded GptDecoder::Call(const GraphProto& graph, std::vector<Value> inputs, const std::vector<Expr>& caches,
                         const PrimExpr& before) const {
  for (const Expr& cache : caches) inputs.emplace_back(cache);
  if (is_in_place_) inputs.emplace_back(node_.Reshaped(node_.ScalarOf(kWordId, before), {I64(1)}));
  const Results results = node_.importer()->ImportGraph(graph, inputs);
  const auto expr = [&](const Value& value) { return node_.importer()->ExprOf(value, Span()); };
  const Expr logits = expr(results[0]);
  const Array<PrimExpr> shape = node_.Shape(logits);
  if (shape.size() != 3)
    node_.Fail("the logits of its decoder are of rank " + std::to_string(shape.size()) + ", not 3");
  const PrimExpr rows = node_.Shape(expr(inputs[0]))[0], length = node_.Shape(expr(inputs[0]))[1];
  const Expr all = node_.WithShape(logits, {rows, length, shape[2]});
  const Expr last = node_.Emit(
      relax::StridedSlice(all, {1}, {node_.Simplify(length - 1)}, {length}, {I64(1)}, /*assume_inbound=*/true));
  Decoded decoded{.scores = node_.CastTo(node_.Reshaped(last, {rows, shape[2]}), kScore)};
  for (size_t i = 0; i < caches.size(); ++i) {
    Array<PrimExpr> wanted = node_.Shape(caches[i]);
    if (!is_in_place_) wanted.Set(3, node_.Simplify(wanted[3] + length));
    decoded.caches.push_back(node_.WithShape(expr(results[i + 1]), wanted));
  }
  return decoded;
}

Decoded GptDecoder::First(const Prompt& prompt) const {
  const GraphProto& graph = node_.HasAttr("init_decoder") ? node_.GraphAttr("init_decoder") : graph_;
  const PrimExpr rows = node_.Shape(prompt.ids)[0];
  std::vector<Expr> caches;
  for (size_t i = 3; i < graph.outputs.size() + 2; ++i) {
    const ValueInfoProto& past = graph.inputs[i];
    const Array<PrimExpr> shape = {I64(2), rows, I64(*past.dims[2].value), is_in_place_ ? longest_ : I64(0),
                                   I64(*past.dims[4].value)};
    caches.push_back(node_.Emit(relax::Zeros(shape, ToDataType(past.elem_type, "a cache"))));
  }
  return Call(graph, {prompt.ids, prompt.positions, prompt.mask}, caches, I64(0));
}

Decoded GptDecoder::Next(const Expr& ids, const Expr& positions, const Expr& mask, const std::vector<Expr>& caches,
                         const PrimExpr& before) const {
  std::vector<Expr> known;
  for (const Expr& cache : caches) {
    known.push_back(
        WithDim(node_, WithDim(node_, cache, kRows, node_.Shape(ids)[0]), 3, is_in_place_ ? longest_ : before));
  }
  return Call(graph_, {ids, positions, mask}, known, before);
}

}  // namespace deuteron::onnx
