#include "deuteron/backend/dnnl/arenas.h"

#include <pthread.h>

#include <iterator>
#include <utility>

#include "deuteron/support/error.h"

namespace deuteron::backend::dnnl {

Arenas::Arenas(const DeuteronHost* host) : host_(host) {}

Arenas& Arenas::Get(const DeuteronHost* host) {
  static Arenas* arenas = nullptr;
  static std::once_flag once;
  std::call_once(once, [host] {
    arenas = new Arenas(host);
    // What the mutex guards is whole in a forked process, whose other threads are gone.
    pthread_atfork([] { arenas->mutex_.lock(); }, [] { arenas->mutex_.unlock(); }, [] { arenas->mutex_.unlock(); });
  });
  return *arenas;
}

Arenas::Arena Arenas::Take(size_t bytes) {
  Arena found;
  {
    const std::lock_guard lock(mutex_);
    auto it = idle_.lower_bound(bytes);
    // The largest makes room for one that is larger.
    if (it == idle_.end() && !idle_.empty()) it = std::prev(it);
    if (it != idle_.end()) {
      found = std::move(it->second);
      idle_.erase(it);
    }
  }
  if (found.bytes >= bytes) return found;
  found.data.reset();
  Arena arena{{static_cast<char*>(host_->allocate(static_cast<int64_t>(bytes))), host_->release}, bytes};
  if (arena.data == nullptr) DEUTERON_THROW(MemoryError) << "out of memory: oneDNN needs " << bytes << " bytes";
  return arena;
}

void Arenas::GiveBack(Arena arena) {
  Idle superfluous;
  const std::lock_guard lock(mutex_);
  idle_.emplace(arena.bytes, std::move(arena));
  superfluous = TakeSuperfluous();
}

Arenas::Idle Arenas::TakeSuperfluous() {
  Idle superfluous;
  const size_t most = needed_.empty() ? 0 : *needed_.rbegin();
  for (auto it = idle_.upper_bound(most); it != idle_.end();) superfluous.insert(idle_.extract(it++));
  return superfluous;
}

Arenas::User::User(Arenas* arenas, size_t bytes) : arenas_(arenas), bytes_(bytes) {
  const std::lock_guard lock(arenas->mutex_);
  arenas->needed_.insert(bytes);
}

Arenas::User::~User() {
  Idle superfluous;
  const std::lock_guard lock(arenas_->mutex_);
  arenas_->needed_.erase(arenas_->needed_.find(bytes_));
  superfluous = arenas_->TakeSuperfluous();
}

}  // namespace deuteron::backend::dnnl
