/// \file
/// Names that the printer has given to objects.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/ir/object.h"

namespace deuteron::script {

/// `text` as a Python identifier that hides nothing the text relies on.
std::string Identifier(std::string_view text);
/// `text` as the name of a function of a module, where T, R and the like are free: `cls.R`.
std::string FunctionName(std::string_view text);

/// A hash table of positions in a list that its owner keeps; the owner says what equal means. Open addressing with
/// linear probing: a module of a million variables is a million insertions.
class PositionTable {
 public:
  /// The position for which `equal` holds among those of this hash; -1 if there is none.
  template <typename Equal>
  int64_t Find(size_t hash, Equal equal) const {
    for (size_t at = Home(hash);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.position < 0) return -1;
      if (slot.hash == static_cast<uint32_t>(hash) && equal(slot.position)) return slot.position;
    }
  }
  /// Adds a position that is not there.
  void Insert(size_t hash, int64_t position);
  /// Removes a position that is there.
  void Erase(size_t hash, int64_t position);

 private:
  struct Slot {
    int64_t position = -1;
    uint32_t hash = 0;
  };
  size_t Home(size_t hash) const { return static_cast<uint32_t>(hash) & mask_; }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  size_t mask_ = 63;
  size_t size_ = 0;
};

/// Names of objects, unique among those in scope; scopes nest.
class NameTable {
 public:
  void Push() { frames_.push_back(entries_.size()); }
  void Pop();
  /// Gives `object` a name like `hint` in the innermost scope.
  const std::string& Define(const Object* object, std::string_view hint);
  /// Gives `object` a name that stands for something longer ("A.data").
  void DefineAs(const Object* object, std::string text);
  /// Null if it has none.
  const std::string* Find(const Object* object) const;

 private:
  struct Entry {
    const Object* object = nullptr;
    std::string name;
    size_t name_hash = 0;
    bool takes_name = true;
    /// The entry that named the object before; -1: none.
    int64_t hides = -1;
    /// The name without its number, and that number.
    int64_t stem = -1;
    int64_t number = 0;
  };
  static size_t Hash(const Object* object);
  bool IsTaken(std::string_view name, size_t hash) const;
  int64_t Position(const Object* object) const;
  Entry& Add(const Object* object, std::string name, bool takes_name);

  /// Newest last; references to names stay valid.
  std::deque<Entry> entries_;
  /// How many entries there were when each scope began.
  std::vector<size_t> frames_;
  PositionTable by_object_;
  PositionTable by_name_;
  /// Names that were wanted more than once, and the last number that was given to one.
  struct Stem {
    std::string name;
    int64_t last = 0;
  };
  PositionTable by_stem_;
  std::deque<Stem> stems_;
};

}  // namespace deuteron::script
