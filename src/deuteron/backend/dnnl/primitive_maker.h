/// \file
/// Making the primitives of a plan beside describing them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <dnnl.hpp>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "deuteron/runtime/plugin.h"

namespace deuteron::backend::dnnl {

/// oneDNN generates the code of a primitive as it is made. That takes as long as describing it does (which algorithm,
/// in what layouts), and each description needs the one before, but no primitive: threads of the pool make primitives
/// while the thread of the plan goes on describing. While this lives, other regions of that thread are serial.
class PrimitiveMaker {
 public:
  /// For calls of `threads` threads.
  PrimitiveMaker(const DeuteronHost* host, int threads) : host_(host), threads_(threads) {}
  ~PrimitiveMaker() { EndTeam(); }
  PrimitiveMaker(const PrimitiveMaker&) = delete;
  PrimitiveMaker& operator=(const PrimitiveMaker&) = delete;

  /// That primitive is to be made; its number, counted from 0.
  size_t Add(const ::dnnl::primitive_desc_base& description);
  /// All of them, by number. Afterwards no thread is at work here. Throws Refused, or a MemoryError.
  std::vector<::dnnl::primitive> Finish();

  /// What oneDNN says of one that it does not make.
  struct Refused : ::dnnl::error {
    Refused(const ::dnnl::error& error, size_t number) : ::dnnl::error(error), number(number) {}
    size_t number;
  };

 private:
  struct Item {
    ::dnnl::primitive_desc_base description;
    ::dnnl::primitive primitive;
  };
  /// The next one that nobody has begun; null if there is none.
  std::pair<Item*, size_t> Next();
  bool Make(Item* item, size_t number);
  void HelpUntilClosed();
  void BeginTeam();
  void EndTeam();

  const DeuteronHost* host_;
  int threads_;
  void* team_ = nullptr;
  std::mutex mutex_;
  // Guarded by mutex_; addresses of items do not change.
  std::deque<Item> items_;
  size_t begun_ = 0;
  std::optional<Refused> refused_;
  // Not guarded.
  std::atomic<size_t> waiting_{0};
  std::atomic<bool> is_closed_{false};
};

}  // namespace deuteron::backend::dnnl
