#include <algorithm>
#include <cmath>
#include <limits>

#include "deuteron/frontend/onnx/converters.h"
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

Results ConvertMatMul(const NodeContext& node) { return {node.Emit(relax::Matmul(node.X(0), node.X(1)))}; }

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
  if (node.Int("transA", 0) != 0) a = node.Emit(relax::PermuteDims(a, {1, 0}));
  if (node.Int("transB", 0) != 0) b = node.Emit(relax::PermuteDims(b, {1, 0}));
  Expr result = node.Emit(relax::Matmul(a, b));
  if (alpha != 1.0) result = node.Emit(relax::Multiply(result, node.Scalar(dtype, alpha)));
  if (!node.Has(2) || beta == 0.0) return {result};
  Expr c = node.X(2);
  if (beta != 1.0) c = node.Emit(relax::Multiply(c, node.Scalar(dtype, beta)));
  return {node.Emit(relax::Add(result, c))};
}

namespace {

std::string StripSpaces(const std::string& text) {
  std::string stripped;
  std::copy_if(text.begin(), text.end(), std::back_inserter(stripped), [](char c) { return c != ' '; });
  return stripped;
}

/// `equation` with "..." replaced by as many unused letters as the operands have axes for it.
std::string ExpandEllipsis(const NodeContext& node, const std::string& equation, const std::vector<Expr>& operands) {
  const size_t arrow = equation.find("->");
  std::string inputs = equation.substr(0, arrow);
  std::vector<std::string> terms(1);
  for (const char c : inputs) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
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

}  // namespace

Results ConvertEinsum(const NodeContext& node) {
  std::vector<Expr> operands = node.AllInputs();
  const std::string equation = ExpandEllipsis(node, StripSpaces(node.Str("equation", "")), operands);
  return {node.Emit(relax::Einsum(relax::Tuple(Array<Expr>(operands.begin(), operands.end())), equation))};
}

namespace {

/// (b, s, heads * d) → (b, heads, s, d); tensors of rank 4 as they are.
Expr SplitHeads(const NodeContext& node, const Expr& x, const char* attribute) {
  if (node.Rank(x) == 4) return x;
  const int64_t heads = node.RequiredInt(attribute);
  const Array<PrimExpr> shape = node.Shape(x);
  if (heads <= 0) node.Fail(std::string(attribute) + " must be positive");
  const Expr split = node.Reshaped(x, {shape[0], shape[1], I64(heads), node.Simplify(FloorDiv(shape[2], heads))});
  return node.Emit(relax::PermuteDims(split, {0, 2, 1, 3}));
}

Expr MergeHeads(const NodeContext& node, const Expr& x) {
  const Array<PrimExpr> shape = node.Shape(x);
  const Expr swapped = node.Emit(relax::PermuteDims(x, {0, 2, 1, 3}));
  return node.Reshaped(swapped, {shape[0], shape[2], node.Simplify(shape[1] * shape[3])});
}

/// 0 where a query may look, -inf where not: key j of query i if j <= i + offset.
Expr CausalBias(const NodeContext& node, const PrimExpr& queries, const PrimExpr& keys, const PrimExpr& offset,
                DataType dtype) {
  const Expr lowest = node.Scalar(dtype, -std::numeric_limits<double>::infinity());
  const Expr ones = node.Emit(relax::Ones({queries, keys}, DataType::Int(32)));
  const Expr visible = node.Emit(relax::Tril(ones, offset));
  const Expr hidden = relax::Equal(visible, node.Scalar(DataType::Int(32), 0));
  return node.Emit(relax::Where(hidden, lowest, node.Scalar(dtype, 0)));
}

}  // namespace

Results ConvertAttention(const NodeContext& node) {
  const bool merged = node.Rank(0) == 3;
  const Expr q = SplitHeads(node, node.X(0), "q_num_heads");
  Expr k = SplitHeads(node, node.X(1), "kv_num_heads");
  Expr v = SplitHeads(node, node.X(2), "kv_num_heads");
  PrimExpr past = I64(0);
  if (node.Has(4) != node.Has(5)) node.Fail("past_key and past_value go together");
  if (node.Has(4)) {
    past = node.Shape(4)[2];
    k = node.Emit(relax::Concat(Array<Expr>{node.X(4), k}, 2));
    v = node.Emit(relax::Concat(Array<Expr>{node.X(5), v}, 2));
  }
  if (node.Has(6)) node.Unsupported("nonpad_kv_seqlen");
  const Expr present_k = k;
  const Expr present_v = v;
  const int64_t heads = node.StaticDim(q, 1, "the number of heads");
  const int64_t kv_heads = node.StaticDim(k, 1, "the number of heads");
  if (kv_heads <= 0 || heads % kv_heads != 0) node.Fail("the heads of the query are no multiple of those of the key");
  if (heads != kv_heads) {
    k = node.Emit(relax::Repeat(k, heads / kv_heads, 1));
    v = node.Emit(relax::Repeat(v, heads / kv_heads, 1));
  }
  const DataType dtype = node.DType(q);
  const double head_size = static_cast<double>(node.StaticDim(q, 3, "the size of a head"));
  const double scale = node.Float("scale", 1.0 / std::sqrt(head_size));
  const Expr transposed = node.Emit(relax::PermuteDims(k, {0, 1, 3, 2}));
  Expr scores = node.Emit(relax::Matmul(relax::Multiply(q, node.Scalar(dtype, scale)), transposed));
  const double softcap = node.Float("softcap", 0.0);
  if (softcap != 0.0 && node.opset() >= 24) node.Unsupported("softcap at this version");
  if (node.Has(3)) {
    Expr mask = node.X(3);
    if (node.DType(mask).is_bool()) {
      const Expr lowest = node.Scalar(dtype, -std::numeric_limits<double>::infinity());
      mask = node.Emit(relax::Where(mask, node.Scalar(dtype, 0), lowest));
    }
    scores = node.Emit(relax::Add(scores, mask));
  }
  if (node.Int("is_causal", 0) != 0) {
    const Array<PrimExpr> shape = node.Shape(scores);
    scores = node.Emit(relax::Add(scores, CausalBias(node, shape[2], shape[3], past, dtype)));
  }
  if (softcap != 0.0) {
    const Expr cap = node.Scalar(dtype, softcap);
    scores = node.Emit(relax::Multiply(relax::Tanh(relax::Divide(scores, cap)), cap));
  }
  const Expr weights = node.Emit(relax::nn::Softmax(scores, 3));
  const Expr y = node.Emit(relax::Matmul(weights, v));
  if (node.Wants(3)) node.Unsupported("the output qk_matmul_output");
  return {merged ? MergeHeads(node, y) : y, present_k, present_v};
}

Results ConvertRotaryEmbedding(const NodeContext& node) {
  const bool merged = node.Rank(0) == 3;
  const Expr x = SplitHeads(node, node.X(0), "num_heads");
  const Array<PrimExpr> shape = node.Shape(x);
  const int64_t size = node.StaticDim(x, 3, "the size of a head");
  const int64_t given = node.Int("rotary_embedding_dim", 0);
  const int64_t rotary = given == 0 ? size : given;
  const int64_t half = rotary / 2;
  const auto angles = [&](size_t input) {
    Expr cache = node.X(input);
    if (node.Has(3)) cache = node.Emit(relax::Take(cache, node.Indices(3, {node.Shape(cache)[0]}), 0, "wrap"));
    const Array<PrimExpr> dims = node.Shape(cache);
    return node.Reshaped(cache, {dims[0], I64(1), dims[1], I64(half)});
  };
  const Expr cosine = angles(1);
  const Expr sine = angles(2);
  const auto part = [&](int64_t begin, int64_t end, int64_t stride) -> Expr {
    return node.Emit(relax::StridedSlice(x, {3}, {I64(begin)}, {I64(end)}, {I64(stride)}));
  };
  const bool interleaved = node.Int("interleaved", 0) != 0;
  const Expr first = interleaved ? part(0, rotary, 2) : part(0, half, 1);
  const Expr second = interleaved ? part(1, rotary, 2) : part(half, rotary, 1);
  Expr real = node.Emit(relax::Subtract(relax::Multiply(cosine, first), relax::Multiply(sine, second)));
  Expr imaginary = node.Emit(relax::Add(relax::Multiply(sine, first), relax::Multiply(cosine, second)));
  Expr rotated;
  if (interleaved) {
    const Array<PrimExpr> column = {shape[0], shape[1], shape[2], I64(half), I64(1)};
    const Array<Expr> pair = {node.Reshaped(real, column), node.Reshaped(imaginary, column)};
    rotated = node.Reshaped(node.Emit(relax::Concat(pair, 4)), {shape[0], shape[1], shape[2], I64(rotary)});
  } else {
    rotated = node.Emit(relax::Concat(Array<Expr>{real, imaginary}, 3));
  }
  if (rotary < size) rotated = node.Emit(relax::Concat(Array<Expr>{rotated, part(rotary, size, 1)}, 3));
  return {merged ? MergeHeads(node, rotated) : rotated};
}

}  // namespace deuteron::onnx
