/// \file
/// Scalar and vector expressions. The semantics are those of ir/prim_expr.h.
#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/support/element.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::codegen {

const PrimExpr& ScalarOf(const PrimExpr& expr) {
  const auto* splat = expr.as<tir::BroadcastNode>();
  return splat == nullptr ? expr : splat->value;
}

bool IsSpeculatable(const PrimExpr& expr) {
  bool safe = true;
  PostOrderVisit(expr, [&safe](const PrimExpr& node) {
    switch (node->kind) {
      case ExprKind::kBufferLoad:
        safe = false;
        break;
      case ExprKind::kDiv:
      case ExprKind::kMod:
      case ExprKind::kFloorDiv:
      case ExprKind::kFloorMod: {
        const auto* op = static_cast<const tir::BinaryNode*>(node.get());
        const std::optional<int64_t> divisor = AsConstInt(ScalarOf(op->b));
        if (!node.dtype().is_float() && divisor.value_or(0) == 0) safe = false;
        break;
      }
      case ExprKind::kCall: {
        const auto* info = tir::FindIntrinsicInfo(static_cast<const tir::CallNode*>(node.get())->op);
        if (info == nullptr || !info->speculatable) safe = false;
        break;
      }
      default:
        break;
    }
  });
  return safe;
}

llvm::Value* KernelEmitter::EmitConst(DataType type, const PrimExprNode* expr) {
  if (const auto* imm = expr->kind == ExprKind::kFloatImm ? static_cast<const tir::FloatImmNode*>(expr) : nullptr) {
    if (type.code() == kDLFloat) return llvm::ConstantFP::get(ScalarType(type), imm->value);
    return llvm::ConstantInt::get(ScalarType(type), FindFloatFormat(type)->Encode(imm->value));
  }
  const auto* imm = static_cast<const tir::IntImmNode*>(expr);
  if (type.is_handle()) return llvm::ConstantPointerNull::get(builder_.getPtrTy());
  return llvm::ConstantInt::get(ScalarType(type), static_cast<uint64_t>(imm->value), true);
}

llvm::Value* KernelEmitter::EmitExpr(const PrimExpr& expr) {
  switch (expr->kind) {
    case ExprKind::kVar: {
      const auto it = values_.find(static_cast<const tir::VarNode*>(expr.get()));
      DEUTERON_CHECK(it != values_.end())
          << "kernel " << symbol_ << ": variable " << static_cast<const tir::VarNode*>(expr.get())->name_hint
          << " is used outside of its scope";
      return it->second;
    }
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
      return EmitConst(expr.dtype(), expr.get());
    case ExprKind::kStringImm:
      return builder_.CreateGlobalString(std::string(static_cast<const tir::StringImmNode*>(expr.get())->value));
    case ExprKind::kCast:
      return EmitCast(static_cast<const tir::CastNode*>(expr.get()));
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kEQ:
    case ExprKind::kNE:
    case ExprKind::kLT:
    case ExprKind::kLE:
    case ExprKind::kGT:
    case ExprKind::kGE:
      return EmitBinary(static_cast<const tir::BinaryNode*>(expr.get()));
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return EmitLogical(static_cast<const tir::BinaryNode*>(expr.get()));
    case ExprKind::kNot:
      return builder_.CreateNot(EmitExpr(static_cast<const tir::NotNode*>(expr.get())->a));
    case ExprKind::kSelect: {
      const auto* op = static_cast<const tir::SelectNode*>(expr.get());
      llvm::Value* condition = EmitExpr(op->condition);
      // In a copy of an unrolled loop it may be known: what is not chosen is not computed.
      if (const auto* known = llvm::dyn_cast<llvm::Constant>(condition)) {
        if (known->isAllOnesValue()) return Splat(EmitExpr(op->true_value), op->dtype.lanes());
        if (known->isNullValue()) return Splat(EmitExpr(op->false_value), op->dtype.lanes());
      }
      llvm::Value* then_value = Splat(EmitExpr(op->true_value), op->dtype.lanes());
      llvm::Value* else_value = Splat(EmitExpr(op->false_value), op->dtype.lanes());
      return builder_.CreateSelect(condition, then_value, else_value);
    }
    case ExprKind::kLet: {
      const auto* op = static_cast<const tir::LetNode*>(expr.get());
      const bool index_math = index_math_;
      index_math_ = false;
      BindVar(op->var, op->value, EmitExpr(op->value));
      index_math_ = index_math;
      return EmitExpr(op->body);
    }
    case ExprKind::kRamp: {
      const auto* op = static_cast<const tir::RampNode*>(expr.get());
      const auto lanes = static_cast<unsigned>(op->lanes);
      llvm::Value* base = builder_.CreateVectorSplat(lanes, EmitExpr(op->base));
      llvm::Value* stride = builder_.CreateVectorSplat(lanes, EmitExpr(op->stride));
      std::vector<llvm::Constant*> steps;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        steps.push_back(llvm::ConstantInt::get(base->getType()->getScalarType(), lane));
      }
      llvm::Value* offset = builder_.CreateMul(stride, llvm::ConstantVector::get(steps), "", false, index_math_);
      return builder_.CreateAdd(base, offset, "", false, index_math_);
    }
    case ExprKind::kBroadcast: {
      const auto* op = static_cast<const tir::BroadcastNode*>(expr.get());
      return Splat(EmitExpr(op->value), op->lanes);
    }
    case ExprKind::kShuffle:
      return EmitShuffle(static_cast<const tir::ShuffleNode*>(expr.get()));
    case ExprKind::kCall:
      return EmitCall(static_cast<const tir::CallNode*>(expr.get()));
    case ExprKind::kBufferLoad: {
      const bool index_math = index_math_;
      llvm::Value* value = EmitLoad(static_cast<const tir::BufferLoadNode*>(expr.get()));
      index_math_ = index_math;
      return value;
    }
    case ExprKind::kProducerLoad:
    case ExprKind::kReduce:
      break;
  }
  TVM_FFI_THROW(InternalError) << "kernel " << symbol_ << ": a tensor expression was not lowered";
}

llvm::Value* KernelEmitter::EmitBinary(const tir::BinaryNode* op) {
  if (index_math_ && IsIndexSum(op)) return EmitWhole(IndexSumOf(op));
  const DataType operand = op->a.dtype().element();
  const auto lanes = std::max(op->a.dtype().lanes(), op->b.dtype().lanes());
  if (llvm::Value* sum = EmitMultiplyAdd(op)) return sum;
  llvm::Value* a = Splat(EmitExpr(op->a), lanes);
  if (const auto* dot = op->b.as<tir::CallNode>(); op->kind == ExprKind::kAdd && dot != nullptr) {
    if (tir::ProductsOfDot(dot->op) != 0) return EmitDot(a, dot, lanes);
  }
  llvm::Value* b = Splat(EmitExpr(op->b), lanes);
  if (IsComparison(op->kind)) return EmitCompare(op->kind, operand, a, b);
  if (operand.is_float()) {
    return Narrow(operand, EmitFloat(op->kind, Widen(operand, a), Widen(operand, b)));
  }
  return EmitInteger(op->kind, operand, a, b, index_math_ && !IsData(op->b));
}

bool KernelEmitter::IsData(const PrimExpr& expr) const {
  bool is_data = false;
  PostOrderVisit(expr, [&](const PrimExpr& node) {
    if (node->kind == ExprKind::kBufferLoad || node->kind == ExprKind::kCall) is_data = true;
    if (const auto* var = node.as<tir::VarNode>(); var != nullptr && data_vars_.count(var) != 0) is_data = true;
  });
  return is_data;
}

void KernelEmitter::BindVar(const tir::Var& var, const PrimExpr& expr, llvm::Value* value) {
  values_[var.get()] = value;
  if (var.dtype().is_int() || var.dtype().is_uint()) {
    if (IsData(expr)) data_vars_.insert(var.get());
  }
}

llvm::Value* KernelEmitter::EmitInteger(ExprKind kind, DataType type, llvm::Value* a, llvm::Value* b,
                                        bool b_is_extent) {
  const bool is_signed = type.is_int();
  const bool no_wrap = index_math_ && is_signed && type.bits() >= 32;
  switch (kind) {
    case ExprKind::kAdd:
      return type.is_bool() ? builder_.CreateOr(a, b) : builder_.CreateAdd(a, b, "", false, no_wrap);
    case ExprKind::kSub:
      return type.is_bool() ? builder_.CreateXor(a, b) : builder_.CreateSub(a, b, "", false, no_wrap);
    case ExprKind::kMul:
      return type.is_bool() ? builder_.CreateAnd(a, b) : builder_.CreateMul(a, b, "", false, no_wrap);
    case ExprKind::kDiv:
    case ExprKind::kMod:
    case ExprKind::kFloorDiv:
    case ExprKind::kFloorMod:
      return EmitDivision(kind, is_signed, a, b, b_is_extent);
    case ExprKind::kMin:
    case ExprKind::kMax: {
      const bool max = kind == ExprKind::kMax;
      if (type.is_bool()) return max ? builder_.CreateOr(a, b) : builder_.CreateAnd(a, b);
      const auto id = is_signed ? (max ? llvm::Intrinsic::smax : llvm::Intrinsic::smin)
                                : (max ? llvm::Intrinsic::umax : llvm::Intrinsic::umin);
      return builder_.CreateBinaryIntrinsic(id, a, b);
    }
    default:
      DEUTERON_UNREACHABLE();
  }
}

/// What may be divided by: 1 for a lane that is off, for 0, which fails the kernel, and for -1, by which the least
/// integer has no quotient (the machine traps): the caller negates then.
llvm::Value* KernelEmitter::SafeDivisor(bool is_signed, llvm::Value* divisor) {
  llvm::Type* type = divisor->getType();
  llvm::Value* one = llvm::ConstantInt::get(type, 1);
  llvm::Value* zero = builder_.CreateICmpEQ(divisor, llvm::Constant::getNullValue(type));
  llvm::Value* replaced =
      is_signed ? builder_.CreateOr(zero, builder_.CreateICmpEQ(divisor, builder_.CreateNeg(one))) : zero;
  if (mask_ != nullptr && type->isVectorTy()) {
    zero = builder_.CreateAnd(zero, mask_);
    replaced = builder_.CreateOr(replaced, builder_.CreateNot(mask_));
  }
  if (type->isVectorTy()) zero = builder_.CreateOrReduce(zero);
  if (frame_->zero_divided == nullptr) {
    llvm::IRBuilder<> entry(frame_->alloca_point);
    frame_->zero_divided = entry.CreateAlloca(entry.getInt1Ty(), nullptr, "zero_divided");
    entry.CreateStore(entry.getFalse(), frame_->zero_divided);
  }
  llvm::Value* before = builder_.CreateLoad(builder_.getInt1Ty(), frame_->zero_divided);
  builder_.CreateStore(builder_.CreateOr(before, zero), frame_->zero_divided);
  return builder_.CreateSelect(replaced, one, divisor);
}

llvm::Value* KernelEmitter::EmitDivision(ExprKind kind, bool is_signed, llvm::Value* a, llvm::Value* b,
                                         bool b_is_extent) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(b);
  if (constant != nullptr && constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  const bool is_plain = b_is_extent || (number != nullptr && !number->isZero() && !number->isMinusOne());
  llvm::Value* divisor = b;
  if (!is_plain) {
    divisor = SafeDivisor(is_signed, b);
  } else if (mask_ != nullptr && number == nullptr && b->getType()->isVectorTy()) {
    divisor = builder_.CreateSelect(mask_, b, llvm::ConstantInt::get(b->getType(), 1));
  }
  const bool is_quotient = kind == ExprKind::kDiv || kind == ExprKind::kFloorDiv;
  if (!is_signed) return is_quotient ? builder_.CreateUDiv(a, divisor) : builder_.CreateURem(a, divisor);
  llvm::Value* zero = llvm::Constant::getNullValue(a->getType());
  // By -1, for which the divisor is 1, the quotient is that by 1 negated, and nothing is left.
  const auto negated = [&](llvm::Value* quotient) {
    if (is_plain) return quotient;
    llvm::Value* minus = builder_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(b->getType()));
    return builder_.CreateSelect(minus, builder_.CreateNeg(a), quotient);
  };
  switch (kind) {
    case ExprKind::kDiv:
      return negated(builder_.CreateSDiv(a, divisor));
    case ExprKind::kMod:
      return builder_.CreateSRem(a, divisor);
    case ExprKind::kFloorDiv: {
      llvm::Value* quotient = builder_.CreateSDiv(a, divisor);
      llvm::Value* rest = builder_.CreateSub(a, builder_.CreateMul(quotient, divisor));
      llvm::Value* signs = builder_.CreateICmpSLT(builder_.CreateXor(rest, b), zero);
      llvm::Value* down = builder_.CreateAnd(builder_.CreateICmpNE(rest, zero), signs);
      return negated(builder_.CreateSub(quotient, builder_.CreateZExt(down, quotient->getType())));
    }
    default: {
      llvm::Value* rest = builder_.CreateSRem(a, divisor);
      llvm::Value* signs = builder_.CreateICmpSLT(builder_.CreateXor(rest, b), zero);
      llvm::Value* wrong = builder_.CreateAnd(builder_.CreateICmpNE(rest, zero), signs);
      return builder_.CreateAdd(rest, builder_.CreateSelect(wrong, b, zero));
    }
  }
}

llvm::Value* KernelEmitter::EmitCompare(ExprKind kind, DataType operand, llvm::Value* a, llvm::Value* b) {
  using Predicate = llvm::CmpInst::Predicate;
  Predicate predicate = Predicate::BAD_ICMP_PREDICATE;
  const bool is_float = operand.is_float();
  const bool is_signed = operand.is_int();
  switch (kind) {
    case ExprKind::kEQ:
      predicate = is_float ? Predicate::FCMP_OEQ : Predicate::ICMP_EQ;
      break;
    case ExprKind::kNE:
      predicate = is_float ? Predicate::FCMP_UNE : Predicate::ICMP_NE;
      break;
    case ExprKind::kLT:
      predicate = is_float ? Predicate::FCMP_OLT : is_signed ? Predicate::ICMP_SLT : Predicate::ICMP_ULT;
      break;
    case ExprKind::kLE:
      predicate = is_float ? Predicate::FCMP_OLE : is_signed ? Predicate::ICMP_SLE : Predicate::ICMP_ULE;
      break;
    case ExprKind::kGT:
      predicate = is_float ? Predicate::FCMP_OGT : is_signed ? Predicate::ICMP_SGT : Predicate::ICMP_UGT;
      break;
    case ExprKind::kGE:
      predicate = is_float ? Predicate::FCMP_OGE : is_signed ? Predicate::ICMP_SGE : Predicate::ICMP_UGE;
      break;
    default:
      DEUTERON_UNREACHABLE();
  }
  if (is_float) return builder_.CreateFCmp(predicate, Widen(operand, a), Widen(operand, b));
  return builder_.CreateICmp(predicate, a, b);
}

llvm::Value* KernelEmitter::EmitLogical(const tir::BinaryNode* op) {
  const bool is_and = op->kind == ExprKind::kAnd;
  const auto lanes = std::max(op->a.dtype().lanes(), op->b.dtype().lanes());
  if (IsSpeculatable(op->b)) {
    llvm::Value* a = Splat(EmitExpr(op->a), lanes);
    llvm::Value* b = Splat(EmitExpr(op->b), lanes);
    return is_and ? builder_.CreateAnd(a, b) : builder_.CreateOr(a, b);
  }
  // a && b = if_then_else(a, b, false); a || b = if_then_else(a, true, b).
  const PrimExpr constant = MakeConst(DataType::Bool(lanes), is_and ? 0 : 1);
  return EmitConditional(DataType::Bool(lanes), op->a, is_and ? op->b : constant, is_and ? constant : op->b);
}

llvm::Value* KernelEmitter::EmitMasked(const PrimExpr& expr, llvm::Value* condition) {
  llvm::Value* saved = mask_;
  mask_ = saved == nullptr ? condition : builder_.CreateAnd(saved, condition);
  llvm::Value* value = EmitExpr(expr);
  mask_ = saved;
  return value;
}

llvm::Value* KernelEmitter::EmitVectorConditional(llvm::Value* condition, const PrimExpr& then_value,
                                                  const PrimExpr& else_value) {
  const auto lanes = llvm::cast<llvm::FixedVectorType>(condition->getType())->getNumElements();
  // A load of one element for all lanes faults where no lane is on: skip the branch then.
  const auto emit = [&](const PrimExpr& expr, llvm::Value* lanes_on) {
    bool uniform_load = false;
    PostOrderVisit(expr, [&](const PrimExpr& node) {
      const auto* load = node.as<tir::BufferLoadNode>();
      if (load != nullptr && (load->dtype.lanes() == 1 ||
                              (!load->indices.empty() && load->indices.back()->kind == ExprKind::kBroadcast))) {
        uniform_load = true;
      }
    });
    if (!uniform_load) return Splat(EmitMasked(expr, lanes_on), lanes);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* some = llvm::BasicBlock::Create(llvm_, "lanes_on", frame_->function);
    auto* done = llvm::BasicBlock::Create(llvm_, "lanes_done", frame_->function);
    llvm::Value* effective = mask_ == nullptr ? lanes_on : builder_.CreateAnd(mask_, lanes_on);
    builder_.CreateCondBr(builder_.CreateOrReduce(effective), some, done);
    builder_.SetInsertPoint(some);
    llvm::Value* value = Splat(EmitMasked(expr, lanes_on), lanes);
    llvm::BasicBlock* after = builder_.GetInsertBlock();
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    llvm::PHINode* phi = builder_.CreatePHI(value->getType(), 2);
    phi->addIncoming(llvm::Constant::getNullValue(value->getType()), before);
    phi->addIncoming(value, after);
    return static_cast<llvm::Value*>(phi);
  };
  llvm::Value* a = emit(then_value, condition);
  if (tir::IsUndef(else_value)) return a;
  llvm::Value* b = emit(else_value, builder_.CreateNot(condition));
  return builder_.CreateSelect(condition, a, b);
}

llvm::Value* KernelEmitter::EmitConditional(DataType type, const PrimExpr& condition, const PrimExpr& then_value,
                                            const PrimExpr& else_value) {
  llvm::Value* test = EmitExpr(condition);
  if (test->getType()->isVectorTy()) return EmitVectorConditional(test, then_value, else_value);
  const int lanes = type.lanes();
  const auto cheap = [](const PrimExpr& expr) {
    int nodes = 0;
    PostOrderVisit(expr, [&nodes](const PrimExpr&) { ++nodes; });
    return nodes <= 8 && IsSpeculatable(expr);
  };
  if (cheap(then_value) && cheap(else_value)) {
    llvm::Value* a = Splat(EmitExpr(then_value), lanes);
    llvm::Value* b = Splat(EmitExpr(else_value), lanes);
    return builder_.CreateSelect(test, a, b);
  }
  if (is_sum_ && IsVectorLoad(then_value) && StructuralEqual()(else_value, MakeConst(type, 0))) {
    return EmitLoadOrZeros(then_value.as<tir::BufferLoadNode>(), test);
  }
  auto* then_block = llvm::BasicBlock::Create(llvm_, "then", frame_->function);
  auto* else_block = llvm::BasicBlock::Create(llvm_, "else", frame_->function);
  auto* join = llvm::BasicBlock::Create(llvm_, "join", frame_->function);
  builder_.CreateCondBr(test, then_block, else_block);
  builder_.SetInsertPoint(then_block);
  llvm::Value* a = Splat(EmitExpr(then_value), lanes);
  then_block = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(else_block);
  llvm::Value* b = Splat(EmitExpr(else_value), lanes);
  else_block = builder_.GetInsertBlock();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  llvm::PHINode* phi = builder_.CreatePHI(a->getType(), 2);
  phi->addIncoming(a, then_block);
  phi->addIncoming(b, else_block);
  return phi;
}

llvm::Value* KernelEmitter::EmitShuffle(const tir::ShuffleNode* op) {
  std::vector<llvm::Value*> elements;
  for (const PrimExpr& vector : op->vectors) {
    llvm::Value* value = EmitExpr(vector);
    if (vector.dtype().lanes() == 1) {
      elements.push_back(value);
      continue;
    }
    for (int lane = 0; lane < vector.dtype().lanes(); ++lane) {
      elements.push_back(builder_.CreateExtractElement(value, static_cast<uint64_t>(lane)));
    }
  }
  if (op->indices.size() == 1) return elements.at(static_cast<size_t>(AsConstInt(op->indices[0]).value()));
  llvm::Value* result = llvm::PoisonValue::get(RegisterType(op->dtype));
  uint64_t lane = 0;
  for (const PrimExpr& index : op->indices) {
    result = builder_.CreateInsertElement(result, elements.at(static_cast<size_t>(AsConstInt(index).value())), lane++);
  }
  return result;
}

}  // namespace deuteron::codegen
