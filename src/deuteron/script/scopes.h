/// \file
/// What names stand for.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "deuteron/ir/object.h"

namespace deuteron::script {

inline uint64_t HashText(std::string_view text) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  const auto load = [](const char* from, size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, from, size);
    return value;
  };
  uint64_t hash = text.size() * kMultiplier;
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= 8; left -= 8, at += 8) {
    hash = (hash ^ load(at, 8)) * kMultiplier;
    hash ^= hash >> 29;
  }
  if (left >= 4) {
    hash = (hash ^ (load(at, 4) | load(at + left - 4, 4) << 32)) * kMultiplier;
  } else if (left > 0) {
    hash = (hash ^ (load(at, 1) | load(at + left / 2, 1) << 8 | load(at + left - 1, 1) << 16)) * kMultiplier;
  }
  return hash ^ hash >> 32;
}

/// A map from texts, which outlive it. Pointers to its values live until the next insertion.
template <typename T>
class TextMap {
 public:
  const T* Find(std::string_view key) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[Probe(key, HashText(key))];
    return slot.index == kNone ? nullptr : &entries_[slot.index].second;
  }
  T* Find(std::string_view key) { return const_cast<T*>(std::as_const(*this).Find(key)); }
  /// The value of `key`, default-constructed if it is new; and its number, which stays.
  std::pair<T*, uint32_t> Insert(std::string_view key) {
    if ((entries_.size() + 1) * 2 > slots_.size()) Grow();
    const uint64_t hash = HashText(key);
    Slot& slot = slots_[Probe(key, hash)];
    if (slot.index == kNone) {
      slot = {static_cast<uint32_t>(hash >> 32), static_cast<uint32_t>(entries_.size())};
      entries_.emplace_back(key, T());
    }
    return {&entries_[slot.index].second, slot.index};
  }
  T& operator[](std::string_view key) { return *Insert(key).first; }
  T& At(uint32_t index) { return entries_[index].second; }
  size_t size() const { return entries_.size(); }
  void Clear() {
    if (entries_.empty()) return;
    slots_.clear();
    entries_.clear();
  }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFF;
  struct Slot {
    uint32_t hash = 0;
    uint32_t index = kNone;
  };

  /// Where `key` is or would be.
  size_t Probe(std::string_view key, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    const auto high = static_cast<uint32_t>(hash >> 32);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      const Slot& slot = slots_[i];
      if (slot.index == kNone || (slot.hash == high && entries_[slot.index].first == key)) return i;
    }
  }

  void Grow() {
    const size_t size = slots_.empty() ? 32 : slots_.size() * 2;
    slots_.assign(size, Slot());
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      const uint64_t hash = HashText(entries_[i].first);
      slots_[Probe(entries_[i].first, hash)] = {static_cast<uint32_t>(hash >> 32), i};
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::pair<std::string_view, T>> entries_;
};

/// `object` as a node of class `Node`; null if it is none.
template <typename Node>
const Node* AsNode(const Object* object) {
  return object != nullptr && object->IsInstance<Node>() ? static_cast<const Node*>(object) : nullptr;
}

/// What names stand for, in nested scopes; inner ones hide outer ones.
class Scopes {
 public:
  void Define(std::string_view name, ObjectRef value) {
    const auto [entry, index] = values_.Insert(name);
    hidden_.emplace_back(index, std::exchange(*entry, std::move(value)));
  }
  /// Null if it stands for nothing.
  const Object* Find(std::string_view name) const {
    const ObjectRef* value = values_.Find(name);
    return value == nullptr ? nullptr : value->get();
  }

  /// Definitions made while it lives are undone when it ends.
  class Frame {
   public:
    explicit Frame(Scopes* scopes) : scopes_(scopes), mark_(scopes->hidden_.size()) {}
    Frame(const Frame&) = delete;
    ~Frame() {
      auto& hidden = scopes_->hidden_;
      for (; hidden.size() > mark_; hidden.pop_back()) {
        scopes_->values_.At(hidden.back().first) = std::move(hidden.back().second);
      }
    }

   private:
    Scopes* scopes_;
    size_t mark_;
  };

 private:
  TextMap<ObjectRef> values_;
  /// What each definition hid, by the number of its name.
  std::vector<std::pair<uint32_t, ObjectRef>> hidden_;
};

/// Gives a variable another value for as long as it lives.
template <typename T>
class Temporarily {
 public:
  Temporarily(T* variable, T value) : variable_(variable), outer_(std::exchange(*variable, std::move(value))) {}
  Temporarily(const Temporarily&) = delete;
  ~Temporarily() { *variable_ = std::move(outer_); }

 private:
  T* variable_;
  T outer_;
};
template <typename T, typename U>
Temporarily(T*, U) -> Temporarily<T>;

}  // namespace deuteron::script
