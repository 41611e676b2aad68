/// \file
/// GreedySearch, Sampling and BeamSearch of com.microsoft: the decoder is converted for the prompt, and once more as
/// the body of a loop for one word after another.
#include <functional>
#include <limits>
#include <string>

#include "deuteron/frontend/onnx/beam_search.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/generation.h"
#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/frontend/onnx/loop.h"
#include "deuteron/frontend/onnx/random.h"
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

namespace {

/// No input stands there.
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// Texts (rows, longest), zeros behind their words; which of them have ended; their last words (rows).
struct Texts {
  Expr words, ended, last;
};

/// `word` (rows) is written to place `length` of each text, a filler to those that have ended.
Texts WithWord(const NodeContext& node, const Texts& before, const Expr& word, const PrimExpr& length) {
  const auto special = [&](const char* name) {
    return node.Scalar(kWordId, static_cast<double>(node.RequiredInt(name)));
  };
  Texts texts;
  texts.ended = node.Emit(relax::LogicalOr(before.ended, relax::Equal(word, special("eos_token_id"))));
  texts.last = node.Emit(relax::Where(texts.ended, special("pad_token_id"), word));
  const Expr column = node.Reshaped(texts.last, {node.Shape(word)[0], I64(1)});
  texts.words =
      node.Emit(relax::SliceScatter(before.words, column, length, node.Simplify(length + 1), I64(1), /*axis=*/1));
  return texts;
}

/// Chooses a word (rows, int32) by scores (rows, words), the `number`-th of a text.
using Choose = std::function<Expr(const Expr& scores, const PrimExpr& number)>;

/// The texts of a search without beams.
Expr SearchWords(const NodeContext& node, const SearchInputs& at, const Choose& choose) {
  if (node.Int("model_type", 0) != 0 || node.HasAttr("encoder")) {
    node.Unsupported("a model with an encoder: export it for BeamSearch with one beam");
  }
  const Prompt prompt = PromptOf(node, at);
  const Array<PrimExpr> shape = node.Shape(prompt.ids);
  const PrimExpr rows = shape[0], given = shape[1];
  const PrimExpr longest = LongestOf(node, given);
  const GptDecoder decoder(node, longest);
  const WordRules rules(node, at);

  const Decoded first = decoder.First(prompt);
  const Expr rest = node.Emit(relax::Zeros({rows, node.Simplify(longest - given)}, kWordId));
  Texts texts{.words = node.WithShape(node.Emit(relax::Concat({prompt.ids, rest}, 1)), {rows, longest}),
              .ended = node.Emit(relax::Zeros({rows}, DataType::Bool()))};
  const Expr allowed = rules.Applied(first.scores, texts.words, given, /*is_first=*/true);
  texts = WithWord(node, texts, choose(allowed, I64(0)), given);

  const PrimExpr more = node.Simplify(longest - given - 1);
  if (IsZero(more)) return texts.words;
  Results states = {texts.words, texts.ended, texts.last};
  for (const Expr& cache : first.caches) states.emplace_back(cache);
  const auto step = [&](const PrimExpr& number, const Results& now) {
    const auto state = [&](size_t i) { return node.importer()->ExprOf(now[i], Span()); };
    const Texts before{.words = node.WithShape(state(0), {rows, longest}),
                       .ended = node.WithShape(state(1), {rows}),
                       .last = node.WithShape(state(2), {rows})};
    std::vector<Expr> caches;
    for (size_t i = 3; i < now.size(); ++i) caches.push_back(state(i));
    // Words that have been computed; there is one more.
    const PrimExpr computed = node.Simplify(given + number);
    const PrimExpr length = node.Simplify(computed + 1);
    const Expr seen = node.Emit(relax::Ones({rows, node.Simplify(number + 1)}, kWordId));
    const Expr mask = node.WithShape(node.Emit(relax::Concat({prompt.mask, seen}, 1)), {rows, length});
    const Expr position = node.Emit(relax::Add(prompt.counts, node.ScalarOf(kWordId, number)));
    const Decoded next = decoder.Next(node.Reshaped(before.last, {rows, I64(1)}),
                                      node.Reshaped(position, {rows, I64(1)}), mask, caches, computed);
    const Expr ruled = rules.Applied(next.scores, before.words, length, /*is_first=*/false);
    const Texts after = WithWord(node, before, choose(ruled, node.Simplify(number + 1)), length);
    LoopStep result{.condition = Value(GoesOn(node, after.ended)), .states = {after.words, after.ended, after.last}};
    for (const Expr& cache : next.caches) result.states.emplace_back(cache);
    return result;
  };
  const Value condition(GoesOn(node, texts.ended));
  const Results last = EmitLoop(node, more, condition, states, step);
  return node.importer()->ExprOf(last[0], Span());
}

/// Where GreedySearch and Sampling have them.
constexpr SearchInputs kInputsOfWords = {.min_length = 2,
                                         .repetition_penalty = 3,
                                         .vocab_mask = 4,
                                         .prefix_mask = 5,
                                         .attention_mask = 6,
                                         .temperature = kNowhere};

}  // namespace

Results ConvertGreedySearch(const NodeContext& node) {
  return {SearchWords(node, kInputsOfWords, [&](const Expr& scores, const PrimExpr&) {
    return node.CastTo(node.Emit(relax::Argmax(scores, 1)), kWordId);
  })};
}

namespace {

/// `scores` (rows, words) but for words that are less probable than those that make up top_p.
Expr MostProbable(const NodeContext& node, const Expr& scores) {
  const Array<PrimExpr> shape = node.Shape(scores);
  const double share = node.Float("top_p", 0);
  const bool is_custom = node.Flag("custom", false);
  const int64_t kept = node.Int("min_tokens_to_keep", 0);
  if (kept < 0) node.Fail("min_tokens_to_keep is " + std::to_string(kept));
  const Expr order = node.Emit(relax::Argsort(scores, 1, /*descending=*/is_custom, DataType::Int(64)));
  const Expr sorted = node.Emit(relax::nn::Softmax(node.Emit(relax::GatherElements(scores, order, 1)), 1));
  Expr is_out;
  if (is_custom) {
    // From the most probable on: those behind which the others make up the share.
    const Expr before = node.Emit(relax::Cumsum(sorted, 1, DataType::Void(), /*exclusive=*/true));
    is_out = node.Emit(relax::Greater(before, node.Scalar(kScore, share)));
  } else {
    // From the least probable on: those that make up no more than the rest of the share.
    const Expr sums = node.Emit(relax::Cumsum(sorted, 1));
    const Expr place = node.Reshaped(node.Emit(relax::Arange(I64(0), shape[1], I64(1), kWordId)), {I64(1), shape[1]});
    const Expr end = node.ScalarOf(kWordId, node.Simplify(shape[1] - I64(kept)));
    const Expr is_rest = relax::LessEqual(sums, node.Scalar(kScore, 1 - static_cast<float>(share)));
    is_out = node.Emit(relax::LogicalAnd(is_rest, relax::Less(place, end)));
  }
  const Expr filler = node.Scalar(kScore, node.Float("filter_value", -1e20));
  const Expr left = node.Emit(relax::Where(is_out, filler, relax::GatherElements(scores, order, 1)));
  return node.Emit(relax::ScatterElements(scores, order, left, 1));
}

}  // namespace

Results ConvertSampling(const NodeContext& node) {
  constexpr size_t kPresence = 7, kSeed = 8;
  if (node.Wants(1)) node.Unsupported("filtered_logits: leave them out");
  const double temperature = node.Float("temperature", 1), presence = node.Float("presence_penalty", 0);
  if (temperature <= 0) node.Fail("a temperature of " + std::to_string(temperature));
  const Expr seed = node.Has(kSeed) ? node.Reshaped(node.X(kSeed), {}) : Expr();
  return {SearchWords(node, kInputsOfWords, [&](Expr scores, const PrimExpr& number) {
    if (temperature != 1) scores = node.Emit(relax::Divide(scores, node.Scalar(kScore, temperature)));
    const Array<PrimExpr> shape = node.Shape(scores);
    if (presence != 0 && node.Has(kPresence)) {
      const Expr mask = node.CastTo(node.WithShape(node.X(kPresence), shape), kScore);
      scores = node.Emit(relax::Subtract(scores, relax::Multiply(mask, node.Scalar(kScore, presence))));
    }
    // A word is the number of those, the last one apart, whose probabilities, added up, do not exceed what is drawn.
    const Expr sums = node.Emit(relax::Cumsum(relax::nn::Softmax(MostProbable(node, scores), 1), 1));
    const PrimExpr others = node.Simplify(shape[1] - 1);
    const Expr ends = node.Emit(relax::StridedSlice(sums, {1}, {I64(0)}, {others}, {I64(1)}));
    const Expr drawn =
        node.Reshaped(UniformFrom(node, seed, node.Simplify(number * shape[0]), shape[0]), {shape[0], I64(1)});
    const Expr passed = node.CastTo(node.Emit(relax::LessEqual(ends, drawn)), kWordId);
    return Expr(node.Emit(relax::Sum(passed, std::vector<int64_t>{1})));
  })};
}

namespace {

/// BeamSearch of a decoder alone.
Results SearchBeamsOfDecoder(const NodeContext& node, const SearchInputs& at) {
  const Prompt prompt = PromptOf(node, at);
  const PrimExpr rows = node.Shape(prompt.ids)[0], given = node.Shape(prompt.ids)[1];
  const PrimExpr longest = LongestOf(node, given), beams = BeamsOf(node);
  const PrimExpr texts = node.Simplify(rows * beams);
  const GptDecoder decoder(node, longest);
  const Expr seen = ForBeams(node, prompt.mask, beams), counts = ForBeams(node, prompt.counts, beams);
  const auto next = [&](const Expr& words, const PrimExpr& number, const std::vector<Expr>& caches) {
    const PrimExpr computed = node.Simplify(given + number);
    const Expr more = node.Emit(relax::Ones({texts, node.Simplify(number + 1)}, kWordId));
    const Expr mask = node.WithShape(node.Emit(relax::Concat({seen, more}, 1)), {texts, node.Simplify(computed + 1)});
    const Expr position = node.Emit(relax::Add(counts, node.ScalarOf(kWordId, number)));
    return decoder.Next(words, node.Reshaped(position, {texts, I64(1)}), mask, caches, computed);
  };
  const BeamModel model{
      .words = prompt.ids, .first = decoder.First(prompt), .next = next, .cache_rows = GptDecoder::kRows};
  return SearchBeams(node, at, beams, longest, model);
}

/// The kinds of models that attribute model_type has.
enum class ModelType : uint8_t { kDecoder = 0, kEncoderDecoder = 1, kSpeech = 2 };

/// What a model encodes, by the name that its encoder has for it.
std::vector<std::pair<std::string_view, Expr>> Encoded(const NodeContext& node, const SearchInputs& at,
                                                       ModelType type) {
  if (type == ModelType::kSpeech) return {{"encoder_input_ids", node.X(0)}};
  if (node.Rank(0) != 2) node.Fail("input_ids must be of rank 2 and are of rank " + std::to_string(node.Rank(0)));
  const Expr ids = node.CastTo(node.X(0), kWordId);
  if (node.Has(at.attention_mask)) {
    const Expr mask = node.CastTo(node.X(at.attention_mask), kWordId);
    return {{"encoder_input_ids", ids}, {"encoder_attention_mask", node.WithShape(mask, node.Shape(ids))}};
  }
  // Fillers before the first word are not seen; a filler behind it may be what ends the text.
  const Expr filler = node.Scalar(kWordId, static_cast<double>(node.RequiredInt("pad_token_id")));
  const Expr words = node.CastTo(node.Emit(relax::NotEqual(ids, filler)), kWordId);
  const Expr begun = node.Emit(relax::Greater(relax::Cumsum(words, 1), node.Scalar(kWordId, 0)));
  return {{"encoder_input_ids", ids}, {"encoder_attention_mask", node.CastTo(begun, kWordId)}};
}

/// BeamSearch of an encoder and a decoder.
Results SearchBeamsOfEncoded(const NodeContext& node, const SearchInputs& at, ModelType type) {
  constexpr size_t kWords = 10, kProcessor = 11;
  if (node.Has(kProcessor) && node.ConstFloat(kProcessor) != 0) {
    node.Unsupported("logits_processor, which brings timestamps in order: set it to 0");
  }
  const PrimExpr rows = node.Shape(0)[0], beams = BeamsOf(node);
  Expr words;
  if (node.Has(kWords) && type == ModelType::kSpeech) {
    words = WithDim(node, node.CastTo(node.X(kWords), kWordId), 0, rows);
  } else {
    if (node.Has(kWords))
      node.Unsupported("decoder_input_ids of a text: leave them out; decoder_start_token_id begins it");
    const int64_t start = node.Int("decoder_start_token_id", -1);
    if (start < 0) node.Fail("attribute 'decoder_start_token_id' is missing");
    words = node.Emit(relax::Full({rows, I64(1)}, node.Scalar(kWordId, static_cast<double>(start))));
  }
  const PrimExpr given = node.Shape(words)[1];
  const PrimExpr longest = LongestOf(node, given);
  EncoderDecoder decoder(node, beams, longest, Encoded(node, at, type));
  const Decoded first = decoder.First(words);
  const auto next = [&](const Expr& last, const PrimExpr& number, const std::vector<Expr>& caches) {
    return decoder.Next(last, caches, node.Simplify(given + number));
  };
  const BeamModel model{.words = words, .first = first, .next = next, .cache_rows = EncoderDecoder::kRows};
  return SearchBeams(node, at, beams, longest, model);
}

}  // namespace

Results ConvertBeamSearch(const NodeContext& node) {
  const bool is_whisper = node.node().op_type == "WhisperBeamSearch";
  const SearchInputs inputs = {.min_length = 2,
                               .repetition_penalty = 6,
                               .vocab_mask = 7,
                               .prefix_mask = 8,
                               .attention_mask = 9,
                               .temperature = is_whisper ? 14 : kNowhere};
  const int64_t type = node.Int("model_type", is_whisper ? 2 : 0);
  if (is_whisper && (node.Wants(3) || node.Wants(4) || node.Has(13))) {
    node.Unsupported("cross_qk, non_speech_probs and extra_decoding_ids: leave them out");
  }
  switch (static_cast<ModelType>(type)) {
    case ModelType::kDecoder:
      return SearchBeamsOfDecoder(node, inputs);
    case ModelType::kEncoderDecoder:
    case ModelType::kSpeech:
      return SearchBeamsOfEncoded(node, inputs, static_cast<ModelType>(type));
  }
  node.Fail("a model_type of " + std::to_string(type) + ": there are 0, 1 and 2");
}

}  // namespace deuteron::onnx
