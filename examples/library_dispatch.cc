/// \file
/// Handing parts of a graph to libraries, as its document shows it stage by stage: patterns in the registry, templates
/// and checks, partitioning, merging, code generation. (tiny_backend.cc adds a back end and runs it; pattern_fusion.cc
/// is about FuseOpsByPattern itself.)
#include "deuteron/backend/cublas/cublas.h"
#include "deuteron/backend/cublas/patterns.h"
#include "deuteron/backend/cudnn/patterns.h"
#include "deuteron/backend/cutlass/patterns.h"
#include "deuteron/backend/partition.h"
#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/dpl/registry.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/transform/library/library_codegen.h"
#include "deuteron/relax/transform/passes.h"
#include "examples/show.h"
#include "examples/two_products.h"

namespace {

using namespace deuteron;              // NOLINT(google-build-using-namespace): as its user would write
using namespace deuteron::relax::dpl;  // NOLINT(google-build-using-namespace)
using relax::FusionPattern;
using relax::PatternCheckContext;
using samples::Show;
using samples::Title;

/// Data types, shapes, leaking intermediates: what checks typically ask.
bool CheckMatmul(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const auto* lhs = context.annotated_expr.at("lhs").ty().as<TensorTypeNode>();
  const auto* rhs = context.annotated_expr.at("rhs").ty().as<TensorTypeNode>();
  if (lhs == nullptr || rhs == nullptr || !(lhs->dtype == rhs->dtype)) return false;
  if (!(lhs->dtype == DataType::Float(16)) && !(lhs->dtype == DataType::Float(32))) return false;
  // The axis that is summed over is constant.
  return lhs->has_shape() && !lhs->shape->empty() && AsConstInt((*lhs->shape)[lhs->ndim - 1]).has_value();
}

void ShowPattern(const char* name, const AnnotatedPattern& pattern) {
  std::printf("%s\n  %s\n ", name, Describe(pattern.pattern).c_str());
  for (const auto& [role, part] : pattern.annotations) std::printf(" %s", std::string(role).c_str());
  std::printf("\n");
}

/// Code generation by name, as a back end registers it. Whether the library is there to run it is not asked: nothing
/// runs here.
relax::LibraryCodegen FindCodegen(const std::string& name) {
  if (name == "cublas") return {.generate = backend::cublas::Generate};
  DEUTERON_THROW(UsageError) << "there is no back end " << name;
}

}  // namespace

int main() {
  const IRModule module = samples::TwoProducts("R.exp(lv3)");

  // Pattern registration. The prefix of a name is the back end's; later ones have higher priority.
  relax::RegisterPatterns({
      MakeFusionPattern("mycublas.matmul", MakeMatmulPattern(/*with_bias=*/false), CheckMatmul),
      MakeFusionPattern("mycublas.matmul_bias_relu", MakeMatmulPattern(/*with_bias=*/true, "relax.nn.relu"),
                        CheckMatmul),
  });
  Title("get_patterns_with_prefix(\"mycublas\")");
  for (const FusionPattern& pattern : relax::GetPatternsWithPrefix("mycublas")) {
    std::printf("%s\n", pattern.name.c_str());
  }
  std::printf("\n");

  // Pattern templates, and the names of the parts that checks see.
  Title("templates");
  ShowPattern("make_matmul_pattern(with_bias, activation, transposed_rhs)",
              MakeMatmulPattern(true, "relax.nn.relu", true));
  ShowPattern("make_conv2d_pattern(with_bias, activation)", MakeConv2DPattern(true, "relax.nn.relu"));
  ShowPattern("make_attention_pattern()", MakeAttentionPattern());
  ShowPattern("make_residual_block_pattern()",
              MakeResidualBlockPattern(MakeMatmulPattern(true), "relax.add", "relax.nn.relu"));
  ShowPattern("make_layer_norm_pattern()", MakeLayerNormPattern());
  ShowPattern("make_rms_norm_pattern()", MakeRMSNormPattern());
  std::printf("\n");

  // Supported back ends: how many patterns each registers.
  backend::RegisterLibraryPatterns();
  Title("patterns of the back ends");
  for (const char* prefix : {"cublas.", "cutlass.", "cudnn."}) {
    std::printf("%-9s %zu\n", prefix, relax::GetPatternsWithPrefix(prefix).size());
  }
  std::printf("\n");

  // Partitioning: an outer function with Codegen, an inner one with Composite.
  const IRModule partitioned = backend::PartitionForCublas(module);
  Show("partition_for_cublas", partitioned);

  // With annotate_codegen = false inner functions only; MergeCompositeFunctions groups neighbours of one back end.
  const IRModule composites = relax::FuseOpsByPattern(relax::GetPatternsWithPrefix("cublas."))(module);
  const IRModule merged = relax::MergeCompositeFunctions()(composites);
  Show("FuseOpsByPattern, MergeCompositeFunctions", merged);

  // Code generation: calls become call_dps_packed of an external function, whose graph hangs on the module.
  const IRModule generated = relax::RunCodegen(FindCodegen)(merged);
  Show("RunCodegen", generated);
  for (const relax::ExternalFunction& external : relax::ExternalFunctions(generated)) {
    std::printf("# %s runs %s\n\n", external.plugin.c_str(), external.symbol.c_str());
  }

  // What is left goes on to kernels of our own.
  Show("LegalizeOps", relax::LegalizeOps()(generated));
  return 0;
}
