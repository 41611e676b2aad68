/// \file
/// The key of a GroupFunction.
#include <cstring>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/group_function.h"
#include "deuteron/support/varint.h"

namespace deuteron::relax::fusion {

/// Writes the structure of the function as numbers: variables by their position, interned objects by address.
class GroupFunction::Key {
 public:
  explicit Key(const GroupFunction& group) : group_(group) {}

  std::string Make() {
    if (!group_.options_.attrs.empty()) PutAddress(group_.options_.attrs.get());
    for (const Param& param : group_.params_) Write(param.type);
    Put(-1);
    for (const tir::Var& symbol : group_.free_symbols_) Write(symbol);
    for (const Binding& binding : group_.bindings_) {
      Put(binding->IsInstance<MatchCastNode>() ? -3 : -2);
      Write(BoundValue(binding));
      if (const auto* cast = binding.as<MatchCastNode>()) Write(cast->ty);
      Write(binding->var.ty());
    }
    for (const Var& output : group_.outputs_) Put(*group_.defined_.Find(output.get()));
    return std::move(bytes_);
  }

 private:
  void Put(int64_t number) { AppendVarint(ZigZag(number), &bytes_); }
  void PutAddress(const Object* object) {
    const auto address = reinterpret_cast<uintptr_t>(object);
    bytes_.append(reinterpret_cast<const char*>(&address), sizeof(address));
  }

  void Write(const Type& type) {
    if (!type.defined()) return Put(-4);
    Put(static_cast<int64_t>(type->kind));
    switch (type->kind) {
      case TypeKind::kTensor: {
        const auto* tensor = static_cast<const TensorTypeNode*>(type.get());
        Write(tensor->dtype);
        Put(tensor->ndim);
        PutAddress(tensor->vdevice.get());
        if (tensor->has_shape()) Write(*tensor->shape);
        return;
      }
      case TypeKind::kShape: {
        const auto* shape = static_cast<const ShapeTypeNode*>(type.get());
        Put(shape->ndim);
        if (shape->values.has_value()) Write(*shape->values);
        return;
      }
      case TypeKind::kTuple: {
        const auto* tuple = static_cast<const TupleTypeNode*>(type.get());
        Put(static_cast<int64_t>(tuple->fields.size()));
        for (const Type& field : Borrow(tuple->fields)) Write(field);
        return;
      }
      case TypeKind::kPrim:
        return Write(static_cast<const PrimTypeNode*>(type.get())->dtype);
      case TypeKind::kAny:
        return;
      case TypeKind::kFunc:
        return PutAddress(type.get());
    }
  }
  void Write(DataType dtype) { Put((dtype.code() << 24) | (dtype.bits() << 16) | dtype.lanes()); }
  void Write(const Array<PrimExpr>& exprs) {
    Put(static_cast<int64_t>(exprs.size()));
    for (const PrimExpr& expr : Borrow(exprs)) Write(expr);
  }
  void Write(const PrimExpr& expr) {
    Put(static_cast<int64_t>(expr->kind));
    Write(expr->dtype);
    if (const auto* imm = expr.as<tir::IntImmNode>()) return Put(imm->value);
    if (const auto* imm = expr.as<tir::FloatImmNode>()) {
      int64_t bits = 0;
      std::memcpy(&bits, &imm->value, sizeof(bits));
      return Put(bits);
    }
    if (expr->kind == ExprKind::kVar) {
      return Put(symbols_.try_emplace(expr.get(), static_cast<int64_t>(symbols_.size())).first->second);
    }
    if (IsBinary(expr->kind)) {
      const auto* binary = static_cast<const tir::BinaryNode*>(expr.get());
      Write(binary->a);
      return Write(binary->b);
    }
    PutAddress(expr.get());
  }
  void Write(const Expr& expr) {
    Put(static_cast<int64_t>(expr->kind));
    switch (expr->kind) {
      case RelaxKind::kVar:
      case RelaxKind::kDataflowVar:
      case RelaxKind::kConstant: {
        if (const int64_t* binding = group_.defined_.Find(expr.get())) return Put(*binding);
        if (const int64_t* param = group_.param_of_.Find(expr.get())) return Put(~*param);
        return PutAddress(expr.get());
      }
      case RelaxKind::kTuple: {
        const auto& fields = static_cast<const TupleNode*>(expr.get())->fields;
        Put(static_cast<int64_t>(fields.size()));
        for (const Expr& field : Borrow(fields)) Write(field);
        return;
      }
      case RelaxKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItemNode*>(expr.get());
        Put(item->index);
        return WriteTupleOf(item);
      }
      case RelaxKind::kCall: {
        const auto* call = static_cast<const CallNode*>(expr.get());
        Write(call->op);
        Put(static_cast<int64_t>(call->args.size()));
        for (const Expr& arg : Borrow(call->args)) Write(arg);
        PutAddress(call->attrs.get());
        for (const Type& type : Borrow(call->ty_args)) Write(type);
        return;
      }
      case RelaxKind::kShapeExpr:
        return Write(static_cast<const ShapeExprNode*>(expr.get())->values);
      case RelaxKind::kPrimValue:
        return Write(static_cast<const PrimValueNode*>(expr.get())->value);
      case RelaxKind::kDataTypeImm:
        return Write(static_cast<const DataTypeImmNode*>(expr.get())->value);
      case RelaxKind::kGlobalVar:
      case RelaxKind::kStringImm:
      case RelaxKind::kSeqExpr:
      case RelaxKind::kIf:
      case RelaxKind::kFunction:
      case RelaxKind::kExternFunc:
      case RelaxKind::kPrimFunc:
      case RelaxKind::kOp:
        return PutAddress(expr.get());
    }
  }
  /// The tuple of an item may have been expanded: then the parameter that stands for the item.
  void WriteTupleOf(const TupleGetItemNode* item) {
    if (group_.defined_.contains(item->tuple.get()) || group_.param_of_.contains(item->tuple.get())) {
      return Write(item->tuple);
    }
    for (size_t i = 0; i < group_.params_.size(); ++i) {
      const auto* param = group_.params_[i].argument.as<TupleGetItemNode>();
      if (param && param->tuple.same_as(item->tuple) && param->index == item->index) {
        return Put(~static_cast<int64_t>(i));
      }
    }
    Write(item->tuple);
  }

  const GroupFunction& group_;
  std::string bytes_;
  std::unordered_map<const Object*, int64_t> symbols_;
};

void GroupFunction::MakeKey() { key_ = Key(*this).Make(); }

}  // namespace deuteron::relax::fusion
