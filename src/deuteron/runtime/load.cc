/// \file
/// Opening `model.so`: everything is checked before any of it is used or the dynamic linker sees the file.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "deuteron/runtime/artifact.h"
#include "deuteron/runtime/artifact_set.h"
#include "deuteron/runtime/plugin.h"
#include "deuteron/support/environment.h"
#include "deuteron/support/error.h"

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

/// A whole file, read-only. Pages are read when first touched.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
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

 private:
  const char* data_ = nullptr;
  size_t size_ = 0;
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
    ReadTrailer();
    CompareChecksums();
    Executable::Parts parts;
    parts.manifest = ManifestFromJson({bytes_.data() + trailer_.manifest_offset, trailer_.manifest_bytes});
    CheckMachine(parts.manifest);
    parts.program = Deserialize({bytes_.data() + trailer_.program_offset, trailer_.program_bytes});
    // Before pointers are made of its offsets.
    Verify(parts.program);
    if (parts.program.weights_bytes != trailer_.weights_bytes) Damaged("the program is of other weights");
    for (const ConstantSpec& constant : parts.program.constants) {
      parts.weights.push_back(bytes_.data() + trailer_.weights_offset + constant.offset);
    }
    CheckPlugins(parts.manifest);
    LoadKernels(&parts);
    parts.keep_alive.push_back(file_);
    return std::make_shared<const Executable>(std::move(parts));
  }

 private:
  [[noreturn]] void Damaged(const std::string& why) const {
    DEUTERON_THROW(ModelError) << path_ << " is damaged or truncated: " << why;
  }

  void ReadTrailer() {
    if (bytes_.size() < sizeof(trailer_)) NotAnArtifact();
    std::memcpy(&trailer_, bytes_.data() + bytes_.size() - sizeof(trailer_), sizeof(trailer_));
    if (std::memcmp(trailer_.magic, kArtifactMagic.data(), sizeof(trailer_.magic)) != 0) NotAnArtifact();
    if (trailer_.version != kArtifactVersion || trailer_.program_version != kProgramVersion) {
      DEUTERON_THROW(ModelError) << path_ << " was compiled for version " << trailer_.version << "."
                                 << trailer_.program_version << " of the runtime, this is version " << kArtifactVersion
                                 << "." << kProgramVersion << ": compile the model again";
    }
    const uint64_t end = bytes_.size() - sizeof(trailer_);
    const auto within = [end](uint64_t offset, uint64_t bytes) { return offset <= end && bytes <= end - offset; };
    if (!within(0, trailer_.elf_bytes) || trailer_.program_offset != trailer_.elf_bytes ||
        !within(trailer_.program_offset, trailer_.program_bytes) ||
        trailer_.manifest_offset != trailer_.program_offset + trailer_.program_bytes ||
        !within(trailer_.manifest_offset, trailer_.manifest_bytes) ||
        trailer_.weights_offset < trailer_.manifest_offset + trailer_.manifest_bytes ||
        trailer_.weights_offset % kPageBytes != 0 || !within(trailer_.weights_offset, trailer_.weights_bytes) ||
        trailer_.weights_offset + trailer_.weights_bytes != end) {
      Damaged("its parts do not fit");
    }
  }

  [[noreturn]] void NotAnArtifact() const {
    const bool elf = bytes_.size() >= 4 && std::memcmp(bytes_.data(),
                                                       "\x7f"
                                                       "ELF",
                                                       4) == 0;
    DEUTERON_THROW(ModelError) << path_ << " is no compiled model"
                               << (elf ? ": it is a shared object, but truncated, stripped or of another program" : "");
  }

  void CompareChecksums() const {
    Checksum all;
    all.Add(bytes_.data(), trailer_.manifest_offset + trailer_.manifest_bytes);
    all.Add(&trailer_, offsetof(ArtifactTrailer, checksum));
    if (all.Value() != trailer_.checksum) Damaged("the checksum differs");
    if (!options_.verify_weights) return;
    Checksum weights;
    weights.Add(bytes_.data() + trailer_.weights_offset, trailer_.weights_bytes);
    if (weights.Value() != trailer_.weights_checksum) Damaged("the checksum of its weights differs");
  }

  void CheckMachine(const Manifest& manifest) const {
    const std::string lacks =
        WhatMachineLacks(ArchitectureOfElf(bytes_.substr(0, trailer_.elf_bytes)), manifest.cpu_features);
    if (lacks.empty()) return;
    DEUTERON_THROW(UnsupportedError) << path_ << " was compiled for " << lacks
                                     << "; compile it with --target for this processor";
  }

  void* Open(const char* name, const std::string& what) const {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) DEUTERON_THROW(UnsupportedError) << path_ << ": " << what << ": " << dlerror();
    return library;
  }

  std::shared_ptr<void> OpenFile() const {
    // A name without a slash would be searched for in the library path.
    const std::string name = path_.find('/') == std::string::npos ? "./" + path_ : path_;
    return {Open(name.c_str(), "its kernels cannot be loaded"), &dlclose};
  }

  /// The dynamic linker opens whole files only: one in memory, which stays open, for a library of the same name as one
  /// that is open is taken to be that.
  std::shared_ptr<void> OpenPart() const {
    const int file = memfd_create("deuteron-kernels", MFD_CLOEXEC);
    const std::shared_ptr<const void> closing(nullptr, [file](const void*) { close(file); });
    for (uint64_t written = 0; written < trailer_.elf_bytes;) {
      const ssize_t now = write(file, bytes_.data() + written, trailer_.elf_bytes - written);
      if (now < 0) {
        DEUTERON_THROW(UnsupportedError) << path_ << ": its kernels cannot be loaded: " << std::strerror(errno);
      }
      written += static_cast<uint64_t>(now);
    }
    void* library = Open(("/proc/self/fd/" + std::to_string(file)).c_str(), "its kernels cannot be loaded");
    return {library, [closing](void* opened) { dlclose(opened); }};
  }

  void CheckPlugins(const Manifest& manifest) const {
    for (const std::string& plugin : manifest.plugins) {
      const std::string problem = PluginProblem(plugin);
      if (problem.empty()) continue;
      DEUTERON_THROW(UnsupportedError) << path_ << ": the plugin '" << plugin << "' cannot be loaded: " << problem;
    }
  }

  void LoadKernels(Executable::Parts* parts) const {
    if (parts->program.kernels.empty()) return;
    const std::shared_ptr<void> library = bytes_.data() == file_->data() ? OpenFile() : OpenPart();
    parts->keep_alive.push_back(library);
    for (const KernelSpec& kernel : parts->program.kernels) {
      void* address = dlsym(library.get(), kernel.symbol.c_str());
      if (address == nullptr) Damaged("kernel " + kernel.symbol + " is missing");
      parts->kernels.push_back(reinterpret_cast<DeuteronKernel>(address));
    }
  }

  std::string path_;
  LoadOptions options_;
  std::shared_ptr<MappedFile> file_;
  /// Of the file what is loaded: all, or one artefact of a set.
  std::string_view bytes_;
  ArtifactTrailer trailer_{};
};

}  // namespace

std::shared_ptr<const Executable> Executable::Load(const std::string& path, const LoadOptions& options) {
  return Loader(path, options).Load();
}

}  // namespace deuteron::runtime
