/// \file
/// Memory of calls in flight.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "deuteron/runtime/plugin.h"

namespace deuteron::backend::dnnl {

/// Arenas, one for each call in flight. All plans of the process share them: a network may have many plans, and calls
/// one after the other. No more is kept than the largest plan there is needs.
class Arenas {
 public:
  explicit Arenas(const DeuteronHost* host);
  /// Those of the process; never destroyed.
  static Arenas& Get(const DeuteronHost* host);

  struct Arena {
    std::unique_ptr<char, void (*)(void*)> data{nullptr, nullptr};
    size_t bytes = 0;
  };
  /// One of at least `bytes`, which are not initialised. Throws a MemoryError.
  Arena Take(size_t bytes);
  void GiveBack(Arena arena);

  /// A plan whose calls take `bytes`, as long as this lives.
  class User {
   public:
    User(Arenas* arenas, size_t bytes);
    ~User();
    User(const User&) = delete;
    User& operator=(const User&) = delete;

   private:
    Arenas* const arenas_;
    const size_t bytes_;
  };

 private:
  using Idle = std::multimap<size_t, Arena>;
  /// With mutex_ held: what is larger than anybody needs.
  Idle TakeSuperfluous();

  const DeuteronHost* const host_;
  std::mutex mutex_;
  // Guarded by mutex_.
  Idle idle_;
  std::multiset<size_t> needed_;
};

}  // namespace deuteron::backend::dnnl
