/// \file
/// Numbers as bytes: seven bits a byte, the lowest first, so that small numbers take one.
#pragma once

#include <cstdint>

namespace deuteron {

/// Appends `number` to a sequence of bytes.
template <typename Bytes>
void AppendVarint(uint64_t number, Bytes* bytes) {
  using Byte = typename Bytes::value_type;
  constexpr uint64_t kMore = 128;
  for (; number >= kMore; number >>= 7) bytes->push_back(static_cast<Byte>(number | kMore));
  bytes->push_back(static_cast<Byte>(number));
}

/// Small numbers of either sign as small ones without a sign, and back.
inline uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

}  // namespace deuteron
