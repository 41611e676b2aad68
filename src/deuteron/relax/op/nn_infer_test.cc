/// Type inference of the arithmetic, nn and linear-algebra families: shapes, symbolic shapes, and messages.
#include <gtest/gtest.h>

#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/op/linear_algebra.h"
#include "deuteron/relax/op/nn.h"
#include "deuteron/relax/op/unary.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax {
namespace {

constexpr DataType kFloat = DataType::Float(32);
const tir::Var kN("n");
const tir::Var kM("m");

Var Tensor4(PrimExpr a, PrimExpr b, PrimExpr c, PrimExpr d) {
  return Var("x", TensorType({std::move(a), std::move(b), std::move(c), std::move(d)}, kFloat));
}
Var OfShape(Array<PrimExpr> shape, DataType dtype = kFloat) { return Var("x", TensorType(std::move(shape), dtype)); }

/// The inferred type as text, or the error.
std::string Inferred(const Expr& expr) {
  BlockBuilder builder;
  builder.BeginScope({});
  builder.BeginBindingBlock();
  try {
    return Describe(builder.Normalize(expr).ty());
  } catch (const ffi::Error& error) {
    return error.kind() + ": " + error.message();
  }
}

TEST(InferBroadcast, StaticAndSymbolic) {
  EXPECT_EQ(Inferred(Add(OfShape({I64(4), I64(1), I64(3)}), OfShape({I64(2), I64(3)}))),
            "Tensor((4, 2, 3), \"float32\")");
  EXPECT_EQ(Inferred(Multiply(OfShape({kN, I64(1)}), OfShape({kM}))), "Tensor((n, m), \"float32\")");
  EXPECT_EQ(Inferred(Add(OfShape({kN + 1}), OfShape({1 + kN}))), "Tensor((n + 1,), \"float32\")");
  // Whether n is m, or one of them 1, is not known.
  EXPECT_EQ(Inferred(Add(OfShape({kN}), OfShape({kM}))), "Tensor(ndim=1, \"float32\")");
  EXPECT_EQ(Inferred(Less(OfShape({kN}), Constant::Scalar(kFloat, 1.0))), "Tensor((n,), \"bool\")");
}

TEST(InferBroadcast, NamesBothShapes) {
  EXPECT_EQ(Inferred(Add(OfShape({I64(4), I64(3)}), OfShape({I64(4), I64(5)}))),
            "ModelError: add: shapes (4, 3) and (4, 5) do not broadcast: 3 against 5 on axis 1");
  EXPECT_EQ(Inferred(Add(OfShape({I64(4), kN}), OfShape({I64(2), I64(5)}))),
            "ModelError: add: shapes (4, n) and (2, 5) do not broadcast: 4 against 2 on axis 0");
  EXPECT_EQ(Inferred(Add(OfShape({I64(4)}), OfShape({I64(4)}, DataType::Int(64)))),
            "ModelError: add: operands have different element types: Tensor((4,), \"float32\") and "
            "Tensor((4,), \"int64\"); cast one of them");
  EXPECT_EQ(Inferred(LogicalAnd(OfShape({I64(4)}), OfShape({I64(4)}))),
            "ModelError: logical_and: takes boolean tensors and is given Tensor((4,), \"float32\") and "
            "Tensor((4,), \"float32\"); cast them first");
  EXPECT_EQ(Inferred(Exp(OfShape({I64(4)}, DataType::Int(32)))),
            "ModelError: exp: takes a floating-point tensor and is given Tensor((4,), \"int32\"); cast it first");
}

TEST(InferConv, StaticSymbolicAndMixedPrecision) {
  const Var kernel = Tensor4(I64(16), I64(8), I64(3), I64(3));
  EXPECT_EQ(Inferred(nn::Conv2D(Tensor4(kN, I64(8), I64(10), I64(10)), kernel, {{2, 2}, {1, 1}})),
            "Tensor((n, 16, 5, 5), \"float32\")");
  EXPECT_EQ(Inferred(nn::Conv2D(Tensor4(I64(1), I64(8), kN, I64(10)), kernel, {{1, 1}, {1, 1}})),
            "Tensor((1, 16, n, 10), \"float32\")");
  nn::ConvOptions last;
  last.data_layout = "NHWC";
  last.kernel_layout = "OHWI";
  last.out_dtype = DataType::Float(64);
  EXPECT_EQ(
      Inferred(nn::Conv2D(Tensor4(I64(1), I64(10), I64(9), I64(8)), Tensor4(I64(16), I64(3), I64(3), I64(8)), last)),
      "Tensor((1, 8, 7, 16), \"float64\")");
  EXPECT_EQ(Inferred(nn::Conv2DTranspose(Tensor4(I64(1), I64(8), I64(10), I64(10)),
                                         Tensor4(I64(8), I64(4), I64(3), I64(3)), {{2, 2}, {1, 1}, {1, 1}})),
            "Tensor((1, 4, 20, 20), \"float32\")");
}

TEST(InferConv, NamesDataAndKernel) {
  EXPECT_EQ(Inferred(nn::Conv2D(Tensor4(I64(1), I64(8), I64(9), I64(9)), Tensor4(I64(4), I64(3), I64(3), I64(3)))),
            "ModelError: nn.conv2d: the data has 8 channels where the kernel with 1 groups takes 3; the data is "
            "Tensor((1, 8, 9, 9), \"float32\") and the kernel Tensor((4, 3, 3, 3), \"float32\")");
  EXPECT_EQ(Inferred(nn::Conv2D(Tensor4(I64(1), I64(3), I64(2), I64(9)), Tensor4(I64(4), I64(3), I64(3), I64(3)))),
            "ModelError: nn.conv2d: the kernel spans 3 along H, more than the padded data's 2; the data is "
            "Tensor((1, 3, 2, 9), \"float32\") and the kernel Tensor((4, 3, 3, 3), \"float32\")");
  EXPECT_EQ(Inferred(nn::Conv2D(OfShape({I64(1), I64(3)}), Tensor4(I64(4), I64(3), I64(3), I64(3)))),
            "ModelError: nn.conv2d: argument 0 must have rank 4 and is Tensor((1, 3), \"float32\")");
}

TEST(InferPool, RoundsAsAsked) {
  const Var x = Tensor4(I64(1), I64(3), I64(6), kN);
  EXPECT_EQ(Inferred(nn::MaxPool2D(x, {{3, 1}, {2, 1}})), "Tensor((1, 3, 2, n), \"float32\")");
  EXPECT_EQ(Inferred(nn::MaxPool2D(x, {{3, 1}, {2, 1}, {}, {}, true})), "Tensor((1, 3, 3, n), \"float32\")");
  EXPECT_EQ(Inferred(nn::AdaptiveAvgPool2D(x, {1, 1})), "Tensor((1, 3, 1, 1), \"float32\")");
}

TEST(InferMatmul, RanksAndSymbols) {
  EXPECT_EQ(Inferred(Matmul(OfShape({kN, I64(4)}), OfShape({I64(4), kM}))), "Tensor((n, m), \"float32\")");
  EXPECT_EQ(Inferred(Matmul(OfShape({kN, I64(3), I64(4)}), OfShape({I64(4)}))), "Tensor((n, 3), \"float32\")");
  EXPECT_EQ(Inferred(Matmul(OfShape({I64(4)}), OfShape({I64(4)}))), "Tensor((), \"float32\")");
  EXPECT_EQ(Inferred(Matmul(OfShape({I64(2), I64(3)}), OfShape({I64(4), I64(5)}))),
            "ModelError: matmul: the dimensions summed over differ, 3 and 4: Tensor((2, 3), \"float32\") and "
            "Tensor((4, 5), \"float32\")");
}

TEST(InferNorm, ChecksParameters) {
  const Var x = OfShape({kN, I64(5), I64(8)});
  EXPECT_EQ(Inferred(nn::LayerNorm(x, OfShape({I64(8)}), OfShape({I64(8)}), {-1})), "Tensor((n, 5, 8), \"float32\")");
  EXPECT_EQ(Inferred(nn::LayerNorm(x, OfShape({I64(5)}), OfShape({I64(8)}), {-1})),
            "ModelError: nn.layer_norm: argument 1 is Tensor((5,), \"float32\") and must have shape (8,) for data "
            "of type Tensor((n, 5, 8), \"float32\")");
  EXPECT_EQ(Inferred(nn::Softmax(x, 3)), "ModelError: nn.softmax: axis 3 is out of range for rank 3");
}

TEST(InferErrors, NameThePlace) {
  Expr call = nn::Relu(PrimValue::Int64(1));
  call->span = Span("/layer1/relu");
  EXPECT_EQ(Inferred(call),
            "ModelError: nn.relu (at /layer1/relu): argument 0 must be a tensor and is Prim(\"int64\")");
}

TEST(OpTable, EveryOperatorHasInferenceAndItsAttributes) {
  for (const OpInfo& row : AllOps()) {
    EXPECT_NE(row.infer_type, nullptr) << row.name;
    EXPECT_EQ(FindOpInfo(row.name), &row);
    EXPECT_EQ(FindOpInfo(Op::Get(std::string("relax.") + row.name)), &row);
    if (row.attrs_key != nullptr) {
      EXPECT_NO_THROW(refl::ObjectCreator{row.attrs_key}) << row.name;
    }
  }
}

}  // namespace
}  // namespace deuteron::relax
