/// \file
/// Whether a set of bindings can become one function call: nothing outside may lie on a path between two of them.
#pragma once

#include <cstdint>
#include <vector>

namespace deuteron::relax::fusion {

/// The bindings of a block, of which disjoint sets are contracted one after another as long as no cycle arises.
///
/// Keeps a topological order (Pearce and Kelly, as ContractibleDag does). A set whose inner values nothing outside uses
/// before its last member — nearly every one — costs its members' edges only; for the others, what the order puts
/// between is searched and ordered anew.
class GroupOrder {
 public:
  /// Bindings 0..count-1 in order.
  explicit GroupOrder(uint32_t count);
  /// `user` uses `used`; `used` < `user`. Before the first contraction.
  void AddEdge(uint32_t used, uint32_t user);

  /// Contracts `members` (bindings in ascending order, of which contracted sets are wholly or not at all among) unless
  /// that makes a cycle; then returns a binding outside that lies on it.
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t Contract(const std::vector<uint32_t>& members);

 private:
  template <typename Visit>
  void Reach(const std::vector<uint32_t>& starts, bool forward, const Visit& enter, std::vector<uint32_t>* reached);
  void Reorder(uint32_t set, const std::vector<uint32_t>& after);

  std::vector<std::vector<uint32_t>> users_;
  std::vector<std::vector<uint32_t>> uses_;
  /// Sets by number; at first binding i is the only one of set i.
  std::vector<uint32_t> set_of_;
  std::vector<std::vector<uint32_t>> sets_;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> seen_;
  uint32_t stamp_ = 0;
};

}  // namespace deuteron::relax::fusion
