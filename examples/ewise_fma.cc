/// \file
/// Fusing two bindings by rewriting the tree: add(multiply(a, b), c) becomes ewise_fma(a, b, c). The module is written
/// in the older spelling of the notes on graph optimisation.
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/relax/functor.h"
#include "deuteron/relax/rewrite/remove_all_unused.h"
#include "deuteron/script/parser.h"
#include "examples/show.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write
using samples::Show;

const char* const kMyModule = R"(
@tvm.script.ir_module
class MyModule:
    @R.function
    def main(x: Tensor((3, 4), "float32"), y: Tensor((3, 4), "float32")):
        with relax.dataflow():
            lv0 = relax.multiply(x, y)
            gv0 = relax.add(lv0, y)
            relax.output(gv0)
        return gv0
)";

/// Finds an add of a multiply and puts ewise_fma in its place.
class EwiseFMARewriter : public relax::ExprMutator {
 protected:
  relax::Expr VisitCall_(const relax::CallNode* op) override {
    const relax::Call call = VisitExprPostOrder(op);  // the arguments first: variables are what they stand for now
    const Op add_op = Op::Get("relax.add");
    const Op multiply_op = Op::Get("relax.multiply");
    const Op ewise_fma_op = Op::Get("relax.ewise_fma");

    if (!call->op.same_as(add_op)) return call;
    // Null unless the first argument of the add is itself bound to a call.
    const auto value = As<relax::Call>(LookupBinding(call->args[0]));
    if (!value.defined() || !value->op.same_as(multiply_op)) return call;
    return relax::Call(ewise_fma_op, {value->args[0], value->args[1], call->args[1]});
  }
};

}  // namespace

int main() {
  IRModule module = script::ParseModule(kMyModule, "MyModule.py");
  Show("MyModule", module);

  const auto updated = Downcast<relax::Function>(EwiseFMARewriter().VisitExpr(module.Lookup("main")));
  Show("rewritten", updated);
  Show("without what is unused now", relax::RemoveAllUnused(updated));

  IRModule rewritten = module;
  rewritten.Update(module.GetGlobalVar("main"), updated);
  const std::vector<interpreter::Value> inputs = {samples::Numbers({3, 4}, 1), samples::Numbers({3, 4}, 2)};
  const auto before = interpreter::Run(module, "main", inputs).cast<Tensor>();
  const auto after = interpreter::Run(rewritten, "main", inputs).cast<Tensor>();
  std::printf("# both compute the same: %s\n", samples::Agree(before, after, 1e-6F) ? "yes" : "no");
}
