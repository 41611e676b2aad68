/// \file
/// The functions of kernel libraries that a program calls.
#pragma once

#include <tvm/ffi/function.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "deuteron/runtime/program.h"
#include "deuteron/runtime/weights.h"

namespace deuteron::runtime {

/// Made when a function of the program calls one for the first time, and with it all that each call of that function
/// calls: a library may take longer to generate its kernels than loading a model may take.
class ExternalFunctions {
 public:
  /// Both outlive this.
  ExternalFunctions(const Program& program, const Weights& weights);
  /// Null if the program has none of that symbol. What its library refuses is thrown, by every call, and where one of
  /// its constants is damaged. To be called with the CallThreads of the run, which are `threads`.
  const tvm::ffi::Function* Find(const std::string& symbol, int threads) const;
  /// Makes those that each call of the program's function of that index calls, side by side, once. What fails is left
  /// to Find.
  void MakeCalledBy(size_t function, int threads) const;

 private:
  struct Entry {
    const ExternalSpec* spec = nullptr;
    /// No std::once_flag: of one whose function throws, libraries that follow threads and some systems do not return.
    std::mutex making;
    std::atomic<bool> made = false;
    tvm::ffi::Function function;
  };
  void MakeOnce(Entry* entry, int threads) const;
  void Make(Entry* entry, int threads) const;
  void TryToMake(Entry* entry, int threads) const;

  const Program& program_;
  const Weights& weights_;
  mutable std::map<std::string, Entry> entries_;
  /// Of each function of the program: that MakeCalledBy was called.
  mutable std::vector<std::once_flag> begun_;
};

}  // namespace deuteron::runtime
