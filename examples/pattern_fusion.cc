/// \file
/// Fusion by patterns (docs/patterns.md): a FusionPattern with a check, FuseOpsByPattern, patterns in the
/// registry, and what cuBLAS takes.
#include "deuteron/backend/cublas/patterns.h"
#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/dpl/registry.h"
#include "deuteron/relax/dpl/rewriter.h"
#include "deuteron/relax/dpl/templates.h"
#include "deuteron/relax/op/binary.h"
#include "deuteron/relax/transform/library/passes.h"
#include "examples/show.h"
#include "examples/two_products.h"

namespace {

using namespace deuteron;              // NOLINT(google-build-using-namespace): as its user would write
using namespace deuteron::relax::dpl;  // NOLINT(google-build-using-namespace)
using relax::FuseOpsByPattern;
using relax::FusionPattern;
using relax::PatternCheckContext;
using samples::Show;

/// Accepts half floats whose intermediate values nothing else uses.
bool MyCheckFunction(const PatternCheckContext& context) {
  if (relax::HasLeakingIntermediateVariables(context)) return false;
  const auto* type = context.annotated_expr.at("matmul").ty().as<TensorTypeNode>();
  return type != nullptr && type->dtype == DataType::Float(16);
}

}  // namespace

int main() {
  const IRModule module = samples::TwoProducts("R.add(lv3, lv3)");
  Show("before", module);

  // Match: matmul(x, w) + bias
  const DFPattern x = Wildcard();
  const DFPattern w = Wildcard();
  const DFPattern bias = Wildcard();
  const DFPattern matmul = IsOp("relax.matmul")(x, w);
  const DFPattern out = IsOp("relax.add")(matmul, bias);
  const FusionPattern pattern{
      .name = "cutlass.matmul_bias",
      .pattern = out,
      .annotation_patterns = {{"matmul", matmul}, {"bias", bias}},
      .check = MyCheckFunction,  // optional validation
  };
  const FusionPattern with_relu{.name = "cutlass.matmul_bias_relu", .pattern = IsOp("relax.nn.relu")(out)};
  Show("composites",
       FuseOpsByPattern({with_relu, pattern}, {.bind_constants = true, .annotate_codegen = false})(module));

  // Patterns of a library, in the registry; the later ones have higher priority.
  relax::RegisterPatterns({MakeFusionPattern("mylib.matmul", MakeMatmulPattern(), MyCheckFunction),
                           MakeFusionPattern("mylib.matmul_bias_relu", MakeMatmulPattern(true, "relax.nn.relu"))});
  samples::Title("registered");
  for (const FusionPattern& registered : relax::GetPatternsWithPrefix("mylib")) {
    std::printf("%-24s %s\n", registered.name.c_str(), Describe(registered.pattern).c_str());
  }
  std::printf("\n");

  // What cuBLAS takes, ready for its code generator.
  Show("for cuBLAS", backend::PartitionForCublas(module));

  // x + x is 2 * x.
  const DFPattern same = Wildcard();
  const auto main_function = Downcast<relax::Function>(module.Lookup("main"));
  Show("x + x rewritten", RewriteCall(
                              same + same,
                              [&](const relax::Expr&, const Matches& matches) {
                                return relax::Multiply(matches.at(same),
                                                       relax::Constant::Scalar(DataType::Float(16), 2.0));
                              },
                              main_function));
  return 0;
}
