#include "deuteron/relax/dpl/registry.h"

#include <algorithm>
#include <mutex>

namespace deuteron::relax {
namespace {

struct Registry {
  std::mutex mutex;
  /// In order of registration.
  std::vector<FusionPattern> patterns;
};

Registry& TheRegistry() {
  static auto* registry = new Registry();
  return *registry;
}

}  // namespace

void RegisterPatterns(const std::vector<FusionPattern>& patterns) {
  for (const FusionPattern& pattern : patterns) {
    if (pattern.name.empty()) DEUTERON_THROW(UsageError) << "RegisterPatterns: a pattern has no name";
    if (!pattern.pattern.defined())
      DEUTERON_THROW(UsageError) << "RegisterPatterns: " << pattern.name << " has no pattern";
  }
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  registry.patterns.insert(registry.patterns.end(), patterns.begin(), patterns.end());
}

void RemovePatterns(const std::vector<std::string>& names) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::erase_if(registry.patterns, [&](const FusionPattern& pattern) {
    return std::find(names.begin(), names.end(), pattern.name) != names.end();
  });
}

std::vector<FusionPattern> GetPatternsWithPrefix(std::string_view prefix) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  std::vector<FusionPattern> found;
  for (auto it = registry.patterns.rbegin(); it != registry.patterns.rend(); ++it) {
    if (std::string_view(it->name).substr(0, prefix.size()) == prefix) found.push_back(*it);
  }
  return found;
}

std::optional<FusionPattern> GetPattern(std::string_view name) {
  Registry& registry = TheRegistry();
  const std::lock_guard lock(registry.mutex);
  for (auto it = registry.patterns.rbegin(); it != registry.patterns.rend(); ++it) {
    if (it->name == name) return *it;
  }
  return std::nullopt;
}

}  // namespace deuteron::relax
