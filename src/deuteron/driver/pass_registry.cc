#include "deuteron/driver/pass_registry.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "deuteron/backend/backends.h"
#include "deuteron/backend/cutlass/patterns.h"
#include "deuteron/backend/partition.h"
#include "deuteron/driver/annotation_text.h"
#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/driver/kernel_passes.h"
#include "deuteron/driver/tune_schedules.h"
#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/dpl/pattern_text.h"
#include "deuteron/relax/dpl/registry.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/support/npy.h"
#include "deuteron/support/safetensors.h"
#include "deuteron/tir/transform/prim_func_pass.h"
#include "deuteron/tir/transform/views.h"

namespace deuteron {
namespace {

/// Tensors by name: those of a .safetensors file, or the files NAME.npy of a folder.
std::map<std::string, Tensor> ReadParams(const std::string& path) {
  if (path.empty()) {
    DEUTERON_THROW(UsageError)
        << "BindParams: argument params is missing: a .safetensors file, or a folder of files NAME.npy";
  }
  std::map<std::string, Tensor> params;
  if (!std::filesystem::is_directory(path)) {
    for (auto& [name, tensor] : ReadSafeTensors(path)) params.emplace(name, tensor);
    return params;
  }
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".npy") params[entry.path().stem()] = ReadNpy(entry.path());
  }
  return params;
}

/// BindParams that reads its tensors when it runs.
transform::Pass BindParamsOf(const std::string& func_name, const std::string& path) {
  return transform::ModulePass({.name = "BindParams"},
                               [func_name, path](IRModule module, const transform::PassContext& context) {
                                 relax::BindParams(func_name, ReadParams(path))->Run(&module, context);
                                 return module;
                               });
}

/// {cutlass: {arch: sm_90, flags: [-lineinfo]}}
Map<String, Any> TargetOptions(const PassArguments& args) {
  Map<String, Any> options;
  const auto given = args.values().find("target_options");
  if (given == args.values().end() || given->second.is_null()) return options;
  const auto fail = [] {
    DEUTERON_THROW(UsageError) << "RunCodegen: target_options are texts and lists of texts by name, by back end: "
                                  "{cutlass: {arch: sm_90}}";
  };
  if (!given->second.is_object()) fail();
  for (const auto& [library, fields] : given->second.items()) {
    if (!fields.is_object()) fail();
    Map<String, Any> values;
    for (const auto& [name, value] : fields.items()) {
      if (value.is_string()) {
        values.Set(name, String(value.get<std::string>()));
        continue;
      }
      if (!value.is_array()) fail();
      Array<String> texts;
      for (const auto& each : value) {
        if (!each.is_string()) fail();
        texts.push_back(each.get<std::string>());
      }
      values.Set(name, texts);
    }
    options.Set(library, values);
  }
  return options;
}

/// true, false, or the functions that share.
transform::Pass MakeLiftTransformParams(const PassArguments& args) {
  const auto value = args.values().find("shared_transform");
  const bool is_list = value != args.values().end() && value->second.is_array();
  if (is_list) return relax::LiftTransformParams(true, args.Strings("shared_transform"));
  return relax::LiftTransformParams(args.Bool("shared_transform", false));
}

/// Patterns, each as `name = text` (relax/dpl/pattern_text.h) or as the name or prefix of registered ones.
std::vector<relax::FusionPattern> ReadPatterns(const std::vector<std::string>& texts) {
  backend::RegisterLibraryPatterns();
  std::vector<relax::FusionPattern> patterns;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) {
      const auto known = relax::GetPatternsWithPrefix(text);
      if (known.empty()) {
        DEUTERON_THROW(UsageError) << "FuseOpsByPattern: no registered pattern begins with \"" << text
                                   << "\"; write one as \"name = relax.matmul(_, _)\"";
      }
      patterns.insert(patterns.end(), known.begin(), known.end());
      continue;
    }
    const size_t end = text.find_last_not_of(' ', equals - 1);
    auto parsed = relax::dpl::ParsePattern(std::string_view(text).substr(equals + 1));
    patterns.push_back({text.substr(0, end + 1), std::move(parsed.pattern), std::move(parsed.named)});
  }
  return patterns;
}

std::vector<PassEntry>& Table() {
  using Args = const PassArguments&;
  static auto* table = new std::vector<PassEntry>{
      {"CanonicalizeBindings",
       "removes trivial bindings: copies, projections of known tuples, casts that check nothing",
       {},
       [](Args) { return relax::CanonicalizeBindings(); }},
      {"ConvertToDataflow",
       "gathers runs of pure bindings into dataflow blocks",
       {"min_size"},
       [](Args args) {
         return relax::ConvertToDataflow(args.IntIn("min_size", 2, 0, std::numeric_limits<int32_t>::max()));
       }},
      {"CheckExtents",
       "has dimensions compared at run time that operators demand to be equal and types do not show to be, and refuses "
       "negative ones",
       {},
       [](Args) { return relax::CheckExtents(); }},
      {"ToNonDataflow", "opens every dataflow block", {}, [](Args) { return relax::ToNonDataflow(); }},
      {"Normalize",
       "brings functions that were built by hand into A-normal form",
       {},
       [](Args) { return relax::Normalize(); }},
      {"BindParams",
       "replaces parameters of a function by the tensors of those names in a .safetensors file",
       {"func_name", "params"},
       [](Args args) { return BindParamsOf(args.String("func_name", "main"), args.String("params", "")); }},
      {"BindSymbolicVars",
       "replaces symbolic variables by numbers",
       {"binding_map", "func_name"},
       [](Args args) { return relax::BindSymbolicVars(args.Ints("binding_map"), args.String("func_name", "")); }},
      {"InlinePrivateFunctions",
       "puts the bodies of private functions in place of their calls",
       {},
       [](Args) { return relax::InlinePrivateFunctions(); }},
      {"LambdaLift", "makes local functions functions of the module", {}, [](Args) { return relax::LambdaLift(); }},
      {"LiftTransformParams",
       "moves what is computed from weights alone to functions that run once",
       {"shared_transform"},
       [](Args args) { return MakeLiftTransformParams(args); }},
      {"DecomposeOpsForInference",
       "writes batch_norm and other composite operators out in simpler ones",
       {"func_name"},
       [](Args args) { return relax::DecomposeOpsForInference(args.String("func_name", "")); }},
      {"FoldPadToConv",
       "makes zeros around an image the padding of the convolution that reads it",
       {},
       [](Args) { return relax::FoldPadToConv(); }},
      {"FoldBatchnormToConv2D",
       "folds an inference batch_norm into the weights of the convolution before it",
       {},
       [](Args) { return relax::FoldBatchnormToConv2D(); }},
      {"ByteWeights",
       "has products of integers read constant bytes as they are",
       {},
       [](Args) { return relax::ByteWeights(); }},
      {"FoldConstant",
       "evaluates what depends on constants only",
       {"skip_ops"},
       [](Args args) { return relax::FoldConstant(MakeConstantEvaluator(), args.Strings("skip_ops")); }},
      {"DropBounds", "values are not bounded that a quantisation bounds", {}, [](Args) { return relax::DropBounds(); }},
      {"FoldRequantization",
       "makes what scales and shifts values before a quantisation one multiplication and one addition",
       {},
       [](Args) { return relax::FoldRequantization(); }},
      {"HeadsToRows",
       "makes heads of one query that share keys rows of one head",
       {},
       [](Args) { return relax::HeadsToRows(); }},
      {"MatmulToDense",
       "makes products with large constants that are transposed layers, whose weights stay as they lie",
       {},
       [](Args) { return relax::MatmulToDense(); }},
      {"QuantizedWeights",
       "has products with constant weights of few bits read these as they are",
       {},
       [](Args) { return relax::QuantizedWeights(); }},
      {"DotProducts",
       "sums along the rows of a matrix that would be transposed and multiplied by one row",
       {},
       [](Args) { return relax::DotProducts(); }},
      {"ConvTransposeToConv",
       "makes transposed convolutions with constant kernels convolutions of stride 1",
       {},
       [](Args) { return relax::ConvTransposeToConv(); }},
      {"ConvToWinograd",
       "makes convolutions of constant windows of 3 x 3, and 3 x 3 in slices, products of transformed tiles where that "
       "saves time",
       {},
       [](Args) { return relax::ConvToWinograd(); }},
      {"UnfoldLines",
       "makes what windows see of a line the channels of convolutions that have few of them, for a matrix unit",
       {},
       [](Args) { return relax::UnfoldLines(); }},
      {"DropPaddedTaps",
       "leaves out the elements of convolutions' windows that meet nothing but padding",
       {},
       [](Args) { return relax::DropPaddedTaps(); }},
      {"DropUnreadPixels",
       "makes pointwise convolutions with strides ones without, of the pixels that they read",
       {},
       [](Args) { return relax::DropUnreadPixels(); }},
      {"IntegerProducts",
       "makes products of dequantised bytes with constant weights products of integers where the target is faster at "
       "it",
       {},
       [](Args) { return relax::IntegerProducts(); }},
      {"SinkDequantize",
       "moves what rearranges elements before their dequantisation, and drops quantisations that undo one",
       {},
       [](Args) { return relax::SinkDequantize(); }},
      {"DeadCodeElimination",
       "removes unused pure bindings and unreachable functions",
       {"entry_functions"},
       [](Args args) { return relax::DeadCodeElimination(args.Strings("entry_functions")); }},
      {"EliminateCommonSubexpr",
       "computes what is written twice once",
       {"call_only"},
       [](Args args) { return relax::EliminateCommonSubexpr(args.Bool("call_only", false)); }},
      {"CombineParallelMatmul",
       "combines products of the same left operand into one",
       {},
       [](Args) { return relax::CombineParallelMatmul(); }},
      {"ConvertLayout",
       "gives operators the layouts asked for and lets the others follow",
       {"desired_layouts"},
       [](Args args) { return relax::ConvertLayout(args.StringLists("desired_layouts")); }},
      {"ComposeTransposes",
       "makes a transposition of a transposition one, or none",
       {},
       [](Args) { return relax::ComposeTransposes(); }},
      {"ChannelsLast",
       "computes convolutions in NHWC where a matrix unit multiplies their channels",
       {},
       [](Args) { return relax::ChannelsLast(); }},
      {"AlterOpLayout",
       "lets operators choose their layouts for the target",
       {"target"},
       [](Args args) {
         const std::string target = args.String("target", "");
         return relax::AlterOpLayout({}, target.empty() ? std::nullopt : std::optional(Target::Parse(target)));
       }},
      {"FastMathTransform",
       "computes exp, tanh, erf and softmax by approximations",
       {},
       [](Args) { return relax::FastMathTransform(); }},
      {"RewriteAttention",
       "makes attention that is written out calls of nn.attention",
       {"use_flash_mqa"},
       [](Args args) {
         const bool use_flash_mqa = args.Bool("use_flash_mqa", true);
         return relax::FunctionPass(
             {.name = "RewriteAttention"},
             [use_flash_mqa](relax::Function function, const IRModule&, const transform::PassContext&) {
               return backend::cutlass::RewriteAttention(std::move(function), use_flash_mqa);
             });
       }},
      {"PartitionFor",
       "puts what a library computes into functions with the attribute Composite",
       {"backend", "quantized"},
       [](Args args) { return backend::PartitionFor(args.String("backend", ""), args.Bool("quantized", false)); }},
      {"MergeCompositeFunctions",
       "gathers neighbouring Composite functions of one library into functions for it",
       {},
       [](Args) { return relax::MergeCompositeFunctions(); }},
      {"RunCodegen",
       "has libraries' generators translate the functions that are marked for them",
       {"target_options", "entry_functions"},
       [](Args args) {
         return relax::RunCodegen(backend::FindCodegen, TargetOptions(args), args.Strings("entry_functions"));
       }},
      {"LegalizeOps",
       "replaces operators by calls of loop-level functions",
       {"skip_ops", "enable_warning"},
       [](Args args) { return relax::LegalizeOps({}, args.Strings("skip_ops"), args.Bool("enable_warning", false)); }},
      {"AnnotateTIROpPattern",
       "sets the attribute op_pattern of every loop-level function",
       {},
       [](Args) { return relax::AnnotateTIROpPattern(); }},
      {"ComputeMasks",
       "computes masks that depend on nothing but indices where they are read",
       {},
       [](Args) { return relax::ComputeMasks(); }},
      {"FuseOps",
       "groups calls of loop-level functions into Primitive functions",
       {"fuse_opt_level", "wrap_single", "relay_rules"},
       [](Args args) {
         return relax::FuseOps({.fuse_opt_level = static_cast<int>(args.IntIn("fuse_opt_level", -1, -1, 4)),
                                .wrap_single = args.Bool("wrap_single", false),
                                .relay_rules = args.Bool("relay_rules", false)});
       }},
      {"FuseOpsByPattern",
       "makes what patterns match functions of their own, for libraries",
       {"patterns", "bind_constants", "annotate_codegen", "entry_functions"},
       [](Args args) {
         return relax::FuseOpsByPattern(ReadPatterns(args.Strings("patterns")),
                                        {.bind_constants = args.Bool("bind_constants", true),
                                         .annotate_codegen = args.Bool("annotate_codegen", false),
                                         .entry_functions = args.Strings("entry_functions")});
       }},
      {"SeparateOutputs",
       "gives each result of an injective kernel a kernel of its own where that fuses",
       {},
       [](Args) { return relax::SeparateOutputs(); }},
      {"FuseReductions",
       "merges the kernels of chains of reductions along the same rows",
       {},
       [](Args) { return relax::FuseReductions(); }},
      {"FuseAttention",
       "merges two products with a softmax between them",
       {},
       [](Args) { return relax::FuseAttention(); }},
      {"FuseWindows",
       "merges a product and the windows that slide over its result",
       {},
       [](Args) { return relax::FuseWindows(); }},
      {"FuseProducts",
       "merges two products of which the second sums over the columns of the first",
       {},
       [](Args) { return relax::FuseProducts(); }},
      {"FuseFollowers",
       "merges a product and what is computed of its result, which is stored for others, too",
       {},
       [](Args) { return relax::FuseFollowers(); }},
      {"FuseSiblings",
       "merges kernels that read the same tensor in the same order",
       {},
       [](Args) { return relax::FuseSiblings(); }},
      {"RecomputeProducers",
       "computes cheap values in every kernel that uses them instead of storing them",
       {},
       [](Args) { return relax::RecomputeProducers(); }},
      {"FuseTIR",
       "merges the loop-level functions of each Primitive function into one",
       {},
       [](Args) { return relax::FuseTIR(); }},
      {"FuseLoops", "makes kernels of loops whose steps are kernels", {}, [](Args) { return relax::FuseLoops(); }},
      {"ExpandTupleArguments",
       "passes the fields of tuple parameters of private functions one by one",
       {},
       [](Args) { return relax::ExpandTupleArguments(); }},
      {"RemoveUnusedParameters",
       "removes parameters of private functions that nothing uses",
       {},
       [](Args) { return relax::RemoveUnusedParameters(); }},
      {"ShareKernels",
       "makes kernels that differ in numbers only one that takes them, where few runs are expected",
       {},
       [](Args) { return relax::ShareKernels(); }},
      {"RemoveUnusedOutputs",
       "removes fields of private functions' results that nothing uses",
       {},
       [](Args) { return relax::RemoveUnusedOutputs(); }},
      {"CombineMatmulsOfOneWeight",
       "products of several inputs with one weight become one product",
       {},
       [](Args) { return relax::CombineMatmulsOfOneWeight(); }},
      {"PackWeights",
       "lays constant weights of convolutions and matrix products out for the kernels that read them",
       {},
       [](Args) { return relax::PackWeights(); }},
      {"ResolveViews",
       "has loop-level functions access buffers themselves, not views of their data",
       {},
       [](Args) {
         return tir::PrimFuncPass({.name = "ResolveViews", .opt_level = 0},
                                  [](tir::PrimFunc func, const IRModule&, const transform::PassContext&) {
                                    return tir::ResolveViews(std::move(func));
                                  });
       }},
      {"TabulateBytes",
       "looks up in a table what is computed of one byte, and is one byte in the end",
       {},
       [](Args) { return relax::TabulateBytes(); }},
      {"TuneSchedules",
       "measures schedules of the kernels that take the most time, where seconds are given for that",
       {},
       [](Args) { return TuneSchedules(Target::Current()); }},
      {"ScheduleForCPU",
       "schedules every loop-level function for the current target",
       {},
       [](Args) { return ScheduleForCPU(Target::Current()); }},
      {"ComputePrimValue",
       "computes scalar expressions in functions that are called instead",
       {},
       [](Args) { return relax::ComputePrimValue(); }},
      {"VMShapeLower",
       "keeps shapes in a heap that calls of the run time match, fill and read",
       {},
       [](Args) { return relax::VMShapeLower(AnnotationText); }},
      {"RewriteDataflowReshape",
       "makes views of kernels that only give their argument another shape",
       {},
       [](Args) { return relax::RewriteDataflowReshape(); }},
      {"RemovePurityChecking",
       "lets pure functions hold calls with side effects",
       {},
       [](Args) { return relax::RemovePurityChecking(); }},
      {"CallTIRRewrite",
       "makes the outputs of calls of kernels explicit",
       {},
       [](Args) { return relax::CallTIRRewrite(); }},
      {"PrepareExternals",
       "gives libraries their constants to pack and calls of them the memory they need, on this machine",
       {},
       [](Args) { return relax::PrepareExternals(); }},
      {"StaticPlanBlockMemory",
       "places tensors in few storages that are reused",
       {},
       [](Args) { return relax::StaticPlanBlockMemory(); }},
      {"LowerAllocTensor",
       "turns what is left of builtin.alloc_tensor into a storage and a tensor in it",
       {},
       [](Args) { return relax::LowerAllocTensor(); }},
      {"KillAfterLastUse",
       "says after its last use that a tensor or storage is dead",
       {},
       [](Args) { return relax::KillAfterLastUse(); }},
      {"LowerKernels",
       "keeps the loop-level functions alone, lowered for code generation",
       {},
       [](Args) { return LowerKernels(Target::Current()); }},
      {"GenerateCode",
       "generates code for the current target and drops it: to reproduce errors of code generation",
       {},
       [](Args) { return GenerateCode(Target::Current()); }},
      {"PrintIR",
       "prints the module on standard error",
       {"header"},
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
