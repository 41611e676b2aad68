/// \file
/// Automatic fusion as its document shows it: kinds of operators, then add, exp and squeeze before and after FuseOps
/// and FuseTIR.
#include "deuteron/driver/compile.h"
#include "deuteron/driver/constant_evaluator.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/script/parser.h"
#include "deuteron/tir/analysis/op_pattern.h"
#include "examples/show.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write
using samples::Show;

/// One operator of each kind.
const char* const kKinds = R"(
@I.ir_module
class Kinds:
    @R.function
    def main(x: R.Tensor((1, 4, 8, 8), "float32"), w: R.Tensor((4, 4, 3, 3), "float32"), b: R.Tensor((1, 4, 1, 1), "float32"),
             i: R.Tensor((2,), "int64")):
        with R.dataflow():
            a = R.exp(x)
            c = R.broadcast_to(b, (1, 4, 8, 8))
            d = R.permute_dims(x, axes=[0, 2, 3, 1])
            e = R.sum(x, axis=[2, 3])
            f = R.nn.conv2d(x, w, padding=1)
            g = R.take(x, i, axis=2)
            gv = (a, c, d, e, f, g)
            R.output(gv)
        return gv
)";

const char* const kChain = R"(
@I.ir_module
class Chain:
    @R.function
    def main(x: R.Tensor((10, 20), "float32"), const_1: R.Tensor((), "float32")):
        with R.dataflow():
            lv0 = R.add(x, const_1)
            lv1 = R.exp(lv0)
            gv = R.squeeze(lv1)
            R.output(gv)
        return gv
)";

void PrintKinds(const IRModule& module) {
  static const char* const kNames[] = {"kElemWise", "kBroadcast", "kInjective", "kCommReduce", "kOutEWiseFusable",
                                       "",          "",           "kTuple",     "kOpaque"};
  samples::Title("kinds");
  for (const auto& [var, func] : module->functions) {
    if (const auto kind = func->GetAttr<int64_t>("op_pattern")) {
      std::printf("%-16s %d %s\n", var->name_hint.c_str(), static_cast<int>(*kind), kNames[*kind]);
    }
  }
  std::printf("\n");
}

}  // namespace

int main() {
  const transform::Sequential legalize({relax::LegalizeOps(), relax::AnnotateTIROpPattern()});
  PrintKinds(legalize(script::ParseModule(kKinds, "Kinds.py")));

  const IRModule chain = script::ParseModule(kChain, "Chain.py");
  const IRModule annotated = legalize(chain);
  samples::ShowGraph("before FuseOps", annotated);
  const IRModule grouped = relax::FuseOps()(annotated);
  samples::ShowGraph("after FuseOps", grouped);
  Show("after FuseTIR", relax::FuseTIR()(grouped));

  // The same as a pipeline.
  const transform::Sequential pipeline({
      relax::LegalizeOps(),           // operators become calls of kernels
      relax::AnnotateTIROpPattern(),  // each kernel gets its kind
      relax::FoldConstant(MakeConstantEvaluator()),
      relax::FuseOps(),  // groups of operators become functions
      relax::FuseTIR(),  // the kernels of each become one
  });
  const IRModule fused = pipeline(chain);
  const std::vector<Tensor> inputs = {samples::Numbers({10, 20}, 1), samples::Numbers({}, 2)};
  const auto before = interpreter::Run(chain, "main", {inputs[0], inputs[1]}).cast<Tensor>();
  const auto after = interpreter::Run(fused, "main", {inputs[0], inputs[1]}).cast<Tensor>();
  std::printf("# fused and unfused agree: %s\n", samples::Agree(before, after, 1e-6F) ? "yes" : "no");
}
