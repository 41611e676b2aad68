/// \file
/// From fused graph-level functions to loops, by a map from operators to functions that write them as tensor
/// expressions; then FuseTIR makes one kernel of each fused function, and the network runs.
#include <functional>
#include <map>

#include "deuteron/driver/compile.h"
#include "deuteron/interpreter/interpreter.h"
#include "deuteron/relax/transform/passes.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"
#include "examples/dense_add_fusor.h"
#include "examples/mlp.h"

namespace {

using namespace deuteron;  // NOLINT(google-build-using-namespace): as its user would write
using samples::Show;

using OpMap = std::map<std::string, std::function<relax::Expr(relax::BlockBuilder&, const relax::Call&)>>;

/// Lowers the calls of the operators in a map.
class LowerToTensorIR : public relax::ExprMutator {
 public:
  LowerToTensorIR(IRModule mod, const OpMap& op_map) : ExprMutator(mod), mod_(std::move(mod)) {
    for (const auto& [name, lower] : op_map) op_map_[Op::Get(name).get()] = lower;
  }

  IRModule Transform() {
    for (const auto& [global_var, base_func] : mod_->functions) {
      const auto func = As<relax::Function>(base_func);
      if (!func.defined()) continue;
      builder_.UpdateFunction(global_var, Downcast<relax::Function>(VisitExpr(func)));
    }
    return builder_.Finalize();
  }

 protected:
  relax::Expr VisitCall_(const relax::CallNode* op) override {
    const relax::Call call = VisitExprPostOrder(op);
    const auto it = op_map_.find(call->op.get());
    return it == op_map_.end() ? relax::Expr(call) : it->second(builder_, call);
  }

 private:
  IRModule mod_;
  std::map<const Object*, OpMap::mapped_type> op_map_;
};

// No new bindings are made here, so these are calls, not EmitTE.
relax::Expr MapDense(relax::BlockBuilder& bb, const relax::Call& call) {
  const auto dense = [](const te::Tensor& x, const te::Tensor& w) { return topi::Dense(x, w, x.dtype()); };
  return bb.CallTE("dense", dense, call->args[0], call->args[1]);
}
relax::Expr MapAdd(relax::BlockBuilder& bb, const relax::Call& call) {
  return bb.CallTE("add", topi::Add, call->args[0], call->args[1]);
}
relax::Expr MapRelu(relax::BlockBuilder& bb, const relax::Call& call) {
  const auto relu = [](const te::Tensor& x) { return topi::Maximum(x, topi::ConstLike(x, 0)); };
  return bb.CallTE("relu", relu, call->args[0]);
}

class LowerToTensorIRPass {
 public:
  IRModule TransformModule(IRModule mod, const transform::PassContext&) const {
    return LowerToTensorIR(std::move(mod), op_map_).Transform();
  }

 private:
  OpMap op_map_ = {{"relax.nn.dense", MapDense}, {"relax.add", MapAdd}, {"relax.nn.relu", MapRelu}};
};

}  // namespace

int main() {
  const IRModule mlp = samples::CreateModel();
  const IRModule fused = samples::FuseDenseAdd()(mlp);
  const IRModule lowered =
      transform::ModulePass({.name = "LowerToTensorIR", .opt_level = 0}, LowerToTensorIRPass())(fused);
  Show("MLPModelTIR", lowered);
  const IRModule final_module = relax::FuseTIR()(lowered);
  Show("MLPModelFinal", final_module);

  const Tensor x = samples::Numbers({1, 784}, 9);
  const auto expected = interpreter::Run(mlp, "main", {x}).cast<Tensor>();
  const auto interpreted = interpreter::Run(final_module, "main", {x}).cast<Tensor>();
  const std::vector<Tensor> compiled = Compile(final_module).Run({{"x", x}});
  std::printf("# the kernels compute what the operators do: %s\n",
              samples::Agree(expected, interpreted, 1e-5F) ? "yes" : "no");
  std::printf("# and so does the machine code: %s\n", samples::Agree(expected, compiled[0], 1e-5F) ? "yes" : "no");
}
