#include "deuteron/ir/op.h"

#include <mutex>
#include <string>
#include <unordered_map>

namespace deuteron {

Op Op::Get(std::string_view name) {
  static std::mutex mutex;
  static auto* table = new std::unordered_map<std::string, Op>();
  std::lock_guard lock(mutex);
  auto [it, inserted] = table->try_emplace(std::string(name));
  if (inserted) {
    auto node = MakeNode<OpNode>();
    node->name = String(name.data(), name.size());
    node->index = static_cast<int64_t>(table->size()) - 1;
    it->second = Op(std::move(node));
  }
  return it->second;
}

}  // namespace deuteron
