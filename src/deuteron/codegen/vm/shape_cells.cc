#include "deuteron/codegen/vm/shape_cells.h"

#include <cstring>

namespace deuteron::codegen {
namespace {

using runtime::ArithOp;

std::optional<ArithOp> ArithOpOf(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return ArithOp::kAdd;
    case ExprKind::kSub:
      return ArithOp::kSub;
    case ExprKind::kMul:
      return ArithOp::kMul;
    case ExprKind::kDiv:
      return ArithOp::kTruncDiv;
    case ExprKind::kMod:
      return ArithOp::kTruncMod;
    case ExprKind::kFloorDiv:
      return ArithOp::kFloorDiv;
    case ExprKind::kFloorMod:
      return ArithOp::kFloorMod;
    case ExprKind::kMin:
      return ArithOp::kMin;
    case ExprKind::kMax:
      return ArithOp::kMax;
    case ExprKind::kEQ:
      return ArithOp::kEQ;
    case ExprKind::kNE:
      return ArithOp::kNE;
    case ExprKind::kLT:
      return ArithOp::kLT;
    case ExprKind::kLE:
      return ArithOp::kLE;
    case ExprKind::kGT:
      return ArithOp::kGT;
    case ExprKind::kGE:
      return ArithOp::kGE;
    case ExprKind::kAnd:
      return ArithOp::kAnd;
    case ExprKind::kOr:
      return ArithOp::kOr;
    default:
      return std::nullopt;
  }
}

}  // namespace

void EmitInstruction(std::vector<uint32_t>* code, runtime::Opcode opcode, const std::vector<uint32_t>& operands) {
  DEUTERON_CHECK(operands.size() < (1u << 24) - 1) << "an instruction of " << operands.size() << " operands";
  code->push_back(static_cast<uint32_t>(opcode) | static_cast<uint32_t>(operands.size() + 1) << 8);
  code->insert(code->end(), operands.begin(), operands.end());
}

uint32_t ShapeCells::Constant(int64_t value) {
  const auto [it, added] = constants_.emplace(value, function_->num_cells);
  if (added) {
    function_->cell_constants.push_back({Fresh(), value});
  }
  return it->second;
}

void ShapeCells::Define(const tir::Var& var, uint32_t cell, bool at_entry) {
  const bool is_new = symbols_.insert_or_assign(var.get(), std::pair(cell, at_entry)).second;
  if (is_new && !at_entry) local_symbols_.push_back(var.get());
}

std::optional<uint32_t> ShapeCells::Lookup(const tir::Var& var) const {
  const auto it = symbols_.find(var.get());
  if (it == symbols_.end()) return std::nullopt;
  return it->second.first;
}

bool ShapeCells::CanCompute(const PrimExpr& expr) const {
  return !UsesVar(expr, [this](const tir::VarNode* var) { return symbols_.count(var) == 0; });
}

bool ShapeCells::IsKnownAtEntry(const PrimExpr& expr) const {
  return !UsesVar(expr, [this](const tir::VarNode* var) {
    const auto it = symbols_.find(var);
    return it == symbols_.end() || !it->second.second;
  });
}

uint32_t ShapeCells::Get(const PrimExpr& expr, std::vector<uint32_t>* here) {
  if (const auto value = AsConstInt(expr)) return Constant(*value);
  if (const auto* imm = expr.as<tir::FloatImmNode>()) {
    int64_t bits = 0;
    if (imm->dtype.bits() == 32) {
      const auto narrow = static_cast<float>(imm->value);
      std::memcpy(&bits, &narrow, sizeof(narrow));
    } else if (imm->dtype.bits() == 64) {
      std::memcpy(&bits, &imm->value, sizeof(bits));
    } else {
      DEUTERON_THROW(UnsupportedError) << "a scalar argument of type " << imm->dtype.ToString();
    }
    return Constant(bits);
  }
  if (const auto* var = expr.as<tir::VarNode>()) {
    const auto it = symbols_.find(var);
    if (it == symbols_.end()) {
      DEUTERON_THROW(ModelError) << "the symbolic dimension " << var->name_hint
                                 << " cannot be told from the shapes of the inputs of " << function_->name;
    }
    return it->second.first;
  }
  const size_t hash = ExprHash(expr);
  for (const Known& known : computed_[hash]) {
    if (ExprEqual(known.expr, expr)) return known.cell;
  }
  const bool local = !IsKnownAtEntry(expr);
  const uint32_t cell = Compute(expr, local ? here : prologue_);
  computed_[hash].push_back({expr, cell, local});
  if (local) local_.push_back(hash);
  return cell;
}

void ShapeCells::RequireExtent(const PrimExpr& extent, std::vector<uint32_t>* here, bool may_not_run) {
  if (!MayBeNegative(extent)) return;
  const bool at_entry = !may_not_run && IsKnownAtEntry(extent);
  const uint32_t cell = Get(extent, here);
  if (at_entry && !extents_.insert(cell).second) return;
  Emit(ArithOp::kExtent, at_entry ? prologue_ : here, cell, cell, cell);
}

void ShapeCells::Rollback(const State& mark) {
  for (; local_symbols_.size() > mark.defined; local_symbols_.pop_back()) symbols_.erase(local_symbols_.back());
  for (; local_.size() > mark.computed; local_.pop_back()) {
    std::vector<Known>& known = computed_[local_.back()];
    for (size_t i = known.size(); i-- > 0;) {
      if (!known[i].local) continue;
      known.erase(known.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  }
}

uint32_t ShapeCells::Emit(ArithOp op, std::vector<uint32_t>* code, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t cell = Fresh();
  mark_(*code);
  EmitInstruction(code, runtime::Opcode::kArith, {static_cast<uint32_t>(op), cell, a, b, c});
  return cell;
}

uint32_t ShapeCells::Compute(const PrimExpr& expr, std::vector<uint32_t>* code) {
  if (const auto op = ArithOpOf(expr->kind)) {
    const auto* binary = static_cast<const tir::BinaryNode*>(expr.get());
    if (!binary->a.dtype().is_float()) {
      const uint32_t a = Get(binary->a, code);
      const uint32_t b = Get(binary->b, code);
      return Emit(*op, code, a, b, a);
    }
  }
  if (const auto* inverse = expr.as<tir::NotNode>()) {
    const uint32_t a = Get(inverse->a, code);
    return Emit(ArithOp::kNot, code, a, a, a);
  }
  if (const auto* cast = expr.as<tir::CastNode>(); cast != nullptr && !cast->value.dtype().is_float()) {
    const uint32_t value = Get(cast->value, code);
    if (cast->dtype.is_int() && cast->dtype.bits() == 64) return value;
    if (cast->dtype.is_int() && cast->dtype.bits() == 32) return Emit(ArithOp::kWrap32, code, value, value, value);
    if (cast->dtype.is_bool()) return Emit(ArithOp::kNE, code, value, Constant(0), value);
  }
  const auto select = [&](const PrimExpr& condition, const PrimExpr& yes, const PrimExpr& no) {
    const uint32_t chosen = Get(condition, code);
    const uint32_t a = Get(yes, code);
    return Emit(ArithOp::kSelect, code, chosen, a, Get(no, code));
  };
  if (const auto* choice = expr.as<tir::SelectNode>()) {
    return select(choice->condition, choice->true_value, choice->false_value);
  }
  if (const auto* call = expr.as<tir::CallNode>(); call != nullptr && call->op->name == "tir.if_then_else") {
    return select(call->args[0], call->args[1], call->args[2]);
  }
  DEUTERON_THROW(UnsupportedError) << "a scalar expression of kind " << expr.GetTypeKey() << " in function "
                                   << function_->name << ": only integer arithmetic is evaluated in shapes";
}

}  // namespace deuteron::codegen
