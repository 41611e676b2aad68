/// \file
/// Small tensors whose elements are known expressions: what the shape arithmetic of exporters computes on.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "deuteron/arith/analyzer.h"
#include "deuteron/interpreter/scalar.h"
#include "deuteron/ir/object.h"
#include "deuteron/ir/prim_ops.h"

namespace deuteron::onnx {

/// A tensor of static shape, its elements expressions in the symbolic dimensions, of `dtype`.
struct SymbolicTensor {
  DataType dtype;
  std::vector<int64_t> shape;
  /// Row-major.
  std::vector<PrimExpr> values;

  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  /// All elements are literals.
  bool IsConstant() const;
};
using Symbolic = std::shared_ptr<const SymbolicTensor>;

/// Larger tensors are not evaluated element by element.
inline constexpr int64_t kMaxSymbolicElements = 2048;

Symbolic MakeSymbolic(DataType dtype, std::vector<int64_t> shape, std::vector<PrimExpr> values);
/// An int64 vector.
Symbolic SymbolicVector(const Array<PrimExpr>& values);

/// The value of a literal, if `value` is one; and the literal of a value.
std::optional<interpreter::Scalar> LiteralScalar(const PrimExpr& value);
PrimExpr ScalarLiteral(DataType dtype, const interpreter::Scalar& value);

/// The elements of a tensor with few of them; null if there are more.
Symbolic SymbolicFromTensor(const Tensor& tensor);
/// The tensor of literals.
Tensor TensorFromSymbolic(const SymbolicTensor& symbolic);

/// The integer nearest below the float expression `value`, where that is an expression of integers:
/// floor(float(n) * 0.5) is n // 2. Null if it is not. Negative values are not expected (shapes).
PrimExpr FloorToInteger(const PrimExpr& value);

/// The numpy broadcast of static shapes; nothing if they do not match.
std::optional<std::vector<int64_t>> BroadcastStatic(const std::vector<int64_t>& a, const std::vector<int64_t>& b);
/// `source` broadcast to `shape`, which it must match.
std::vector<PrimExpr> BroadcastElements(const SymbolicTensor& source, const std::vector<int64_t>& shape);

/// Number of elements of a static shape; -1 if it overflows or a dimension is negative.
int64_t ElementCount(const std::vector<int64_t>& shape);

}  // namespace deuteron::onnx
