/// \file
/// Hash tables keyed by address. Passes ask several of them about every binding of graphs of a million operators; what
/// such a question costs is the cache lines it touches: one here, three, and an allocation, in std::unordered_map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace deuteron {

/// From numbers, never 0, to values that can be made without arguments. Open addressing with linear probing, at most
/// half full. References to values last until the next insertion. Nothing is erased, and there is no order.
template <typename Value>
class FlatMap {
 public:
  FlatMap() = default;
  FlatMap(FlatMap&& other) noexcept { *this = std::move(other); }
  FlatMap& operator=(FlatMap&& other) noexcept {
    std::swap(slots_, other.slots_);
    std::swap(capacity_, other.capacity_);
    std::swap(shift_, other.shift_);
    std::swap(size_, other.size_);
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// The value of `key`; null if there is none.
  Value* Find(uint64_t key) { return const_cast<Value*>(std::as_const(*this).Find(key)); }
  const Value* Find(uint64_t key) const {
    if (size_ == 0) return nullptr;
    const Slot& slot = slots_[Locate(key)];
    return slot.key == 0 ? nullptr : &slot.value;
  }

  /// The value of `key`, and whether it was made now.
  std::pair<Value*, bool> Insert(uint64_t key) {
    if (2 * (size_ + 1) > capacity_) Grow(capacity_ == 0 ? kLeast : 2 * capacity_);
    Slot& slot = slots_[Locate(key)];
    const bool is_new = slot.key == 0;
    if (is_new) {
      slot.key = key;
      ++size_;
    }
    return {&slot.value, is_new};
  }

  /// Makes room for `count` keys.
  void Reserve(size_t count) {
    size_t capacity = capacity_ == 0 ? kLeast : capacity_;
    while (capacity < 2 * count) capacity *= 2;
    if (capacity != capacity_) Grow(capacity);
  }

  /// Forgets everything. The room is kept unless it is much.
  void Clear() {
    if (size_ == 0) return;
    if (capacity_ > kMostKept) {
      FlatMap().Swap(*this);
      return;
    }
    for (size_t i = 0; i < capacity_; ++i) slots_[i] = Slot();
    size_ = 0;
  }

 private:
  struct Slot {
    uint64_t key = 0;
    [[no_unique_address]] Value value{};
  };
  static constexpr size_t kLeast = 8;
  static constexpr size_t kMostKept = 1024;

  void Swap(FlatMap& other) noexcept { *this = std::move(other); }

  /// Where `key` is, or would be.
  size_t Locate(uint64_t key) const {
    // Multiplication spreads low bits upwards; the upper ones are taken.
    size_t at = (key * 0x9E3779B97F4A7C15ULL) >> shift_;
    while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & (capacity_ - 1);
    return at;
  }

  void Grow(size_t capacity) {
    const std::unique_ptr<Slot[]> old = std::move(slots_);
    const size_t old_capacity = capacity_;
    slots_ = std::make_unique<Slot[]>(capacity);
    capacity_ = capacity;
    shift_ = 64 - __builtin_ctzll(capacity);
    for (size_t i = 0; i < old_capacity; ++i) {
      if (old[i].key != 0) slots_[Locate(old[i].key)] = std::move(old[i]);
    }
  }

  std::unique_ptr<Slot[]> slots_;
  size_t capacity_ = 0;
  int shift_ = 64;
  size_t size_ = 0;
};

/// A FlatMap from addresses, never null.
template <typename Value>
class PointerMap {
 public:
  size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }
  bool contains(const void* key) const { return Find(key) != nullptr; }
  Value* Find(const void* key) { return map_.Find(Bits(key)); }
  const Value* Find(const void* key) const { return map_.Find(Bits(key)); }
  std::pair<Value*, bool> Insert(const void* key) { return map_.Insert(Bits(key)); }
  Value& operator[](const void* key) { return *Insert(key).first; }
  void Reserve(size_t count) { map_.Reserve(count); }
  void Clear() { map_.Clear(); }

 private:
  static uint64_t Bits(const void* key) { return reinterpret_cast<uintptr_t>(key); }
  FlatMap<Value> map_;
};

/// A set of addresses.
class PointerSet {
 public:
  size_t size() const { return keys_.size(); }
  bool empty() const { return keys_.empty(); }
  bool contains(const void* key) const { return keys_.contains(key); }
  /// Whether it was not there.
  bool Insert(const void* key) { return keys_.Insert(key).second; }
  void Reserve(size_t count) { keys_.Reserve(count); }
  void Clear() { keys_.Clear(); }

 private:
  struct Nothing {};
  PointerMap<Nothing> keys_;
};

}  // namespace deuteron
