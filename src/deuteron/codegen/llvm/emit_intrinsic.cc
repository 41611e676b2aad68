/// \file
/// Calls of intrinsics (tir/intrinsics.h) and of C functions.
#include <cmath>

#include "deuteron/codegen/llvm/emitter.h"
#include "deuteron/codegen/llvm/vector_dot.h"
#include "deuteron/codegen/llvm/vector_math.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/tir/analysis/factors.h"
#include "deuteron/tir/intrinsics.h"

namespace deuteron::codegen {

llvm::Value* KernelEmitter::CallLibm(const std::string& name, const std::vector<llvm::Value*>& args) {
  llvm::Type* element = args[0]->getType()->getScalarType();
  const std::string symbol = element->isDoubleTy() ? name : name + "f";
  const std::vector<llvm::Type*> parameters(args.size(), element);
  llvm::FunctionCallee callee =
      module_->getOrInsertFunction(symbol, llvm::FunctionType::get(element, parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->addFnAttr(llvm::Attribute::WillReturn);
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(args[0]->getType());
  if (vector == nullptr) return builder_.CreateCall(callee, args);
  llvm::Value* result = llvm::PoisonValue::get(args[0]->getType());
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    std::vector<llvm::Value*> scalars;
    for (llvm::Value* arg : args) scalars.push_back(builder_.CreateExtractElement(arg, lane));
    result = builder_.CreateInsertElement(result, builder_.CreateCall(callee, scalars), lane);
  }
  return result;
}

llvm::Value* KernelEmitter::EmitFloatIntrinsic(const std::string& name, DataType type, std::vector<llvm::Value*> args) {
  using llvm::Intrinsic::ID;
  llvm::Value* x = args[0];
  if (name == "sqrt") return Unary(llvm::Intrinsic::sqrt, x);
  if (name == "floor") return Unary(llvm::Intrinsic::floor, x);
  if (name == "ceil") return Unary(llvm::Intrinsic::ceil, x);
  if (name == "trunc") return Unary(llvm::Intrinsic::trunc, x);
  if (name == "round" || name == "nearbyint") return Unary(llvm::Intrinsic::roundeven, x);
  if (name == "abs" || name == "fabs") return Unary(llvm::Intrinsic::fabs, x);
  if (name == "copysign") return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, args[1]);
  if (name == "fma") return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, args);
  if (name == "fmod") return EmitRemainder(x, args[1]);
  VectorMath math(&builder_, target_);
  const VectorMath::Unary function = math.Find(name, x);
  if (function == nullptr) return CallLibm(name, args);
  if (name != "sin" && name != "cos" && name != "tan") return function(x);
  llvm::Value* limit = llvm::ConstantFP::get(x->getType(), math.TurnLimit(x));
  llvm::Value* is_near = builder_.CreateFCmpULT(Unary(llvm::Intrinsic::fabs, x), limit);
  return EmitUnlessFar(is_near, function(x), name, {x});
}

/// What a fast way does not reach goes to libm, one by one, in a branch rarely taken.
llvm::Value* KernelEmitter::EmitUnlessFar(llvm::Value* is_near, llvm::Value* fast, const std::string& name,
                                          const std::vector<llvm::Value*>& args) {
  if (is_near->getType()->isVectorTy()) is_near = builder_.CreateAndReduce(is_near);
  return EmitUnlessFar(is_near, fast, [&] { return CallLibm(name, args); });
}

llvm::Value* KernelEmitter::EmitUnlessFar(llvm::Value* is_near, llvm::Value* fast,
                                          const std::function<llvm::Value*()>& emit_slow) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  auto* slow = llvm::BasicBlock::Create(llvm_, "far", frame_->function);
  auto* join = llvm::BasicBlock::Create(llvm_, "near", frame_->function);
  builder_.CreateCondBr(is_near, join, slow, llvm::MDBuilder(llvm_).createBranchWeights(1000, 1));
  builder_.SetInsertPoint(slow);
  llvm::Value* exact = emit_slow();
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
  llvm::PHINode* phi = builder_.CreatePHI(fast->getType(), 2);
  phi->addIncoming(fast, before);
  phi->addIncoming(exact, slow);
  return phi;
}

llvm::Value* KernelEmitter::EmitRemainder(llvm::Value* x, llvm::Value* y) {
  VectorMath math(&builder_, target_);
  if (!math.fused()) return CallLibm("fmod", {x, y});
  InverseMath remainder = math.Inverse(x);
  return EmitUnlessFar(remainder.HasRemainder(x, y), remainder.Remainder(x, y), "fmod", {x, y});
}

/// x^n by square roots, at most 2.25 units in the last place off; null for other n than ±1/4, ±1/2, ±3/4 (local
/// response norms) and 3/2 (x^(3/2) overflows before its reciprocal is 0). Of -0 the result is that of 0, of -infinity
/// that of infinity, unlike sqrt's.
llvm::Value* KernelEmitter::PowerByRoots(llvm::Value* x, double n) {
  const double magnitude = std::fabs(n);
  if (magnitude != 0.25 && magnitude != 0.5 && magnitude != 0.75 && n != 1.5) return nullptr;
  llvm::Value* is_infinite = builder_.CreateFCmpOEQ(x, llvm::ConstantFP::getInfinity(x->getType(), true));
  llvm::Value* base = builder_.CreateSelect(is_infinite, llvm::ConstantFP::getInfinity(x->getType()),
                                            builder_.CreateFAdd(x, llvm::ConstantFP::get(x->getType(), 0.0)));
  llvm::Value* root = Unary(llvm::Intrinsic::sqrt, base);
  if (n == 1.5) return builder_.CreateFMul(base, root);
  llvm::Value* power = root;
  if (magnitude != 0.5) {
    llvm::Value* fourth = Unary(llvm::Intrinsic::sqrt, root);
    power = magnitude == 0.25 ? fourth : builder_.CreateFMul(root, fourth);
  }
  return n > 0 ? power : builder_.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0), power);
}

/// Exponents that networks use become multiplications and roots.
llvm::Value* KernelEmitter::EmitPow(const tir::CallNode* op) {
  const DataType type = op->dtype.element();
  llvm::Value* x = Widen(type, Splat(EmitExpr(op->args[0]), op->dtype.lanes()));
  const auto* exponent = ScalarOf(op->args[1]).as<tir::FloatImmNode>();
  const auto result = [&]() -> llvm::Value* {
    if (exponent != nullptr) {
      const double n = exponent->value;
      llvm::Value* one = llvm::ConstantFP::get(x->getType(), 1.0);
      llvm::Value* square = builder_.CreateFMul(x, x);
      if (n == 1.0) return x;
      if (n == 2.0) return square;
      if (n == 3.0) return builder_.CreateFMul(square, x);
      if (n == 4.0) return builder_.CreateFMul(square, square);
      if (n == -1.0) return builder_.CreateFDiv(one, x);
      if (n == -2.0) return builder_.CreateFDiv(one, square);
      if (llvm::Value* power = PowerByRoots(x, n)) return power;
    }
    llvm::Value* y = Widen(type, Splat(EmitExpr(op->args[1]), op->dtype.lanes()));
    VectorMath math(&builder_, target_);
    if (math.HasPow(x)) return math.Pow(x, y);
    return CallLibm("pow", {x, y});
  }();
  return Narrow(type, result);
}

llvm::Value* KernelEmitter::EmitExternCall(const tir::CallNode* op) {
  const auto* name = op->args[0].as<tir::StringImmNode>();
  DEUTERON_CHECK(name != nullptr) << "the first argument of a call of a C function must be its name";
  std::vector<llvm::Value*> args;
  std::vector<llvm::Type*> types;
  for (size_t i = 1; i < op->args.size(); ++i) {
    args.push_back(EmitExpr(op->args[i]));
    types.push_back(args.back()->getType());
  }
  llvm::Type* result = op->dtype.is_void() ? builder_.getVoidTy() : RegisterType(op->dtype);
  return builder_.CreateCall(
      module_->getOrInsertFunction(std::string(name->value), llvm::FunctionType::get(result, types, false)), args);
}

llvm::Value* KernelEmitter::EmitDot(llvm::Value* sum, const tir::CallNode* dot, int64_t lanes) {
  llvm::Value* x = Splat(EmitExpr(dot->args[0]), lanes);
  llvm::Value* y = Splat(EmitExpr(dot->args[1]), lanes);
  const std::string_view name(dot->op->name.data(), dot->op->name.size());
  return VectorDot(&builder_, target_).Emit(name.substr(4), sum, x, y);
}

llvm::Value* KernelEmitter::EmitPairs(std::string_view name, llvm::Value* x, llvm::Value* y) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  const unsigned lanes = vector == nullptr ? 1 : vector->getNumElements();
  auto* const halves = llvm::FixedVectorType::get(builder_.getInt16Ty(), 2 * lanes);
  llvm::Value *a = builder_.CreateBitCast(x, halves), *b = builder_.CreateBitCast(y, halves);
  llvm::Value* result = name == "add_i16x2" ? builder_.CreateAdd(a, b) : builder_.CreateSub(a, b);
  return builder_.CreateBitCast(result, x->getType());
}

llvm::Value* KernelEmitter::EmitCall(const tir::CallNode* op) {
  const tir::Intrinsic* info = tir::FindIntrinsicInfo(op->op);
  if (info == nullptr) {
    DEUTERON_THROW(UnsupportedError) << "kernel " << symbol_ << ": there is no intrinsic " << op->op->name;
  }
  DEUTERON_CHECK(info->arity < 0 || op->args.size() == static_cast<size_t>(info->arity))
      << op->op->name << " takes " << info->arity << " arguments, got " << op->args.size();
  const std::string name(info->name.substr(4));
  const DataType type = op->dtype.element();
  const int lanes = op->dtype.lanes();
  if (name == "if_then_else") return EmitConditional(op->dtype, op->args[0], op->args[1], op->args[2]);
  if (name == "likely") return EmitExpr(op->args[0]);
  if (tir::ProductsOfDot(op->op) != 0) return EmitDot(nullptr, op, lanes);
  if (name == "pow" && type.is_float()) return EmitPow(op);
  if (info->kind == tir::IntrinKind::kExternCall) return EmitExternCall(op);
  if (info->kind == tir::IntrinKind::kConstant) {
    return Splat(EmitExpr(tir::ConstantIntrinsic(op->op, type)), lanes);
  }
  if (info->kind == tir::IntrinKind::kByteTable) return EmitByteTable(op);
  const DataType operand = op->args[0].dtype().element();
  std::vector<llvm::Value*> args;
  for (const PrimExpr& arg : op->args) args.push_back(Splat(EmitExpr(arg), lanes));
  switch (info->kind) {
    case tir::IntrinKind::kFloatPair:
      return EmitFloatPair(args[0], args[1]);
    case tir::IntrinKind::kReinterpret:
      return builder_.CreateBitCast(args[0], RegisterType(op->dtype));
    case tir::IntrinKind::kPredicate: {
      if (!operand.is_float()) return llvm::ConstantInt::get(RegisterType(op->dtype), name == "isfinite" ? 1 : 0);
      llvm::Value* x = Widen(operand, args[0]);
      if (name == "isnan") return IsNaN(x);
      llvm::Value* magnitude = Unary(llvm::Intrinsic::fabs, x);
      llvm::Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
      return name == "isinf" ? builder_.CreateFCmpOEQ(magnitude, infinity)
                             : builder_.CreateFCmpOLT(magnitude, infinity);
    }
    case tir::IntrinKind::kIntegerUnary:
      return builder_.CreateNot(args[0]);
    case tir::IntrinKind::kIntegerBinary:
      if (name == "bitwise_and") return builder_.CreateAnd(args[0], args[1]);
      if (name == "bitwise_or") return builder_.CreateOr(args[0], args[1]);
      if (name == "bitwise_xor") return builder_.CreateXor(args[0], args[1]);
      if (name == "shift_left") return builder_.CreateShl(args[0], args[1]);
      if (name.ends_with("_i16x2")) return EmitPairs(name, args[0], args[1]);
      return type.is_int() ? builder_.CreateAShr(args[0], args[1]) : builder_.CreateLShr(args[0], args[1]);
    default:
      break;
  }
  if (!type.is_float()) {
    if (info->kind == tir::IntrinKind::kAnyUnary) {
      if (!type.is_int()) return args[0];
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, args[0], builder_.getFalse());
    }
    DEUTERON_THROW(UnsupportedError) << "kernel " << symbol_ << ": " << op->op->name << " of " << type.ToString()
                                     << "; cast the argument to a floating-point type first";
  }
  for (llvm::Value*& arg : args) arg = Widen(type, arg);
  return Narrow(type, EmitFloatIntrinsic(name, type, std::move(args)));
}

}  // namespace deuteron::codegen
