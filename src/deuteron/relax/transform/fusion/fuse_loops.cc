/// \file
/// FuseLoops: a loop whose step is kernels and nothing else becomes one kernel.
///
/// Purpose: the step of a recurrent layer is a product of one row and some arithmetic: about a microsecond, which byte
/// code would double, as it makes tensors, calls kernels and copies rows of each step. In one kernel a step costs what
/// its kernels do.
///
///     step(i, h, x) = call_tir(b, (call_tir(a, (x,), tir_vars=[i]), h))            kernel loop(h0, x; last, rows):
///     closure = make_closure(step, (x,))                                             h = h0
///     last, rows = loop(closure, n, (h0,))                                     →     for i in n:
///                                                                                        row = b(a(x, i), h)
///                                                                                        h = row; rows[i] = row
///                                                                                    last = h
///
/// When: the step's number of trips is known before the first one, each step calls kernels of the module only, its
/// states keep their shapes, and no buffer's size depends on the number of the step. A loop in the step that became a
/// kernel is one of them.
///
/// What it must not do: change the order of the kernels. Each stays a block that is scheduled by itself
/// (tir/schedule/rules/kernel_blocks.cc), but for copies of what the loop is given, which are read where they come from
/// (inline_copies.h).
///
/// Place: after FuseTIR. Off under tvm_compat. What it leaves gets a reason in the decision log.
#include <algorithm>
#include <unordered_map>

#include "deuteron/arith/analyzer.h"
#include "deuteron/ir/expr_functor.h"
#include "deuteron/ir/transform/tvm_compat.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/cleanup/passes.h"
#include "deuteron/relax/transform/fusion/inline_copies.h"
#include "deuteron/relax/transform/fusion/kernel_merger.h"
#include "deuteron/relax/transform/fusion/loops_side_by_side.h"
#include "deuteron/relax/transform/fusion/passes.h"
#include "deuteron/tir/block_annotations.h"
#include "deuteron/tir/renew_defs.h"
#include "deuteron/tir/schedule/state.h"

namespace deuteron::relax {
namespace {

using tir::Buffer;
using tir::PrimFunc;
using tir::Stmt;

/// Why a loop stays one. Caught in LoopFuser.
struct CannotFuse {
  std::string why;
};
[[noreturn]] void Fail(std::string why) { throw CannotFuse{std::move(why)}; }

/// A kernel that copies `from` into `to`, or into that row of it.
Stmt CopyKernel(const std::string& name, const Buffer& from, const Buffer& to, const Array<PrimExpr>& row = kEmpty) {
  const Stmt copy = tir::schedule::MakeNest(tir::schedule::CopyBlock(name, from, to, row), /*unit_loops=*/true);
  const tir::SBlock kernel(kEmpty, {tir::BufferRegion::Full(from)}, {tir::BufferRegion::Full(to)}, name + "_kernel",
                           copy, Stmt(), kEmpty, {{tir::kKernelBlock, true}});
  return tir::SBlockRealize(kEmpty, True(), kernel);
}

/// A loop, and the function of its step.
struct LoopCall {
  GlobalVar step_name;
  Function step;
  Array<Expr> states;
  Array<Expr> captured;
  PrimExpr trips;
  TupleType result;
};

/// The step's kernels as one, as MergeKernels has it, and what the loop makes of its results.
struct MergedStep {
  PrimFunc kernel;
  /// Tensors that the loop's kernel is given: states, what the closure holds, constants.
  Array<Expr> tensors;
  /// What the kernel's scalars are, but for the first, the number of the step.
  Array<PrimExpr> scalars;
  /// For each next state and each row, which of the kernel's results it is.
  std::vector<size_t> result_of;
};

class StepMerger {
 public:
  StepMerger(const IRModule& module, const LoopCall& loop) : module_(module), loop_(loop) {}

  MergedStep Merge() {
    MergedStep merged;
    const auto& params = loop_.step->params;
    Array<Var> kept;
    if (params.empty() || !IsNumberOfStep(params[0])) Fail("its step does not take its number");
    if (params.size() != 1 + loop_.states.size() + loop_.captured.size()) Fail("its step takes other arguments");
    for (size_t i = 0; i < params.size(); ++i) {
      const Var& param = params[static_cast<int64_t>(i)];
      kept.push_back(param);
      if (i == 0) continue;
      const size_t at = i - 1;
      const Expr& given = at < loop_.states.size() ? loop_.states[static_cast<int64_t>(at)]
                                                   : loop_.captured[static_cast<int64_t>(at - loop_.states.size())];
      if (param.ty().as<TensorTypeNode>() != nullptr) {
        merged.tensors.push_back(given);
      } else {
        AddScalars(given, &merged.scalars);
      }
    }
    const SeqExpr body = LiftConstants();
    for (const Var& constant : constant_params_) kept.push_back(constant);
    for (const Expr& constant : constants_) merged.tensors.push_back(constant);
    const Array<Expr> results = UniqueResults(&merged.result_of);
    const Function step(kept, SeqExpr(body->blocks, Tuple(results)), loop_.step->ret_ty);
    const fusion::MergedKernel kernel = fusion::MergeKernels(module_, loop_.step_name, step, {.keep_kernels = true});
    if (!kernel.func.defined()) Fail(kernel.why);
    if (!kernel.inplace_indices.empty()) Fail("its step writes into what it is given");
    // A step may be that of two loops.
    merged.kernel = tir::DefRenewer().Renew(kernel.func);
    return merged;
  }

 private:
  static bool IsNumberOfStep(const Var& param) {
    const auto* shape = param.ty().as<ShapeTypeNode>();
    return shape != nullptr && shape->values.has_value() && shape->values->size() == 1;
  }

  static void AddScalars(const Expr& given, Array<PrimExpr>* scalars) {
    const auto* shape = given.ty().as<ShapeTypeNode>();
    if (shape == nullptr || !shape->values.has_value())
      Fail("its step uses something else than tensors and dimensions");
    for (const PrimExpr& value : *shape->values) scalars->push_back(value);
  }

  /// The step's body, its constants parameters.
  SeqExpr LiftConstants() {
    Array<BindingBlock> blocks;
    for (const BindingBlock& block : loop_.step->body->blocks) {
      Array<Binding> bindings;
      for (const Binding& binding : block->bindings) bindings.push_back(LiftConstants(binding));
      blocks.push_back(WithBindings(block, std::move(bindings)));
    }
    return SeqExpr(blocks, loop_.step->body->body);
  }
  Binding LiftConstants(const Binding& binding) {
    if (!binding->IsInstance<VarBindingNode>()) Fail("its step checks a shape");
    const Expr& value = BoundValue(binding);
    if (!IsAnyCallTIR(value)) {
      const bool is_plain = IsVar(value) || value->kind == RelaxKind::kTupleGetItem || value->kind == RelaxKind::kTuple;
      if (!is_plain) Fail(NameOf(binding) + " in its step is no kernel");
      return binding;
    }
    const CallTIRView view = ViewCallTIR(Downcast<Call>(value));
    if (!view.func.defined()) Fail(NameOf(binding) + " in its step is a library's");
    Array<Expr> args;
    for (const Expr& arg : view.args->fields) args.push_back(arg->kind == RelaxKind::kConstant ? ParamOf(arg) : arg);
    auto call = Downcast<Call>(value);
    CopyOnWrite(&call)->args.Set(1, Tuple(std::move(args)));
    VarBinding lifted(binding->var, call);
    CopyOnWrite(&lifted)->span = binding->span;
    return lifted;
  }
  Var ParamOf(const Expr& constant) {
    const auto [it, inserted] = param_of_.try_emplace(constant.get(), constants_.size());
    if (inserted) {
      constants_.push_back(constant);
      constant_params_.push_back(Var("param_" + std::to_string(it->second), constant.ty()));
    }
    return constant_params_[static_cast<int64_t>(it->second)];
  }

  /// The values that the step returns, each once.
  Array<Expr> UniqueResults(std::vector<size_t>* result_of) const {
    const auto* fields = loop_.step->body->body.as<TupleNode>();
    if (fields == nullptr || fields->fields.size() != loop_.result->fields.size()) {
      Fail("its step does not say what it returns");
    }
    Array<Expr> unique;
    for (const Expr& field : fields->fields) {
      if (!IsVar(field)) Fail("its step returns something that it does not compute");
      const auto at = std::find_if(unique.begin(), unique.end(), [&](const Expr& e) { return e.same_as(field); });
      result_of->push_back(static_cast<size_t>(at - unique.begin()));
      if (at == unique.end()) unique.push_back(field);
    }
    return unique;
  }

  const IRModule& module_;
  const LoopCall& loop_;
  std::unordered_map<const Object*, size_t> param_of_;
  std::vector<Expr> constants_;
  Array<Var> constant_params_;
};

/// The kernel of a loop.
class LoopKernel {
 public:
  LoopKernel(const LoopCall& loop, MergedStep step) : loop_(loop), step_(std::move(step)) {}

  PrimFunc Make() {
    const PrimFunc& kernel = step_.kernel;
    const Array<Buffer> params = tir::ParamBuffers(kernel);
    const size_t num_inputs = step_.tensors.size(), num_states = loop_.states.size();
    for (const tir::Var& param : kernel->params) {
      if (kernel->buffer_map.count(param) == 0) scalars_.push_back(param);
    }
    DEUTERON_CHECK(scalars_.size() == 1 + step_.scalars.size()) << "a step of other scalars";
    number_ = scalars_[0];
    std::vector<Buffer> inputs(params.begin(), params.begin() + static_cast<int64_t>(num_inputs));
    const std::vector<Buffer> results(params.begin() + static_cast<int64_t>(num_inputs), params.end());
    const tir::SBlock root = tir::RootBlock(kernel);
    Array<Buffer> allocs = root->alloc_buffers;
    for (const Buffer& result : results) allocs.push_back(result);
    const PrimExpr trips = Trips();
    const Array<Buffer> fixed(params.begin() + static_cast<int64_t>(num_states),
                              params.begin() + static_cast<int64_t>(num_inputs));

    Array<Stmt> before, after;
    const auto* kernels = root->body.as<tir::SeqStmtNode>();
    Array<Stmt> body = fusion::InlineCopies(kernels == nullptr ? Array<Stmt>{root->body} : kernels->seq, fixed,
                                            Array<Buffer>(results.begin(), results.end()), &allocs);
    std::vector<Buffer> outputs;
    for (size_t i = 0; i < step_.result_of.size(); ++i) {
      const Buffer& result = results[step_.result_of[i]];
      if (i >= num_states) {
        Array<PrimExpr> shape = {trips};
        for (const PrimExpr& dim : result->shape) shape.push_back(dim);
        outputs.push_back(Buffer("rows_" + std::to_string(i - num_states), result->dtype, shape));
        body.push_back(CopyKernel("row_" + std::to_string(i - num_states), result, outputs.back(), {number_}));
        continue;
      }
      // What the step reads as its state is a buffer of the loop's.
      const Buffer state = inputs[i];
      CheckSame(state, result);
      const std::string name = "state_" + std::to_string(i);
      inputs[i] = Buffer(name + "_first", state->dtype, state->shape);
      outputs.push_back(Buffer(name + "_last", state->dtype, state->shape));
      allocs.push_back(state);
      before.push_back(CopyKernel(name + "_begins", inputs[i], state));
      body.push_back(CopyKernel(name + "_goes_on", result, state));
      after.push_back(CopyKernel(name + "_ends", state, outputs.back()));
    }
    for (const Buffer& buffer : allocs) CheckFixed(buffer);
    Array<Stmt> all = before;
    all.push_back(
        tir::For(number_, MakeConst(number_.dtype(), 0), trips, tir::ForKind::kSerial, tir::SeqStmt::Flatten(body)));
    for (const Stmt& stmt : after) all.push_back(stmt);
    const tir::SBlock whole(kEmpty, kEmpty, kEmpty, "root", tir::SeqStmt::Flatten(all), Stmt(), allocs);
    Array<Buffer> buffers(inputs.begin(), inputs.end());
    for (const Buffer& output : outputs) buffers.push_back(output);
    return PrimFunc::FromBuffers(buffers, Array<tir::Var>(scalars_.begin() + 1, scalars_.end()),
                                 tir::SBlockRealize(kEmpty, True(), whole), kernel->attrs);
  }

  /// Its scalar arguments.
  const Array<PrimExpr>& scalars() const { return step_.scalars; }
  const Array<Expr>& tensors() const { return step_.tensors; }

 private:
  /// The number of steps: constant, or a scalar more.
  PrimExpr Trips() {
    const PrimExpr trips = CastTo(number_.dtype(), loop_.trips);
    if (AsConstInt(trips)) return trips;
    const tir::Var var("trips", number_.dtype());
    scalars_.push_back(var);
    step_.scalars.push_back(trips);
    return var;
  }

  static void CheckSame(const Buffer& state, const Buffer& next) {
    arith::Analyzer analyzer;
    bool same = state->dtype == next->dtype && state->shape.size() == next->shape.size();
    for (int64_t i = 0; same && i < static_cast<int64_t>(state->shape.size()); ++i) {
      same = analyzer.CanProveEqual(state->shape[i], next->shape[i]);
    }
    if (!same) Fail("its states change their shapes");
  }

  void CheckFixed(const Buffer& buffer) const {
    for (const PrimExpr& dim : buffer->shape) {
      const auto vars = FreeVars(dim);
      const bool depends = std::any_of(vars.begin(), vars.end(), [&](const tir::Var& v) { return v.same_as(number_); });
      if (depends) Fail("the size of " + std::string(buffer->name) + " depends on the number of the step");
    }
  }

  const LoopCall& loop_;
  MergedStep step_;
  std::vector<tir::Var> scalars_;
  tir::Var number_;
};

class LoopFuser {
 public:
  LoopFuser(IRModule module, const transform::PassContext& context)
      : module_(std::move(module)), context_(context), names_(module_) {}

  /// Whether a loop became a kernel.
  bool Run() {
    IRModule rewritten = UpdateFunctions(module_, [&](const GlobalVar& name, const Function& function) {
      function_ = name->name_hint;
      return Rewrite(function);
    });
    module_ = std::move(rewritten);
    for (auto& [var, kernel] : added_) module_.Update(var, std::move(kernel));
    return !added_.empty();
  }
  IRModule& module() { return module_; }
  void RecordRefusals() const {
    for (const transform::Decision& decision : refused_) context_.decisions->Add(decision);
  }

 private:
  Function Rewrite(const Function& function) {
    static const Op make_closure = Op::Get("relax.make_closure"), loop = Op::Get("relax.loop");
    closures_.clear();
    bool rewritten = false;
    Array<BindingBlock> blocks;
    for (const BindingBlock& block : function->body->blocks) {
      Array<Binding> bindings;
      bool changed = false;
      for (const Binding& binding : block->bindings) {
        const Expr& value = BoundValue(binding);
        if (IsCallOf(value, make_closure)) closures_[binding->var.get()] = Downcast<Call>(value);
        changed |= IsCallOf(value, loop) && TryFuse(binding, &bindings);
        if (bindings.empty() || !bindings.back()->var.same_as(binding->var)) bindings.push_back(binding);
      }
      blocks.push_back(changed ? WithBindings(block, std::move(bindings)) : block);
      rewritten |= changed;
    }
    if (!rewritten) return function;
    return WithBody(function, SeqExpr(blocks, function->body->body));
  }

  /// Appends what takes the loop's place; false, having appended nothing, if it stays.
  bool TryFuse(const Binding& binding, Array<Binding>* bindings) {
    try {
      const LoopCall loop = ViewLoop(Downcast<Call>(BoundValue(binding)));
      LoopKernel made(loop, StepMerger(module_, loop).Merge());
      PrimFunc kernel = made.Make();
      kernel->span = SpanOf(binding);
      const GlobalVar name(names_.Unique("loop_of_" + std::string(loop.step_name->name_hint)));
      const Expr scalars = made.scalars().empty() ? Expr() : Expr(ShapeExpr(made.scalars()));
      added_.emplace_back(name, kernel);
      const bool is_one = loop.result->fields.size() == 1;
      const Type type = is_one ? loop.result->fields[0] : Type(loop.result);
      const Call call = CallTIR(name, Tuple(made.tensors()), type, scalars);
      call->span = SpanOf(binding);
      Append(is_one ? NewVar(binding->var, type) : binding->var, call, binding->span, bindings);
      if (is_one) Append(binding->var, Tuple({(*bindings).back()->var}), binding->span, bindings);
      return true;
    } catch (const CannotFuse& reason) {
      refused_.push_back({.pass = "FuseLoops",
                          .function = function_,
                          .subject = binding->var->name_hint,
                          .reason = transform::Reason::kNotMerged,
                          .message = "the loop stays one of byte code: " + reason.why});
      return false;
    }
  }

  static Var NewVar(const Var& var, const Type& type) {
    return var->kind == RelaxKind::kDataflowVar ? Var(DataflowVar(var->name_hint, type)) : Var(var->name_hint, type);
  }
  static void Append(const Var& var, const Expr& value, const Span& span, Array<Binding>* bindings) {
    VarBinding binding(var, value);
    CopyOnWrite(&binding)->span = span;
    bindings->push_back(binding);
  }

  LoopCall ViewLoop(const Call& call) {
    if (call->args.size() > 3) Fail("its steps say whether there is another one");
    LoopCall loop;
    Expr body = call->args[0];
    if (const auto closure = closures_.find(body.get()); closure != closures_.end()) {
      body = closure->second->args[0];
      const auto* captured = closure->second->args[1].as<TupleNode>();
      if (captured == nullptr) Fail("its closure is not known field by field");
      loop.captured = captured->fields;
    }
    if (body->kind != RelaxKind::kGlobalVar) Fail("its step is no function of the module");
    loop.step_name = Downcast<GlobalVar>(body);
    loop.step = As<Function>(module_.Lookup(loop.step_name));
    if (!loop.step.defined()) Fail("its step is no function of the module");
    const auto* trips = call->args[1].as<PrimValueNode>();
    const auto* states = call->args[2].as<TupleNode>();
    if (trips == nullptr || states == nullptr) Fail("its states or the number of its steps are not known one by one");
    loop.trips = trips->value;
    loop.states = states->fields;
    const auto result = As<TupleType>(call.ty());
    if (!result.defined()) Fail("its results are not known");
    for (const Type& field : result->fields) {
      const auto* tensor = field.as<TensorTypeNode>();
      if (tensor == nullptr || !tensor->has_shape()) Fail("a result has no known shape");
    }
    loop.result = result;
    return loop;
  }

  IRModule module_;
  const transform::PassContext& context_;
  FunctionNames names_;
  String function_;
  std::unordered_map<const Object*, Call> closures_;
  std::vector<std::pair<GlobalVar, PrimFunc>> added_;
  std::vector<transform::Decision> refused_;
};

}  // namespace

Pass FuseLoops() {
  return transform::ModulePass({.name = "FuseLoops"}, [](IRModule module, const transform::PassContext& context) {
    if (transform::AsTVM(context)) return module;
    // Loops in steps of loops come first: the next round finds kernels in their places, and their functions gone.
    bool any = false;
    while (true) {
      LoopFuser fuser(std::move(module), context);
      const bool changed = fuser.Run();
      if (!changed) fuser.RecordRefusals();
      module = std::move(fuser.module());
      if (!changed) break;
      any = true;
      module = DeadCodeElimination()(std::move(module));
    }
    return any ? FuseTIR()(fusion::PutLoopsSideBySide(std::move(module))) : module;
  });
}

}  // namespace deuteron::relax
