#include <algorithm>
#include <cmath>
#include <limits>

#include "deuteron/frontend/onnx/attention.h"
#include "deuteron/frontend/onnx/converters.h"
#include "deuteron/frontend/onnx/shape_rules.h"
#include "deuteron/frontend/onnx/tensor.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/create.h"
#include "deuteron/relax/op/datatype.h"
#include "deuteron/relax/op/index.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/search.h"
#include "deuteron/relax/op/unary.h"

namespace deuteron::onnx {

using relax::Expr;

Results ConvertMatMul(const NodeContext& node) { return {MatrixProduct(node, node.X(0), node.X(1))}; }

Results ConvertGemm(const NodeContext& node) {
  Expr a = node.X(0);
  Expr b = node.X(1);
  if (node.Rank(a) != 2 || node.Rank(b) != 2) {
    node.Fail("A and B must be matrices and are of rank " + std::to_string(node.Rank(a)) + " and " +
              std::to_string(node.Rank(b)));
  }
  const DataType dtype = node.DType(a);
  const double alpha = node.Float("alpha", 1.0);
  const double beta = node.Float("beta", 1.0);
  if (node.Flag("transA", false)) a = node.Emit(relax::PermuteDims(a, {1, 0}));
  if (node.Flag("transB", false)) b = node.Emit(relax::PermuteDims(b, {1, 0}));
  Expr result = node.Emit(relax::Matmul(a, b));
  if (alpha != 1.0) result = node.Emit(relax::Multiply(result, node.Scalar(dtype, alpha)));
  if (!node.Has(2) || beta == 0.0) return {result};
  Expr c = node.X(2);
  if (beta != 1.0) c = node.Emit(relax::Multiply(c, node.Scalar(dtype, beta)));
  const std::vector<Expr> operands = BroadcastOperands(node, {result, c});
  return {node.Emit(relax::Add(operands[0], operands[1]))};
}

namespace {

std::string StripSpaces(const std::string& text) {
  std::string stripped;
  std::copy_if(text.begin(), text.end(), std::back_inserter(stripped), [](char c) { return c != ' '; });
  return stripped;
}

/// What an equation says of each operand.
std::vector<std::string> TermsOf(const std::string& inputs) {
  std::vector<std::string> terms(1);
  for (const char c : inputs) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  return terms;
}

/// `equation` with "..." replaced by as many unused letters as the operands have axes for it.
std::string ExpandEllipsis(const NodeContext& node, const std::string& equation, const std::vector<Expr>& operands) {
  const size_t arrow = equation.find("->");
  std::string inputs = equation.substr(0, arrow);
  const std::vector<std::string> terms = TermsOf(inputs);
  if (terms.size() != operands.size()) {
    node.Fail("equation '" + equation + "' has " + std::to_string(terms.size()) + " terms for " +
              std::to_string(operands.size()) + " operands");
  }
  int64_t most = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    const bool has = terms[i].find("...") != std::string::npos;
    const int64_t letters = static_cast<int64_t>(terms[i].size()) - (has ? 3 : 0);
    const int64_t rest = node.Rank(operands[i]) - letters;
    if (rest < 0 || (rest > 0 && !has)) {
      node.Fail("term '" + terms[i] + "' of equation '" + equation + "' does not fit a tensor of rank " +
                std::to_string(node.Rank(operands[i])));
    }
    if (has) most = std::max(most, rest);
  }
  std::string unused;
  for (char c = 'A'; c <= 'z' && static_cast<int64_t>(unused.size()) < most; ++c) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0 && equation.find(c) == std::string::npos) unused += c;
  }
  const auto expand = [&](std::string term, int64_t count) {
    const size_t at = term.find("...");
    // Ellipses align at their end.
    if (at != std::string::npos) term.replace(at, 3, unused.substr(unused.size() - static_cast<size_t>(count)));
    return term;
  };
  std::string result;
  for (size_t i = 0; i < terms.size(); ++i) {
    const int64_t letters = static_cast<int64_t>(terms[i].size()) - 3;
    result += (i > 0 ? "," : "") + expand(terms[i], std::max<int64_t>(0, node.Rank(operands[i]) - letters));
  }
  if (arrow != std::string::npos) return result + "->" + expand(equation.substr(arrow + 2), most);
  // Without an arrow: the ellipsis, then the letters that occur once, in alphabetic order.
  std::string output;
  for (int c = 'A'; c <= 'z'; ++c) {
    if (std::count(inputs.begin(), inputs.end(), static_cast<char>(c)) == 1 && std::isalpha(c) != 0) {
      output += static_cast<char>(c);
    }
  }
  return result + "->" + unused + output;
}

/// The place of `letter` in a term, where `next` follows it, each once; npos where neither is part of the term; nothing
/// where they stand otherwise.
std::optional<size_t> PairIn(const std::string& term, char letter, char next) {
  const auto first = std::count(term.begin(), term.end(), letter), second = std::count(term.begin(), term.end(), next);
  if (first == 0 && second == 0) return std::string::npos;
  const size_t at = term.find({letter, next});
  return first == 1 && second == 1 && at != std::string::npos ? std::optional(at) : std::nullopt;
}

/// Makes axes one that are summed over and follow each other in all operands that have them: what remains is a product
/// of matrices more often.
std::string MergeSummed(const NodeContext& node, const std::string& equation, std::vector<Expr>* operands) {
  const size_t arrow = equation.find("->");
  const std::string output = equation.substr(arrow + 2);
  std::vector<std::string> terms = TermsOf(equation.substr(0, arrow));
  const auto merge = [&](char letter, char next) {
    std::vector<size_t> places;
    std::optional<std::pair<PrimExpr, PrimExpr>> extents;
    for (size_t i = 0; i < terms.size(); ++i) {
      const auto at = PairIn(terms[i], letter, next);
      if (!at) return false;
      places.push_back(*at);
      if (*at == std::string::npos) continue;
      const Array<PrimExpr> shape = node.Shape((*operands)[i]);
      const std::pair here{shape[static_cast<int64_t>(*at)], shape[static_cast<int64_t>(*at) + 1]};
      // Of 1 an axis is broadcast.
      if (extents && !(ExprEqual(extents->first, here.first) && ExprEqual(extents->second, here.second))) return false;
      extents = here;
    }
    for (size_t i = 0; i < terms.size(); ++i) {
      if (places[i] == std::string::npos) continue;
      Array<PrimExpr> shape = node.Shape((*operands)[i]);
      shape.Set(static_cast<int64_t>(places[i]), extents->first * extents->second);
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(places[i]) + 1);
      (*operands)[i] = node.Emit(relax::Reshape((*operands)[i], shape));
      terms[i].erase(places[i] + 1, 1);
    }
    return true;
  };
  const auto is_summed = [&](char c) { return output.find(c) == std::string::npos; };
  for (size_t i = 0; i + 1 < terms[0].size();) {
    const char letter = terms[0][i], next = terms[0][i + 1];
    if (letter == next || !is_summed(letter) || !is_summed(next) || !merge(letter, next)) ++i;
  }
  std::string merged = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) merged += "," + terms[i];
  return merged + "->" + output;
}

}  // namespace

Results ConvertEinsum(const NodeContext& node) {
  std::vector<Expr> operands = node.AllInputs();
  std::string equation = ExpandEllipsis(node, StripSpaces(node.Str("equation", "")), operands);
  equation = MergeSummed(node, equation, &operands);
  return {node.Emit(relax::Einsum(relax::Tuple(Array<Expr>(operands.begin(), operands.end())), equation))};
}

namespace {

/// What input 3 of Attention, true or a number for keys that count, adds to the scores of `keys` keys; it may end
/// before them, unless it is one number for all.
Expr AttentionMask(const NodeContext& node, const PrimExpr& keys, DataType dtype) {
  const Expr lowest = node.Scalar(dtype, -std::numeric_limits<double>::infinity());
  Expr mask = node.X(3);
  if (node.DType(mask).is_bool()) mask = node.Emit(relax::Where(mask, node.Scalar(dtype, 0), lowest));
  Array<PrimExpr> shape = node.Shape(mask);
  if (shape.empty()) return mask;
  const int64_t last = static_cast<int64_t>(shape.size()) - 1;
  const PrimExpr length = shape[last];
  const PrimExpr rest = node.Simplify(SelectExpr(Equal(length, I64(1)), I64(0), Max(keys - length, I64(0))));
  if (IsZero(rest)) return mask;
  shape.Set(last, rest);
  return node.Emit(relax::Concat(Array<Expr>{mask, node.Emit(relax::Full(shape, lowest, dtype))}, last));
}

/// Of how many of the keys each row has: int64[b].
Expr CountsOfKeys(const NodeContext& node, const PrimExpr& keys) {
  return node.CheckedWithin(node.CastTo(node.X(6), DataType::Int(64)), I64(0), keys,
                            "a number of keys that are no padding");
}

/// Where queries stand among the keys that are no padding, of which there are `counts`, (b, 1, queries, 1).
Expr LastPositions(const NodeContext& node, const Expr& counts_of_keys, const PrimExpr& queries) {
  const Expr counts = node.CastTo(counts_of_keys, kPosition);
  const Expr before = node.Emit(relax::Subtract(counts, node.ScalarOf(kPosition, queries)));
  const Expr column = node.Reshaped(before, {node.Shape(counts)[0], I64(1), I64(1), I64(1)});
  const Expr rows = node.Reshaped(Positions(node, queries), {I64(1), I64(1), queries, I64(1)});
  return node.Emit(relax::Add(column, rows));
}

/// -inf for keys from the length on that `counts` gives each row.
Expr PaddingMask(const NodeContext& node, const Expr& counts, const PrimExpr& keys, DataType dtype) {
  const DataType index = node.DType(counts);
  const Expr positions = node.Emit(relax::Arange(I64(0), keys, I64(1), index));
  const Expr lengths = node.Reshaped(counts, {node.Shape(counts)[0], I64(1), I64(1), I64(1)});
  const Expr lowest = node.Scalar(dtype, -std::numeric_limits<double>::infinity());
  return node.Emit(relax::Where(relax::Less(positions, lengths), node.Scalar(dtype, 0), lowest));
}

}  // namespace

Results ConvertAttention(const NodeContext& node) {
  const bool merged = node.Rank(0) == 3;
  const auto split = [&](size_t input, const char* heads) {
    return SplitHeads(node, node.X(input), node.Rank(input) == 4 ? 0 : node.RequiredInt(heads));
  };
  AttentionSpec spec{
      .query = split(0, "q_num_heads"), .key = split(1, "kv_num_heads"), .value = split(2, "kv_num_heads")};
  PrimExpr past = I64(0);
  if (node.Has(4) != node.Has(5)) node.Fail("past_key and past_value go together");
  if (node.Has(4)) {
    past = node.Shape(4)[2];
    spec.key = node.Emit(relax::Concat(Array<Expr>{node.X(4), spec.key}, 2));
    spec.value = node.Emit(relax::Concat(Array<Expr>{node.X(5), spec.value}, 2));
  }
  const DataType dtype = node.DType(spec.query);
  if (node.HasAttr("scale")) spec.scale = node.Float("scale", 1.0);
  spec.softcap = node.Float("softcap", 0.0);
  spec.cap_after_biases = true;
  if (node.HasAttr("softmax_precision")) {
    spec.softmax_dtype = ToDataType(node.RequiredInt("softmax_precision"), "softmax_precision");
  }
  const PrimExpr keys = node.Shape(spec.key)[2];
  if (node.Has(3)) spec.biases.push_back(AttentionMask(node, keys, dtype));
  const Expr counts = node.Has(6) ? CountsOfKeys(node, keys) : Expr();
  if (counts.defined()) spec.biases.push_back(PaddingMask(node, counts, keys, dtype));
  const bool is_causal = node.Flag("is_causal", false);
  const PrimExpr queries = node.Shape(spec.query)[2];
  // Queries are the last of as many positions as there are keys that are no padding.
  const Expr positions = is_causal && counts.defined() ? LastPositions(node, counts, queries) : Expr();
  if (positions.defined()) {
    const Expr key = node.Reshaped(Positions(node, keys), {I64(1), I64(1), I64(1), keys});
    spec.biases.push_back(
        BiasOf(node, node.Emit(relax::LessEqual(key, positions)), -std::numeric_limits<double>::infinity(), dtype));
  } else if (is_causal) {
    spec.biases.push_back(CausalBias(node, queries, keys, past, dtype));
  }
  AttentionResult result = Attend(node, spec);
  if (positions.defined()) {
    // A query before the first key sees none.
    const Expr sees = node.Emit(relax::GreaterEqual(positions, node.Scalar(kPosition, 0)));
    for (Expr* part : {&result.y, &result.weights}) {
      *part = node.Emit(relax::Where(sees, *part, node.Scalar(dtype, 0)));
    }
  }
  const int64_t mode = node.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) node.Fail("qk_matmul_output_mode " + std::to_string(mode) + " is unknown");
  const Expr stages[] = {result.products, result.biased, result.capped, result.weights};
  return {merged ? MergeHeads(node, result.y) : result.y, spec.key, spec.value, stages[mode]};
}

Results ConvertRotaryEmbedding(const NodeContext& node) {
  const bool merged = node.Rank(0) == 3;
  const Expr x = SplitHeads(node, node.X(0), merged ? node.RequiredInt("num_heads") : 0);
  Expr positions;
  PrimExpr rows;
  // Tables of as many rows have positions that are compared with these once.
  const auto angles = [&](size_t input) -> Expr {
    const Expr cache = node.X(input);
    if (!node.Has(3)) return cache;
    const PrimExpr length = node.Shape(cache)[0];
    if (!rows.defined() || !node.analyzer().CanProveEqual(rows, length)) {
      rows = length;
      positions = node.Indices(3, {rows});
    }
    return node.Emit(relax::Take(cache, positions, 0, "wrap"));
  };
  const Expr cosines = angles(1);
  const Expr sines = angles(2);
  const Expr rotated =
      Rotate(node, x, cosines, sines, I64(node.Int("rotary_embedding_dim", 0)), node.Flag("interleaved", false));
  return {merged ? MergeHeads(node, rotated) : rotated};
}

}  // namespace deuteron::onnx
