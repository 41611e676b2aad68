/// \file
/// ShareKernels: kernels that differ in numbers only become one, which takes these as arguments.
///
///     a = call_tir(fused_multiply_add, (x))        # x * 0.25 + 3.0       a = call_tir(fused_multiply_add, (x, 0.25))
///     b = call_tir(fused_multiply_add1, (y))       # x * 0.75 + 3.0   →   b = call_tir(fused_multiply_add, (y, 0.75))
///
/// Purpose: each layer of a quantised network has scales and zero points of its own, so that networks of a few kinds of
/// layers have as many kernels as layers, which all take their time to be scheduled and compiled. Where only few runs
/// are expected (the option expected_runs), that is most of what they take. A kernel that loads such a number once is
/// as fast as one that has it; a number that all have stays in the kernel, where code may be made for it.
///
/// Numbers are float32 or integers that no index is made of (int32, int8, uint8), and operands of arithmetic on
/// elements: those that stand for what lies beyond an image tell schedules more than a number.
///
/// What it must not do: change kernels that are called by other means than call_tir and call_tir_inplace, or what
/// tvm_compat promises.
///
/// Place: after the passes that merge kernels, before they are scheduled.
#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/transform/functions/passes.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/parallel.h"
#include "deuteron/tir/functor.h"
#include "deuteron/tir/structure_hash.h"

namespace deuteron::relax {
namespace {

bool IsArithmetic(ExprKind kind) {
  return kind == ExprKind::kAdd || kind == ExprKind::kSub || kind == ExprKind::kMul || kind == ExprKind::kDiv ||
         kind == ExprKind::kMin || kind == ExprKind::kMax;
}

bool IsNumber(const PrimExpr& expr) {
  const DataType dtype = expr.dtype();
  if (expr->kind == ExprKind::kFloatImm) return dtype == DataType::Float(32);
  return expr->kind == ExprKind::kIntImm &&
         (dtype == DataType::Int(32) || dtype == DataType::Int(8) || dtype == DataType::UInt(8));
}

/// Whether a and b are of one type and have the same bits.
bool IsSameNumber(const PrimExpr& a, const PrimExpr& b) {
  if (a.dtype() != b.dtype()) return false;
  if (a->kind == ExprKind::kIntImm)
    return static_cast<const tir::IntImmNode*>(a.get())->value == static_cast<const tir::IntImmNode*>(b.get())->value;
  const auto bits = [](const PrimExpr& number) {
    return std::bit_cast<uint64_t>(static_cast<const tir::FloatImmNode*>(number.get())->value);
  };
  return bits(a) == bits(b);
}

Constant ScalarOf(const PrimExpr& number) {
  if (const auto* integer = number.as<tir::IntImmNode>()) return Constant::Scalar(number.dtype(), integer->value);
  return Constant::Scalar(number.dtype(), static_cast<const tir::FloatImmNode*>(number.get())->value);
}

/// Puts others in the place of a kernel's numbers, in order; elements of buffers are read by the blocks they are in.
class NumberMutator : public tir::StmtExprMutator {
 public:
  using Replace = std::function<PrimExpr(const PrimExpr&)>;
  explicit NumberMutator(Replace replace) : replace_(std::move(replace)) {}

 protected:
  PrimExpr VisitBinary_(const tir::BinaryNode* op) override {
    if (!IsArithmetic(op->kind)) return StmtExprMutator::VisitBinary_(op);
    const PrimExpr a = Operand(op->a), b = Operand(op->b);
    return a.same_as(op->a) && b.same_as(op->b) ? GetRef<PrimExpr>(op) : MakeBinary(op->kind, a, b);
  }
  // Conditions, indices, extents and what is not stored stay as they are.
  PrimExpr VisitSelect_(const tir::SelectNode* op) override {
    const PrimExpr yes = VisitExpr(op->true_value), no = VisitExpr(op->false_value);
    if (yes.same_as(op->true_value) && no.same_as(op->false_value)) return GetRef<PrimExpr>(op);
    return tir::Select(op->condition, yes, no);
  }
  PrimExpr VisitCall_(const tir::CallNode* op) override {
    static const Op if_then_else = Op::Get("tir.if_then_else");
    if (!op->op.same_as(if_then_else)) return StmtExprMutator::VisitCall_(op);
    const PrimExpr yes = VisitExpr(op->args[1]), no = VisitExpr(op->args[2]);
    if (yes.same_as(op->args[1]) && no.same_as(op->args[2])) return GetRef<PrimExpr>(op);
    return tir::Call(op->dtype, op->op, {op->args[0], yes, no});
  }
  PrimExpr VisitBufferLoad_(const tir::BufferLoadNode* op) override { return GetRef<PrimExpr>(op); }
  tir::Stmt VisitBufferStore_(const tir::BufferStoreNode* op) override {
    const PrimExpr value = VisitExpr(op->value);
    if (value.same_as(op->value)) return GetRef<tir::Stmt>(op);
    return tir::BufferStore(op->buffer, value, op->indices, op->span);
  }
  tir::Stmt VisitFor_(const tir::ForNode* op) override {
    const tir::Stmt body = VisitStmt(op->body);
    if (body.same_as(op->body)) return GetRef<tir::Stmt>(op);
    return tir::For(op->loop_var, op->min, op->extent, op->loop_kind, body, op->thread_tag, op->annotations, op->span);
  }
  tir::Stmt VisitIfThenElse_(const tir::IfThenElseNode* op) override {
    const tir::Stmt yes = VisitStmt(op->then_case),
                    no = op->else_case.defined() ? VisitStmt(op->else_case) : tir::Stmt();
    if (yes.same_as(op->then_case) && no.same_as(op->else_case)) return GetRef<tir::Stmt>(op);
    return tir::IfThenElse(op->condition, yes, no, op->span);
  }
  tir::Stmt VisitBind_(const tir::BindNode* op) override { return GetRef<tir::Stmt>(op); }
  tir::Stmt VisitAssert_(const tir::AssertStmtNode* op) override { return GetRef<tir::Stmt>(op); }
  tir::Stmt VisitEvaluate_(const tir::EvaluateNode* op) override { return GetRef<tir::Stmt>(op); }
  tir::Stmt VisitWhile_(const tir::WhileNode* op) override { return GetRef<tir::Stmt>(op); }
  tir::Stmt VisitSBlockRealize_(const tir::SBlockRealizeNode* op) override {
    const tir::Stmt block = VisitStmt(op->block);
    if (block.same_as(op->block)) return GetRef<tir::Stmt>(op);
    return tir::SBlockRealize(op->iter_values, op->predicate, Downcast<tir::SBlock>(block), op->span);
  }
  tir::Stmt VisitSBlock_(const tir::SBlockNode* op) override {
    std::vector<tir::Buffer> outside = std::exchange(read_, {});
    ++depth_;
    const tir::Stmt init = op->init.defined() ? VisitStmt(op->init) : tir::Stmt(), body = VisitStmt(op->body);
    --depth_;
    const std::vector<tir::Buffer> inside = std::exchange(read_, std::move(outside));
    if (init.same_as(op->init) && body.same_as(op->body)) return GetRef<tir::Stmt>(op);
    Array<tir::BufferRegion> reads = op->reads;
    // The root declares none.
    if (depth_ > 0) {
      for (const tir::Buffer& buffer : inside) {
        reads.push_back(tir::BufferRegion::Full(buffer));
        NoteRead(buffer);
      }
    }
    return tir::SBlock(op->iter_vars, reads, op->writes, op->name_hint, body, init, op->alloc_buffers, op->annotations,
                       op->span);
  }

 private:
  PrimExpr Operand(const PrimExpr& expr) {
    if (!IsNumber(expr)) return VisitExpr(expr);
    PrimExpr put = replace_(expr);
    if (const auto* load = put.as<tir::BufferLoadNode>()) NoteRead(load->buffer);
    return put;
  }
  void NoteRead(const tir::Buffer& buffer) {
    const bool is_known = std::any_of(read_.begin(), read_.end(), [&](const auto& b) { return b.same_as(buffer); });
    if (!is_known) read_.push_back(buffer);
  }

  Replace replace_;
  std::vector<tir::Buffer> read_;
  int depth_ = 0;
};

/// Kernels take so many numbers at most.
constexpr size_t kMostNumbers = 32;

/// A kernel and its numbers.
struct Member {
  GlobalVar var;
  tir::PrimFunc func;
  std::vector<PrimExpr> numbers;
};

/// What a call of a kernel becomes.
struct CallOfShared {
  GlobalVar var;
  /// What the kernel takes behind its other inputs.
  std::vector<Constant> numbers;
};

/// The place of each number of `members` among those that the shared kernel takes, by their order; -1 for one that all
/// have. `taken` becomes the positions of the numbers that it takes.
std::vector<int> SlotsOf(const std::vector<Member>& members, std::vector<size_t>* taken) {
  const size_t count = members[0].numbers.size();
  std::vector<int> slots(count, -1);
  const auto alike = [&](size_t a, size_t b) {
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& m) { return IsSameNumber(m.numbers[a], m.numbers[b]); });
  };
  for (size_t i = 0; i < count; ++i) {
    const bool is_one = std::all_of(members.begin(), members.end(), [&](const Member& member) {
      return IsSameNumber(member.numbers[i], members[0].numbers[i]);
    });
    if (is_one) continue;
    const auto known = std::find_if(taken->begin(), taken->end(), [&](size_t at) { return alike(at, i); });
    slots[i] = static_cast<int>(known - taken->begin());
    if (known == taken->end()) taken->push_back(i);
  }
  return slots;
}

/// `func` with loads of further parameters, behind its `inputs`, for those of its numbers that have a slot.
tir::PrimFunc WithNumbersTaken(const tir::PrimFunc& func, size_t inputs, const std::vector<PrimExpr>& numbers,
                               const std::vector<int>& slots, const std::vector<size_t>& taken) {
  std::vector<tir::Buffer> buffers;
  Array<tir::Var> params;
  Map<tir::Var, tir::Buffer> buffer_map = func->buffer_map;
  for (size_t i = 0; i < inputs; ++i) params.push_back(func->params[static_cast<int64_t>(i)]);
  for (const size_t at : taken) {
    const std::string name = "number_" + std::to_string(buffers.size());
    buffers.emplace_back(name, numbers[at].dtype(), Array<PrimExpr>{});
    params.push_back(tir::Var(name, DataType::Handle()));
    buffer_map.Set(params.back(), buffers.back());
  }
  for (size_t i = inputs; i < func->params.size(); ++i) params.push_back(func->params[static_cast<int64_t>(i)]);
  size_t next = 0;
  NumberMutator take([&](const PrimExpr& number) -> PrimExpr {
    const int slot = slots[next++];
    return slot < 0 ? number : tir::BufferLoad(buffers[static_cast<size_t>(slot)], {});
  });
  return tir::PrimFunc(params, buffer_map, take.VisitStmt(func->body), func->attrs, func->span);
}

/// Calls `visit` on every call of a kernel.
void ForEachKernelCall(const IRModule& module, const std::function<void(const CallTIRView&)>& visit) {
  ForEachBinding(module, [&](const Binding& binding) {
    if (IsAnyCallTIR(BoundValue(binding))) visit(ViewCallTIR(Downcast<Call>(BoundValue(binding))));
  });
}

/// How many inputs kernels have, by their names, of those that nothing but calls names.
std::unordered_map<std::string, size_t> InputsOfKernels(const IRModule& module) {
  std::unordered_map<std::string, size_t> inputs;
  std::unordered_map<std::string, int64_t> other_uses;
  ForEachKernelCall(module, [&](const CallTIRView& call) {
    const std::string name(call.func->name_hint);
    inputs.emplace(name, call.args->fields.size());
    --other_uses[name];
  });
  for (const auto& [var, func] : module->functions) {
    const auto* function = func.as<FunctionNode>();
    if (function == nullptr) continue;
    VisitAllLeaves(function->body, [&](const Expr& leaf) {
      const auto* global = leaf.as<GlobalVarNode>();
      if (global != nullptr) ++other_uses[std::string(global->name_hint)];
    });
  }
  std::erase_if(inputs, [&](const auto& entry) { return other_uses[entry.first] != 0; });
  return inputs;
}

/// Kernels that are alike but for their numbers, those of each kind in the order of the module.
std::vector<std::vector<Member>> AlikeKernels(const IRModule& module,
                                              const std::unordered_map<std::string, size_t>& inputs) {
  std::vector<Member> members;
  for (const auto& [var, base] : module->functions) {
    const auto func = As<tir::PrimFunc>(base);
    if (!func.defined() || func->GetAttr<String>("global_symbol") || !inputs.count(std::string(var->name_hint)))
      continue;
    members.push_back({var, func, {}});
  }
  const auto threads = static_cast<size_t>(runtime::UsableThreads());
  std::vector<tir::PrimFunc> funcs(members.size());
  ForEachInParallel(members.size(), threads, [&](size_t i) {
    Member& member = members[i];
    NumberMutator collect([&](const PrimExpr& number) -> PrimExpr {
      member.numbers.push_back(number);
      const bool is_real = number.dtype().is_float();
      return is_real ? PrimExpr(tir::FloatImm(number.dtype(), 0)) : PrimExpr(tir::IntImm(number.dtype(), 0));
    });
    const tir::PrimFunc& func = member.func;
    funcs[i] = tir::PrimFunc(func->params, func->buffer_map, collect.VisitStmt(func->body), func->attrs);
  });
  const std::vector<size_t> first = tir::FirstEqual(funcs, threads);
  std::vector<std::vector<Member>> kinds(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    if (!members[i].numbers.empty()) kinds[first[i]].push_back(std::move(members[i]));
  }
  std::erase_if(kinds, [](const std::vector<Member>& kind) { return kind.size() < 2; });
  return kinds;
}

/// Rewrites the calls of kernels that have become others.
class CallRewriter : public SeqRewriter {
 public:
  explicit CallRewriter(const std::unordered_map<std::string, CallOfShared>& shared) : shared_(shared) {}

 protected:
  void RewriteBinding(const Binding& binding, Bindings* out) override {
    const Expr& value = BoundValue(binding);
    const auto it = IsAnyCallTIR(value) ? shared_.find(NameOf(value)) : shared_.end();
    if (it == shared_.end()) return SeqRewriter::RewriteBinding(binding, out);
    const auto* call = static_cast<const CallNode*>(value.get());
    Array<Expr> fields = ViewCallTIR(Downcast<Call>(value)).args->fields;
    for (const Constant& number : it->second.numbers) fields.push_back(number);
    Array<Expr> args = call->args;
    args.Set(0, it->second.var);
    args.Set(1, Tuple(fields));
    const Call rewritten(call->op, args, call->attrs, call->ty_args, call->span);
    rewritten->ty = call->ty;
    out->push_back(WithValue(binding, rewritten));
  }

 private:
  static std::string NameOf(const Expr& call) { return std::string(ViewCallTIR(Downcast<Call>(call)).func->name_hint); }

  const std::unordered_map<std::string, CallOfShared>& shared_;
};

}  // namespace

Pass ShareKernels() {
  return transform::ModulePass({.name = "ShareKernels"}, [](IRModule module, const transform::PassContext& context) {
    if (context.GetInt("expected_runs") == 0 || transform::AsTVM(context)) return module;
    const auto inputs = InputsOfKernels(module);
    std::unordered_map<std::string, CallOfShared> shared;
    for (const std::vector<Member>& kind : AlikeKernels(module, inputs)) {
      std::vector<size_t> taken;
      const std::vector<int> slots = SlotsOf(kind, &taken);
      if (taken.size() > kMostNumbers) continue;
      const Member& first = kind.front();
      const size_t own = inputs.at(std::string(first.var->name_hint));
      module.Update(first.var, WithNumbersTaken(first.func, own, first.numbers, slots, taken));
      for (const Member& member : kind) {
        CallOfShared& of_call = shared[std::string(member.var->name_hint)];
        of_call.var = first.var;
        for (const size_t at : taken) of_call.numbers.push_back(ScalarOf(member.numbers[at]));
        if (&member != &first) module.Remove(member.var);
      }
    }
    if (shared.empty()) return module;
    CallRewriter calls(shared);
    return UpdateAllFunctions(std::move(module),
                              [&](const GlobalVar&, const Function& function) { return calls.RewriteBody(function); });
  });
}

}  // namespace deuteron::relax
