#include "deuteron/relax/type_analysis.h"

#include <algorithm>
#include <optional>

#include "deuteron/ir/borrow.h"

namespace deuteron::relax {
namespace {

using Dims = Array<PrimExpr>;

bool SameVDevice(const VDevice& a, const VDevice& b) {
  if (a.same_as(b)) return true;
  return a.defined() && b.defined() && StructurallyEqual(a, b);
}

enum class Verdict : uint8_t { kNo, kMaybe, kYes };

Verdict CompareDim(const PrimExpr& a, const PrimExpr& b, arith::Analyzer* analyzer) {
  if (ExprEqual(a, b)) return Verdict::kYes;
  if (AsConstInt(a) && AsConstInt(b)) return Verdict::kNo;
  if (analyzer == nullptr) return Verdict::kMaybe;
  if (analyzer->CanProveEqual(a, b)) return Verdict::kYes;
  return analyzer->CanProve(NotEqual(a, b)) ? Verdict::kNo : Verdict::kMaybe;
}

Verdict CompareDims(const Dims& a, const Dims& b, arith::Analyzer* analyzer) {
  if (a.same_as(b)) return Verdict::kYes;
  if (a.size() != b.size()) return Verdict::kNo;
  Verdict verdict = Verdict::kYes;
  for (size_t i = 0; i < a.size(); ++i) verdict = std::min(verdict, CompareDim(a[i], b[i], analyzer));
  return verdict;
}

/// Of a shape that may be unknown: is `derived` below `base`?
Verdict CompareShapes(const Optional<Dims>& base, int64_t base_ndim, const Optional<Dims>& derived,
                      int64_t derived_ndim, arith::Analyzer* analyzer) {
  if (base_ndim == kUnknownNDim) return Verdict::kYes;
  if (derived_ndim == kUnknownNDim) return Verdict::kMaybe;
  if (base_ndim != derived_ndim) return Verdict::kNo;
  if (!base.has_value()) return Verdict::kYes;
  if (!derived.has_value()) return Verdict::kMaybe;
  return CompareDims(*base, *derived, analyzer);
}

Verdict Subsumes(const Type& base, const Type& derived, arith::Analyzer* analyzer) {
  if (base.same_as(derived) || base->kind == TypeKind::kAny) return Verdict::kYes;
  if (derived->kind == TypeKind::kAny) return Verdict::kMaybe;
  if (base->kind != derived->kind) return Verdict::kNo;
  switch (base->kind) {
    case TypeKind::kAny:
      return Verdict::kYes;
    case TypeKind::kPrim:
      return base.as<PrimTypeNode>()->dtype == derived.as<PrimTypeNode>()->dtype ? Verdict::kYes : Verdict::kNo;
    case TypeKind::kShape: {
      const auto* x = base.as<ShapeTypeNode>();
      const auto* y = derived.as<ShapeTypeNode>();
      return CompareShapes(x->values, x->ndim, y->values, y->ndim, analyzer);
    }
    case TypeKind::kTensor: {
      const auto* x = base.as<TensorTypeNode>();
      const auto* y = derived.as<TensorTypeNode>();
      Verdict verdict = CompareShapes(x->shape, x->ndim, y->shape, y->ndim, analyzer);
      if (!x->dtype.is_void() && !(x->dtype == y->dtype)) {
        verdict = std::min(verdict, y->dtype.is_void() ? Verdict::kMaybe : Verdict::kNo);
      }
      if (x->vdevice.defined() && !SameVDevice(x->vdevice, y->vdevice)) {
        verdict = std::min(verdict, y->vdevice.defined() ? Verdict::kNo : Verdict::kMaybe);
      }
      return verdict;
    }
    case TypeKind::kTuple: {
      const auto& x = base.as<TupleTypeNode>()->fields;
      const auto& y = derived.as<TupleTypeNode>()->fields;
      if (x.size() != y.size()) return Verdict::kNo;
      Verdict verdict = Verdict::kYes;
      for (size_t i = 0; i < x.size(); ++i) verdict = std::min(verdict, Subsumes(x[i], y[i], analyzer));
      return verdict;
    }
    case TypeKind::kFunc: {
      const auto* x = base.as<FuncTypeNode>();
      const auto* y = derived.as<FuncTypeNode>();
      if (x->purity && !y->purity) return Verdict::kNo;
      if (!x->params.has_value()) return Subsumes(x->ret, y->ret, analyzer);
      return StructurallyEqual(base, derived, /*map_free_vars=*/true) ? Verdict::kYes : Verdict::kMaybe;
    }
  }
  DEUTERON_UNREACHABLE();
}

bool OptionalDimsIdentical(const Optional<Dims>& a, const Optional<Dims>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a.has_value() || ExprEqual(*a, *b);
}

size_t Mix(size_t hash, size_t value) { return (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 7); }

size_t HashDims(size_t hash, const Optional<Dims>& dims) {
  if (!dims.has_value()) return Mix(hash, 0x5bd1e995);
  for (const PrimExpr& dim : *dims) hash = Mix(hash, ExprHash(dim));
  return hash;
}

/// Calls `visit` on every shape in a type.
void VisitShapes(const Type& type, const std::function<void(const Dims&)>& visit) {
  switch (type->kind) {
    case TypeKind::kAny:
    case TypeKind::kPrim:
      return;
    case TypeKind::kShape:
      if (const auto& values = type.as<ShapeTypeNode>()->values; values.has_value()) visit(*values);
      return;
    case TypeKind::kTensor:
      if (const auto& shape = type.as<TensorTypeNode>()->shape; shape.has_value()) visit(*shape);
      return;
    case TypeKind::kTuple:
      for (const Type& field : type.as<TupleTypeNode>()->fields) VisitShapes(field, visit);
      return;
    case TypeKind::kFunc:
      return;  // its variables are its own
  }
}

bool IsStatic(const Optional<Dims>& dims) {
  if (!dims.has_value()) return true;
  for (const PrimExpr& dim : Borrow(*dims)) {
    if (dim->kind != ExprKind::kIntImm) return false;
  }
  return true;
}

/// Whether the type mentions no variable. Most do not: asked before anything is collected.
bool IsStatic(const Type& type) {
  switch (type->kind) {
    case TypeKind::kAny:
    case TypeKind::kPrim:
    case TypeKind::kFunc:
      return true;
    case TypeKind::kShape:
      return IsStatic(static_cast<const ShapeTypeNode*>(type.get())->values);
    case TypeKind::kTensor:
      return IsStatic(static_cast<const TensorTypeNode*>(type.get())->shape);
    case TypeKind::kTuple: {
      for (const Type& field : Borrow(static_cast<const TupleTypeNode*>(type.get())->fields)) {
        if (!IsStatic(field)) return false;
      }
      return true;
    }
  }
  DEUTERON_UNREACHABLE();
}

/// `type` with every shape replaced by `rewrite` of it; nothing = forget the dimensions.
Type RewriteShapes(const Type& type, const std::function<std::optional<Dims>(const Dims&)>& rewrite) {
  switch (type->kind) {
    case TypeKind::kAny:
    case TypeKind::kPrim:
    case TypeKind::kFunc:
      return type;
    case TypeKind::kShape: {
      const auto* shape = type.as<ShapeTypeNode>();
      if (!shape->values.has_value()) return type;
      auto values = rewrite(*shape->values);
      if (!values) return ShapeType::WithNDim(shape->ndim);
      return values->same_as(*shape->values) ? type : Type(ShapeType(std::move(*values)));
    }
    case TypeKind::kTensor: {
      const auto* tensor = type.as<TensorTypeNode>();
      if (!tensor->shape.has_value()) return type;
      auto shape = rewrite(*tensor->shape);
      if (!shape) return TensorType::WithNDim(tensor->ndim, tensor->dtype, tensor->vdevice);
      if (shape->same_as(*tensor->shape)) return type;
      return TensorType(std::move(*shape), tensor->dtype, tensor->vdevice);
    }
    case TypeKind::kTuple: {
      const auto& fields = type.as<TupleTypeNode>()->fields;
      Array<Type> rewritten = fields.Map([&](const Type& field) { return RewriteShapes(field, rewrite); });
      return rewritten.same_as(fields) ? type : Type(TupleType(std::move(rewritten)));
    }
  }
  DEUTERON_UNREACHABLE();
}

const char* Symbol(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return " + ";
    case ExprKind::kSub:
      return " - ";
    case ExprKind::kMul:
      return " * ";
    case ExprKind::kFloorDiv:
      return " // ";
    case ExprKind::kFloorMod:
      return " % ";
    case ExprKind::kEQ:
      return " == ";
    case ExprKind::kNE:
      return " != ";
    case ExprKind::kLT:
      return " < ";
    case ExprKind::kLE:
      return " <= ";
    case ExprKind::kGT:
      return " > ";
    case ExprKind::kGE:
      return " >= ";
    default:
      return nullptr;
  }
}

/// A dimension that is demanded to be 1 or what it is broadcast to, (1 if n == 1 else (n if m == 1 else m)): `1 or m`.
std::optional<std::string> DescribeBroadcast(const tir::SelectNode* select) {
  const auto is_one = [](const PrimExpr& condition) {
    return condition->kind == ExprKind::kEQ && AsConstInt(static_cast<const tir::BinaryNode*>(condition.get())->b) == 1;
  };
  if (AsConstInt(select->true_value) != 1 || !is_one(select->condition)) return std::nullopt;
  const auto* both = select->false_value.as<tir::SelectNode>();
  return "1 or " + Describe(both != nullptr && is_one(both->condition) ? both->false_value : select->false_value);
}

}  // namespace

std::string DescribeMatched(const MatchCast& match) {
  const std::string name(match->var->name_hint);
  if (!match->span.defined() || match->span->line > 0) return "match_cast of '" + name + "'";
  const std::string node = "node '" + std::string(match->span->source) + "'";
  return name.find(' ') == std::string::npos ? node : node + ": " + name;
}

std::string Describe(const PrimExpr& dim) {
  if (const auto value = AsConstInt(dim)) return std::to_string(*value);
  if (const auto* var = dim.as<tir::VarNode>()) return std::string(var->name_hint);
  if (const auto* cast = dim.as<tir::CastNode>()) return Describe(cast->value);
  if (const auto* select = dim.as<tir::SelectNode>()) {
    if (const auto text = DescribeBroadcast(select)) return *text;
    return Describe(select->true_value) + " if " + Describe(select->condition) + " else " +
           Describe(select->false_value);
  }
  if (!IsBinary(dim->kind)) return "?";
  const auto* binary = static_cast<const tir::BinaryNode*>(dim.get());
  const auto operand = [](const PrimExpr& expr) {
    const std::string text = Describe(expr);
    return IsBinary(expr->kind) ? "(" + text + ")" : text;
  };
  if (dim->kind == ExprKind::kMin || dim->kind == ExprKind::kMax) {
    return std::string(dim->kind == ExprKind::kMin ? "min(" : "max(") + Describe(binary->a) + ", " +
           Describe(binary->b) + ")";
  }
  const char* symbol = Symbol(dim->kind);
  return symbol == nullptr ? "?" : operand(binary->a) + symbol + operand(binary->b);
}

std::string Describe(const Array<PrimExpr>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + Describe(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string Describe(const Type& type) {
  if (!type.defined()) return "of unknown type";
  const auto rank = [](int64_t ndim) {
    return ndim == kUnknownNDim ? std::string("ndim=?") : "ndim=" + std::to_string(ndim);
  };
  switch (type->kind) {
    case TypeKind::kAny:
      return "Any";
    case TypeKind::kPrim:
      return "Prim(\"" + type.as<PrimTypeNode>()->dtype.ToString() + "\")";
    case TypeKind::kShape: {
      const auto* shape = type.as<ShapeTypeNode>();
      return "Shape(" + (shape->values.has_value() ? Describe(*shape->values) : rank(shape->ndim)) + ")";
    }
    case TypeKind::kTensor: {
      const auto* tensor = type.as<TensorTypeNode>();
      const std::string dtype = tensor->dtype.is_void() ? "?" : tensor->dtype.ToString();
      return "Tensor(" + (tensor->has_shape() ? Describe(*tensor->shape) : rank(tensor->ndim)) + ", \"" + dtype + "\")";
    }
    case TypeKind::kTuple: {
      std::string text = "Tuple(";
      const auto& fields = type.as<TupleTypeNode>()->fields;
      for (size_t i = 0; i < fields.size(); ++i) text += (i == 0 ? "" : ", ") + Describe(fields[i]);
      return text + ")";
    }
    case TypeKind::kFunc:
      return "Callable";
  }
  DEUTERON_UNREACHABLE();
}

bool IsBaseOf(const Type& base, const Type& derived, arith::Analyzer* analyzer) {
  return Subsumes(base, derived, analyzer) == Verdict::kYes;
}

bool MayBe(const Type& base, const Type& derived, arith::Analyzer* analyzer) {
  return Subsumes(base, derived, analyzer) != Verdict::kNo;
}

bool TypesEqual(const Type& a, const Type& b, arith::Analyzer* analyzer) {
  return TypesIdentical(a, b) || (IsBaseOf(a, b, analyzer) && IsBaseOf(b, a, analyzer));
}

bool TypesIdentical(const Type& a, const Type& b) {
  if (a.same_as(b)) return true;
  if (!a.defined() || !b.defined() || a->kind != b->kind) return false;
  switch (a->kind) {
    case TypeKind::kAny:
      return true;
    case TypeKind::kPrim:
      return a.as<PrimTypeNode>()->dtype == b.as<PrimTypeNode>()->dtype;
    case TypeKind::kShape: {
      const auto* x = a.as<ShapeTypeNode>();
      const auto* y = b.as<ShapeTypeNode>();
      return x->ndim == y->ndim && OptionalDimsIdentical(x->values, y->values);
    }
    case TypeKind::kTensor: {
      const auto* x = a.as<TensorTypeNode>();
      const auto* y = b.as<TensorTypeNode>();
      return x->ndim == y->ndim && x->dtype == y->dtype && OptionalDimsIdentical(x->shape, y->shape) &&
             SameVDevice(x->vdevice, y->vdevice);
    }
    case TypeKind::kTuple: {
      const auto& x = a.as<TupleTypeNode>()->fields;
      const auto& y = b.as<TupleTypeNode>()->fields;
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), TypesIdentical);
    }
    case TypeKind::kFunc:
      return StructurallyEqual(a, b);
  }
  DEUTERON_UNREACHABLE();
}

size_t TypeHash(const Type& type) {
  if (!type.defined()) return 0;
  size_t hash = Mix(17, static_cast<size_t>(type->kind));
  const auto mix_dtype = [&](DataType dtype) {
    hash = Mix(hash, static_cast<size_t>(dtype.code() * 65536 + dtype.bits() * 256 + dtype.lanes()));
  };
  switch (type->kind) {
    case TypeKind::kAny:
    case TypeKind::kFunc:
      break;
    case TypeKind::kPrim:
      mix_dtype(type.as<PrimTypeNode>()->dtype);
      break;
    case TypeKind::kShape:
      hash = Mix(hash, static_cast<size_t>(type.as<ShapeTypeNode>()->ndim));
      hash = HashDims(hash, type.as<ShapeTypeNode>()->values);
      break;
    case TypeKind::kTensor:
      mix_dtype(type.as<TensorTypeNode>()->dtype);
      hash = Mix(hash, static_cast<size_t>(type.as<TensorTypeNode>()->ndim));
      hash = HashDims(hash, type.as<TensorTypeNode>()->shape);
      break;
    case TypeKind::kTuple:
      for (const Type& field : type.as<TupleTypeNode>()->fields) hash = Mix(hash, TypeHash(field));
      break;
  }
  return hash;
}

Type UnifyTypes(const Type& a, const Type& b, arith::Analyzer* analyzer) {
  if (TypesEqual(a, b, analyzer)) return a;
  if (a->kind != b->kind) return AnyType::Get();
  switch (a->kind) {
    case TypeKind::kAny:
    case TypeKind::kPrim:
    case TypeKind::kFunc:
      return AnyType::Get();
    case TypeKind::kShape: {
      const auto* x = a.as<ShapeTypeNode>();
      const auto* y = b.as<ShapeTypeNode>();
      return ShapeType::WithNDim(x->ndim == y->ndim ? x->ndim : kUnknownNDim);
    }
    case TypeKind::kTensor: {
      const auto* x = a.as<TensorTypeNode>();
      const auto* y = b.as<TensorTypeNode>();
      const DataType dtype = x->dtype == y->dtype ? x->dtype : DataType::Void();
      const VDevice device = SameVDevice(x->vdevice, y->vdevice) ? x->vdevice : VDevice();
      if (x->has_shape() && y->has_shape() && CompareDims(*x->shape, *y->shape, analyzer) == Verdict::kYes) {
        return TensorType(*x->shape, dtype, device);
      }
      return TensorType::WithNDim(x->ndim == y->ndim ? x->ndim : kUnknownNDim, dtype, device);
    }
    case TypeKind::kTuple: {
      const auto& x = a.as<TupleTypeNode>()->fields;
      const auto& y = b.as<TupleTypeNode>()->fields;
      if (x.size() != y.size()) return AnyType::Get();
      Array<Type> fields;
      for (size_t i = 0; i < x.size(); ++i) fields.push_back(UnifyTypes(x[i], y[i], analyzer));
      return TupleType(std::move(fields));
    }
  }
  DEUTERON_UNREACHABLE();
}

Type EraseToWellDefined(const Type& type, const std::function<bool(const tir::Var&)>& defined) {
  return RewriteShapes(type, [&](const Dims& dims) -> std::optional<Dims> {
    for (const PrimExpr& dim : dims) {
      if (AsConstInt(dim)) continue;
      for (const tir::Var& var : FreeVars(dim)) {
        if (!defined(var)) return std::nullopt;
      }
    }
    return dims;
  });
}

Type SubstituteType(const Type& type, const ExprVarMap& values) {
  if (values.empty()) return type;
  return RewriteShapes(type, [&](const Dims& dims) -> std::optional<Dims> { return Substitute(dims, values); });
}

std::vector<tir::Var> SymbolicVars(const Type& type) {
  std::vector<tir::Var> vars;
  if (IsStatic(type)) return vars;
  std::unordered_set<const Object*> seen;
  VisitShapes(type, [&](const Dims& dims) {
    for (const PrimExpr& dim : dims) {
      if (AsConstInt(dim)) continue;
      for (const tir::Var& var : FreeVars(dim)) {
        if (seen.insert(var.get()).second) vars.push_back(var);
      }
    }
  });
  return vars;
}

std::vector<tir::Var> DefinedSymbolicVars(const Type& type) {
  std::vector<tir::Var> vars;
  if (IsStatic(type)) return vars;
  std::unordered_set<const Object*> seen;
  VisitShapes(type, [&](const Dims& dims) {
    for (const PrimExpr& dim : dims) {
      if (dim->kind == ExprKind::kVar && seen.insert(dim.get()).second) vars.push_back(Downcast<tir::Var>(dim));
    }
  });
  return vars;
}

}  // namespace deuteron::relax
