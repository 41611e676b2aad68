#include "deuteron/tir/analysis/kernel_signature.h"

#include <unordered_set>

#include "deuteron/ir/expr_functor.h"

namespace deuteron::tir {

std::vector<Var> KernelScalars(const PrimFunc& func) {
  std::unordered_set<Var, ObjectPtrHash, ObjectPtrEqual> seen;
  std::vector<Var> scalar_params;
  for (const Var& param : func->params) {
    if (func->buffer_map.count(param)) continue;
    scalar_params.push_back(param);
    seen.insert(param);
  }
  std::vector<Var> scalars;
  const auto collect = [&](const PrimExpr& node) {
    if (node->kind != ExprKind::kVar) return;
    Var var = Downcast<Var>(node);
    if (seen.insert(var).second) scalars.push_back(std::move(var));
  };
  for (const Buffer& buffer : ParamBuffers(func)) {
    for (const PrimExpr& extent : buffer->shape) deuteron::PostOrderVisit(extent, collect);
    for (const PrimExpr& stride : buffer->strides) deuteron::PostOrderVisit(stride, collect);
  }
  scalars.insert(scalars.end(), scalar_params.begin(), scalar_params.end());
  return scalars;
}

PrimExpr ReturnedValue(const PrimFunc& func) {
  static const Op ret = Op::Get("tir.ret");
  if (!func->buffer_map.empty()) return PrimExpr();
  const auto* statement = func->body.as<EvaluateNode>();
  const auto* call = statement == nullptr ? nullptr : statement->value.as<CallNode>();
  return call != nullptr && call->op.same_as(ret) ? call->args[0] : PrimExpr();
}

PrimExpr ReturnedValue(const PrimFunc& func, const Array<PrimExpr>& args) {
  const PrimExpr value = ReturnedValue(func);
  DEUTERON_CHECK(value.defined() && args.size() == func->params.size()) << "a call of a function of scalars";
  ExprVarMap values;
  for (size_t i = 0; i < args.size(); ++i) values[func->params[i]] = args[i];
  return Substitute(value, values);
}

}  // namespace deuteron::tir
