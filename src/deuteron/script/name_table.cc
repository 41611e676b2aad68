#include "deuteron/script/name_table.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace deuteron::script {
namespace {

bool IsKeyword(std::string_view name) {
  static const std::unordered_set<std::string_view> kKeywords = {
      "False", "None", "True",  "and",    "as",   "assert", "async",  "await",    "break", "class", "continue", "def",
      "del",   "elif", "else",  "except", "for",  "from",   "global", "finally",  "if",    "in",    "import",   "is",
      "not",   "or",   "raise", "lambda", "pass", "return", "while",  "nonlocal", "yield", "try",   "with"};
  return name.size() <= 8 && kKeywords.count(name) != 0;
}

bool IsReserved(std::string_view name) {
  static const std::unordered_set<std::string_view> kReserved = {"T",      "R",        "I",     "cls",
                                                                 "Module", "metadata", "range", "float"};
  return IsKeyword(name) || (name.size() <= 8 && kReserved.count(name) != 0);
}

/// Whether Python takes a character beyond ASCII as a letter of a name and leaves it as it is. Of the scripts that
/// models are named in: identifiers are NFKC-normalised there, which what is listed here survives.
bool IsLetter(uint32_t code) {
  struct Letters {
    uint32_t first, last;
  };
  static constexpr Letters kLetters[] = {
      {0xC0, 0xD6},   {0xD8, 0xF6},   {0xF8, 0x131},    {0x134, 0x13E},   {0x141, 0x148},   {0x14A, 0x17E},
      {0x180, 0x1C3}, {0x1CD, 0x1F0}, {0x391, 0x3A1},   {0x3A3, 0x3CE},   {0x400, 0x481},   {0x48A, 0x52F},
      {0x5D0, 0x5EA}, {0x620, 0x64A}, {0x3041, 0x3096}, {0x30A1, 0x30FA}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3},
  };
  return std::any_of(std::begin(kLetters), std::end(kLetters),
                     [code](const Letters& letters) { return code >= letters.first && code <= letters.last; });
}

/// The length of the letter beyond ASCII that begins at `at`; 0 if it is none.
size_t LetterAt(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t { return static_cast<unsigned char>(text[at + i]); };
  const size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : byte(0) >= 0xC0 ? 2 : 1;
  // Letters of four bytes are of scripts that nobody writes now.
  if (length == 1 || length == 4 || at + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const uint32_t code =
      length == 2 ? (byte(0) & 31) << 6 | (byte(1) & 63) : (byte(0) & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
  return IsLetter(code) ? length : 0;
}

std::string WithoutStrangeCharacters(std::string_view text) {
  std::string name(text);
  for (size_t i = 0; i < name.size(); ++i) {
    char& c = name[i];
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (word) continue;
    const size_t letter = static_cast<unsigned char>(c) >= 0x80 ? LetterAt(name, i) : 0;
    if (letter == 0) {
      c = '_';
    } else {
      i += letter - 1;
    }
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name.insert(0, "v");
  return name;
}

size_t HashName(std::string_view text) { return std::hash<std::string_view>()(text); }

}  // namespace

std::string Identifier(std::string_view text) {
  std::string name = WithoutStrangeCharacters(text);
  if (IsReserved(name)) name += "_";
  return name;
}

std::string FunctionName(std::string_view text) {
  std::string name = WithoutStrangeCharacters(text);
  if (IsKeyword(name)) name += "_";
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
    entry.name_hash = HashName(entry.name);
    by_name_.Insert(entry.name_hash, position);
  }
  return entry;
}

const std::string& NameTable::Define(const Object* object, std::string_view hint) {
  std::string name = Identifier(hint);
  const size_t hash = HashName(name);
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
  } while (IsTaken(numbered, HashName(numbered)));
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
