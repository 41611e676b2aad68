#include "protobuf.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace deuteron::fuzz {
namespace {

constexpr int kDeepest = 12;

/// Wire types.
constexpr uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

struct Field {
  uint64_t tag = 0;
  uint64_t varint = 0;
  /// Of the other wire types, unless it is a message.
  std::string bytes;
  std::vector<Field> fields;
  bool is_message = false;

  uint64_t type() const { return tag & 7; }
};
using Message = std::vector<Field>;

class Parser {
 public:
  explicit Parser(std::string_view bytes) : bytes_(bytes) {}

  std::optional<Message> Parse(int depth = 0) {
    Message message;
    while (at_ < bytes_.size()) {
      Field field;
      if (!Varint(&field.tag) || field.tag >> 3 == 0) return std::nullopt;
      uint64_t length = field.type() == kFixed64 ? 8 : field.type() == kFixed32 ? 4 : 0;
      if (field.type() == kVarint) {
        if (!Varint(&field.varint)) return std::nullopt;
      } else if (field.type() == kBytes) {
        if (!Varint(&length)) return std::nullopt;
      } else if (length == 0) {
        return std::nullopt;
      }
      if (length > bytes_.size() - at_) return std::nullopt;
      field.bytes = bytes_.substr(at_, length);
      at_ += length;
      // What reads as a message is taken for one; of a short text that does, the change is as good.
      if (field.type() == kBytes && length >= 2 && depth < kDeepest) {
        if (auto inner = Parser(field.bytes).Parse(depth + 1)) {
          field.fields = std::move(*inner);
          field.is_message = true;
        }
      }
      message.push_back(std::move(field));
    }
    return message;
  }

 private:
  bool Varint(uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      *value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  std::string_view bytes_;
  size_t at_ = 0;
};

void AppendVarint(std::string* out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

std::string Written(const Message& message) {
  std::string out;
  for (const Field& field : message) {
    AppendVarint(&out, field.tag);
    if (field.type() == kVarint) {
      AppendVarint(&out, field.varint);
      continue;
    }
    const std::string bytes = field.is_message ? Written(field.fields) : field.bytes;
    if (field.type() == kBytes) AppendVarint(&out, bytes.size());
    out += bytes;
  }
  return out;
}

/// All messages in one, itself first.
void Collect(Message* message, std::vector<Message*>* all) {
  all->push_back(message);
  for (Field& field : *message) {
    if (field.is_message) Collect(&field.fields, all);
  }
}

class Mutator {
 public:
  Mutator(unsigned seed, MutateBytes mutate_bytes) : random_(seed), mutate_bytes_(mutate_bytes) {}

  void Change(Message* root, Message* donor) {
    std::vector<Message*> places, donors;
    Collect(root, &places);
    Collect(donor, &donors);
    Message& place = *places[Below(places.size())];
    const Message& source = *donors[Below(donors.size())];
    const auto at = [this](const Message& message) { return static_cast<ptrdiff_t>(Below(message.size())); };
    switch (place.empty() ? 3 : Below(8)) {
      case 0:
        place.erase(place.begin() + at(place));
        break;
      case 1: {
        const Field copy = place[Below(place.size())];
        place.insert(place.begin() + at(place), copy);
        break;
      }
      case 2:
        std::swap(place[Below(place.size())], place[Below(place.size())]);
        break;
      case 3:
        if (!source.empty())
          place.insert(place.begin() + (place.empty() ? 0 : at(place)), source[Below(source.size())]);
        break;
      default:
        ChangeValue(&place[Below(place.size())], source);
    }
  }

 private:
  size_t Below(size_t count) { return count == 0 ? 0 : random_() % count; }

  void ChangeValue(Field* field, const Message& source) {
    static constexpr uint64_t kNumbers[] = {0,
                                            1,
                                            2,
                                            3,
                                            7,
                                            8,
                                            16,
                                            127,
                                            255,
                                            1U << 16,
                                            uint64_t{1} << 31,
                                            ~uint64_t{0},
                                            ~uint64_t{1},
                                            uint64_t{1} << 62,
                                            uint64_t{1} << 63,
                                            (uint64_t{1} << 63) - 1};
    if (field->type() == kVarint) {
      field->varint = Below(2) == 0 ? kNumbers[Below(std::size(kNumbers))] : field->varint + Below(9) - 4;
      return;
    }
    // A value of the same sort from elsewhere: names, dtypes and operators that there are.
    if (Below(2) == 0) {
      for (const Field& other : source) {
        if (other.type() == field->type()) *field = other;
      }
      return;
    }
    if (field->is_message || mutate_bytes_ == nullptr) return;
    const size_t size = field->bytes.size();
    std::string bytes = field->bytes;
    bytes.resize(field->type() == kBytes ? size + 16 : size);
    const size_t now = mutate_bytes_(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size());
    bytes.resize(field->type() == kBytes ? now : size);
    field->bytes = bytes;
  }

  std::minstd_rand random_;
  MutateBytes mutate_bytes_;
};

size_t Store(const Message& message, uint8_t* out, size_t most) {
  const std::string bytes = Written(message);
  if (bytes.size() > most) return 0;
  std::memcpy(out, bytes.data(), bytes.size());
  return bytes.size();
}

std::optional<Message> Parsed(std::span<const uint8_t> bytes) {
  return Parser({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).Parse();
}

}  // namespace

size_t MutateMessage(uint8_t* data, size_t size, size_t most, unsigned seed, MutateBytes mutate_bytes) {
  auto message = Parsed({data, size});
  // Now and then bytes are bytes.
  if (!message || message->empty() || seed % 64 == 0) return mutate_bytes(data, size, most);
  Message donor = *message;
  Mutator mutator(seed, mutate_bytes);
  for (unsigned i = 0; i <= seed % 3; ++i) mutator.Change(&*message, &donor);
  const size_t stored = Store(*message, data, most);
  return stored == 0 ? size : stored;
}

size_t CrossMessages(std::span<const uint8_t> first, std::span<const uint8_t> second, uint8_t* out, size_t most,
                     unsigned seed) {
  auto message = Parsed(first), donor = Parsed(second);
  if (!message || !donor) return 0;
  Mutator mutator(seed, nullptr);
  for (unsigned i = 0; i < 3; ++i) mutator.Change(&*message, &*donor);
  return Store(*message, out, most);
}

}  // namespace deuteron::fuzz
