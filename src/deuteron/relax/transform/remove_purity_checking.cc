/// \file
/// RemovePurityChecking: marks every function with the attribute relax.force_pure.
///
/// From here on passes write calls with side effects (a kernel that writes its output argument, memory given back)
/// into functions that compute pure values all the same; the attribute tells the verifier so. It stands before
/// CallTIRRewrite, and must not stand before a pass that moves or removes calls by their purity.
#include "deuteron/relax/transform/pass_utils.h"
#include "deuteron/relax/transform/vm_passes.h"

namespace deuteron::relax {

Pass RemovePurityChecking() {
  return transform::ModulePass({.name = "RemovePurityChecking"}, [](IRModule module, const transform::PassContext&) {
    return UpdateFunctions(std::move(module), [](const GlobalVar&, Function function) {
      return function->is_pure ? WithAttr(std::move(function), "relax.force_pure", true) : function;
    });
  });
}

}  // namespace deuteron::relax
