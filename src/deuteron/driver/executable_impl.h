/// \file
/// What an Executable holds. Internal to the driver.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "deuteron/codegen/vm/compile.h"
#include "deuteron/driver/compile.h"
#include "deuteron/runtime/executable.h"
#include "deuteron/runtime/instance.h"
#include "deuteron/support/mapped_file.h"

namespace deuteron {

struct Executable::Impl {
  std::shared_ptr<const runtime::Executable> executable;
  int threads = 0;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  int64_t num_kernels = 0;
  /// Null until it is read, if the executable was loaded.
  std::shared_ptr<transform::DecisionLog> decisions;
  /// What Save needs: of what was loaded the file, else the program and the objects with its kernels.
  std::shared_ptr<const MappedFile> file;
  codegen::CompiledProgram compiled;
  std::shared_ptr<const std::vector<std::string>> objects;
  /// Instances not in use.
  std::mutex mutex;
  std::vector<std::unique_ptr<runtime::Instance>> idle;
  int64_t activation_bytes = 0;

  std::unique_ptr<runtime::Instance> Acquire() {
    {
      std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto instance = std::move(idle.back());
        idle.pop_back();
        return instance;
      }
    }
    return std::make_unique<runtime::Instance>(executable, runtime::InstanceOptions{.threads = threads});
  }
  void Release(std::unique_ptr<runtime::Instance> instance) {
    std::lock_guard lock(mutex);
    activation_bytes = instance->memory().arena_bytes;
    idle.push_back(std::move(instance));
  }
};

}  // namespace deuteron
