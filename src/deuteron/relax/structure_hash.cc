#include "deuteron/relax/structure_hash.h"

#include <cstring>
#include <string_view>

#include "deuteron/relax/functor.h"
#include "deuteron/support/occurrence_hash.h"

namespace deuteron::relax {
namespace {

class StructureHasher : public ExprVisitor {
 public:
  void Visit(const Function& func) { VisitFunction_(func.get()); }
  uint64_t hash() const { return hash_.value(); }

 protected:
  void VisitExpr(const Expr& expr) override {
    Mix(static_cast<uint64_t>(expr->kind));
    ExprVisitor::VisitExpr(expr);
  }
  void VisitVar_(const VarNode* op) override { hash_.MixOccurrence(op); }
  void VisitGlobalVar_(const GlobalVarNode* op) override { MixText(op->name_hint); }
  void VisitConstant_(const ConstantNode* op) override { Mix(DataHash(op->data)); }
  void VisitTuple_(const TupleNode* op) override {
    Mix(op->fields.size());
    ExprVisitor::VisitTuple_(op);
  }
  void VisitTupleGetItem_(const TupleGetItemNode* op) override {
    Mix(static_cast<uint64_t>(op->index));
    ExprVisitor::VisitTupleGetItem_(op);
  }
  void VisitCall_(const CallNode* op) override {
    Mix(op->args.size());
    if (op->attrs.defined()) Mix(static_cast<uint64_t>(StructuralHash::Hash(op->attrs)));
    for (const Type& type : op->ty_args) MixType(type);
    ExprVisitor::VisitCall_(op);
  }
  void VisitShapeExpr_(const ShapeExprNode* op) override { MixExtents(op->values); }
  void VisitPrimValue_(const PrimValueNode* op) override { MixExtent(op->value); }
  void VisitStringImm_(const StringImmNode* op) override { MixText(op->value); }
  void VisitFunction_(const FunctionNode* op) override {
    for (const Var& param : op->params) VisitVarDef(param);
    Mix(op->attrs.defined() ? op->attrs->dict.size() : 0);
    VisitExpr(op->body);
  }
  void VisitOp_(const OpNode* op) override { Mix(static_cast<uint64_t>(op->index)); }
  void VisitVarDef(const Var& var) override {
    hash_.MixOccurrence(var.get());
    MixType(var.ty());
  }

 private:
  void Mix(uint64_t value) { hash_.Mix(value); }
  void MixText(const String& text) { Mix(HashText({text.data(), text.size()})); }

  /// What is no number counts as one alike: it may be written by other variables.
  void MixExtent(const PrimExpr& extent) {
    const auto value = AsConstInt(extent);
    Mix(value ? static_cast<uint64_t>(*value) : ~uint64_t{0});
  }
  void MixExtents(const Array<PrimExpr>& extents) {
    Mix(extents.size());
    for (const PrimExpr& extent : extents) MixExtent(extent);
  }
  void MixType(const Type& type) {
    if (!type.defined()) return;
    Mix(static_cast<uint64_t>(type->kind));
    if (const auto* tensor = type.as<TensorTypeNode>()) {
      Mix(static_cast<uint64_t>(tensor->dtype.code()));
      Mix(static_cast<uint64_t>(tensor->dtype.bits()));
      if (tensor->shape.has_value()) MixExtents(*tensor->shape);
    } else if (const auto* tuple = type.as<TupleTypeNode>()) {
      for (const Type& field : tuple->fields) MixType(field);
    }
  }

  OccurrenceHash hash_;
};

}  // namespace

uint64_t StructureHash(const Function& func) {
  StructureHasher hasher;
  hasher.Visit(func);
  return hasher.hash();
}

uint64_t DataHash(const Tensor& tensor) {
  constexpr size_t kSamples = 64;
  size_t count = 1;
  OccurrenceHash hash;
  hash.Mix(static_cast<uint64_t>(tensor.ndim()));
  for (const int64_t extent : tensor.shape()) {
    count *= static_cast<size_t>(extent);
    hash.Mix(static_cast<uint64_t>(extent));
  }
  const std::string_view bytes(static_cast<const char*>(tensor.data_ptr()),
                               count * static_cast<size_t>(DataType(tensor.dtype()).bytes()));
  if (bytes.size() <= kSamples * sizeof(uint64_t)) {
    hash.Mix(HashText(bytes));
    return hash.value();
  }
  const size_t step = (bytes.size() - sizeof(uint64_t)) / (kSamples - 1);
  for (size_t i = 0; i < kSamples; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * step, sizeof(word));
    hash.Mix(word);
  }
  return hash.value();
}

}  // namespace deuteron::relax
