#include "deuteron/script/name_table.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace deuteron::script {
namespace {

bool IsReserved(std::string_view name) {
  static const std::unordered_set<std::string_view> kReserved = {
      "False", "None",  "True",   "and",      "as",     "assert",  "async",    "await", "break",  "class", "continue",
      "def",   "del",   "elif",   "else",     "except", "finally", "for",      "from",  "global", "if",    "import",
      "in",    "is",    "lambda", "nonlocal", "not",    "or",      "pass",     "raise", "return", "try",   "while",
      "with",  "yield", "T",      "R",        "I",      "cls",     "metadata", "range", "float"};
  return name.size() <= 8 && kReserved.count(name) != 0;
}

size_t HashText(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

std::string Identifier(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) c = '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "v");
  if (IsReserved(name)) name += "_";
  return name;
}

void PositionTable::Insert(size_t hash, int64_t position) {
  if (2 * ++size_ > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.position < 0) continue;
      size_t at = Home(slot.hash);
      while (slots_[at].position >= 0) at = (at + 1) & mask_;
      slots_[at] = slot;
    }
  }
  size_t at = Home(hash);
  while (slots_[at].position >= 0) at = (at + 1) & mask_;
  slots_[at] = {position, static_cast<uint32_t>(hash)};
}

void PositionTable::Erase(size_t hash, int64_t position) {
  size_t hole = Home(hash);
  while (slots_[hole].position != position) hole = (hole + 1) & mask_;
  --size_;
  // What follows moves up, unless it would come before its home.
  for (size_t at = (hole + 1) & mask_; slots_[at].position >= 0; at = (at + 1) & mask_) {
    const size_t distance = (at - Home(slots_[at].hash)) & mask_;
    if (distance < ((at - hole) & mask_)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = Slot();
}

size_t NameTable::Hash(const Object* object) {
  // Objects are aligned; the low bits of their addresses say nothing.
  uint64_t bits = reinterpret_cast<uintptr_t>(object);
  bits *= 0x9E3779B97F4A7C15U;
  return bits >> 32;
}

bool NameTable::IsTaken(std::string_view name, size_t hash) const {
  return by_name_.Find(hash, [&](int64_t i) { return entries_[static_cast<size_t>(i)].name == name; }) >= 0;
}

int64_t NameTable::Position(const Object* object) const {
  return by_object_.Find(Hash(object), [&](int64_t i) { return entries_[static_cast<size_t>(i)].object == object; });
}

NameTable::Entry& NameTable::Add(const Object* object, std::string name, bool takes_name) {
  const auto position = static_cast<int64_t>(entries_.size());
  const int64_t hides = Position(object);
  if (hides >= 0) by_object_.Erase(Hash(object), hides);
  by_object_.Insert(Hash(object), position);
  Entry& entry = entries_.emplace_back();
  entry.object = object;
  entry.name = std::move(name);
  entry.takes_name = takes_name;
  entry.hides = hides;
  if (takes_name) {
    entry.name_hash = HashText(entry.name);
    by_name_.Insert(entry.name_hash, position);
  }
  return entry;
}

const std::string& NameTable::Define(const Object* object, std::string_view hint) {
  std::string name = Identifier(hint);
  const size_t hash = HashText(name);
  if (!IsTaken(name, hash)) return Add(object, std::move(name), /*takes_name=*/true).name;
  int64_t stem = by_stem_.Find(hash, [&](int64_t i) { return stems_[static_cast<size_t>(i)].name == name; });
  if (stem < 0) {
    stem = static_cast<int64_t>(stems_.size());
    stems_.push_back({name});
    by_stem_.Insert(hash, stem);
  }
  int64_t number = stems_[static_cast<size_t>(stem)].last;
  std::string numbered;
  do {
    numbered = name + "_" + std::to_string(++number);
  } while (IsTaken(numbered, HashText(numbered)));
  stems_[static_cast<size_t>(stem)].last = number;
  Entry& entry = Add(object, std::move(numbered), /*takes_name=*/true);
  entry.stem = stem;
  entry.number = number;
  return entry.name;
}

void NameTable::DefineAs(const Object* object, std::string text) { Add(object, std::move(text), /*takes_name=*/false); }

const std::string* NameTable::Find(const Object* object) const {
  const int64_t i = Position(object);
  return i < 0 ? nullptr : &entries_[static_cast<size_t>(i)].name;
}

void NameTable::Pop() {
  const size_t begin = frames_.back();
  frames_.pop_back();
  while (entries_.size() > begin) {
    const Entry& entry = entries_.back();
    const auto position = static_cast<int64_t>(entries_.size()) - 1;
    by_object_.Erase(Hash(entry.object), position);
    if (entry.hides >= 0) by_object_.Insert(Hash(entry.object), entry.hides);
    if (entry.takes_name) by_name_.Erase(entry.name_hash, position);
    if (entry.stem >= 0) {
      int64_t& last = stems_[static_cast<size_t>(entry.stem)].last;
      last = std::min(last, entry.number - 1);
    }
    entries_.pop_back();
  }
}

}  // namespace deuteron::script
