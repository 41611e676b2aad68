/// \file
/// What an Executable holds. Internal to the driver.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/driver/compilation.h"
#include "deuteron/driver/compile.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/support/error.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron {

/// Links the code and writes it as an artefact, with what was decided among its notes.
void WriteCode(const std::string& path, const GeneratedCode& code, const std::string& weights_file = "");

/// Writes an artefact that was read anew, its weights to `weights_file` if that is named (Executable::Save).
void SaveFile(const MappedFile& file, const std::string& path, const std::string& weights_file);

/// A UsageError if there cannot be so many threads.
inline void CheckThreads(int threads) {
  if (threads < 0) DEUTERON_THROW(UsageError) << "threads: " << threads << "; 0 is as many as there are";
}

struct Executable::Impl {
  std::shared_ptr<const runtime::Executable> executable;
  int threads = 0;
  int64_t run_bytes = Limits().run_bytes;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  int64_t num_kernels = 0;
  /// Null until it is read, if the executable was loaded.
  std::shared_ptr<transform::DecisionLog> decisions;
  /// What Save needs: of what was loaded the file, else the code for each target.
  std::shared_ptr<const MappedFile> file;
  std::vector<GeneratedCode> code;
  /// Why this machine cannot run it; empty if it can.
  std::string why_not_here;
  /// Instances not in use.
  std::mutex mutex;
  std::vector<std::unique_ptr<runtime::Instance>> idle;
  int64_t activation_bytes = 0;

  /// An UnsupportedError if the code is for another machine.
  std::unique_ptr<runtime::Instance> Acquire() {
    if (!why_not_here.empty()) DEUTERON_THROW(UnsupportedError) << why_not_here;
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto instance = std::move(idle.back());
        idle.pop_back();
        return instance;
      }
    }
    return std::make_unique<runtime::Instance>(executable,
                                               runtime::InstanceOptions{.threads = threads, .run_bytes = run_bytes});
  }
  void Release(std::unique_ptr<runtime::Instance> instance) {
    std::lock_guard lock(mutex);
    activation_bytes = instance->memory().arena_bytes;
    idle.push_back(std::move(instance));
  }
};

}  // namespace deuteron
