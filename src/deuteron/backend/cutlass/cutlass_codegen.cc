#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "deuteron/backend/cutlass/cutlass.h"
#include "deuteron/backend/cutlass/patterns.h"
#include "deuteron/backend/source/compile_source.h"
#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/library/passes.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/environment.h"
#include "deuteron/support/parallel.h"

namespace deuteron::backend::cutlass {
namespace {

namespace fs = std::filesystem;

std::string Text(const Map<String, Any>& options, const char* key) {
  const auto it = options.find(key);
  return it == options.end() ? "" : std::string((*it).second.cast<String>());
}

}  // namespace

std::string FindCutlass(const std::string& wanted) {
  std::vector<fs::path> folders;
  if (const std::string named = wanted.empty() ? EnvironmentVariable("CUTLASS_DIR") : wanted; !named.empty()) {
    folders = {named, fs::path(named) / "include"};
  } else {
    folders = {DEUTERON_CUTLASS_INCLUDE_DIR, "/usr/include", "/usr/local/include"};
  }
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (!folder.empty() && fs::exists(folder / "cutlass" / "cutlass.h", ignored)) return folder.string();
  }
  return "";
}

std::string Missing() {
  if (FindCompiler(SourceLanguage::kCuda).empty()) {
    return "there is no CUDA compiler: install NVIDIA's CUDA toolkit and put its nvcc into the search path, or name it "
           "in $NVCC";
  }
  if (FindCutlass().empty()) {
    return "CUTLASS's headers are missing: `pip install --no-deps nvidia-cutlass`, or clone "
           "github.com/NVIDIA/cutlass, and name the folder that holds cutlass/cutlass.h in $CUTLASS_DIR";
  }
  return "";
}

transform::Pass Partition() {
  return transform::ModulePass({.name = "PartitionFor"}, [](IRModule module, const transform::PassContext&) {
    module = relax::UpdateFunctions(std::move(module), [](const GlobalVar&, relax::Function function) {
      return RewriteAttention(std::move(function), /*use_flash_mqa=*/false);
    });
    const auto describe = [module](const MatchedComposite& composite) { return DescribeKernel(composite, module); };
    return relax::FuseOpsByPattern(TranslatablePatterns("cutlass.", describe))(module);
  });
}

std::string ArchitectureOf(const relax::CodegenRequest& request) {
  std::string arch = Text(request.options, "arch");
  if (arch.empty()) arch = EnvironmentVariable("DEUTERON_CUDA_ARCH");
  return arch.empty() ? "sm_80" : arch;
}

namespace {

SourceUnit UnitOf(const relax::CodegenRequest& request, std::vector<std::string>* constants) {
  SourceUnit unit{.language = SourceLanguage::kCuda, .name = request.symbol};
  unit.text = WriteSource(request, constants);
  unit.flags = {"-std=c++17", "-O3",
                // Code for that generation, and a form that the driver translates for later ones.
                "-arch=" + ArchitectureOf(request), "--expt-relaxed-constexpr",
                "-I" + FindCutlass(Text(request.options, "cutlass_dir")), "-diag-suppress=20012,20011,177"};
  if (const auto flags = request.options.find("flags"); flags != request.options.end()) {
    for (const String& flag : (*flags).second.cast<Array<String>>()) unit.flags.emplace_back(flag);
  }
  return unit;
}

SourceCompiler CompilerOf(const relax::CodegenRequest& request) {
  return {Text(request.options, "compiler"), Text(request.options, "cache_dir")};
}

/// A compiler holds a gigabyte.
constexpr size_t kMostCompilers = 4;

}  // namespace

void Prepare(const std::vector<relax::CodegenRequest>& requests) {
  std::map<std::string, SourceUnit> units;
  for (const relax::CodegenRequest& request : requests) {
    try {
      SourceUnit unit = UnitOf(request, nullptr);
      units.try_emplace(unit.text, std::move(unit));
    } catch (const tvm::ffi::Error&) {
      // Generate says so, with the function's name.
    }
  }
  std::vector<const SourceUnit*> distinct;
  for (const auto& [text, unit] : units) distinct.push_back(&unit);
  const auto threads = std::min<size_t>(runtime::UsableThreads(), kMostCompilers);
  ForEachInParallel(distinct.size(), threads, [&](size_t i) {
    try {
      CompileSource(*distinct[i], CompilerOf(requests.front()));
    } catch (const tvm::ffi::Error&) {
      // As well.
    }
  });
}

relax::ExternalFunction Generate(const relax::CodegenRequest& request) {
  std::vector<std::string> constants;
  const SourceUnit unit = UnitOf(request, &constants);
  return {request.symbol, "shared_object", CompileSource(unit, CompilerOf(request)), constants};
}

}  // namespace deuteron::backend::cutlass
