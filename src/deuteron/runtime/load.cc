/// \file
/// Opening `model.so`: everything is checked before any of it is used or the dynamic linker sees the file.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include "deuteron/runtime/artifact.h"
#include "deuteron/runtime/artifact_set.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/runtime/plugin_ahead.h"
#include "deuteron/runtime/shared_weights.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/environment.h"
#include "deuteron/support/error.h"
#include "deuteron/support/memory_library.h"

namespace deuteron::runtime {
namespace {

/// User ids with commas between whose artefacts are run besides one's own and root's.
constexpr const char* kTrustedOwners = "DEUTERON_TRUSTED_OWNERS";

/// Whether code of that owner may run in this process.
bool IsTrusted(uid_t owner) {
  if (owner == geteuid() || owner == 0) return true;
  const std::string trusted = "," + EnvironmentVariable(kTrustedOwners) + ",";
  return trusted.find("," + std::to_string(owner) + ",") != std::string::npos;
}

/// Which file a path leads to.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// A whole file, read-only. Pages are read when first touched.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) DEUTERON_THROW(ModelError) << path << ": " << std::strerror(errno);
    struct stat status {};
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
      close(file);
      DEUTERON_THROW(ModelError) << path << ": not a file";
    }
    if (!IsTrusted(status.st_uid)) {
      close(file);
      const std::string owner = std::to_string(status.st_uid);
      DEUTERON_THROW(UnsupportedError) << path << " belongs to user " << owner << ", and would run as code of user "
                                       << geteuid() << ": give it to that user, or trust its owner by "
                                       << kTrustedOwners << "=" << owner;
    }
    identity_ = {status.st_dev, status.st_ino};
    size_ = static_cast<size_t>(status.st_size);
    if (size_ > 0) {
      void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
      data_ = mapped == MAP_FAILED ? nullptr : static_cast<const char*>(mapped);
    }
    close(file);
    if (size_ > 0 && data_ == nullptr) DEUTERON_THROW(ModelError) << path << ": cannot be mapped";
  }
  ~MappedFile() {
    if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  const char* data() const { return data_; }
  size_t size() const { return size_; }
  const FileIdentity& identity() const { return identity_; }

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
  FileIdentity identity_;
};

/// Names under which files are open as libraries. To the dynamic linker a library of the same name as one that is open
/// is that one, though another file has taken its place since (a model that was compiled anew): each gets names of its
/// own.
class OpenNames {
 public:
  static OpenNames& Get() {
    static auto* names = new OpenNames();
    return *names;
  }
  /// A name of `path`, which holds that file; to be given back when it is closed.
  std::string Take(const std::string& path, const FileIdentity& file) {
    const std::lock_guard lock(mutex_);
    const size_t slash = path.rfind('/');
    // One without a slash would be searched for in the library path.
    const std::string folder = slash == std::string::npos ? "./" : path.substr(0, slash + 1);
    const std::string base = slash == std::string::npos ? path : path.substr(slash + 1);
    for (std::string name = folder + base, dots = "./";; name = folder + dots + base, dots += "./") {
      const auto [it, added] = open_.try_emplace(name, file, 0);
      if (!(it->second.first == file)) continue;
      ++it->second.second;
      return name;
    }
  }
  void GiveBack(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto it = open_.find(name);
    if (--it->second.second == 0) open_.erase(it);
  }

 private:
  std::mutex mutex_;
  /// The file of each name, and how often it is open.
  std::map<std::string, std::pair<FileIdentity, int>> open_;
};

class Loader {
 public:
  Loader(const std::string& path, const LoadOptions& options)
      : path_(path), options_(options), file_(std::make_shared<MappedFile>(path)) {}

  std::shared_ptr<const Executable> Load() {
    bytes_ = {file_->data(), file_->size()};
    if (const auto members = ReadArtifactSet(bytes_, path_)) {
      const ArtifactMember& member = ChooseArtifact(*members, path_);
      bytes_ = bytes_.substr(member.offset, member.bytes);
    }
    artifact_ = ReadArtifact(bytes_, path_);
    CheckMachine();
    Executable::Parts parts;
    parts.program = std::move(artifact_.program);
    parts.manifest = std::move(artifact_.manifest);
    FindWeights(&parts);
    CheckPlugins(parts.manifest);
    LoadKernels(&parts);
    // Last: the dynamic linker opens one library at a time.
    for (const std::string& plugin : parts.manifest.plugins) OpenPluginAhead(plugin);
    parts.keep_alive.push_back(file_);
    auto executable = std::make_shared<const Executable>(std::move(parts));
    if (options_.verify_weights) executable->weights().CheckAll(UsableThreads());
    return executable;
  }

 private:
  void CheckMachine() const {
    const std::string lacks = WhatMachineLacks(ArchitectureOfElf(artifact_.elf), artifact_.manifest.cpu_features);
    if (lacks.empty()) return;
    DEUTERON_THROW(UnsupportedError) << path_ << " was compiled for " << lacks
                                     << "; compile it with --target for this processor";
  }

  void FindWeights(Executable::Parts* parts) const {
    const std::string& beside = parts->manifest.weights_file;
    if (!beside.empty()) {
      namespace fs = std::filesystem;
      const fs::path there =
          options_.weights_file.empty() ? fs::path(path_).parent_path() / beside : fs::path(options_.weights_file);
      if (!fs::exists(there)) {
        DEUTERON_THROW(ModelError) << path_ << " has its weights in " << there.string()
                                   << ", which does not exist: put them there, or say where they are (--weights, "
                                      "LoadOptions::weights_file)";
      }
      parts->weights_from = there.string();
      parts->weights =
          ReadSharedWeights(parts->weights_from, parts->program, parts->manifest.weight_names, &parts->keep_alive);
      return;
    }
    if (!options_.weights_file.empty()) {
      DEUTERON_THROW(UsageError) << path_ << " holds its weights: no file of weights (--weights, "
                                 << "LoadOptions::weights_file) is to be named for it";
    }
    parts->weights_from = path_;
    for (const ConstantSpec& constant : parts->program.constants) {
      parts->weights.push_back(artifact_.weights.data() + constant.offset);
    }
  }

  static std::shared_ptr<void> Open(const std::string& name, std::shared_ptr<const void> while_open) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    return {library, [while_open = std::move(while_open)](void* opened) { dlclose(opened); }};
  }

  [[noreturn]] void RefuseKernels(const std::string& why) const {
    DEUTERON_THROW(UnsupportedError) << path_ << ": its kernels cannot be loaded: " << why;
  }

  /// By its name, so that debuggers and profilers find it there; nothing if another file has that name by now (a model
  /// that is compiled anew meanwhile).
  std::shared_ptr<void> OpenFile() const {
    const std::string name = OpenNames::Get().Take(path_, file_->identity());
    std::shared_ptr<void> library = Open(name, {nullptr, [name](const void*) { OpenNames::Get().GiveBack(name); }});
    const std::string error = library == nullptr ? dlerror() : "";
    struct stat status {};
    if (stat(name.c_str(), &status) != 0 || FileIdentity{status.st_dev, status.st_ino} != file_->identity())
      return nullptr;
    if (library == nullptr) RefuseKernels(error);
    return library;
  }

  /// The dynamic linker opens whole files only.
  std::shared_ptr<void> OpenPart() const {
    std::string why;
    std::shared_ptr<void> library = OpenLibraryOfBytes(artifact_.elf, "deuteron-kernels", &why);
    if (library == nullptr) RefuseKernels(why);
    return library;
  }

  void CheckPlugins(const Manifest& manifest) const {
    for (const std::string& plugin : manifest.plugins) {
      const std::string problem = PluginAbsence(plugin);
      if (problem.empty()) continue;
      DEUTERON_THROW(UnsupportedError) << path_ << ": the plugin '" << plugin << "' cannot be loaded: " << problem;
    }
  }

  void LoadKernels(Executable::Parts* parts) const {
    if (parts->program.kernels.empty()) return;
    const bool is_file = bytes_.data() == file_->data();
    std::shared_ptr<void> library = is_file ? OpenFile() : nullptr;
    if (library == nullptr) library = OpenPart();
    parts->keep_alive.push_back(library);
    for (const KernelSpec& kernel : parts->program.kernels) {
      void* address = dlsym(library.get(), kernel.symbol.c_str());
      if (address == nullptr) {
        DEUTERON_THROW(ModelError) << path_ << " is damaged: kernel " << kernel.symbol << " is missing";
      }
      parts->kernels.push_back(reinterpret_cast<DeuteronKernel>(address));
    }
  }

  std::string path_;
  LoadOptions options_;
  std::shared_ptr<MappedFile> file_;
  /// Of the file what is loaded: all, or one artefact of a set.
  std::string_view bytes_;
  ArtifactParts artifact_;
};

}  // namespace

std::shared_ptr<const Executable> Executable::Load(const std::string& path, const LoadOptions& options) {
  return Loader(path, options).Load();
}

}  // namespace deuteron::runtime
