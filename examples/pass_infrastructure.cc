/// \file
/// Passes one by one, and as a Sequential under contexts of different opt levels and with a pass disabled: the tour of
/// docs/pass-infrastructure.md.
#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/driver/pass_registry.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/target/target.h"
#include "examples/article_model.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write
using samples::Show;
using samples::ShowGraph;
using transform::PassContext;
using transform::Sequential;

/// Convolutions on data in blocks of 16 channels.
relax::Expr AlterConv2D(const Attrs& attrs, const Array<relax::Expr>& inputs, const Array<Type>& types,
                        const Type& out_type) {
  auto new_attrs = MakeNode<relax::Conv2DAttrsNode>(*attrs.as<relax::Conv2DAttrsNode>());
  new_attrs->data_layout = "NCHW16c";
  return relax::Call(Op::Get("relax.nn.conv2d"), inputs, Attrs(new_attrs));
}

}  // namespace

int main() {
  const IRModule mod = samples::Example();
  Show("the program", mod);

  // Passes by hand. Each takes a module and gives one.
  const transform::Pass fold_const = relax::FoldConstant(MakeConstantEvaluator());
  const IRModule folded = fold_const(mod);
  Show("FoldConstant", folded);
  const IRModule unique = relax::EliminateCommonSubexpr()(folded);
  Show("EliminateCommonSubexpr", unique);
  const Sequential legalize({relax::LegalizeOps(), relax::AnnotateTIROpPattern()});
  ShowGraph("FuseOps at level 0: each function holds one operator",
            relax::FuseOps({.fuse_opt_level = 0, .wrap_single = true})(legalize(unique)));

  // The same as a list, which runs what the context enables: passes up to opt level 2, unless told otherwise.
  const Sequential seq({
      fold_const,
      relax::EliminateCommonSubexpr(),
      relax::CanonicalizeBindings(),  // removes the names that others left for one value
      relax::LegalizeOps(),
      relax::AnnotateTIROpPattern(),
      relax::FuseOps({.fuse_opt_level = 2}),
  });
  ShowGraph("Sequential: EliminateCommonSubexpr is of level 3 and does not run", seq(mod));
  {
    PassContext context;
    context.opt_level = 3;
    const PassContext::Scope scope(context);
    ShowGraph("opt_level = 3", seq(mod));
  }
  {
    PassContext context;
    context.opt_level = 3;
    context.disabled_pass = {"EliminateCommonSubexpr"};
    const PassContext::Scope scope(context);
    ShowGraph("opt_level = 3, EliminateCommonSubexpr disabled", seq(mod));
  }

  // Passes may depend on the target. This one asks what is registered for each operator at the highest level.
  relax::RegisterAlterOpLayout({.op = "relax.nn.conv2d", .alter = AlterConv2D, .level = 101});
  const Sequential seq1({relax::AlterOpLayout()});
  {
    PassContext context;
    context.opt_level = 3;
    const PassContext::Scope scope(context);
    const TargetScope target(Target::Parse("llvm -mcpu=x86-64-v4"));
    Show("AlterOpLayout", seq1(mod));
  }
}
