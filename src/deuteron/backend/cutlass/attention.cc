/// \file
/// Attention that is written out, as transformers are exported: matmul(softmax(matmul(q, kᵀ) * scale [+ bias]), v), the
/// heads moved to the batch before and back behind.
#include "deuteron/backend/cutlass/patterns.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/relax/dpl/rewriter.h"
#include "deuteron/relax/op/manipulate.h"
#include "deuteron/relax/op/manipulate_attrs.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend::cutlass {
namespace {

using relax::CallNode;
using relax::Expr;
using namespace relax::dpl;  // NOLINT(google-build-using-namespace)

/// How queries, keys and values come, and how the result leaves: (batch, row, head, channel) or without heads.
enum class Layout : uint8_t { kBSNH, kBSH };

struct Variant {
  Layout in = Layout::kBSNH;
  Layout out = Layout::kBSNH;
  bool with_bias = false;
  /// Scores are in single precision, what they are made of and their softmax cast to it.
  bool with_cast = false;
  bool with_kv_repeat = false;
};

std::optional<Array<PrimExpr>> ShapeOf(const Expr& expr) {
  if (!expr.ty().defined()) return std::nullopt;
  if (const auto* tensor = expr.ty().as<TensorTypeNode>(); tensor != nullptr && tensor->has_shape())
    return *tensor->shape;
  if (const auto* shape = expr.ty().as<ShapeTypeNode>(); shape != nullptr && shape->values.has_value())
    return *shape->values;
  return std::nullopt;
}

bool AxesAre(const Expr& permute, std::initializer_list<int64_t> axes) {
  const auto& found = static_cast<const relax::PermuteDimsAttrsNode*>(permute.as<CallNode>()->attrs.get())->axes;
  return found.has_value() && relax::ToVector(*found) == std::vector<int64_t>(axes);
}

/// The last two of both are the same dimensions.
bool SameMatrices(const Array<PrimExpr>& a, const Array<PrimExpr>& b) {
  return ExprEqual(a[static_cast<int64_t>(a.size()) - 2], b[static_cast<int64_t>(b.size()) - 2]) &&
         ExprEqual(LastOf(a), LastOf(b));
}

/// An operand, from what it is computed from to what enters the product.
struct Operand {
  DFPattern raw, tensor, permuted, shape, transposed, result;
  Layout layout;

  Operand(Layout layout, bool transpose, bool repeat) : raw(Wildcard()), layout(layout) {
    tensor = repeat ? IsOp("relax.repeat")(raw) : raw;
    result = tensor;
    if (layout == Layout::kBSNH) {
      permuted = IsOp("relax.permute_dims")(tensor);
      shape = Wildcard();
      result = IsOp("relax.reshape")(permuted, shape);
    }
    if (transpose) result = transposed = IsOp("relax.permute_dims")(result);
  }

  /// (batch, row, head, channel); null if it is no such operand.
  Expr Rewrite(const Matches& matches, Array<PrimExpr>* dims) const {
    const Expr value = matches.at(tensor);
    const auto raw_shape = ShapeOf(matches.at(raw));
    const auto known = ShapeOf(value);
    if (!known || !raw_shape) return Expr();
    if (transposed.defined() && !AxesAre(matches.at(transposed), {0, 2, 1})) return Expr();
    if (layout == Layout::kBSH) {
      if (known->size() != 3) return Expr();
      *dims = {(*raw_shape)[0], (*raw_shape)[1], I64(1), (*raw_shape)[2]};
      return relax::Reshape(matches.at(raw), *dims);
    }
    const auto before = ShapeOf(matches.at(permuted));
    const auto after = ShapeOf(matches.at(shape));
    if (known->size() != 4 || !before || !after || after->size() != 3) return Expr();
    if (!AxesAre(matches.at(permuted), {0, 2, 1, 3}) || !SameMatrices(*before, *after)) return Expr();
    *dims = *raw_shape;
    return matches.at(raw);
  }
};

/// The bias as (batch or 1, heads or 1, rows or 1, columns); null if it is none.
Expr RewriteBias(const Expr& bias, const Array<PrimExpr>& query, const Array<PrimExpr>& key) {
  const auto shape = ShapeOf(bias);
  if (!shape) return Expr();
  const PrimExpr one = I64(1);
  const PrimExpr b = query[0], s = query[1], n = query[2], columns = key[1];
  arith::Analyzer analyzer;
  const auto is = [&](const Array<PrimExpr>& dims) {
    if (dims.size() != shape->size()) return false;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!analyzer.CanProveEqual(dims[static_cast<int64_t>(i)], (*shape)[static_cast<int64_t>(i)])) return false;
    }
    return true;
  };
  if (is({b * n, s, columns})) return relax::Reshape(bias, {b, n, s, columns});
  if (is({b * n, one, columns})) return relax::Reshape(bias, {b, n, one, columns});
  if (is({b, s, columns})) return relax::Reshape(bias, {b, one, s, columns});
  if (is({b, one, columns})) return relax::Reshape(bias, {b, one, one, columns});
  if (is({one, s, columns}) || is({s, columns})) return relax::Reshape(bias, {one, one, s, columns});
  if (is({one, one, columns}) || is({one, columns}) || is({columns}))
    return relax::Reshape(bias, {one, one, one, columns});
  return Expr();
}

PatternMatchingRewriter MakeRewriter(const Variant& variant) {
  const Operand q(variant.in, false, false);
  const Operand k(variant.in, true, variant.with_kv_repeat);
  const Operand v(variant.in, false, variant.with_kv_repeat);
  const DFPattern scale = IsConst();
  const DFPattern bias = Wildcard();
  DFPattern scores = IsOp("relax.matmul")(q.result, k.result);
  scores = scores * (variant.with_cast ? IsOp("relax.astype")(scale) : scale);
  if (variant.with_bias) scores = scores + bias;
  if (variant.with_cast) scores = IsOp("relax.astype")(scores);
  const DFPattern softmax = IsOp("relax.nn.softmax")(scores);
  const DFPattern product = IsOp("relax.matmul")(variant.with_cast ? IsOp("relax.astype")(softmax) : softmax, v.result);
  DFPattern out = product, out_shape, permuted;
  if (variant.out == Layout::kBSNH) {
    out_shape = Wildcard();
    out = permuted = IsOp("relax.permute_dims")(IsOp("relax.reshape")(product, out_shape));
  }

  const auto rewrite = [=](const Expr& original, const Matches& matches) -> Expr {
    Array<PrimExpr> query_dims, key_dims, value_dims;
    const Expr query = q.Rewrite(matches, &query_dims);
    const Expr key = k.Rewrite(matches, &key_dims);
    const Expr value = v.Rewrite(matches, &value_dims);
    if (!query.defined() || !key.defined() || !value.defined()) return original;
    const Expr weights = matches.at(softmax);
    const auto* attrs = static_cast<const relax::SoftmaxAttrsNode*>(weights.as<CallNode>()->attrs.get());
    const auto scores_shape = ShapeOf(weights);
    const auto product_shape = ShapeOf(matches.at(product));
    if (!scores_shape || !product_shape || product_shape->size() != 3) return original;
    const auto rank = static_cast<int64_t>(scores_shape->size());
    if ((attrs->axis < 0 ? attrs->axis + rank : attrs->axis) != rank - 1) return original;
    const auto factor = ScalarValue(matches.at(scale));
    if (!factor) return original;
    Expr mask;
    if (variant.with_bias) {
      mask = RewriteBias(matches.at(bias), query_dims, key_dims);
      if (!mask.defined()) return original;
    }
    const Expr attention = relax::nn::Attention(query, key, value, mask, *factor);
    if (variant.out == Layout::kBSH) return relax::Reshape(attention, *product_shape);
    const auto after = ShapeOf(matches.at(out_shape));
    if (!after || after->size() != 4 || !SameMatrices(*product_shape, *after)) return original;
    return AxesAre(matches.at(permuted), {0, 2, 1, 3}) ? attention : original;
  };
  return PatternMatchingRewriter::FromPattern(out, rewrite);
}

}  // namespace

relax::Function RewriteAttention(relax::Function function, bool use_flash_mqa) {
  // One search for all; a function without softmax has no attention.
  bool has_softmax = false;
  relax::VisitValues(function->body, [&](const Expr& value) {
    const auto* call = value.as<CallNode>();
    const auto* op = call != nullptr ? call->op.as<OpNode>() : nullptr;
    has_softmax |= op != nullptr && op->name == "relax.nn.softmax";
  });
  if (!has_softmax) return function;
  if (use_flash_mqa) function = MakeRewriter({.with_cast = true, .with_kv_repeat = true})(function);
  for (const Layout in : {Layout::kBSNH, Layout::kBSH}) {
    for (const Layout out : {Layout::kBSNH, Layout::kBSH}) {
      for (const bool with_bias : {true, false}) {
        for (const bool with_cast : {true, false}) {
          function = MakeRewriter({in, out, with_bias, with_cast})(function);
        }
      }
    }
  }
  return function;
}

}  // namespace deuteron::backend::cutlass
