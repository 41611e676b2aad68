#include "deuteron/tir/transform/prim_func_pass.h"

#include <vector>

namespace deuteron::tir {

Pass PrimFuncPass(PassInfo info, std::function<PrimFunc(PrimFunc, const IRModule&, const PassContext&)> body) {
  return transform::ModulePass(std::move(info), [body](IRModule module, const PassContext& context) {
    std::vector<std::pair<GlobalVar, PrimFunc>> changed;
    for (const auto& [var, func] : module->functions) {
      const auto prim_func = As<PrimFunc>(func);
      if (!prim_func.defined()) continue;
      PrimFunc result = body(prim_func, module, context);
      if (!result.same_as(prim_func)) changed.emplace_back(var, std::move(result));
    }
    for (auto& [var, func] : changed) {
      if (func.defined()) {
        module.Update(var, std::move(func));
      } else {
        module.Remove(var);
      }
    }
    return module;
  });
}

}  // namespace deuteron::tir
