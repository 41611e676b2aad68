#include "deuteron/backend/cublas/patterns.h"

#include "deuteron/backend/partition.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::backend::cublas {
namespace {

using relax::FusionPattern;
using relax::PatternCheckContext;

bool IsInt8(DataType dtype) { return dtype == DataType::Int(8); }

bool DtypesSupported(DataType lhs, DataType rhs, DataType out) {
  if (!(lhs == rhs)) return false;
  if (IsFloat8(lhs)) return !(out == DataType("float8_e5m2"));
  return lhs == DataType::Float(16) || lhs == DataType::Float(32) || lhs == DataType::BFloat16() || IsInt8(lhs);
}

/// Only scalar scales and zero points, the latter 0.
bool DequantizeSupported(const PatternCheckContext& context) {
  const TensorTypeNode* scale = TensorOf(context, "scale");
  const TensorTypeNode* zero_point = TensorOf(context, "zp");
  if (scale == nullptr || zero_point == nullptr) return true;
  if (scale->ndim != 0 || zero_point->ndim != 0) return false;
  const auto value = ScalarValue(context.annotated_expr.at("zp"));
  return value.has_value() && *value == 0;
}

/// The integer matrix product wants dimensions of whole words, and has no epilogue but the plain one.
bool Int8Supported(const Array<PrimExpr>& lhs, const Array<PrimExpr>& rhs) {
  return IsMultipleOf(LastOf(lhs), 4) && IsMultipleOf(LastOf(rhs), 4);
}

/// Eight-bit floats: the right operand transposed, and rows of whole 16 bytes.
bool Float8Supported(const PatternCheckContext& context, const relax::CallNode* matmul, const Array<PrimExpr>& rhs,
                     DataType in, DataType out) {
  const bool transposed =
      relax::IsVar(matmul->args[1]) && context.matched_bindings.count(Downcast<relax::Var>(matmul->args[1])) != 0;
  if (!transposed) return false;
  return rhs.size() >= 2 && IsMultipleOf(LastOf(rhs), 16 / in.bytes()) &&
         IsMultipleOf(rhs[static_cast<int64_t>(rhs.size()) - 2], 16 / out.bytes());
}

bool CheckMatmul(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context) || !DequantizeSupported(context)) return false;
  const TensorTypeNode* lhs_type = TensorOf(context, "lhs");
  const TensorTypeNode* rhs_type = TensorOf(context, "rhs");
  const TensorTypeNode* out_type = TensorOf(context, "root");
  if (lhs_type == nullptr || rhs_type == nullptr || out_type == nullptr) return false;
  if (!DtypesSupported(lhs_type->dtype, rhs_type->dtype, out_type->dtype)) return false;
  if (!lhs_type->has_shape() || !rhs_type->has_shape() || lhs_type->ndim == 0 || rhs_type->ndim == 0) return false;
  const Array<PrimExpr>& lhs = *lhs_type->shape;
  const Array<PrimExpr>& rhs = *rhs_type->shape;
  if (!AsConstInt(LastOf(lhs))) return false;
  const bool is_int8 = IsInt8(lhs_type->dtype);
  if (is_int8 && !Int8Supported(lhs, rhs)) return false;
  const auto* matmul = context.annotated_expr.at("root").as<relax::CallNode>();
  if (IsFloat8(lhs_type->dtype) && !Float8Supported(context, matmul, rhs, lhs_type->dtype, out_type->dtype))
    return false;
  if (const TensorTypeNode* bias = TensorOf(context, "bias")) {
    if (is_int8 || !bias->has_shape()) return false;
    // A vector: one value a column.
    const auto rows = AsConstInt(Product(*bias->shape, 0, static_cast<int64_t>(bias->shape->size()) - 1));
    if (!rows || *rows > 1) return false;
  }
  // A batch of products with one matrix for all is none of cuBLAS's, unless the batch's axes join the rows of the left
  // operand.
  const PrimExpr lhs_batch = Product(lhs, 0, static_cast<int64_t>(lhs.size()) - 2);
  const PrimExpr rhs_batch = Product(rhs, 0, static_cast<int64_t>(rhs.size()) - 2);
  if (lhs_batch->kind == ExprKind::kVar || rhs_batch->kind == ExprKind::kVar) return true;
  arith::Analyzer analyzer;
  if (analyzer.CanProveEqual(lhs_batch, rhs_batch)) return true;
  return analyzer.CanProveGreaterEqual(lhs_batch, 1) && analyzer.CanProveEqual(rhs_batch, I64(1));
}

}  // namespace

std::vector<FusionPattern> Patterns() {
  using namespace relax::dpl;  // NOLINT(google-build-using-namespace)
  std::vector<FusionPattern> patterns;
  for (const bool transposed : {false, true}) {
    const std::string name = transposed ? "cublas.matmul_transposed" : "cublas.matmul";
    patterns.push_back(MakeFusionPattern(name, MakeMatmulPattern(false, "", transposed), CheckMatmul));
    patterns.push_back(MakeFusionPattern(name + "_bias", MakeMatmulPattern(true, "", transposed), CheckMatmul));
    patterns.push_back(
        MakeFusionPattern(name + "_bias_relu", MakeMatmulPattern(true, "relax.nn.relu", transposed), CheckMatmul));
    patterns.push_back(
        MakeFusionPattern(name + "_bias_gelu", MakeMatmulPattern(true, "relax.nn.gelu", transposed), CheckMatmul));
  }
  patterns.push_back(
      MakeFusionPattern("cublas.matmul_transposed_dequantize", MakeMatmulDequantizePattern(true), CheckMatmul));
  patterns.push_back(
      MakeFusionPattern("cublas.matmul_transposed_multiply", MakeMatmulMultiplyPattern(true), CheckMatmul));
  return patterns;
}

}  // namespace deuteron::backend::cublas

namespace deuteron::backend {

IRModule PartitionForCublas(IRModule module, bool bind_constants) {
  return PartitionByPrefix(std::move(module), "cublas.", {.bind_constants = bind_constants, .annotate_codegen = true});
}

}  // namespace deuteron::backend
