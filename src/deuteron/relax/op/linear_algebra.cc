#include "deuteron/relax/op/linear_algebra.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "deuteron/ir/transform/precision.h"
#include "deuteron/relax/op/extent_demands.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/op/qdq.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

using te::Tensor;

[[noreturn]] void ThrowOperands(const Call& call, const std::string& message) {
  ThrowOpError(call, message + ": " + Describe(call->args[0].ty()) + " and " + Describe(call->args[1].ty()));
}

/// The dtype that the attributes give the result, else that of the operands.
template <typename AttrsNode>
DataType ProductDType(const Call& call) {
  const auto& out_dtype = AttrsOf<AttrsNode>(call)->out_dtype;
  if (out_dtype.has_value() && !out_dtype.value().is_void()) return *out_dtype;
  return CommonDType(call, 0, 1);
}

/// All but the last two dimensions.
Array<PrimExpr> Batch(const Array<PrimExpr>& shape) {
  if (shape.size() <= 2) return {};
  return {shape.begin(), shape.end() - 2};
}

/// The type of a product with elements of `dtype`.
Type InferProduct(const Call& call, const BlockBuilder& builder, DataType dtype) {
  const TensorTypeNode* a = TensorArg(call, 0);
  const TensorTypeNode* b = TensorArg(call, 1);
  if (a->ndim == 0 || b->ndim == 0) ThrowOperands(call, "scalars have no matrix product");
  const VDevice device = CommonVDevice(call);
  if (a->ndim == kUnknownNDim || b->ndim == kUnknownNDim) {
    return TensorType::WithNDim(kUnknownNDim, dtype, device);
  }
  const int64_t vectors = (a->ndim == 1 ? 1 : 0) + (b->ndim == 1 ? 1 : 0);
  const int64_t ndim = std::max({a->ndim, b->ndim, int64_t{2}}) - vectors;
  if (!a->has_shape() || !b->has_shape()) return TensorType::WithNDim(ndim, dtype, device);

  const Array<PrimExpr>& x = *a->shape;
  const Array<PrimExpr>& y = *b->shape;
  const PrimExpr rows = x[static_cast<int64_t>(x.size()) - 1];
  const PrimExpr columns = y.size() == 1 ? y[0] : y[static_cast<int64_t>(y.size()) - 2];
  // The one that is no constant has to be the other.
  const bool right = AsConstInt(columns) == std::nullopt;
  const ExtentDemand demand =
      right ? ExtentDemand{1, y.size() == 1 ? 0 : y.size() - 2, rows} : ExtentDemand{0, x.size() - 1, columns};
  if (ProvablyDiffers(builder, right ? columns : rows, demand)) {
    ThrowOperands(call, "the dimensions summed over differ, " + Describe(rows) + " and " + Describe(columns));
  }
  auto shape = BroadcastShapes(call, builder, Batch(x), Batch(y));
  if (!shape) return TensorType::WithNDim(ndim, dtype, device);
  if (x.size() > 1) shape->push_back(x[static_cast<int64_t>(x.size()) - 2]);
  if (y.size() > 1) shape->push_back(y[static_cast<int64_t>(y.size()) - 1]);
  return TensorType(std::move(*shape), dtype, device);
}

Type InferMatmul(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  return InferProduct(call, builder, ProductDType<MatmulAttrsNode>(call));
}

Type InferMatmulPack(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 2, 2);
  const std::string packing(AttrsOf<MatmulPackAttrsNode>(call)->packing);
  if (packing.empty()) ThrowOpError(call, "it has no packing; matmul takes operands without");
  const DataType dtype = DataType::Int(32);
  CheckPacking(call, packing, dtype);
  return InferProduct(call, builder, dtype);
}

/// A call of the kernel `name`, which `product` computes from both operands and the dtype of the result.
template <typename Product>
Expr LegalizeProduct(BlockBuilder& builder, const Call& call, const char* name, const Product& product) {
  const DataType dtype = call.ty().as<TensorTypeNode>()->dtype;
  return CallKernel(builder, call, name, call->args,
                    [&](const Array<Tensor>& args) { return product(args[0], args[1], dtype); });
}

Expr LegalizeMatmul(BlockBuilder& builder, const Call& call) {
  const DataType precision = transform::ProductPrecision(transform::PassContext::Current());
  return LegalizeProduct(builder, call, "matmul", [&](const Tensor& a, const Tensor& b, DataType dtype) {
    return topi::Matmul(a, b, dtype, "", precision.is_bfloat16() && dtype == DataType::Float(32));
  });
}

Expr LegalizeMatmulPack(BlockBuilder& builder, const Call& call) {
  const std::string packing(AttrsOf<MatmulPackAttrsNode>(call)->packing);
  return LegalizeProduct(builder, call, "matmul_pack", [&](const Tensor& a, const Tensor& b, DataType dtype) {
    return topi::Matmul(a, b, dtype, packing);
  });
}

/// The type of data (..., k) times a weight that is `k` deep and has `columns` columns, from the weight's shape. Of
/// data in parts, the pairs of each follow each other.
template <typename Columns>
Type InferLayer(const Call& call, const BlockBuilder& builder, DataType dtype, int64_t weight_rank,
                const Columns& columns_of, bool has_parts = false) {
  CheckArity(call, 2, 2);
  CheckRank(call, 1, weight_rank);
  const TensorTypeNode* data = TensorArg(call, 0);
  const TensorTypeNode* weight = TensorArg(call, 1);
  if (data->ndim == 0) ThrowOperands(call, "a scalar has no product with a matrix");
  const VDevice device = CommonVDevice(call);
  if (!data->has_shape() || !weight->has_shape()) return TensorType::WithNDim(data->ndim, dtype, device);
  Array<PrimExpr> shape = *data->shape;
  const PrimExpr columns = shape.back();
  PrimExpr depth = (*weight->shape)[1];
  if (has_parts) depth = builder.analyzer().Simplify(topi::PairsOfHalves(depth) * topi::kPartsOfHalf);
  const bool right = AsConstInt(depth) == std::nullopt;
  const ExtentDemand demand = right ? ExtentDemand{1, 1, columns} : ExtentDemand{0, shape.size() - 1, depth};
  if (ProvablyDiffers(builder, right ? depth : columns, demand)) {
    ThrowOperands(call, "the dimensions summed over differ, " + Describe(columns) + " and " + Describe(depth));
  }
  shape.Set(static_cast<int64_t>(shape.size()) - 1, columns_of(*weight->shape));
  return TensorType(std::move(shape), dtype, device);
}

Type InferDense(const Call& call, const BlockBuilder& builder) {
  return InferLayer(call, builder, ProductDType<MatmulAttrsNode>(call), 2,
                    [](const Array<PrimExpr>& weight) { return weight[0]; });
}

Type InferDensePack(const Call& call, const BlockBuilder& builder) {
  const auto* attrs = AttrsOf<DensePackAttrsNode>(call);
  const int64_t columns = attrs->columns;
  const DataType dtype = ProductDType<DensePackAttrsNode>(call);
  const std::string packing(attrs->packing);
  CheckPacking(call, packing, dtype);
  const auto columns_of = [&](const Array<PrimExpr>& weight) {
    const auto blocks = AsConstInt(weight[0]), block = AsConstInt(weight[2]);
    if (blocks && block && (*blocks * *block < columns || columns < 1)) {
      ThrowOperands(call, "the weight has no " + std::to_string(columns) + " columns");
    }
    return I64(columns);
  };
  return InferLayer(call, builder, dtype, 3, columns_of, packing == topi::kHalvesInParts);
}

Expr LegalizeDense(BlockBuilder& builder, const Call& call) {
  return LegalizeProduct(builder, call, "dense", topi::Dense);
}

Expr LegalizeDensePack(BlockBuilder& builder, const Call& call) {
  const auto* attrs = AttrsOf<DensePackAttrsNode>(call);
  return LegalizeProduct(builder, call, "dense_pack", [&](const Tensor& data, const Tensor& weight, DataType dtype) {
    return topi::DensePack(data, weight, attrs->columns, std::string(attrs->packing), dtype);
  });
}

/// "ij,jk->ik" taken apart. Without "->" the output has the letters that occur once, in order.
struct Subscripts {
  std::vector<std::string> terms;
  std::string output;
};

Subscripts ParseSubscripts(const Call& call, const std::string& text) {
  Subscripts subscripts;
  std::string squeezed;
  std::copy_if(text.begin(), text.end(), std::back_inserter(squeezed), [](char c) { return c != ' '; });
  const size_t arrow = squeezed.find("->");
  const std::string inputs = squeezed.substr(0, arrow);
  subscripts.terms.emplace_back();
  std::map<char, int> uses;
  for (const char c : inputs) {
    if (c == ',') {
      subscripts.terms.emplace_back();
    } else if (std::isalpha(static_cast<unsigned char>(c)) != 0) {
      subscripts.terms.back() += c;
      ++uses[c];
    } else {
      ThrowOpError(call, "subscripts \"" + text + "\" may hold letters, commas and one arrow only");
    }
  }
  if (arrow == std::string::npos) {
    for (const auto& [letter, count] : uses) {
      if (count == 1) subscripts.output += letter;
    }
    return subscripts;
  }
  subscripts.output = squeezed.substr(arrow + 2);
  for (const char c : subscripts.output) {
    if (uses.count(c) == 0 || std::count(subscripts.output.begin(), subscripts.output.end(), c) != 1) {
      ThrowOpError(call, "output subscript '" + std::string(1, c) + "' of \"" + text +
                             "\" must occur once in it, and in an input");
    }
  }
  return subscripts;
}

Type InferEinsum(const Call& call, const BlockBuilder& builder) {
  CheckArity(call, 1, 1);
  const auto* operands = call->args[0].ty().as<TupleTypeNode>();
  if (operands == nullptr || operands->fields.empty()) {
    ThrowOpError(call, "takes a tuple of tensors and is given " + Describe(call->args[0].ty()));
  }
  const Subscripts subscripts = ParseSubscripts(call, std::string(AttrsOf<EinsumAttrsNode>(call)->subscripts));
  if (subscripts.terms.size() != operands->fields.size()) {
    ThrowOpError(call, "has " + std::to_string(subscripts.terms.size()) + " input subscripts for " +
                           std::to_string(operands->fields.size()) + " tensors");
  }
  std::map<char, PrimExpr> extents;
  DataType dtype = DataType::Void();
  bool known = true;
  for (size_t i = 0; i < operands->fields.size(); ++i) {
    const auto* tensor = operands->fields[i].as<TensorTypeNode>();
    if (tensor == nullptr) ThrowOpError(call, "operand " + std::to_string(i) + " is no tensor");
    if (!dtype.is_void() && !(tensor->dtype == dtype)) ThrowOpError(call, "its operands differ in dtype");
    dtype = tensor->dtype;
    if (!tensor->has_shape()) {
      known = false;
      continue;
    }
    if (static_cast<size_t>(tensor->ndim) != subscripts.terms[i].size()) {
      ThrowOpError(call, "subscript \"" + subscripts.terms[i] + "\" does not fit operand " + std::to_string(i) + ", " +
                             Describe(operands->fields[i]));
    }
    for (size_t axis = 0; axis < subscripts.terms[i].size(); ++axis) {
      const PrimExpr& extent = (*tensor->shape)[axis];
      const auto [it, inserted] = extents.try_emplace(subscripts.terms[i][axis], extent);
      if (inserted || IsOne(extent)) continue;
      if (IsOne(it->second)) {
        it->second = extent;
      } else if (ProvablyDiffers(builder, extent, {0, axis, it->second, i})) {
        ThrowOpError(call, "subscript '" + std::string(1, subscripts.terms[i][axis]) + "' stands for " +
                               Describe(it->second) + " and for " + Describe(extent));
      }
    }
  }
  if (!known) return TensorType::WithNDim(static_cast<int64_t>(subscripts.output.size()), dtype);
  Array<PrimExpr> shape;
  for (const char letter : subscripts.output) shape.push_back(extents.at(letter));
  return TensorType(std::move(shape), dtype);
}

Expr LegalizeEinsum(BlockBuilder& builder, const Call& call) {
  if (!ShapesKnown(call)) return call;
  const Subscripts subscripts = ParseSubscripts(call, std::string(AttrsOf<EinsumAttrsNode>(call)->subscripts));
  if (call->args[0].as<TupleNode>() == nullptr) return call;
  return builder.CallTE("einsum", call->args, [&](const Array<Tensor>& args) {
    return Array<Tensor>{topi::Einsum(args, subscripts.terms, subscripts.output)};
  });
}

Type InferOuter(const Call& call, const BlockBuilder&) {
  CheckArity(call, 2, 2);
  CheckRank(call, 0, 1);
  CheckRank(call, 1, 1);
  const DataType dtype = CommonDType(call, 0, 1);
  const auto a = ShapeOf(TensorArg(call, 0));
  const auto b = ShapeOf(TensorArg(call, 1));
  if (!a || !b) return TensorType::WithNDim(2, dtype, CommonVDevice(call));
  return TensorType({(*a)[0], (*b)[0]}, dtype, CommonVDevice(call));
}

Expr LegalizeOuter(BlockBuilder& builder, const Call& call) {
  return CallKernel(builder, call, "outer", call->args, [](const Array<Tensor>& args) {
    return te::Compute({args[0].shape()[0], args[1].shape()[0]},
                       [&](const Array<tir::Var>& vars) { return args[0]({vars[0]}) * args[1]({vars[1]}); }, "outer",
                       {}, {"i", "j"});
  });
}

Call ProductCall(const char* name, Expr a, Expr b, DataType out_dtype) {
  auto attrs = MakeNode<MatmulAttrsNode>();
  if (!out_dtype.is_void()) attrs->out_dtype = out_dtype;
  return MakeCall(name, {std::move(a), std::move(b)}, MatmulAttrs(std::move(attrs)));
}

}  // namespace

std::vector<OpInfo> LinearAlgebraOps() {
  return {
      {"matmul", {"x1", "x2"}, "deuteron.relax.MatmulAttrs", InferMatmul, LegalizeMatmul},
      {"matmul_pack", {"x1", "x2"}, "deuteron.relax.MatmulPackAttrs", InferMatmulPack, LegalizeMatmulPack},
      {"nn.dense", {"data", "weight"}, "deuteron.relax.MatmulAttrs", InferDense, LegalizeDense},
      {"nn.dense_pack", {"data", "weight"}, "deuteron.relax.DensePackAttrs", InferDensePack, LegalizeDensePack},
      {"einsum", {"operands"}, "deuteron.relax.EinsumAttrs", InferEinsum, LegalizeEinsum},
      {"outer", {"x1", "x2"}, nullptr, InferOuter, LegalizeOuter},
  };
}

Expr Matmul(Expr a, Expr b, DataType out_dtype) { return ProductCall("matmul", std::move(a), std::move(b), out_dtype); }

Expr MatmulPack(Expr a, Expr b, std::string packing) {
  auto attrs = MakeNode<MatmulPackAttrsNode>();
  attrs->packing = std::move(packing);
  return MakeCall("matmul_pack", {std::move(a), std::move(b)}, MatmulPackAttrs(std::move(attrs)));
}

Expr Einsum(Expr operands, std::string subscripts) {
  auto attrs = MakeNode<EinsumAttrsNode>();
  attrs->subscripts = subscripts;
  return MakeCall("einsum", {std::move(operands)}, EinsumAttrs(std::move(attrs)));
}

Expr Outer(Expr a, Expr b) { return MakeCall("outer", {std::move(a), std::move(b)}); }

namespace nn {

Expr Dense(Expr data, Expr weight, DataType out_dtype) {
  return ProductCall("nn.dense", std::move(data), std::move(weight), out_dtype);
}

Expr DensePack(Expr data, Expr weight, int64_t columns, DataType out_dtype) {
  auto attrs = MakeNode<DensePackAttrsNode>();
  attrs->columns = columns;
  if (!out_dtype.is_void()) attrs->out_dtype = out_dtype;
  return MakeCall("nn.dense_pack", {std::move(data), std::move(weight)}, DensePackAttrs(std::move(attrs)));
}

}  // namespace nn

}  // namespace deuteron::relax
