/// \file
/// The constants of an executable. Those that are mapped from a file are compared with their checksums, each when it is
/// first used: a damaged one is an error of the run that would have computed with it.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "deuteron/runtime/program.h"

namespace deuteron::runtime {

class Weights {
 public:
  /// `data` by the order of the program's table; `file`: where it is mapped from, empty where it is trusted; `names` of
  /// the constants in that file, empty where they have none. The program outlives this.
  Weights(const Program& program, std::vector<const void*> data, std::string file, std::vector<std::string> names);

  /// Null where it has not been compared yet.
  const void* Known(size_t index) const {
    return sound_.empty() || sound_[index].load(std::memory_order_relaxed) ? data_[index] : nullptr;
  }
  /// Compared by up to `threads` threads if it has not been. A ModelError that names the file, the constant and who
  /// uses it ("node '/conv1'", may be empty or give an empty text).
  const void* Get(size_t index, int threads, const std::function<std::string()>& user = {}) const;
  /// Compares all of them.
  void CheckAll(int threads) const;

 private:
  [[noreturn]] void ThrowDamaged(size_t index, const std::string& user) const;

  const Program& program_;
  std::vector<const void*> data_;
  std::string file_;
  std::vector<std::string> names_;
  /// Whether they were compared; empty where none is to be. Threads may compare one at once, with the same result.
  mutable std::vector<std::atomic<bool>> sound_;
};

}  // namespace deuteron::runtime
