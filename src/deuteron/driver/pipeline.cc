#include "deuteron/driver/pipeline.h"

#include "deuteron/support/suggest.h"

namespace deuteron {
namespace {

using Passes = std::vector<PassCall>;

Passes Concat(std::initializer_list<const Passes*> lists) {
  Passes all;
  for (const Passes* list : lists) all.insert(all.end(), list->begin(), list->end());
  return all;
}

std::vector<Pipeline> MakePipelines() {
  // What a module hands to a library itself stays with it: MergeCompositeFunctions and RunCodegen come first, too.
  // Quantised constants stay as they are until a library was asked for operators on them.
  const Passes import = {{"ResolveViews"},
                         {"MergeCompositeFunctions"},
                         {"RunCodegen"},
                         {"LambdaLift"},
                         {"CanonicalizeBindings"},
                         {"ConvertToDataflow"},
                         {"CheckExtents"},
                         {"FoldBatchnormToConv2D"},
                         {"FoldPadToConv"},
                         {"DecomposeOpsForInference"},
                         {"ConvTransposeToConv"},
                         {"SinkDequantize"},
                         {"HeadsToRows"},
                         {"QuantizedWeights"},
                         {"MatmulToDense"},
                         {"ByteWeights"},
                         {"FoldConstant", {{"skip_ops", {"relax.dequantize"}}}},
                         {"DropPaddedTaps"}};
  const Passes library = {{"PartitionFor", {{"quantized", true}}},
                          {"IntegerProducts"},
                          {"TabulateBytes"},
                          {"DeadCodeElimination"},
                          {"FoldConstant"},
                          {"DeadCodeElimination"},
                          {"DotProducts"},
                          {"PartitionFor"},
                          {"MergeCompositeFunctions"},
                          {"RunCodegen"}};
  const Passes fuse = {{"CombineMatmulsOfOneWeight"},
                       {"DropBounds"},
                       {"FoldRequantization"},
                       {"DropUnreadPixels"},
                       {"ComposeTransposes"},
                       {"ChannelsLast"},
                       {"UnfoldLines"},
                       {"ConvToWinograd"},
                       {"PackWeights"},
                       {"DeadCodeElimination"},
                       // Weights whose axes were moved; what kernels compute of constants comes behind.
                       {"FoldConstant"},
                       {"LegalizeOps"},
                       {"AnnotateTIROpPattern"},
                       {"FoldConstant"},
                       {"ComputeMasks"},
                       {"SeparateOutputs"},
                       {"FuseOps"},
                       {"FuseReductions"},
                       {"FuseAttention"},
                       {"FuseWindows"},
                       {"FuseProducts"},
                       {"FuseFollowers"},
                       {"FuseSiblings"},
                       {"RecomputeProducers"},
                       {"FuseTIR"},
                       {"DeadCodeElimination"},
                       {"FuseLoops"},
                       {"RewriteDataflowReshape"},
                       {"DeadCodeElimination"},
                       {"ShareKernels"}};
  const Passes schedule = {{"TuneSchedules"}, {"ScheduleForCPU"}};
  const Passes memory = {{"RemovePurityChecking"},
                         {"CallTIRRewrite"},
                         {"PrepareExternals"},
                         {"StaticPlanBlockMemory"},
                         {"KillAfterLastUse"}};
  return {
      {"import", "tidies an imported graph, and evaluates what is constant in it", import},
      {"library", "gives a library what it is to compute", library},
      {"fuse", "from operators to fused kernels", fuse},
      {"schedule", "schedules kernels for the target", schedule},
      {"memory", "from calls of kernels to calls on planned memory", memory},
      {"graph", "from an imported graph to fused kernels: import, library, fuse", Concat({&import, &library, &fuse})},
      {"default", "all that runs before code generation: graph, schedule, memory",
       Concat({&import, &library, &fuse, &schedule, &memory})},
  };
}

}  // namespace

const std::vector<Pipeline>& AllPipelines() {
  static const auto* pipelines = new std::vector<Pipeline>(MakePipelines());
  return *pipelines;
}

const Pipeline& GetPipeline(std::string_view name) {
  std::vector<std::string_view> names;
  std::string known;
  for (const Pipeline& pipeline : AllPipelines()) {
    if (name == pipeline.name) return pipeline;
    names.emplace_back(pipeline.name);
    known += (known.empty() ? "" : ", ") + std::string(pipeline.name);
  }
  DEUTERON_THROW(UsageError) << "there is no pipeline \"" << name << "\"" << DidYouMean(name, names)
                             << "; the pipelines are: " << known;
}

transform::Sequential MakePipeline(std::string_view name) {
  return transform::Sequential(MakePasses(GetPipeline(name).passes), std::string(name));
}

const std::vector<std::string>& MergingPasses() {
  static const auto* passes = new std::vector<std::string>{"DotProducts",     "CombineMatmulsOfOneWeight",
                                                           "SeparateOutputs", "FuseReductions",
                                                           "FuseAttention",   "FuseWindows",
                                                           "FuseProducts",    "FuseFollowers",
                                                           "FuseSiblings",    "RecomputeProducers",
                                                           "FuseLoops",       "RewriteDataflowReshape"};
  return *passes;
}

}  // namespace deuteron
