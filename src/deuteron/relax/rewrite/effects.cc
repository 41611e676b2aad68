#include "deuteron/relax/rewrite/effects.h"

namespace deuteron::relax {

void RequireImpure(const char* pass, const std::string& name, const Function& function) {
  if (!function->is_pure || function->HasNonzeroAttr("relax.force_pure")) return;
  DEUTERON_THROW(ModelError) << pass << ": function \"" << name
                             << "\" is pure, and the pass would write calls with side effects into it; run "
                                "RemovePurityChecking before, or declare it with pure=False";
}

void RequirePlain(const char* pass, const std::string& name, const BindingBlock& block) {
  if (!block->IsInstance<DataflowBlockNode>()) return;
  DEUTERON_THROW(ModelError) << pass << ": function \"" << name
                             << "\" has a dataflow block, and the pass would write calls with side effects into it; "
                                "run ToNonDataflow before";
}

}  // namespace deuteron::relax
