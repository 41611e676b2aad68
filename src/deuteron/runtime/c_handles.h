/// \file
/// What the handles of the C API (deuteron/c_api.h) point to, and how its functions end. Internal to the two libraries.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "deuteron/c_api.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/support/mapped_file.h"

struct DeuteronModel {
  explicit DeuteronModel(std::shared_ptr<const deuteron::runtime::Executable> runnable);

  /// With the pointers that a DeuteronTensorInfo shows.
  struct Value {
    deuteron::runtime::Executable::TensorInfo info;
    std::vector<const char*> dims;
  };
  std::shared_ptr<const deuteron::runtime::Executable> executable;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  /// Of a model that was loaded its file, else what writes an artefact, its weights to a file of their own if that is
  /// named.
  std::shared_ptr<const deuteron::MappedFile> file;
  std::function<void(const std::string& path, const std::string& weights_file)> save;
};

namespace deuteron::runtime {

/// The kind of error with which a caller's callback ends what called it.
inline constexpr const char* kCancelled = "Cancelled";

/// Runs `body`; whatever it throws becomes a status, and its message the thread's last error.
DeuteronStatus GuardC(const std::function<void()>& body) noexcept;

/// Throws a UsageError that names what the caller left out.
void CheckGiven(const void* pointer, const char* what);

/// Throws a UsageError for a struct that says nothing of its size: its initialiser was forgotten.
void CheckStructSize(size_t size);

/// What a caller of perhaps another version has set of `options` (may be null), the rest by default.
template <typename Options>
Options KnownFields(const Options* options, Options defaults) {
  if (options == nullptr) return defaults;
  CheckStructSize(options->struct_size);
  std::memcpy(&defaults, options, std::min(options->struct_size, sizeof(Options)));
  return defaults;
}

}  // namespace deuteron::runtime
