#include "deuteron/driver/custom_libraries.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/library/library_codegen.h"

namespace deuteron {
namespace {

/// What the module calls by name and does not hold.
std::set<std::string> CalledByName(const IRModule& module) {
  std::set<std::string> names;
  for (const auto& [var, func] : module->functions) {
    const auto function = As<relax::Function>(func);
    if (!function.defined()) continue;
    relax::VisitAllLeaves(function->body, [&](const relax::Expr& leaf) {
      if (const auto* external = leaf.as<relax::ExternFuncNode>()) names.insert(std::string(external->global_symbol));
    });
  }
  for (const relax::ExternalFunction& function : relax::ExternalFunctions(module)) names.erase(function.symbol);
  return names;
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

IRModule WithLibraries(IRModule module, const std::vector<std::string>& paths) {
  std::set<std::string> names = CalledByName(module);
  std::vector<relax::ExternalFunction> found;
  for (const std::string& path : paths) {
    std::error_code error;
    const std::string absolute = std::filesystem::absolute(path, error).string();
    const std::shared_ptr<void> library(dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* handle) {
      if (handle != nullptr) dlclose(handle);
    });
    if (library == nullptr) DEUTERON_THROW(UsageError) << "cannot load the library " << path << ": " << dlerror();
    std::string code;
    for (auto name = names.begin(); name != names.end();) {
      if (dlsym(library.get(), name->c_str()) == nullptr) {
        ++name;
        continue;
      }
      if (code.empty()) code = BytesOf(path);
      found.push_back({*name, "shared_object", code, {}});
      name = names.erase(name);
    }
    if (!code.empty()) continue;
    std::string called;
    for (const std::string& name : names) called += (called.empty() ? "" : ", ") + name;
    DEUTERON_THROW(UsageError) << "the library " << path
                               << " defines none of the functions that the module calls by name"
                               << (called.empty() ? "" : ": " + called);
  }
  return relax::WithExternalFunctions(std::move(module), found);
}

}  // namespace deuteron
