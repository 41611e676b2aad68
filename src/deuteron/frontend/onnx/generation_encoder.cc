#include <algorithm>
#include <string>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/beam_search.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/manipulate.h"

namespace deuteron::onnx {

using relax::Expr;

namespace {

bool IsCache(std::string_view name) { return name.starts_with("past_key") || name.starts_with("past_value"); }
bool IsOfEncoder(std::string_view name) { return name.find("_cross") != std::string_view::npos; }

/// past_key_self_0 as present_key_self_0.
std::string PresentOf(std::string_view past) {
  return "present" + std::string(past.substr(std::string_view("past").size()));
}

/// Scores of the word behind the last, of logits (rows, length, words).
Expr LastScores(const NodeContext& node, const Expr& logits, const Expr& ids) {
  const Array<PrimExpr> shape = node.Shape(logits);
  if (shape.size() != 3) node.Fail("the logits of its decoder are of rank " + std::to_string(shape.size()) + ", not 3");
  const PrimExpr rows = node.Shape(ids)[0];
  const Expr all = WithDim(node, logits, 0, rows);
  const PrimExpr length = node.Shape(all)[1];
  const Expr last = node.Emit(relax::StridedSlice(all, {1}, {node.Simplify(length - 1)}, {length}, {I64(1)}));
  return node.CastTo(node.Reshaped(last, {rows, shape[2]}), kScore);
}

}  // namespace

EncoderDecoder::EncoderDecoder(const NodeContext& node, const PrimExpr& beams, const PrimExpr& longest,
                               std::vector<std::pair<std::string_view, Expr>> encoded)
    : node_(node), beams_(beams), longest_(longest), decoder_(node.GraphAttr("decoder")) {
  for (const auto& [name, value] : encoded) encoded_.push_back({name, value});
  for (const ValueInfoProto& input : decoder_.inputs) {
    is_in_place_ |= input.name == "past_sequence_length";
    if (input.name == "input_ids" && (input.dims.size() != 2 || input.dims[1].value != 1)) {
      node.Unsupported(
          "a decoder whose input_ids are not declared as (batch, 1), which is given whole texts: declare them so");
    }
  }
  if (decoder_.outputs.empty() || decoder_.outputs[0].name != "logits") node.Fail("its decoder gives no logits");
}

Expr EncoderDecoder::Find(const std::vector<Named>& among, std::string_view name) const {
  const auto it = std::find_if(among.begin(), among.end(), [&](const Named& one) { return one.name == name; });
  return it == among.end() ? Expr() : it->value;
}

std::vector<EncoderDecoder::Named> EncoderDecoder::ResultsOf(const GraphProto& graph,
                                                             const std::vector<Named>& given) const {
  std::vector<Value> inputs;
  for (const ValueInfoProto& input : graph.inputs) {
    const Expr value = Find(given, input.name);
    if (!value.defined()) {
      node_.Unsupported("a graph that takes '" + std::string(input.name) +
                        "': export the model as ONNX Runtime's convert_generation does");
    }
    inputs.emplace_back(value);
  }
  const Results values = node_.importer()->ImportGraph(graph, inputs);
  std::vector<Named> results;
  for (size_t i = 0; i < values.size(); ++i) {
    results.push_back({graph.outputs[i].name, node_.importer()->ExprOf(values[i], Span())});
  }
  return results;
}

Expr EncoderDecoder::WithRoom(const Expr& cache) const {
  if (!is_in_place_) return cache;
  Array<PrimExpr> shape = node_.Shape(cache);
  shape.Set(2, node_.Simplify(longest_ - shape[2]));
  const Expr rest = node_.Emit(relax::Zeros(shape, node_.DType(cache)));
  shape.Set(2, longest_);
  return node_.WithShape(node_.Emit(relax::Concat({cache, rest}, 2)), shape);
}

Decoded EncoderDecoder::First(const Expr& words) {
  const GraphProto& encoder = node_.GraphAttr("encoder");
  encoded_.push_back({"decoder_input_ids", words});
  for (const Named& result : ResultsOf(encoder, encoded_)) encoded_.push_back(result);
  const Expr logits = Find(encoded_, "logits");
  std::vector<Expr> caches;
  for (const ValueInfoProto& input : decoder_.inputs) {
    if (!IsCache(input.name) || IsOfEncoder(input.name)) continue;
    if (logits.defined()) {
      const Expr present = Find(encoded_, PresentOf(input.name));
      if (!present.defined()) node_.Fail("its encoder gives no '" + PresentOf(input.name) + "'");
      caches.push_back(WithRoom(present));
      continue;
    }
    if (input.dims.size() != 4 || !input.dims[1].value || !input.dims[3].value) {
      node_.Fail("cache '" + std::string(input.name) +
                 "' of its decoder must be (rows, heads, length, size of heads) with numbers for heads and their size");
    }
    const Array<PrimExpr> shape = {node_.Shape(words)[0], I64(*input.dims[1].value), I64(0), I64(*input.dims[3].value)};
    caches.push_back(WithRoom(node_.Emit(relax::Zeros(shape, ToDataType(input.elem_type, "a cache")))));
  }
  const Decoded first =
      logits.defined() ? Decoded{LastScores(node_, logits, words), caches} : Call(words, I64(1), caches, I64(0));
  for (const ValueInfoProto& input : decoder_.inputs) {
    const bool is_cache = IsCache(input.name) && IsOfEncoder(input.name);
    const Expr value = Find(encoded_, is_cache ? PresentOf(input.name) : std::string(input.name));
    if (value.defined() && (is_cache || input.name.starts_with("encoder_"))) {
      for_beams_.push_back({input.name, ForBeams(node_, value, beams_)});
    }
  }
  return first;
}

Decoded EncoderDecoder::Call(const Expr& ids, const PrimExpr& beams, const std::vector<Expr>& caches,
                             const PrimExpr& before) const {
  const PrimExpr rows = node_.Shape(ids)[0], length = node_.Shape(ids)[1];
  std::vector<Named> given = {{"input_ids", ids}};
  const bool is_first = for_beams_.empty();
  size_t cache = 0;
  for (const ValueInfoProto& input : decoder_.inputs) {
    if (IsCache(input.name) && !IsOfEncoder(input.name)) {
      given.push_back({input.name, caches[cache++]});
    } else if (!is_first) {
      if (const Expr value = Find(for_beams_, input.name); value.defined()) given.push_back({input.name, value});
    } else if (const Expr value = Find(encoded_, IsCache(input.name) ? PresentOf(input.name) : std::string(input.name));
               value.defined()) {
      given.push_back({input.name, value});
    }
  }
  if (is_in_place_) {
    const auto number = [&](const PrimExpr& value) { return node_.Reshaped(node_.ScalarOf(kWordId, value), {I64(1)}); };
    given.push_back({"past_sequence_length", number(before)});
    given.push_back({"beam_width", number(beams)});
    // Caches are in the order of the texts: each text continues its own.
    const Expr own = node_.Reshaped(node_.CastTo(Positions(node_, beams), kWordId), {I64(1), beams, I64(1)});
    const PrimExpr batch = node_.Simplify(FloorDiv(rows, beams));
    given.push_back({"cache_indirection", node_.Emit(relax::BroadcastTo(own, {batch, beams, longest_}))});
  }
  const std::vector<Named> results = ResultsOf(decoder_, given);
  Decoded decoded{.scores = LastScores(node_, results[0].value, ids)};
  cache = 0;
  for (const ValueInfoProto& input : decoder_.inputs) {
    if (!IsCache(input.name) || IsOfEncoder(input.name)) continue;
    const Expr present = Find(results, PresentOf(input.name));
    if (!present.defined()) node_.Fail("its decoder gives no '" + PresentOf(input.name) + "'");
    Array<PrimExpr> shape = node_.Shape(caches[cache++]);
    if (!is_in_place_) shape.Set(2, node_.Simplify(before + length));
    decoded.caches.push_back(node_.WithShape(present, shape));
  }
  return decoded;
}

Decoded EncoderDecoder::Next(const Expr& words, const std::vector<Expr>& caches, const PrimExpr& before) const {
  std::vector<Expr> known;
  for (const Expr& cache : caches) {
    const Expr of_rows = WithDim(node_, cache, kRows, node_.Shape(words)[0]);
    known.push_back(WithDim(node_, of_rows, 2, is_in_place_ ? longest_ : before));
  }
  return Call(words, beams_, known, before);
}

}  // namespace deuteron::onnx
