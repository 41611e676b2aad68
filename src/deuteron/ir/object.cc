#include "deuteron/ir/object.h"

#include <mutex>

namespace deuteron {
namespace {

/// What is told may make objects.
std::recursive_mutex& Mutex() {
  static auto* mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

constinit std::atomic<NodeReflection*> NodeReflection::pending_{nullptr};

NodeReflection::NodeReflection(void (*tell)()) : tell_(tell) {
  const std::lock_guard lock(Mutex());
  NodeReflection* last = pending_.load();
  while (last != nullptr && last->next_ != nullptr) last = last->next_;
  if (last != nullptr) {
    last->next_ = this;
  } else {
    pending_.store(this);
  }
}

void NodeReflection::TellPending() {
  const std::lock_guard lock(Mutex());
  static bool is_telling = false;
  if (is_telling) return;
  is_telling = true;
  for (NodeReflection* each = pending_.load(); each != nullptr; each = each->next_) each->tell_();
  // Others wait until all is told.
  pending_.store(nullptr, std::memory_order_release);
  is_telling = false;
}

}  // namespace deuteron
