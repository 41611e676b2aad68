#include "deuteron/script/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace deuteron::script {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> MakeValues() {
  std::array<int8_t, 256> values{};
  for (auto& value : values) value = -1;
  for (int8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = i;
  return values;
}
constexpr std::array<int8_t, 256> kValues = MakeValues();

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out) {
  const size_t begin = out->size();
  out->resize(begin + (bytes.size() + 2) / 3 * 4, '=');
  char* to = out->data() + begin;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    uint32_t group = static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << 16;
    if (left > 1) group |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 8;
    if (left > 2) group |= static_cast<unsigned char>(bytes[i + 2]);
    to[0] = kAlphabet[group >> 18];
    to[1] = kAlphabet[(group >> 12) & 63];
    if (left > 1) to[2] = kAlphabet[(group >> 6) & 63];
    if (left > 2) to[3] = kAlphabet[group & 63];
    to += 4;
  }
}

bool DecodeBase64(std::string_view text, char* out, size_t size) {
  if (text.size() != (size + 2) / 3 * 4) return false;
  for (size_t done = 0; done < size; done += 3, text.remove_prefix(4)) {
    const size_t count = std::min<size_t>(3, size - done);
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const bool padding = k > count;
      const int8_t value = padding ? int8_t{0} : kValues[static_cast<unsigned char>(text[k])];
      if (value < 0 || (padding && text[k] != '=')) return false;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k < count; ++k) out[done + k] = static_cast<char>(group >> (16 - 8 * k));
  }
  return true;
}

}  // namespace deuteron::script
