/// \file
/// The perceptron by a BlockBuilder, and its dense + add fused by a pass of our own: first as the notes have it, then
/// without their mistake.
#include "deuteron/script/parser.h"
#include "examples/dense_add_fusor.h"
#include "examples/mlp.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write
using samples::Show;

/// One dense, two adds.
const char* const kTwoAdds = R"(
@I.ir_module
class TwoAdds:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((16, 8), "float32"), b: R.Tensor((16,), "float32"),
             c: R.Tensor((16,), "float32")):
        with R.dataflow():
            lv0 = R.nn.dense(x, w)
            lv1 = R.add(lv0, b)
            lv2 = R.add(lv0, c)
            gv = R.multiply(lv1, lv2)
            R.output(gv)
        return gv
)";

/// How many dense a call of main computes.
int CountDense(const IRModule& module, const char* name) {
  int count = 0;
  relax::PostOrderVisit(module.Lookup(name), [&](const relax::Expr& expr) {
    const auto* call = expr.as<relax::CallNode>();
    if (call == nullptr) return;
    if (call->op.same_as(Op::Get("relax.nn.dense"))) ++count;
    if (const auto* callee = call->op.as<GlobalVarNode>()) count += CountDense(module, callee->name_hint.c_str());
  });
  return count;
}

}  // namespace

int main() {
  const IRModule mlp = samples::CreateModel();
  Show("MLPModel", mlp);
  Show("MLPFused", samples::FuseDenseAdd()(mlp));

  const IRModule two_adds = script::ParseModule(kTwoAdds, "TwoAdds.py");
  const IRModule fused = samples::FuseDenseAdd()(two_adds);
  Show("one dense, two adds, fused by the rule of the notes", fused);
  const IRModule corrected = samples::FuseSingleUseDenseAdd()(two_adds);
  Show("fused only where nothing else needs the dense", corrected);
  std::printf("# dense computed: %d before, %d by the rule of the notes, %d by the corrected one\n",
              CountDense(two_adds, "main"), CountDense(fused, "main"), CountDense(corrected, "main"));
}
