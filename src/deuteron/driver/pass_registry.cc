#include "deuteron/driver/pass_registry.h"

#include <algorithm>
#include <utility>

#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/driver/pipeline.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/relax/transform/vm_passes.h"

namespace deuteron {
namespace {

std::vector<PassEntry>& Table() {
  using Args = const PassArguments&;
  static auto* table = new std::vector<PassEntry>{
      {"CanonicalizeBindings", "removes trivial bindings: copies, projections of known tuples, casts that check nothing", {},
       [](Args) { return relax::CanonicalizeBindings(); }},
      {"ConvertToDataflow", "gathers runs of pure bindings into dataflow blocks", {"min_size"},
       [](Args args) { return relax::ConvertToDataflow(args.Int("min_size", 2)); }},
      {"ToNonDataflow", "opens every dataflow block", {}, [](Args) { return relax::ToNonDataflow(); }},
      {"DecomposeOpsForInference", "writes batch_norm and other composite operators out in simpler ones", {"func_name"},
       [](Args args) { return relax::DecomposeOpsForInference(args.String("func_name", "")); }},
      {"FoldBatchnormToConv2D", "folds an inference batch_norm into the weights of the convolution before it", {},
       [](Args) { return relax::FoldBatchnormToConv2D(); }},
      {"FoldConstant", "evaluates what depends on constants only", {},
       [](Args) { return relax::FoldConstant(MakeConstantEvaluator()); }},
      {"DeadCodeElimination", "removes unused pure bindings and unreachable functions", {"entry_functions"},
       [](Args args) { return relax::DeadCodeElimination(args.Strings("entry_functions")); }},
      {"CombineParallelMatmul", "combines products of the same left operand into one", {},
       [](Args) { return relax::CombineParallelMatmul(); }},
      {"ConvertLayout", "gives operators the layouts asked for and lets the others follow", {"desired_layouts"},
       [](Args args) { return relax::ConvertLayout(args.StringLists("desired_layouts")); }},
      {"AlterOpLayout", "lets operators choose their layouts for the target", {"target"},
       [](Args args) {
         const std::string target = args.String("target", "");
         return relax::AlterOpLayout({}, target.empty() ? std::nullopt : std::optional(Target::Parse(target)));
       }},
      {"FastMathTransform", "computes exp, tanh, erf and softmax by approximations", {},
       [](Args) { return relax::FastMathTransform(); }},
      {"LegalizeOps", "replaces operators by calls of loop-level functions", {"skip_ops"},
       [](Args args) { return relax::LegalizeOps({}, args.Strings("skip_ops")); }},
      {"AnnotateTIROpPattern", "sets the attribute op_pattern of every loop-level function", {},
       [](Args) { return relax::AnnotateTIROpPattern(); }},
      {"FuseOps", "groups calls of loop-level functions into Primitive functions",
       {"fuse_opt_level", "wrap_single", "relay_rules"},
       [](Args args) {
         return relax::FuseOps({.fuse_opt_level = static_cast<int>(args.Int("fuse_opt_level", -1)),
                                .wrap_single = args.Bool("wrap_single", false),
                                .relay_rules = args.Bool("relay_rules", false)});
       }},
      {"FuseReductions", "merges the kernels of chains of reductions along the same rows", {},
       [](Args) { return relax::FuseReductions(); }},
      {"FuseSiblings", "merges kernels that read the same tensor in the same order", {},
       [](Args) { return relax::FuseSiblings(); }},
      {"FuseTIR", "merges the loop-level functions of each Primitive function into one", {},
       [](Args) { return relax::FuseTIR(); }},
      {"ExpandTupleArguments", "passes the fields of tuple parameters of private functions one by one", {},
       [](Args) { return relax::ExpandTupleArguments(); }},
      {"RemoveUnusedParameters", "removes parameters of private functions that nothing uses", {},
       [](Args) { return relax::RemoveUnusedParameters(); }},
      {"CombineMatmulsOfOneWeight", "products of several inputs with one weight become one product", {},
       [](Args) { return relax::CombineMatmulsOfOneWeight(); }},
      {"PackConvWeights", "lays constant convolution weights out for the kernels that read them", {},
       [](Args) { return relax::PackConvWeights(); }},
      {"ScheduleForCPU", "schedules every loop-level function for the current target", {},
       [](Args) { return SchedulePass(Target::Current()); }},
      {"ComputePrimValue", "computes scalar expressions in functions that are called instead", {},
       [](Args) { return relax::ComputePrimValue(); }},
      {"RemovePurityChecking", "lets pure functions hold calls with side effects", {},
       [](Args) { return relax::RemovePurityChecking(); }},
      {"CallTIRRewrite", "makes the outputs of calls of kernels explicit", {}, [](Args) { return relax::CallTIRRewrite(); }},
      {"StaticPlanBlockMemory", "places tensors in few storages that are reused", {},
       [](Args) { return relax::StaticPlanBlockMemory(); }},
      {"LowerAllocTensor", "turns what is left of builtin.alloc_tensor into a storage and a tensor in it", {},
       [](Args) { return relax::LowerAllocTensor(); }},
      {"KillAfterLastUse", "says after its last use that a tensor or storage is dead", {},
       [](Args) { return relax::KillAfterLastUse(); }},
      {"LowerKernels", "keeps the loop-level functions alone, lowered for code generation", {},
       [](Args) { return LowerKernels(Target::Current()); }},
      {"GenerateCode", "generates code for the current target and drops it: to reproduce errors of code generation", {},
       [](Args) { return GenerateCode(Target::Current()); }},
      {"PrintIR", "prints the module on standard error", {"header"},
       [](Args args) { return PrintIR(args.String("header", "")); }},
  };
  return *table;
}

}  // namespace

std::span<const PassEntry> AllPasses() { return Table(); }

const PassEntry* FindPass(std::string_view name) {
  const auto it =
      std::find_if(Table().begin(), Table().end(), [&](const PassEntry& entry) { return entry.name == name; });
  return it == Table().end() ? nullptr : &*it;
}

void RegisterPass(PassEntry entry) {
  if (FindPass(entry.name) != nullptr) DEUTERON_THROW(UsageError) << "there is a pass " << entry.name << " already";
  Table().push_back(std::move(entry));
}

}  // namespace deuteron
