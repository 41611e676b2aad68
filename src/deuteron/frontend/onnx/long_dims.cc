#include "deuteron/frontend/onnx/long_dims.h"

#include "deuteron/ir/prim_ops.h"
#include "deuteron/relax/op/shape.h"

namespace deuteron::onnx {
namespace {

/// Nodes of an expression, each as often as it occurs, from which on it is long; of a sum or product, whose parts may
/// be.
constexpr int64_t kLong = 40;
constexpr int64_t kLongSum = 4 * kLong;

/// Counts nodes of an expression until there are `limit`.
class Counter : public ExprVisitor {
 public:
  explicit Counter(int64_t limit) : limit_(limit) {}
  bool Exceeds(const PrimExpr& expr) {
    VisitExpr(expr);
    return count_ > limit_;
  }
  void VisitExpr(const PrimExpr& expr) override {
    if (++count_ <= limit_) ExprVisitor::VisitExpr(expr);
  }

 private:
  int64_t limit_;
  int64_t count_ = 0;
};

bool IsSumOrProduct(ExprKind kind) {
  return kind == ExprKind::kAdd || kind == ExprKind::kSub || kind == ExprKind::kMul;
}

}  // namespace

class LongDims::Namer : public ExprMutator {
 public:
  Namer(LongDims* dims, Span span) : dims_(dims), span_(std::move(span)) {}

  PrimExpr VisitExpr(const PrimExpr& expr) override { return Shorter(expr, /*is_dim=*/false); }
  /// Of a dimension, which is not negative whether or not that can be proved.
  PrimExpr ShorterDim(const PrimExpr& dim) { return Shorter(dim, /*is_dim=*/true); }

 private:
  PrimExpr Shorter(const PrimExpr& expr, bool is_dim) {
    if (!Counter(kLong).Exceeds(expr)) return expr;
    const PrimExpr shorter = ExprMutator::VisitExpr(expr);
    if (shorter.dtype() != DataType::Int(64)) return shorter;
    if (!Counter(IsSumOrProduct(shorter->kind) ? kLongSum : kLong).Exceeds(shorter)) return shorter;
    const auto found = dims_->names_.find(shorter);
    if (found != dims_->names_.end()) return found->second;
    relax::BlockBuilder& builder = *dims_->builder_;
    if (!is_dim && !builder.analyzer().CanProveGreaterEqual(shorter, 0)) return shorter;
    const tir::Var name{String(builder.UniqueName("length"))};
    // What a tensor holds is not looked through: nothing puts the expression back.
    const relax::Var held = builder.Emit(relax::ShapeToTensor(relax::ShapeExpr({shorter})), "", span_);
    builder.EmitMatchCast(builder.Emit(relax::TensorToShape(held), "", span_), ShapeType({name}), "", span_);
    dims_->names_.emplace(shorter, name);
    return name;
  }

  LongDims* dims_;
  Span span_;
};

void LongDims::Shorten(Value* result, const Span& span) {
  if (!result->defined() || (*result)->elements || (*result)->is_rows) return;
  Value::State& state = *result->operator->();
  Namer namer(this, span);
  if (state.symbolic != nullptr && !state.symbolic->IsConstant()) {
    const Array<PrimExpr> values(state.symbolic->values.begin(), state.symbolic->values.end());
    const Array<PrimExpr> shorter = values.Map([&](const PrimExpr& value) { return namer.VisitExpr(value); });
    if (!shorter.same_as(values)) {
      state.symbolic = MakeSymbolic(state.symbolic->dtype, state.symbolic->shape, {shorter.begin(), shorter.end()});
    }
  }
  const auto* type = state.expr.defined() ? state.expr.ty().as<TensorTypeNode>() : nullptr;
  if (type == nullptr || !type->has_shape()) return;
  const Array<PrimExpr> shape = *type->shape;
  const Array<PrimExpr> shorter = shape.Map([&](const PrimExpr& dim) { return namer.ShorterDim(dim); });
  if (!shorter.same_as(shape))
    state.expr = builder_->EmitMatchCast(state.expr, TensorType(shorter, type->dtype), "", span);
}

}  // namespace deuteron::onnx
