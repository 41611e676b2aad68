/// \file
/// Passes of our own: a class that is a pass (it multiplies every constant by a number), a lambda that is one, and one
/// that requires another, has an opt level and reads the context's configuration.
#include "deuteron/driver/pass_registry.h"
#include "deuteron/ir/transform/pass.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/tir/transform/prim_func_pass.h"
#include "examples/article_model.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write
using samples::Show;
using transform::PassContext;

/// Multiplies every constant by `multiplier`.
class CustomPipeline {
 public:
  explicit CustomPipeline(relax::Expr multiplier) : multiplier_(std::move(multiplier)) {}

  relax::Function TransformFunction(relax::Function func, const IRModule&, const PassContext&) const {
    class ReplaceConstant : public relax::ExprMutator {
     public:
      explicit ReplaceConstant(relax::Expr multiplier) : multiplier_(std::move(multiplier)) {}

     protected:
      relax::Expr VisitConstant_(const relax::ConstantNode* c) override {
        return relax::Multiply(multiplier_, GetRef<relax::Constant>(c));
      }

     private:
      relax::Expr multiplier_;
    };
    return Downcast<relax::Function>(ReplaceConstant(multiplier_).VisitExpr(func));
  }

 private:
  relax::Expr multiplier_;
};

/// Fuses as FuseOps does, and says by which options. The passes that it requires run before it.
transform::Pass VerboseFuseOps(int fuse_opt_level) {
  return transform::ModulePass(
      {.name = "VerboseFuseOps", .opt_level = 1, .required = {"LegalizeOps", "AnnotateTIROpPattern"}},
      [fuse_opt_level](IRModule mod, const PassContext& context) {
        const int opt_level = fuse_opt_level == -1 ? context.opt_level : fuse_opt_level;
        const int64_t max_depth = context.GetInt("relax.FuseOps.max_depth");
        if (context.GetBool("samples.verbose")) {
          std::printf("# fusing at level %d, groups of %d operators at most\n", opt_level, static_cast<int>(max_depth));
        }
        return relax::FuseOps({.fuse_opt_level = opt_level})(std::move(mod), context);
      });
}

}  // namespace

int main() {
  const IRModule mod = samples::Example();
  Show("before", mod);

  // A class is a pass of its own name.
  const relax::Expr three = relax::Constant::Scalar(DataType::Float(32), 3.0);
  const transform::Pass custom_pass = relax::FunctionPass({.opt_level = 1}, CustomPipeline(three));
  std::printf("# the name of the pass: %s\n\n", custom_pass->info.name.c_str());
  Show("after CustomPipeline", custom_pass(mod));

  // Lambdas over dataflow blocks and kernels.
  const transform::Pass count = relax::DataflowBlockPass(
      {.name = "CountBindings"}, [](relax::DataflowBlock block, const IRModule&, const PassContext&) {
        std::printf("# a block of %d bindings\n", static_cast<int>(block->bindings.size()));
        return block;
      });
  const transform::Pass mark =
      tir::PrimFuncPass({.name = "MarkKernels"}, [](tir::PrimFunc func, const IRModule&, const PassContext&) {
        const auto num_params = static_cast<int64_t>(func->params.size());
        return WithAttr(std::move(func), "num_params", num_params);
      });

  // An option of our own, and a context that finds required passes by name.
  transform::RegisterConfigKey(
      {"samples.verbose", transform::ConfigKey::kBool, 0, "", "VerboseFuseOps says what it does"});
  PassContext context;
  context.find_pass = MakePass;
  context.SetConfig("samples.verbose", true);
  context.SetConfig("relax.FuseOps.max_depth", int64_t{2});
  const PassContext::Scope scope(context);
  const IRModule fused = transform::Sequential({count, VerboseFuseOps(-1), mark})(mod);
  samples::ShowGraph("after VerboseFuseOps, two operators a group", fused);
  for (const auto& [var, func] : fused->functions) {
    if (const auto num_params = func->GetAttr<int64_t>("num_params")) {
      std::printf("# %s has %d parameters\n", var->name_hint.c_str(), static_cast<int>(*num_params));
    }
  }
}
