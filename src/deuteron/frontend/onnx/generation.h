/// \file
/// What the searches for texts of com.microsoft have in common: the words that a model continues, the rules that scores
/// of words follow, and the decoder, a graph that is given the words and its caches.
#pragma once

#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "deuteron/frontend/onnx/model.h"
#include "deuteron/frontend/onnx/node_context.h"

namespace deuteron::onnx {

/// What words and their places are counted in.
inline const DataType kWordId = DataType::Int(32);
/// What their scores are computed in.
inline const DataType kScore = DataType::Float(32);
/// The score of words that are not allowed: finite, so that sums of it are.
inline constexpr double kLowestScore = std::numeric_limits<float>::lowest();

/// Scores (rows, words), of words that would repeat `size` words of their row of `ids` (rows, length) at most `worst`.
relax::Expr WithoutRepeated(const NodeContext& node, const relax::Expr& scores, const relax::Expr& ids, int64_t size,
                            double worst);

/// Where the node has what the searches share; inputs that it has not lie behind its last.
struct SearchInputs {
  size_t min_length, repetition_penalty, vocab_mask, prefix_mask, attention_mask, temperature;
};

/// The rules for scores that the node's attributes and inputs state.
class WordRules {
 public:
  WordRules(const NodeContext& node, const SearchInputs& at);
  /// `scores` (rows, words) of what comes behind the first `length` words of `sequences` (rows, longest), by the rules;
  /// `is_first`: it is the first word that is generated.
  relax::Expr Applied(relax::Expr scores, const relax::Expr& sequences, const PrimExpr& length, bool is_first) const;

 private:
  relax::Expr Penalised(const relax::Expr& scores, const relax::Expr& ids) const;

  const NodeContext& node_;
  SearchInputs at_;
  int64_t end_word_;
};

/// Which of `scores` (rows, words) are of word `word`: (1, words).
relax::Expr IsWord(const NodeContext& node, const relax::Expr& scores, int64_t word);

/// The words that a decoder continues, (rows, length) int32: which of them it sees, where they stand among those that
/// are no fillers, and how many these are, (rows).
struct Prompt {
  relax::Expr ids, mask, positions, counts;
};
Prompt PromptOf(const NodeContext& node, const SearchInputs& at);

/// max_length, which is more than the prompt has.
PrimExpr LongestOf(const NodeContext& node, const PrimExpr& prompt);

/// What a decoder gives: scores (rows, words) of the word behind the last, and its caches.
struct Decoded {
  relax::Expr scores;
  std::vector<relax::Expr> caches;
};

/// A decoder as of GPT-2: (input_ids, position_ids, attention_mask, past_0, …) → (logits, present_0, …), caches being
/// (2, rows, heads, length, d). Where it has one more input, past_sequence_length, they are as long as texts get and
/// written in place.
class GptDecoder {
 public:
  GptDecoder(const NodeContext& node, const PrimExpr& longest);
  Decoded First(const Prompt& prompt) const;
  /// The word `ids` (rows, 1) behind `before` others, which `caches` have.
  Decoded Next(const relax::Expr& ids, const relax::Expr& positions, const relax::Expr& mask,
               const std::vector<relax::Expr>& caches, const PrimExpr& before) const;
  /// The axis of rows in caches.
  static constexpr int64_t kRows = 1;

 private:
  /// Checks what the graph takes and gives; whether caches are written in place.
  bool ReadForm(const GraphProto& graph) const;
  Decoded Call(const GraphProto& graph, std::vector<Value> inputs, const std::vector<relax::Expr>& caches,
               const PrimExpr& before) const;

  const NodeContext& node_;
  PrimExpr longest_;
  const GraphProto& graph_;
  bool is_in_place_;
};

/// A model as T5 or Whisper. Its attribute encoder takes what it encodes (and encoder_attention_mask, and
/// decoder_input_ids where it computes the first words, too), and gives present_key_cross_0, … (then after logits,
/// encoder_hidden_states and present_key_self_0, …). Its attribute decoder takes input_ids, encoder_attention_mask,
/// encoder_hidden_states, past_key_self_0, …, past_key_cross_0, … and, with caches that are as long as texts get,
/// past_sequence_length, beam_width and cache_indirection, each where it has them; caches are (rows, heads, length, d).
class EncoderDecoder {
 public:
  /// `encoded`: by the name of the encoder's input, all of `rows` rows.
  EncoderDecoder(const NodeContext& node, const PrimExpr& beams, const PrimExpr& longest,
                 std::vector<std::pair<std::string_view, relax::Expr>> encoded);
  /// What follows `words` (rows, length).
  Decoded First(const relax::Expr& words);
  /// What follows `words` (rows · beams, 1) behind `before` others.
  Decoded Next(const relax::Expr& words, const std::vector<relax::Expr>& caches, const PrimExpr& before) const;
  static constexpr int64_t kRows = 0;

 private:
  struct Named {
    std::string_view name;
    relax::Expr value;
  };
  relax::Expr Find(const std::vector<Named>& among, std::string_view name) const;
  std::vector<Named> ResultsOf(const GraphProto& graph, const std::vector<Named>& given) const;
  /// The decoder on `ids`, whose rows are for as many beams each.
  Decoded Call(const relax::Expr& ids, const PrimExpr& beams, const std::vector<relax::Expr>& caches,
               const PrimExpr& before) const;
  relax::Expr WithRoom(const relax::Expr& cache) const;

  const NodeContext& node_;
  PrimExpr beams_, longest_;
  const GraphProto& decoder_;
  bool is_in_place_ = false;
  /// Inputs and results of the encoder; those that its decoder takes, for all beams.
  std::vector<Named> encoded_, for_beams_;
};

/// Whether one of them has not ended.
relax::Expr GoesOn(const NodeContext& node, const relax::Expr& ended);

}  // namespace deuteron::onnx
