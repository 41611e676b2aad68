#include "deuteron/driver/compile_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <tuple>

#include "deuteron/backend/backends.h"
#include "deuteron/codegen/machine_code.h"
#include "deuteron/runtime/cache_note.h"
#include "deuteron/runtime/checksum.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/tensor.h"
#include "deuteron/script/printer.h"
#include "deuteron/support/executable_memory.h"
#include "deuteron/support/safetensors.h"
#include "deuteron/support/shared_library.h"
#include "deuteron/support/write_file.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

/// What is still a part after that time was left by a process that was killed.
constexpr auto kLongestWrite = std::chrono::hours(1);

/// Size of a file, and when it was last written; empty if there is none.
std::string IdentityOfFile(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  return std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

std::string FileOfBuild() { return LibraryOf(reinterpret_cast<const void*>(&FileOfBuild)); }

/// Of the files that this code and the generator of machine code are loaded from.
const std::vector<std::string>& IdentityOfBuild() {
  static const auto* identity =
      new std::vector<std::string>{IdentityOfFile(FileOfBuild()), IdentityOfFile(codegen::GeneratorFile())};
  return *identity;
}

/// What compiling depends on beside the module.
KeyText OptionsText(const CompileOptions& options, const Target& target) {
  KeyText key;
  key.Add(IdentityOfBuild());
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
  // Only of libraries that may be asked: to see whether one is there takes to load it where its files do not tell.
  for (const backend::Backend& backend : backend::AllBackends()) {
    if (!backend::IsAsked(backend, options.backend)) continue;
    const auto files = runtime::PluginFiles(backend.name);
    const bool is_there = files && files->front().size > 0;
    key.Add({backend.name, !is_there && backend.codegen.missing ? backend.codegen.missing() : ""});
    for (const FileState& file : files.value_or(std::vector<FileState>())) key.Add(TextOfState(file));
  }
  // Where it is 0, no library that writes code as it runs can be used.
  key.Add(static_cast<int64_t>(MayExecuteWhatItWrites()));
  return key;
}

/// The file or folder that a path leads to when this is made. Held, so that the system gives its number to no other.
class Held {
 public:
  explicit Held(const std::string& path) : path_(path), file_(open(path.c_str(), O_PATH | O_CLOEXEC)) {}
  ~Held() {
    if (file_ >= 0) close(file_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  bool exists() const { return file_ >= 0; }
  /// Whether it was there, and the path leads elsewhere or nowhere by now.
  bool IsGone() const {
    struct stat held {
    }, now{};
    if (!exists() || fstat(file_, &held) != 0) return false;
    return stat(path_.c_str(), &now) != 0 || now.st_dev != held.st_dev || now.st_ino != held.st_ino;
  }

 private:
  const std::string path_;
  const int file_;
};

}  // namespace

std::string CacheKey(const IRModule& module, const CompileOptions& options, const Target& target) {
  NamedTensors tensors;
  KeyText key = OptionsText(options, target);
  key.Add(script::Print(module, {.weights = &tensors}));
  runtime::Checksum weights;
  for (const auto& [name, tensor] : tensors) {
    const auto bytes =
        static_cast<size_t>(runtime::TensorBytes({tensor.shape().begin(), tensor.shape().end()}, tensor.dtype()));
    weights.Add(static_cast<const char*>(tensor.data_ptr()) + tensor.byte_offset(), bytes);
  }
  return key.Checksum() + HexText(weights.Value());
}

std::string FilesKey(const std::string& path, const onnx::ImportOptions& import, const CompileOptions& options,
                     const Target& target) {
  KeyText key = OptionsText(options, target);
  // Messages and notes have the path as it was given; what it means depends on the working folder.
  std::error_code error;
  key.Add({path, fs::absolute(path, error).string()});
  for (const auto& [name, dims] : import.shapes) {
    key.Add(name);
    key.Add(static_cast<int64_t>(dims.size()));
    for (const int64_t dim : dims) key.Add(dim);
  }
  key.Add(static_cast<int64_t>(import.params_as_inputs));
  key.Add(static_cast<int64_t>(import.all_values));
  key.Add(static_cast<int64_t>(import.limits.has_value()));
  for (const LimitRow& limit : AllLimits()) key.Add(import.limits.value_or(CurrentLimits()).*limit.field);
  return key.Checksum();
}

std::string CompileCache::PathOf(const std::string& key) const { return folder_ + "/" + key + kEntrySuffix; }

void CompileCache::Warn(const std::string& what) {
  if (warn_) warn_("the cache of compiled models " + folder_ + ": " + what);
  warn_ = nullptr;
}

std::optional<Executable> CompileCache::Find(const std::string& key, int threads) {
  const std::string path = PathOf(key);
  const Held entry(path);
  if (!entry.exists()) return std::nullopt;
  try {
    Executable executable = Executable::Load(path, threads, /*verify_weights=*/true);
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // its last use; of a folder that is read only, nobody needs it
    return executable;
  } catch (const ffi::Error& error) {
    // By another process, which made room, or found it damaged as well.
    if (entry.IsGone()) return std::nullopt;
    Warn("an entry is not used, and the model compiled again: " + error.message());
    std::error_code ignored;
    fs::remove(path, ignored);
    return std::nullopt;
  }
}

std::optional<Executable> CompileCache::Store(const std::string& key, int threads,
                                              const std::function<void(const std::string& path)>& write) {
  const std::string path = PathOf(key), part = UnfinishedName(path);
  std::error_code error;
  fs::create_directories(folder_, error);
  const Held folder(folder_);
  if (!error && !folder.exists()) return std::nullopt;
  const auto give_up = [&](const std::string& why) {
    // Who removes the folder wants no entries.
    if (!folder.IsGone()) Warn("it is left as it is: " + why);
    fs::remove(part, error);
    return std::nullopt;
  };
  try {
    write(part);
    if (static_cast<int64_t>(fs::file_size(part)) > most_bytes_) {
      fs::remove(part, error);
      return std::nullopt;
    }
    fs::rename(part, path);
    RemoveOldest(path);
  } catch (const ffi::Error& failure) {
    return give_up(failure.message());
  } catch (const fs::filesystem_error& failure) {
    return give_up(failure.what());
  }
  const Held entry(path);
  // Another process may make room at once.
  if (!entry.exists()) return std::nullopt;
  try {
    return Executable::Load(path, threads);
  } catch (const ffi::Error& failure) {
    if (entry.IsGone()) return std::nullopt;
    return give_up(failure.message());
  }
}

std::optional<CacheNote> CompileCache::NoteOfFiles(const std::string& name) const {
  std::optional<CacheNote> note = ReadNote(folder_ + "/" + name + kFilesSuffix);
  return note && note->Holds() ? note : std::nullopt;
}

std::string CompileCache::KeyOfFiles(const std::string& name) const {
  const std::optional<CacheNote> note = NoteOfFiles(name);
  return note ? note->key : "";
}

void CompileCache::RememberFiles(const std::string& name, const std::vector<FileState>& files, const std::string& key) {
  std::error_code error;
  if (!fs::exists(PathOf(key), error)) return;
  WriteNote(name + kFilesSuffix, {key, files});
}

void CompileCache::WriteNote(const std::string& file, const CacheNote& note) const {
  const std::string path = folder_ + "/" + file, part = UnfinishedName(path);
  if (ReadNote(path) == note) return;
  std::error_code error;
  try {
    WriteFile(part, TextOfNote(note));
    fs::rename(part, path, error);
  } catch (const ffi::Error&) {
    // Of a folder that is read only, say.
  }
  fs::remove(part, error);
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
    if (path.extension() == kUnfinishedSuffix && fs::file_time_type::clock::now() - used > kLongestWrite) {
      fs::remove(path, error);
    } else if (path.extension() == kFilesSuffix || path.extension() == kRunSuffix) {
      const auto note = ReadNote(path.string());
      if (!note || !fs::exists(PathOf(note->key), error)) fs::remove(path, error);
    } else if (path.extension() == kEntrySuffix) {
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

void NoteRun(const std::string& name, const std::string& path, const onnx::ImportOptions& import,
             const CompileOptions& options) {
  const CompileCache cache(options.cache, options.cache_bytes, nullptr);
  auto note = cache.NoteOfFiles(FilesKey(path, import, options, Target::Parse(options.target, options.threads)));
  if (!note) return;
  for (const std::string& file : {FileOfBuild(), codegen::GeneratorFile()}) note->files.push_back(FileState::Of(file));
  for (const backend::Backend& backend : backend::AllBackends()) {
    if (!backend::IsAsked(backend, options.backend)) continue;
    const auto files = runtime::PluginFiles(backend.name);
    if (!files) return;
    note->files.insert(note->files.end(), files->begin(), files->end());
  }
  cache.WriteNote(name + kRunSuffix, *note);
}

}  // namespace deuteron
