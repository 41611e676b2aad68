#include "deuteron/backend/cublas/cublas.h"
#include "deuteron/backend/pattern_checks.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/library/passes.h"

namespace deuteron::backend::cublas {
namespace {

using relax::Expr;

bool Is16Bit(DataType dtype) { return dtype == DataType::Float(16) || dtype == DataType::BFloat16(); }

/// The combinations of cublasLtMatmul's table of supported types with an accumulator of 32 bits.
bool HasKernel(DataType in, DataType out) {
  if (in == DataType::Int(8)) return out == DataType::Int(32);
  if (in == DataType::Float(32)) return out == in;
  if (Is16Bit(in)) return out == in || out == DataType::Float(32);
  return IsFloat8(in) && (Is16Bit(out) || IsFloat8(out) || out == DataType::Float(32));
}

void CheckBias(const MatchedComposite& composite, DataType in, DataType out) {
  const TensorTypeNode* bias = composite.TensorAt("bias");
  const Array<PrimExpr>& shape = *composite.TensorAt("root")->shape;
  Require(composite.TensorAt("rhs")->ndim >= 2 && bias->ndim >= 1, "a bias on a product with a vector");
  arith::Analyzer analyzer;
  Require(analyzer.CanProveEqual(LastOf(*bias->shape), LastOf(shape)), "a bias that is not one value a column");
  Require(!IsFloat8(in) || Is16Bit(out), "a bias on 8-bit floats whose sum is not of 16 bits");
}

}  // namespace

JsonKernel DescribeProduct(const MatchedComposite& composite) {
  const std::string& name = composite.name;
  const bool transposed = name.find("_transposed") != std::string::npos;
  const bool bias = composite.Has("bias");
  const std::string activation = name.ends_with("_relu") ? "relu" : name.ends_with("_gelu") ? "gelu" : "";
  const TensorTypeNode* lhs = composite.TensorAt("lhs");
  const TensorTypeNode* rhs = composite.TensorAt("rhs");
  const TensorTypeNode* result = KnownTensor(composite.result);
  const DataType in = lhs->dtype;
  Require(lhs->ndim >= 1 && rhs->ndim >= 1, "a scalar as an operand");
  Require(HasKernel(in, result->dtype), "a product of dtypes that cuBLASLt has no kernel for");
  Require(SameShape(*result->shape, *composite.TensorAt("root")->shape), "an operand that widens the result");
  if (transposed) RequireTransposedRhs(composite);
  if (bias) CheckBias(composite, in, result->dtype);
  Require(activation != "gelu" || Is16Bit(result->dtype), "a GELU of more than 16 bits");
  if (in == DataType::Int(8)) {
    // Rows of whole words on all three sides.
    Require(rhs->ndim >= 2 && lhs->ndim >= 2 && IsMultipleOf(LastOf(*result->shape), 4),
            "rows of bytes that are no whole words");
  }

  JsonKernel kernel;
  kernel.inputs = {composite.At("lhs"), composite.At("rhs")};
  if (bias) kernel.inputs.push_back(composite.At("bias"));
  double alpha = 1;
  if (composite.Has("scale")) {
    const auto scale = ScalarValue(composite.At("scale")), zero = ScalarValue(composite.At("zp"));
    Require(scale && zero && *zero == 0, "a scale that is not constant, or a zero point other than 0");
    Require(in != DataType::Int(8), "an integer product that is scaled");
    alpha = *scale;
  }
  const bool scales = composite.Has("scaleA");
  if (scales) {
    Require(in != DataType::Int(8), "an integer product that is scaled");
    for (const char* role : {"scaleA", "scaleB"}) {
      const DataType dtype = composite.TensorAt(role)->dtype;
      Require(dtype == DataType::Float(32) || Is16Bit(dtype), "a scale that is no float");
      kernel.inputs.push_back(composite.At(role));
    }
  }
  kernel.attrs = {
      {"transposed", transposed}, {"bias", bias}, {"activation", activation}, {"alpha", alpha}, {"scales", scales}};
  return kernel;
}

transform::Pass Partition() { return relax::FuseOpsByPattern(TranslatablePatterns("cublas.", DescribeProduct)); }

relax::ExternalFunction Generate(const relax::CodegenRequest& request) {
  return GenerateGraph(request, "cublas", DescribeProduct);
}

}  // namespace deuteron::backend::cublas
