/// \file
/// FastMathTransform: exp, tanh, erf and softmax by cheap approximations.
///
/// Purpose: where seven digits of these functions matter less than their time. The kernels are made here, as
/// LegalizeOps makes the exact ones; the errors are stated in topi/fast_math.h (less than 5e-7 of the value). 16-bit
/// floats are computed in float32, as the exact functions are.
///
/// What it must not do: touch float64, whose users asked for more digits, or calls of unknown shape.
///
/// Place: before LegalizeOps; never part of a default pipeline.
#include "deuteron/topi/fast_math.h"

#include "deuteron/relax/functor.h"
#include "deuteron/relax/op/nn_attrs.h"
#include "deuteron/relax/op/op_common.h"
#include "deuteron/relax/rewrite/function_pass.h"
#include "deuteron/relax/transform/user/passes.h"
#include "deuteron/topi/elementwise.h"
#include "deuteron/topi/nn.h"

namespace deuteron::relax {
namespace {

class FastMath : public ExprMutator {
 public:
  explicit FastMath(IRModule module) : ExprMutator(std::move(module)) {}

  void Run(const GlobalVar& var, const Function& function) {
    const Expr fast = VisitExpr(function);
    if (!fast.same_as(function)) builder_.UpdateFunction(var, Downcast<Function>(fast));
  }
  IRModule Finish() { return builder_.Finalize(); }

 protected:
  Expr VisitCall_(const CallNode* op) override {
    const Call call = VisitExprPostOrder(op);
    const auto* type = call->args.empty() ? nullptr : call->args[0].ty().as<TensorTypeNode>();
    if (call->op->kind != RelaxKind::kOp || type == nullptr || !type->has_shape()) return call;
    if (!IsFast(type->dtype)) return call;
    struct Function {
      Op op;
      const char* kernel;
      PrimExpr (*fn)(const PrimExpr&);
    };
    static const Function functions[] = {{Op::Get("relax.exp"), "fast_exp", topi::FastExp},
                                         {Op::Get("relax.tanh"), "fast_tanh", topi::FastTanh},
                                         {Op::Get("relax.erf"), "fast_erf", topi::FastErf}};
    static const Op softmax = Op::Get("relax.nn.softmax");
    for (const Function& function : functions) {
      if (!call->op.same_as(function.op)) continue;
      return builder_.CallTE(function.kernel, call->args, [&](const Array<te::Tensor>& args) {
        const DataType dtype = args[0].dtype();
        return Array<te::Tensor>{topi::Map(args[0], [&](PrimExpr x) {
          return CastTo(dtype, function.fn(CastTo(DataType::Float(32), std::move(x))));
        })};
      });
    }
    if (!call->op.same_as(softmax)) return call;
    const auto axis = NormalizeAxis(call, AttrsOf<SoftmaxAttrsNode>(call)->axis, type->ndim);
    return builder_.CallTE("fast_softmax", call->args, [&](const Array<te::Tensor>& args) {
      return Array<te::Tensor>{topi::Softmax(args[0], static_cast<size_t>(axis), topi::FastExp)};
    });
  }

 private:
  static bool IsFast(DataType dtype) {
    return dtype == DataType::Float(32) || dtype == DataType::Float(16) || dtype.is_bfloat16();
  }
};

}  // namespace

Pass FastMathTransform() {
  return transform::ModulePass({.name = "FastMathTransform"}, [](const IRModule& module, const PassContext&) {
    return MutateFunctions(module, FastMath(module));
  });
}

}  // namespace deuteron::relax
