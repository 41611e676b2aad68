#include "deuteron/tir/transform/kernel_numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "deuteron/ir/expr_kind.h"
#include "deuteron/ir/prim_ops.h"
#include "deuteron/support/pointer_map.h"
#include "deuteron/tir/analysis/matrix_unit.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/intrinsics.h"
#include "deuteron/tir/transform/conditions.h"

namespace deuteron::tir {
namespace {

const std::vector<DataType>& TypesOfNumbers() {
  static const std::vector<DataType> types = {DataType::Float(32), DataType::Int(64), DataType::Int(32),
                                              DataType::Int(16),   DataType::Int(8),  DataType::UInt(8)};
  return types;
}

/// Whether it is an immediate of one of these types.
bool MayBeTaken(const PrimExpr& expr) {
  if (expr->kind != ExprKind::kIntImm && expr->kind != ExprKind::kFloatImm) return false;
  const auto& types = TypesOfNumbers();
  return std::find(types.begin(), types.end(), expr.dtype()) != types.end();
}

bool IsCompared(ExprKind kind) {
  return kind == ExprKind::kEQ || kind == ExprKind::kNE || kind == ExprKind::kLT || kind == ExprKind::kLE ||
         kind == ExprKind::kGT || kind == ExprKind::kGE || kind == ExprKind::kAnd || kind == ExprKind::kOr;
}

/// Whether it is part of an index or of what is compared with one.
bool IsPlace(const BinaryNode* op) { return op->dtype == DataType::Int(64); }

/// Whether a number that is rounded has an integer of 16 bits added (code generation adds it to integers).
bool IsShift(const BinaryNode* op) {
  static const Op round = Op::Get("tir.round"), nearby = Op::Get("tir.nearbyint");
  const auto* call = op->a.as<CallNode>();
  if (op->kind != ExprKind::kAdd || call == nullptr || !(call->op.same_as(round) || call->op.same_as(nearby)))
    return false;
  const auto* broadcast = op->b.as<BroadcastNode>();
  const auto* shift = (broadcast == nullptr ? op->b : broadcast->value).as<FloatImmNode>();
  constexpr double kGreatest = 1 << 14;
  return shift != nullptr && shift->dtype == DataType::Float(32) && std::trunc(shift->value) == shift->value &&
         std::fabs(shift->value) <= kGreatest;
}

/// Puts something in the place of each number, in order.
class NumberMutator : public StmtExprMutator {
 public:
  using Replace = std::function<PrimExpr(const PrimExpr& number, bool is_of_table)>;
  explicit NumberMutator(Replace replace) : replace_(std::move(replace)) {}

  PrimFunc Visit(const PrimFunc& func) {
    Map<Var, Buffer> buffer_map;
    for (const Var& param : func->params) {
      const auto buffer = func->buffer_map.Get(param);
      if (!buffer) continue;
      parameters_.Insert((*buffer)->data.get());
      buffer_map.Set(param, VisitBufferUse(*buffer));
    }
    return PrimFunc(func->params, buffer_map, VisitStmt(func->body), func->attrs, func->span);
  }

 protected:
  /// Of parameters, and of views of these, extents are numbers; of others they say what the code is.
  Buffer VisitBufferUse(const Buffer& buffer) override {
    if (!parameters_.contains(buffer->data.get())) return StmtExprMutator::VisitBufferUse(buffer);
    const auto [it, is_new] = buffer_remap_.try_emplace(buffer, buffer);
    if (!is_new) return it->second;
    const Array<PrimExpr> shape = buffer->shape.Map([&](const PrimExpr& extent) { return Operand(extent); });
    if (shape.same_as(buffer->shape)) return buffer;
    Buffer put(buffer->name, buffer->dtype, shape, buffer->scope, buffer->strides, buffer->elem_offset,
               buffer->offset_factor);
    CopyOnWrite(&put)->data = buffer->data;
    buffer_remap_[buffer] = put;
    return put;
  }
  PrimExpr VisitBinary_(const BinaryNode* op) override {
    // Masks are cheap where they are known, and so are divisors of vectors.
    if (IsCompared(op->kind) && op->a.dtype().lanes() > 1) return GetRef<PrimExpr>(op);
    const bool is_known = IsDivision(op->kind) && !op->dtype.is_float() && !IsPlace(op);
    const PrimExpr a = Operand(op->a);
    return MakeBinary(op->kind, a, IsShift(op) ? Shift(op->b) : is_known ? Known(op->b) : Operand(op->b));
  }
  PrimExpr VisitCast_(const CastNode* op) override { return Cast(op->dtype, Limited(op->dtype, op->value)); }
  PrimExpr VisitSelect_(const SelectNode* op) override {
    return Select(Condition(op->condition), Operand(op->true_value), Operand(op->false_value));
  }
  PrimExpr VisitCall_(const CallNode* op) override {
    static const Op byte_table = Op::Get("tir.byte_table");
    Array<PrimExpr> args;
    const bool is_choice = IsIfThenElse(op), is_table = op->op.same_as(byte_table);
    for (size_t i = 0; i < op->args.size(); ++i) {
      const PrimExpr& arg = op->args[static_cast<int64_t>(i)];
      if (is_choice) {
        args.push_back(i == 0 ? Condition(arg) : Operand(arg));
      } else if (is_table && i > 0) {
        args.push_back(Put(arg, true));
      } else {
        args.push_back(Known(arg));
      }
    }
    return Call(op->dtype, op->op, args);
  }
  PrimExpr VisitRamp_(const RampNode* op) override { return Ramp(Operand(op->base), op->stride, op->lanes); }
  PrimExpr VisitBufferLoad_(const BufferLoadNode* op) override {
    return BufferLoad(VisitBufferUse(op->buffer), Indices(op->indices));
  }
  Stmt VisitBufferStore_(const BufferStoreNode* op) override {
    const PrimExpr value = Operand(op->value);
    return BufferStore(VisitBufferUse(op->buffer), value, Indices(op->indices), op->span);
  }
  Stmt VisitFor_(const ForNode* op) override {
    if (op->annotations.count(kMatrixTile)) return GetRef<Stmt>(op);
    const bool runs = op->loop_kind == ForKind::kSerial || op->loop_kind == ForKind::kParallel;
    const PrimExpr min = runs ? Operand(op->min) : op->min;
    const PrimExpr extent = runs ? Operand(op->extent) : op->extent;
    return For(op->loop_var, min, extent, op->loop_kind, VisitStmt(op->body), op->thread_tag, op->annotations,
               op->span);
  }
  Stmt VisitIfThenElse_(const IfThenElseNode* op) override {
    const PrimExpr condition = Condition(op->condition);
    const Stmt then_case = VisitStmt(op->then_case);
    return IfThenElse(condition, then_case, op->else_case.defined() ? VisitStmt(op->else_case) : Stmt(), op->span);
  }
  Stmt VisitAssert_(const AssertStmtNode* op) override { return GetRef<Stmt>(op); }

 private:
  static const PrimExpr& Scalar(const PrimExpr& expr) {
    const auto* broadcast = expr.as<BroadcastNode>();
    return broadcast == nullptr ? expr : broadcast->value;
  }
  PrimExpr Put(const PrimExpr& expr, bool is_of_table) {
    if (const auto* broadcast = expr.as<BroadcastNode>())
      return Broadcast(replace_(broadcast->value, is_of_table), broadcast->lanes);
    return replace_(expr, is_of_table);
  }
  /// A number there must be known.
  PrimExpr Known(const PrimExpr& expr) { return MayBeTaken(Scalar(expr)) ? expr : VisitExpr(expr); }
  /// What becomes an integer of few bits, the limits of which say how (codegen/llvm/emit_quantize.cc).
  PrimExpr Limited(DataType to, const PrimExpr& expr) {
    const bool is_limit = expr->kind == ExprKind::kMin || expr->kind == ExprKind::kMax;
    if (!is_limit || !expr.dtype().is_float() || !to.is_integer() || to.bits() >= 32) return VisitExpr(expr);
    const auto* op = static_cast<const BinaryNode*>(expr.get());
    return MakeBinary(op->kind, Limited(to, op->a), Known(op->b));
  }
  PrimExpr Operand(const PrimExpr& expr) { return MayBeTaken(Scalar(expr)) ? Put(expr, false) : VisitExpr(expr); }
  /// A whole number of floating point, by way of an integer.
  PrimExpr Shift(const PrimExpr& expr) {
    const PrimExpr& shift = Scalar(expr);
    const auto whole = static_cast<int64_t>(static_cast<const FloatImmNode*>(shift.get())->value);
    PrimExpr put = replace_(IntImm(DataType::Int(16), whole), false);
    const auto known = AsConstInt(put);
    put = known ? PrimExpr(FloatImm(shift.dtype(), static_cast<double>(*known))) : Cast(shift.dtype(), put);
    const auto* broadcast = expr.as<BroadcastNode>();
    return broadcast == nullptr ? put : Broadcast(put, broadcast->lanes);
  }
  PrimExpr Condition(const PrimExpr& expr) { return expr.dtype().lanes() == 1 ? VisitExpr(expr) : expr; }
  Array<PrimExpr> Indices(const Array<PrimExpr>& indices) {
    return indices.Map([&](const PrimExpr& index) {
      if (index.dtype().lanes() == 1) return Operand(index);
      return index->kind == ExprKind::kRamp ? VisitExpr(index) : index;
    });
  }

  Replace replace_;
  /// The data of the kernel's parameters.
  PointerSet parameters_;
};

KernelNumber NumberOf(const PrimExpr& imm, bool is_of_table) {
  KernelNumber number{imm.dtype(), 0, is_of_table};
  if (const auto* integer = imm.as<IntImmNode>()) {
    number.bits = static_cast<uint64_t>(integer->value);
  } else {
    number.bits = std::bit_cast<uint32_t>(static_cast<float>(static_cast<const FloatImmNode*>(imm.get())->value));
  }
  return number;
}

}  // namespace

NumberedKernel TakeNumbers(const PrimFunc& func) {
  static const auto* const placeholders = [] {
    auto* vars = new std::vector<Var>;
    for (const DataType dtype : TypesOfNumbers()) vars->emplace_back("number", dtype);
    return vars;
  }();
  NumberedKernel kernel;
  NumberMutator take([&](const PrimExpr& number, bool is_of_table) -> PrimExpr {
    kernel.numbers.push_back(NumberOf(number, is_of_table));
    const auto& types = TypesOfNumbers();
    return (*placeholders)[static_cast<size_t>(std::find(types.begin(), types.end(), number.dtype()) - types.begin())];
  });
  kernel.kind = take.Visit(func);
  return kernel;
}

PrimFunc WithNumbers(const PrimFunc& func, const std::vector<KernelNumber>& numbers) {
  size_t next = 0;
  NumberMutator put([&](const PrimExpr&, bool) -> PrimExpr {
    const KernelNumber& number = numbers[next++];
    if (!number.dtype.is_float()) return IntImm(number.dtype, static_cast<int64_t>(number.bits));
    return FloatImm(number.dtype, std::bit_cast<float>(static_cast<uint32_t>(number.bits)));
  });
  return put.Visit(func);
}

SharedKernel ShareCode(const PrimFunc& first, const std::vector<const std::vector<KernelNumber>*>& numbers) {
  using Numbers = std::vector<KernelNumber>;
  const Numbers& of_first = *numbers[0];
  // Whether so many numbers from `a` on are those from `b` on in all kernels; and whether they are the same in all.
  const auto are_alike = [&](size_t a, size_t b, size_t count) {
    return std::all_of(numbers.begin(), numbers.end(), [&](const Numbers* each) {
      const auto begin = each->begin();
      return std::equal(begin + static_cast<ptrdiff_t>(a), begin + static_cast<ptrdiff_t>(a + count),
                        begin + static_cast<ptrdiff_t>(b));
    });
  };
  const auto are_same = [&](size_t at, size_t count) {
    return std::all_of(numbers.begin(), numbers.end(), [&](const Numbers* each) {
      const auto begin = of_first.begin() + static_cast<ptrdiff_t>(at);
      return std::equal(begin, begin + static_cast<ptrdiff_t>(count), each->begin() + static_cast<ptrdiff_t>(at));
    });
  };
  // The positions of the numbers that become parameters, and for each number its parameter.
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> taken, parameter_of(of_first.size(), kNone);
  for (size_t at = 0, count = 1; at < of_first.size(); at += count) {
    count = of_first[at].is_of_table ? kWordsOfByteTable : 1;
    if (are_same(at, count)) continue;
    size_t parameter = 0;
    while (parameter < taken.size()) {
      const bool is_of_table = of_first[taken[parameter]].is_of_table;
      if (is_of_table == of_first[at].is_of_table && are_alike(taken[parameter], at, count)) break;
      parameter += is_of_table ? kWordsOfByteTable : 1;
    }
    for (size_t i = 0; i < count; ++i) {
      parameter_of[at + i] = parameter + i;
      if (parameter + i == taken.size()) taken.push_back(at + i);
    }
  }
  std::vector<Var> parameters;
  for (const size_t at : taken) parameters.emplace_back("n" + std::to_string(parameters.size()), of_first[at].dtype);
  SharedKernel shared;
  size_t next = 0;
  NumberMutator take([&](const PrimExpr& number, bool) -> PrimExpr {
    const size_t parameter = parameter_of[next++];
    return parameter == kNone ? number : PrimExpr(parameters[parameter]);
  });
  shared.func = take.Visit(first);
  auto* node = CopyOnWrite(&shared.func);
  for (const Var& parameter : parameters) node->params.push_back(parameter);
  for (const Numbers* each : numbers) {
    std::vector<uint64_t>& scalars = shared.scalars.emplace_back();
    for (const size_t at : taken) scalars.push_back((*each)[at].bits);
  }
  return shared;
}

}  // namespace deuteron::tir
