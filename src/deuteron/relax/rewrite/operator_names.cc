#include "deuteron/relax/rewrite/operator_names.h"

#include <vector>

#include "deuteron/relax/op_info.h"
#include "deuteron/support/error.h"
#include "deuteron/support/suggest.h"

namespace deuteron::relax {

void RequireOperator(const char* what, const std::string& name) {
  const std::string prefix = "relax.";
  const bool has_prefix = name.compare(0, prefix.size(), prefix) == 0;
  if (has_prefix && FindOpInfo(name) != nullptr) return;
  std::vector<std::string_view> names;
  for (const OpInfo& info : AllOps()) names.emplace_back(info.name);
  // Without the prefix, which would make all names alike.
  const std::string_view closest = ClosestName(std::string_view(name).substr(has_prefix ? prefix.size() : 0), names);
  const std::string meant = closest.empty() ? "" : "; did you mean \"" + prefix + std::string(closest) + "\"?";
  DEUTERON_THROW(UsageError) << what << ": there is no operator \"" << name << "\"" << meant;
}

}  // namespace deuteron::relax
