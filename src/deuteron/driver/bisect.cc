#include "deuteron/driver/bisect.h"

#include <unordered_map>

#include "deuteron/driver/equivalence.h"
#include "deuteron/driver/main_slice.h"
#include "deuteron/driver/reduce.h"
#include "deuteron/relax/analysis/well_formed.h"
#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/script/printer.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

using relax::Binding;
using relax::Var;
using transform::Pass;

class Bisector {
 public:
  explicit Bisector(const BisectOptions& options) : options_(options), plain_(options.verify.compile) {
    plain_.instruments.clear();
  }

  BisectResult Run(const IRModule& module) {
    const Target target = Target::Parse(compile().target, compile().threads);
    const TargetScope target_scope(target);
    const transform::PassContext::Scope scope(MakeContext(options_.verify.compile));
    through_ = LeastPrecisions(module, compile().precision);
    arguments_ = MakeArguments(module);
    oracle_ = Oracle(module, compile(), options_.verify.symbolic_extent, options_.verify.most_interpreted);
    Tell(DescribeOracle(oracle_.interprets()));
    expected_ = oracle_.Run(module, arguments_);
    IRModule current = module;
    for (const Pass& pass : options_.passes.empty() ? VerifiedPasses(compile()) : options_.passes) {
      Tell(pass->info.name);
      const IRModule before = current;
      const VerifiedStage stage = RunPass(pass, &current);
      result_.stages.push_back(stage);
      if (!stage.problem.empty()) {
        Blame(pass->info.name, stage, before, pass, [this, pass](const IRModule& m) { return PassFails(pass, m); });
        return std::move(result_);
      }
      if (current.same_as(before) && result_.stages.size() > 1) continue;
      // Else that is what was compared just now.
      if (!oracle_.interprets() && !options_.after_lowering) continue;
      const std::string name = "compiled code after " + std::string(pass->info.name);
      Tell(name);
      const VerifiedStage compiled = Compare(name, through_, expected_, [&] { return Compiled(current, arguments_); });
      result_.stages.push_back(compiled);
      if (!compiled.problem.empty()) {
        Blame(name, compiled, current, Pass(), [this](const IRModule& m) { return CodeFails(m); });
        return std::move(result_);
      }
    }
    return std::move(result_);
  }

 private:
  /// What flags want to see of passes is the walk over them, not what compares and reduces.
  const CompileOptions& compile() const { return plain_; }
  Arguments MakeArguments(const IRModule& module) const {
    return RandomArguments(module, options_.verify.seed, options_.verify.symbolic_extent);
  }
  std::vector<Tensor> Compiled(const IRModule& module, const Arguments& arguments) const {
    return RunCompiled(module, arguments, compile(), options_.after_lowering);
  }

  void Tell(const std::string& what) const {
    if (options_.verify.progress) options_.verify.progress(what);
  }

  /// Compares what is computed with `expected`, results of a module with LeastPrecisions `through`.
  VerifiedStage Compare(const std::string& name, const std::vector<DataType>& through,
                        const std::vector<Tensor>& expected,
                        const std::function<std::vector<Tensor>()>& compute) const {
    VerifiedStage stage{.name = name};
    try {
      const Difference difference = CompareResults(expected, compute(), options_.verify.tolerance, through);
      stage.error = difference.error;
      stage.problem = difference.problem;
    } catch (const ffi::Error& error) {
      stage.problem = error.kind() + ": " + error.message();
    }
    return stage;
  }

  VerifiedStage RunPass(const Pass& pass, IRModule* module) const {
    return Compare(pass->info.name, through_, expected_, [&] {
      const IRModule before = *module;
      *module = pass(*module);
      relax::CheckWellFormed(*module);
      return module->same_as(before) ? expected_ : oracle_.Run(*module, arguments_);
    });
  }

  /// Whether `pass` changes what `module` computes, or fails on it. The module itself must be sound.
  bool PassFails(const Pass& pass, const IRModule& module) const {
    const Arguments arguments = MakeArguments(module);
    const std::vector<Tensor> expected = oracle_.Run(module, arguments);
    return !Compare("", LeastPrecisions(module, compile().precision), expected, [&] {
              const IRModule after = pass(module);
              relax::CheckWellFormed(after);
              return oracle_.Run(after, arguments);
            }).problem.empty();
  }
  /// Whether the code made of `module` computes something else than the interpreter.
  bool CodeFails(const IRModule& module) const {
    const Arguments arguments = MakeArguments(module);
    const std::vector<Tensor> expected = oracle_.Run(module, arguments);
    return !Compare("", LeastPrecisions(module, compile().precision), expected, [&] {
              return Compiled(module, arguments);
            }).problem.empty();
  }

  /// Names the value and reduces the module. `given`: to the step that fails. `pass`: that step; null if it is code
  /// generation.
  void Blame(const std::string& culprit, const VerifiedStage& stage, const IRModule& given, const Pass& pass,
             const StillFails& still_fails) {
    result_.culprit = culprit;
    result_.problem = stage.problem;
    const transform::PassContext::Scope scope(MakeContext(compile()));
    const IRModule before = Opened(given, still_fails);
    try {
      FindValue(before, pass.defined() ? pass(before) : IRModule());
    } catch (const std::exception&) {
      // Intermediate values of this stage cannot be looked at (memory is planned already): the pass is all there is to
      // say.
    }
    Tell("reducing the module");
    const ReduceOptions reduce{options_.max_candidates};
    result_.bindings_before = static_cast<int64_t>(MainBindings(before).size());
    result_.reduced = ReduceBindings(before, still_fails, reduce);
    result_.bindings = static_cast<int64_t>(MainBindings(result_.reduced).size());
    result_.reduced_text = ReduceSizes(result_.reduced, still_fails, reduce);
  }

  /// `module` with private functions in the place of their calls, so that what they compute is seen in `main`; as it is
  /// if that no longer fails.
  static IRModule Opened(const IRModule& module, const StillFails& still_fails) {
    try {
      IRModule opened = relax::InlinePrivateFunctions()(module);
      return opened.same_as(module) || !still_fails(opened) ? module : opened;
    } catch (const ffi::Error&) {
      return module;
    }
  }

  void FindValue(const IRModule& before, const IRModule& after) {
    const bool is_code = !after.defined();
    const IRModule& module = is_code ? before : after;
    // What is right, by name.
    std::unordered_map<std::string, Tensor> right;
    const std::vector<Var> reference = TensorVars(before);
    const std::vector<Tensor> values = RunAll(before, reference);
    for (size_t i = 0; i < reference.size(); ++i)
      right.insert_or_assign(std::string(reference[i]->name_hint), values[i]);
    std::vector<Var> vars;
    for (const Var& var : TensorVars(module)) {
      if (right.count(std::string(var->name_hint))) vars.push_back(var);
    }
    const size_t first = FirstWrong(module, vars, right, is_code);
    if (first == vars.size()) return;
    for (const Binding& binding : MainBindings(module)) {
      if (binding->var.same_as(vars[first])) Name(binding, module);
    }
  }

  std::vector<Tensor> RunAll(const IRModule& module, const std::vector<Var>& vars) const {
    const IRModule exposed = SliceMain(module, vars);
    return oracle_.Run(exposed, ArgumentsOf(module, exposed));
  }
  /// The arguments of a slice: the parameters that it still has.
  Arguments ArgumentsOf(const IRModule& module, const IRModule& sliced) const {
    const auto all = Downcast<relax::Function>(module.Lookup("main"))->params;
    Arguments arguments;
    for (const Var& param : Downcast<relax::Function>(sliced.Lookup("main"))->params) {
      for (size_t i = 0; i < all.size(); ++i) {
        if (all[i].same_as(param)) arguments.push_back(arguments_.at(i));
      }
    }
    return arguments;
  }

  /// The position of the first of `vars` whose value is not right; their number if there is none.
  size_t FirstWrong(const IRModule& module, const std::vector<Var>& vars,
                    const std::unordered_map<std::string, Tensor>& right, bool is_code) const {
    const auto is_wrong = [&](size_t first, size_t last) -> std::optional<size_t> {
      const std::vector<Var> some(vars.begin() + static_cast<int64_t>(first),
                                  vars.begin() + static_cast<int64_t>(last));
      const IRModule exposed = SliceMain(module, some);
      const Arguments arguments = ArgumentsOf(module, exposed);
      const std::vector<Tensor> values = is_code ? Compiled(exposed, arguments) : oracle_.Run(exposed, arguments);
      const std::vector<DataType> through = LeastPrecisions(exposed, compile().precision);
      for (size_t i = 0; i < some.size(); ++i) {
        const auto& expected = right.at(std::string(some[i]->name_hint));
        const Difference difference = CompareResults({expected}, {values[i]}, options_.verify.tolerance, {through[i]});
        if (!difference.problem.empty()) return first + i;
      }
      return std::nullopt;
    };
    try {
      return is_wrong(0, vars.size()).value_or(vars.size());
    } catch (const ffi::Error&) {
      // One of them cannot be computed at all: the first prefix that fails.
    }
    size_t low = 0;
    size_t high = vars.size();
    while (low < high) {
      const size_t middle = (low + high) / 2;
      bool good = false;
      try {
        good = !is_wrong(0, middle + 1).has_value();
      } catch (const ffi::Error&) {
      }
      (good ? low : high) = good ? middle + 1 : middle;
    }
    return low;
  }

  void Name(const Binding& binding, const IRModule& module) {
    Binding named = binding;
    // An item of a tuple is computed where the tuple is.
    if (const auto* item = relax::BoundValue(binding).as<relax::TupleGetItemNode>()) {
      for (const Binding& other : MainBindings(module)) {
        if (other->var.same_as(item->tuple)) named = other;
      }
    }
    const relax::Expr& value = relax::BoundValue(named);
    result_.value = std::string(binding->var->name_hint);
    const Span span = named->span.defined() ? named->span : value->span;
    if (span.defined())
      result_.place = std::string(span->source) + (span->line > 0 ? ":" + std::to_string(span->line) : "");
    const auto* call = value.as<relax::CallNode>();
    if (call == nullptr) return;
    const relax::Expr& callee = relax::IsAnyCallTIR(value) || relax::IsCallDPSPacked(value) ? call->args[0] : call->op;
    if (const auto* global = callee.as<GlobalVarNode>()) result_.kernel = std::string(global->name_hint);
    if (const auto* op = callee.as<OpNode>()) result_.kernel = std::string(op->name);
    if (const auto* external = callee.as<relax::ExternFuncNode>())
      result_.kernel = std::string(external->global_symbol);
  }

  const BisectOptions& options_;
  CompileOptions plain_;
  Oracle oracle_;
  std::vector<DataType> through_;
  Arguments arguments_;
  std::vector<Tensor> expected_;
  BisectResult result_;
};

}  // namespace

BisectResult Bisect(const IRModule& module, const BisectOptions& options) { return Bisector(options).Run(module); }

}  // namespace deuteron
