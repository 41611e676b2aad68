#include "deuteron/frontend/onnx/lengths.h"

#include "deuteron/frontend/onnx/importer.h"
#include "deuteron/relax/op/shape.h"

namespace deuteron::onnx {

void RequireAtLeast(const NodeContext& node, const Array<PrimExpr>& lengths, int64_t least, const std::string& what) {
  Array<PrimExpr> open;
  for (const PrimExpr& length : lengths) {
    const PrimExpr value = node.Simplify(length);
    if (const auto number = AsConstInt(value); number && *number < least) {
      node.Fail(what + " is " + std::to_string(*number) + " and has to be at least " + std::to_string(least));
    }
    if (!node.analyzer().CanProve(value >= I64(least))) open.push_back(value);
  }
  if (open.empty()) return;
  const relax::Var shape = node.CheckedShape(open, least, what);
  // That the lengths are what they are keeps the check: a match is no dead code.
  node.WithType(shape, ShapeType(open));
}

void RequireElements(const NodeContext& node, const relax::Expr& x, const std::vector<int64_t>& axes,
                     const std::string& what) {
  const Array<PrimExpr> shape = node.Shape(x);
  Array<PrimExpr> lengths;
  for (const int64_t axis : axes) lengths.push_back(shape[axis]);
  RequireAtLeast(node, lengths, 1, what);
}

void RequireSource(const NodeContext& node, const PrimExpr& length, const PrimExpr& result, const std::string& what) {
  RequireAtLeast(node, {Max(length, I64(1) - Min(result, I64(1)))}, 1, what);
}

}  // namespace deuteron::onnx
