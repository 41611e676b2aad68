/// \file
/// Partition for oneDNN: which operators it takes, and how far the chain of post-operations behind each goes.
///
/// Every operator that oneDNN has a primitive for begins a chain; pooling, concatenation and elementwise operators only
/// behind another of its kernels on images, whose layout they keep. The chain grows by what uses its last value, if
/// nothing else uses that: one operator, or several that spell out an activation (x * 0.5 * (1 + erf(x / √2))), as long
/// as DescribeComposite knows the whole as one kernel. Chains are of any length, which is why this is no list of
/// patterns. What was taken and what refused goes into the decision log.
///
/// Quantised operators come first, while weights are still integers: a chain then holds copies of what makes its
/// operands numbers (dequantize; astype and subtract), and goes on through quantize. The originals stay for other users
/// and are removed where there are none.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "deuteron/backend/dnnl/block_uses.h"
#include "deuteron/backend/dnnl/composite.h"
#include "deuteron/backend/dnnl/dnnl.h"
#include "deuteron/backend/dnnl/paying_chains.h"
#include "deuteron/backend/dnnl/quantized.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/relax/rewrite/seq_rewriter.h"
#include "deuteron/relax/rewrite/var_replacer.h"
#include "deuteron/relax/transform/fusion/group_function.h"
#include "deuteron/support/number_text.h"
#include "deuteron/target/target.h"

namespace deuteron::backend::dnnl {
namespace {

using relax::Binding;
using relax::BindingBlock;
using relax::BoundValue;
using relax::Expr;
using relax::Function;
using relax::fusion::GroupFunction;
using transform::Reason;

/// Operators that begin a chain; the name of their composites.
const char* AnchorName(const std::string& op) {
  static const std::unordered_map<std::string, const char*> kAnchors = {
      {"nn.conv1d", "dnnl.conv1d"},
      {"nn.conv2d", "dnnl.conv2d"},
      {"nn.conv3d", "dnnl.conv3d"},
      {"matmul", "dnnl.matmul"},
      {"nn.dense", "dnnl.dense"},
      {"nn.max_pool1d", "dnnl.max_pool1d"},
      {"nn.max_pool2d", "dnnl.max_pool2d"},
      {"nn.max_pool3d", "dnnl.max_pool3d"},
      {"nn.avg_pool1d", "dnnl.avg_pool1d"},
      {"nn.avg_pool2d", "dnnl.avg_pool2d"},
      {"nn.avg_pool3d", "dnnl.avg_pool3d"},
      {"nn.adaptive_avg_pool1d", "dnnl.global_avg_pool"},
      {"nn.softmax", "dnnl.softmax"},
      {"nn.adaptive_avg_pool2d", "dnnl.global_avg_pool"},
      {"nn.layer_norm", "dnnl.layer_norm"},
      {"nn.adaptive_avg_pool3d", "dnnl.global_avg_pool"},
      {"mean", "dnnl.global_avg_pool"},
      {"concat", "dnnl.concat"},
      {"add", "dnnl.binary"},
      {"multiply", "dnnl.binary"},
      {"subtract", "dnnl.binary"}};
  const auto it = kAnchors.find(op);
  return it == kAnchors.end() ? nullptr : it->second;
}

/// Those of them that oneDNN multiplies integers for.
const char* QuantizedAnchorName(const std::string& op) {
  static const std::unordered_map<std::string, const char*> kAnchors = {{"nn.conv1d", "dnnl.quantized_conv1d"},
                                                                        {"nn.conv2d", "dnnl.quantized_conv2d"},
                                                                        {"nn.conv3d", "dnnl.quantized_conv3d"},
                                                                        {"matmul", "dnnl.quantized_matmul"},
                                                                        {"nn.dense", "dnnl.quantized_dense"}};
  const auto it = kAnchors.find(op);
  return it == kAnchors.end() ? nullptr : it->second;
}

/// The most bindings of an activation that is spelled out, and how far apart they may stand.
constexpr size_t kLongestActivation = 8;
constexpr size_t kWindow = 16;

struct PartitionMode {
  bool quantized;
  /// Only what is estimated to pay.
  bool only_paying;
  /// Of 0 expected runs: in any number of them, whatever it takes to make the kernels.
  Surroundings around = {};
};

/// The chains of one dataflow block.
class BlockChains {
 public:
  BlockChains(const BindingBlock& block, PartitionMode mode, const std::string& function, transform::DecisionLog* log)
      : uses_(block, mode.quantized),
        bindings_(uses_.bindings()),
        quantized_(mode.quantized),
        function_(function),
        log_(log),
        taken_(bindings_.size()) {
    for (size_t i = 0; i < bindings_.size(); ++i) Begin(i);
    if (mode.only_paying) KeepPaying(mode.around);
    for (const auto& [last, chain] : chains_) {
      Record(chain.members.front(), chain.name, Reason::kLibrary,
             std::to_string(chain.members.size()) + (chain.members.size() == 1 ? " operator" : " operators") +
                 " as one primitive");
    }
  }

  /// By their last bindings.
  const std::map<size_t, Chain>& chains() const { return chains_; }
  bool taken(size_t index) const { return taken_[index]; }
  const std::vector<Binding>& bindings() const { return bindings_; }

  /// The Composite function of `members` and, in `group`, what it is called with.
  Function MakeFunction(const char* name, const std::vector<size_t>& members, GroupFunction* group) const {
    relax::VarReplacer copies;
    for (const size_t index : WithOperands(members)) {
      const Binding binding = copies.Replace(bindings_[index]);
      const relax::Var& var = binding->var;
      const bool is_copy = quantized_ && std::find(members.begin(), members.end(), index) == members.end();
      if (!is_copy) {
        group->Append(binding);
        continue;
      }
      // Another chain may have one, too.
      const relax::DataflowVar copy(var->name_hint, var.ty(), var->span);
      copies.Set(var, copy);
      group->Append(relax::VarBinding(copy, BoundValue(binding), binding->span));
    }
    group->AddOutput(bindings_[members.back()]->var);
    group->Finish();
    return group->Build({{"Composite", String(name)}});
  }

 private:
  /// `members` and what makes their operands numbers, in order.
  std::vector<size_t> WithOperands(const std::vector<size_t>& members) const {
    if (!quantized_) return members;
    std::set<size_t> all(members.begin(), members.end());
    std::vector<size_t> open = members;
    while (!open.empty()) {
      const size_t next = open.back();
      open.pop_back();
      relax::VisitLeaves(BoundValue(bindings_[next]), [&](const Expr& leaf) {
        const size_t* operand = uses_.Operand(leaf.get());
        if (operand != nullptr && !taken_[*operand] && all.insert(*operand).second) open.push_back(*operand);
      });
    }
    return {all.begin(), all.end()};
  }

  bool HasQuantizedOperand(const relax::CallNode* call) const {
    return std::any_of(call->args.begin(), call->args.end(),
                       [&](const Expr& arg) { return uses_.Operand(arg.get()) != nullptr; });
  }

  /// Whether `value` is the result of another kernel on images, which has channels in the innermost place: of planes
  /// one after the other oneDNN's pooling is tens of times slower than generated code.
  bool IsLaidOut(const Expr& value) const {
    const size_t* at = uses_.Definition(value.get());
    if (at == nullptr) return false;
    if (const auto chain = chains_.find(*at); chain != chains_.end()) {
      const std::string_view name = chain->second.name;
      return IsBetween(name) || IsPooling(name) || name.find("conv") != std::string_view::npos;
    }
    // Quantised kernels are functions already.
    const auto* call = BoundValue(bindings_[*at]).as<relax::CallNode>();
    return call != nullptr && call->op->kind == RelaxKind::kGlobalVar;
  }

  /// Whether an operand (for a concatenation, all) is laid out.
  bool HasLaidOutOperands(const relax::CallNode* call) const {
    const auto is_laid_out = [&](const Expr& expr) { return IsLaidOut(expr); };
    if (const auto* tuple = call->args[0].as<relax::TupleNode>())
      return std::all_of(tuple->fields.begin(), tuple->fields.end(), is_laid_out);
    return std::any_of(call->args.begin(), call->args.end(), is_laid_out);
  }

  void Begin(size_t index) {
    const auto* call = BoundValue(bindings_[index]).as<relax::CallNode>();
    if (taken_[index] || call == nullptr || call->op.as<OpNode>() == nullptr) return;
    const std::string op = relax::OpName(GetRef<relax::Call>(call));
    const char* name = quantized_ ? QuantizedAnchorName(op) : AnchorName(op);
    if (name == nullptr || (quantized_ && !HasQuantizedOperand(call))) return;
    if (IsBetween(name) && !HasLaidOutOperands(call)) return;
    if (IsPooling(name) && !IsLaidOut(call->args[0])) {
      return Record(index, name, Reason::kLibraryRefuses,
                    "oneDNN does not take it: it pools fast only what another of its kernels has laid out");
    }
    Chain chain{name, {index}};
    std::string why;
    // Sums of integers may be a kernel only as the floats that they become.
    if (!IsKernel(chain, &why) && !(quantized_ && Grow(&chain)))
      return Record(index, name, Reason::kLibraryRefuses, "oneDNN does not take it: it holds " + why);
    while (Grow(&chain)) {
    }
    for (const size_t member : chain.members) taken_[member] = true;
    chains_.emplace(chain.members.back(), std::move(chain));
  }

  std::optional<JsonKernel> KernelOf(const Chain& chain, std::string* why) const {
    GroupFunction group({.bind_constants = true});
    return DescribeComposite(MakeFunction(chain.name, chain.members, &group), why, &constants_);
  }
  bool IsKernel(const Chain& chain, std::string* why) const { return KernelOf(chain, why).has_value(); }

  // ----- The choice between the library and generated code.

  /// Gives up the chains that generated code is estimated to compute better. Their verdicts have both estimates.
  void KeepPaying(const Surroundings& around) {
    std::vector<DescribedChain> described;
    for (const auto& [last, chain] : chains_) described.push_back({chain, *KernelOf(chain, nullptr)});
    const std::vector<ChainVerdict> verdicts = ChoosePaying(uses_, described, around);
    size_t index = 0;
    for (auto it = chains_.begin(); it != chains_.end(); ++index) {
      const auto& [is_library, estimate] = verdicts[index];
      RecordChoice(it->second, estimate, is_library, around.expected_runs);
      if (is_library) {
        ++it;
        continue;
      }
      for (const size_t member : it->second.members) taken_[member] = false;
      it = chains_.erase(it);
    }
  }

  void RecordChoice(const Chain& chain, const KernelEstimate& estimate, bool is_library, int64_t expected_runs) const {
    const auto microseconds = [](double seconds) { return NumberText(1e6 * seconds, "%.3g µs"); };
    std::string text =
        "the library " + microseconds(estimate.library) + ", generated code " + microseconds(estimate.generated);
    if (expected_runs > 0) {
      text += " a run, of which " + std::to_string(expected_runs) + "; and once " +
              microseconds(estimate.library_once) + ", " + microseconds(estimate.generated_once);
    }
    const bool is_faster = estimate.library < estimate.generated;
    const bool is_sooner = expected_runs > 0 && estimate.library_once < estimate.generated_once;
    const Reason of_library = is_faster   ? Reason::kLibraryFaster
                              : is_sooner ? Reason::kLibrarySooner
                                          : Reason::kLibraryAsNeighbours;
    const Reason of_generated = is_faster ? Reason::kGeneratedAsNeighbours : Reason::kGeneratedFaster;
    Record(chain.members.front(), chain.name, is_library ? of_library : of_generated, text,
           {{"library_ns", std::llround(1e9 * estimate.library)},
            {"generated_ns", std::llround(1e9 * estimate.generated)}});
  }

  // ----- Growing chains.

  /// Adds the next post-operation, if there is one.
  bool Grow(Chain* chain) const {
    const relax::Var& last = bindings_[chain->members.back()]->var;
    const std::vector<size_t>& users = uses_.Users(last.get());
    if (last->kind != RelaxKind::kDataflowVar || users.empty()) return false;
    for (const auto& next : Candidates(last, users)) {
      if (!MayFollow(last, next)) continue;
      Chain longer = *chain;
      longer.members.insert(longer.members.end(), next.begin(), next.end());
      if (!IsKernel(longer, nullptr)) continue;
      *chain = std::move(longer);
      return true;
    }
    return false;
  }

  /// Whether bindings may be post-operations on `value`, as far as is seen without making a function of them: results
  /// of its shape, of operators that begin no chain other than one between kernels.
  bool MayFollow(const relax::Var& value, const std::vector<size_t>& next) const {
    const auto* type = value.ty().as<TensorTypeNode>();
    const auto* result = bindings_[next.back()]->var.ty().as<TensorTypeNode>();
    if (type == nullptr || result == nullptr || type->ndim < 0 || type->ndim != result->ndim) return false;
    if (StaticDims(value.ty()) != StaticDims(bindings_[next.back()]->var.ty())) return false;
    return std::none_of(next.begin(), next.end(), [&](size_t index) {
      const auto* call = BoundValue(bindings_[index]).as<relax::CallNode>();
      if (call == nullptr || call->op.as<OpNode>() == nullptr) return true;
      const char* name = AnchorName(relax::OpName(GetRef<relax::Call>(call)));
      return name != nullptr && std::string_view(name) != "dnnl.binary";
    });
  }

  /// Sets of bindings that use `value`, all that use it, and that only the last of them passes anything on of: the
  /// shortest first.
  std::vector<std::vector<size_t>> Candidates(const relax::Var& value, const std::vector<size_t>& users) const {
    std::vector<std::vector<size_t>> candidates;
    std::vector<size_t> members;
    std::unordered_set<const Object*> inside = {value.get()};
    // Uses of `inside` by bindings that are not members yet.
    std::set<size_t> open(users.begin(), users.end());
    while (!open.empty() && members.size() < kLongestActivation) {
      const size_t next = *open.begin();
      open.erase(open.begin());
      if (taken_[next] || next > users.front() + kWindow) break;
      members.push_back(next);
      const relax::Var& var = bindings_[next]->var;
      if (open.empty()) candidates.push_back(members);
      if (var->kind != RelaxKind::kDataflowVar) break;
      const std::vector<size_t>& more = uses_.Users(var.get());
      open.insert(more.begin(), more.end());
    }
    return candidates;
  }

  void Record(size_t index, const char* name, Reason reason, std::string message,
              std::vector<transform::Figure> figures = {}) const {
    log_->Add({.pass = "PartitionFor",
               .function = function_,
               .subject = bindings_[index]->var->name_hint,
               .object = name,
               .reason = reason,
               .message = std::move(message),
               .figures = std::move(figures),
               .subject_span = BoundValue(bindings_[index])->span});
  }

  const BlockUses uses_;
  const std::vector<Binding>& bindings_;
  bool quantized_;
  std::string function_;
  transform::DecisionLog* log_;
  /// Of kernels that are described again with each operator that they grow by.
  mutable CentredConstants constants_;
  std::vector<bool> taken_;
  std::map<size_t, Chain> chains_;
};

class Partitioner : public relax::SeqRewriter {
 public:
  Partitioner(IRModule module, PartitionMode mode, transform::DecisionLog* log)
      : module_(std::move(module)), names_(module_), mode_(mode), log_(log) {
    mode_.around.made = &made_;
    for (const auto& [var, function] : module_->functions) {
      const auto name = function->GetAttr<String>("Composite");
      mode_.around.library_is_open |= name && std::string(*name).starts_with("dnnl.");
    }
    relax::ForEachBinding(module_, [&](const Binding& binding) {
      static const Op kMakeClosure = Op::Get("relax.make_closure");
      const auto* call = BoundValue(binding).as<relax::CallNode>();
      if (call != nullptr && call->op.same_as(kMakeClosure))
        steps_.emplace(Downcast<GlobalVar>(call->args[0])->name_hint);
    });
  }

  bool IsStep(const GlobalVar& name) const { return steps_.count(std::string(name->name_hint)) != 0; }

  Function Run(const GlobalVar& name, const Function& function) {
    function_ = std::string(name->name_hint);
    mode_.around.is_step = IsStep(name);
    Function result = RewriteBody(function);
    return mode_.quantized && !result.same_as(function) ? relax::RemoveAllUnused(result, module_) : result;
  }
  const std::vector<std::pair<GlobalVar, Function>>& added() const { return added_; }

 private:
  BindingBlock RewriteBlock(const BindingBlock& block) override {
    BindingBlock inner = SeqRewriter::RewriteBlock(block);
    if (!inner->IsInstance<relax::DataflowBlockNode>()) return inner;
    const BlockChains chains(inner, mode_, function_, log_);
    if (chains.chains().empty()) return inner;
    mode_.around.library_is_open = true;
    Array<Binding> bindings;
    for (size_t i = 0; i < chains.bindings().size(); ++i) {
      // A chain stands where its last binding stood.
      const auto it = chains.chains().find(i);
      if (it != chains.chains().end()) {
        bindings.push_back(CallOf(chains, it->second));
      } else if (!chains.taken(i)) {
        bindings.push_back(chains.bindings()[i]);
      }
    }
    return relax::DataflowBlock(std::move(bindings));
  }

  Binding CallOf(const BlockChains& chains, const Chain& chain) {
    GroupFunction group({.bind_constants = true});
    const Function function = chains.MakeFunction(chain.name, chain.members, &group);
    const GlobalVar callee(String(names_.Unique(group.name())), function->ty);
    added_.emplace_back(callee, function);
    const Binding& last = chains.bindings()[chain.members.back()];
    relax::Call call(callee, Array<Expr>(group.arguments().begin(), group.arguments().end()), Attrs(), {},
                     BoundValue(chains.bindings()[chain.members.front()])->span);
    call->ty = group.ReturnType();
    return relax::VarBinding(last->var, call, last->span);
  }

  IRModule module_;
  relax::FunctionNames names_;
  std::set<std::string> made_;
  /// Functions that are steps of loops.
  std::unordered_set<std::string> steps_;
  PartitionMode mode_;
  transform::DecisionLog* log_;
  std::string function_;
  std::vector<std::pair<GlobalVar, Function>> added_;
};

IRModule RunPartition(IRModule module, PartitionMode mode, const transform::PassContext& context) {
  Partitioner partitioner(module, mode, context.decisions.get());
  // Steps of loops first: what they open others have for nothing.
  for (const bool steps : {true, false}) {
    module = relax::UpdateFunctions(std::move(module), [&](const GlobalVar& name, const Function& function) {
      return partitioner.IsStep(name) == steps ? partitioner.Run(name, function) : function;
    });
  }
  for (const auto& [var, function] : partitioner.added()) module.Update(var, function);
  return module;
}

/// Without these instructions oneDNN adds two products of bytes in 16 bits, where they may not fit.
bool MultipliesBytes(const Target& target) { return target.HasFeature("avx512vnni") || target.HasFeature("avxvnni"); }

transform::Pass PartitionBy(PartitionMode mode) {
  return transform::ModulePass(
      {.name = "PartitionFor"}, [mode](IRModule module, const transform::PassContext& context) {
        if (!mode.quantized || MultipliesBytes(Target::Current())) {
          const PartitionMode in_runs{
              mode.quantized,
              mode.only_paying,
              {.expected_runs = context.GetInt("expected_runs"), .expected_starts = context.GetInt("expected_starts")}};
          return RunPartition(std::move(module), in_runs, context);
        }
        context.decisions->Add({.pass = "PartitionFor",
                                .function = "",
                                .subject = "dnnl",
                                .reason = Reason::kLibraryRefuses,
                                .message =
                                    "oneDNN takes no quantised operators: on a CPU without VNNI its sums of products "
                                    "of bytes may overflow"});
        return module;
      });
}

}  // namespace

transform::Pass Partition() { return PartitionBy({.quantized = false, .only_paying = false}); }
transform::Pass PartitionQuantized() { return PartitionBy({.quantized = true, .only_paying = false}); }
transform::Pass PartitionPaying(bool quantized) { return PartitionBy({.quantized = quantized, .only_paying = true}); }

}  // namespace deuteron::backend::dnnl
