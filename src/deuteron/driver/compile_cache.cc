#include "deuteron/driver/compile_cache.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <tuple>
#include <vector>

#include "deuteron/backend/backends.h"
#include "deuteron/runtime/artifact.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/environment.h"
#include "deuteron/support/safetensors.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".so";
/// Of a file that is being written.
constexpr const char* kPartSuffix = ".part";
/// What is still a part after that time was left by a process that was killed.
constexpr auto kLongestWrite = std::chrono::hours(1);

std::string Hex(uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(value));
  return text;
}

/// The file that this code was loaded from, with its size and when it was last written.
const std::string& IdentityOfBuild() {
  static const std::string identity = [] {
    Dl_info info{};
    struct stat status {};
    if (dladdr(reinterpret_cast<const void*>(&IdentityOfBuild), &info) == 0 || info.dli_fname == nullptr)
      return std::string();
    if (stat(info.dli_fname, &status) != 0) return std::string();
    return std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
           std::to_string(status.st_mtim.tv_nsec);
  }();
  return identity;
}

/// Takes texts apart from each other by their lengths.
class KeyText {
 public:
  void Add(const std::string& part) { text_ += std::to_string(part.size()) + ":" + part; }
  void Add(int64_t number) { Add(std::to_string(number)); }
  void Add(const std::vector<std::string>& parts) {
    Add(static_cast<int64_t>(parts.size()));
    for (const std::string& part : parts) Add(part);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

std::string DefaultCacheFolder() {
  if (const std::string folder = EnvironmentVariable("DEUTERON_CACHE"); !folder.empty())
    return folder == "off" ? "" : folder;
  // A relative path there is to be ignored (XDG Base Directory Specification).
  const std::string cache = EnvironmentVariable("XDG_CACHE_HOME"), home = EnvironmentVariable("HOME");
  if (fs::path(cache).is_absolute()) return cache + "/deuteron";
  return home.empty() ? "" : home + "/.cache/deuteron";
}

std::string CacheKey(const IRModule& module, const CompileOptions& options, const Target& target) {
  NamedTensors tensors;
  KeyText key;
  key.Add(IdentityOfBuild());
  key.Add(script::Print(module, {.weights = &tensors}));
  key.Add(target.ToString());
  key.Add(std::vector<std::string>(target.features.begin(), target.features.end()));
  key.Add(target.machine.threads);
  key.Add(options.threads);
  key.Add(options.opt_level);
  key.Add(static_cast<int64_t>(options.fuse));
  key.Add(options.backend);
  key.Add(options.precision);
  for (const auto& [name, value] : options.config) key.Add({name, value});
  // What they refuse is not taken from here.
  for (const LimitRow& limit : AllLimits()) key.Add(options.limits.*limit.field);
  key.Add(options.disabled_passes);
  key.Add(options.required_passes);
  // Only of libraries that may be asked: to see whether one is there takes to load it.
  for (const backend::Backend& backend : backend::AllBackends()) {
    const bool is_asked =
        options.backend == "auto" ? backend.partition_paying != nullptr : options.backend == backend.name;
    if (is_asked) key.Add({backend.name, backend.codegen.missing()});
  }
  runtime::Checksum text, weights;
  text.Add(key.text().data(), key.text().size());
  for (const auto& [name, tensor] : tensors) {
    const auto bytes =
        static_cast<size_t>(runtime::TensorBytes({tensor.shape().begin(), tensor.shape().end()}, tensor.dtype()));
    weights.Add(static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset(), bytes);
  }
  return Hex(text.Value()) + Hex(weights.Value());
}

std::string CompileCache::PathOf(const std::string& key) const { return folder_ + "/" + key + kSuffix; }

void CompileCache::Warn(const std::string& what) {
  if (warn_) warn_("the cache of compiled models " + folder_ + ": " + what);
  warn_ = nullptr;
}

std::optional<Executable> CompileCache::Find(const std::string& key, int threads) {
  const std::string path = PathOf(key);
  if (access(path.c_str(), F_OK) != 0) return std::nullopt;
  try {
    Executable executable = Executable::Load(path, threads, /*verify_weights=*/true);
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // its last use; of a folder that is read only, nobody needs it
    return executable;
  } catch (const ffi::Error& error) {
    Warn("an entry is not used, and the model compiled again: " + error.message());
    std::error_code ignored;
    fs::remove(path, ignored);
    return std::nullopt;
  }
}

std::optional<Executable> CompileCache::Store(const std::string& key, int threads,
                                              const std::function<void(const std::string& path)>& write) {
  static std::atomic<int64_t> count{0};
  const std::string part = PathOf(key) + "." + std::to_string(getpid()) + "-" + std::to_string(count++) + kPartSuffix;
  std::error_code error;
  try {
    fs::create_directories(folder_, error);
    write(part);
    if (static_cast<int64_t>(fs::file_size(part)) > most_bytes_) {
      fs::remove(part, error);
      return std::nullopt;
    }
    fs::rename(part, PathOf(key));
    RemoveOldest(PathOf(key));
    return Executable::Load(PathOf(key), threads);
  } catch (const ffi::Error& failure) {
    Warn("it is left as it is: " + failure.message());
  } catch (const fs::filesystem_error& failure) {
    Warn(std::string("it is left as it is: ") + failure.what());
  }
  fs::remove(part, error);
  return std::nullopt;
}

void CompileCache::RemoveOldest(const std::string& newest) {
  std::vector<std::tuple<fs::file_time_type, std::string, int64_t>> entries;
  int64_t total = 0;
  std::error_code error;  // of an entry that another process removes meanwhile
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    const fs::file_time_type used = fs::last_write_time(path, error);
    const auto bytes = static_cast<int64_t>(error ? 0 : fs::file_size(path, error));
    if (error) continue;
    if (path.extension() == kPartSuffix && fs::file_time_type::clock::now() - used > kLongestWrite) {
      fs::remove(path, error);
    } else if (path.extension() == kSuffix) {
      total += bytes;
      if (path != newest) entries.emplace_back(used, path.string(), bytes);
    }
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& [used, path, bytes] : entries) {
    if (total <= most_bytes_) break;
    fs::remove(path, error);
    total -= bytes;
  }
}

}  // namespace deuteron
