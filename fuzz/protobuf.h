/// \file
/// Changes to the wire format of protocol buffers that keep it one: fields, at any depth, are left out, repeated,
/// moved, taken from elsewhere, and their values changed; the lengths around them follow.
/// https://protobuf.dev/programming-guides/encoding
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace deuteron::fuzz {

/// As LLVMFuzzerMutate.
using MutateBytes = size_t (*)(uint8_t* data, size_t size, size_t most);

/// Changes a message in place; its new size, at most `most`. Bytes that are no message are changed as bytes.
size_t MutateMessage(uint8_t* data, size_t size, size_t most, unsigned seed, MutateBytes mutate_bytes);

/// The first message with fields of the second.
size_t CrossMessages(std::span<const uint8_t> first, std::span<const uint8_t> second, uint8_t* out, size_t most,
                     unsigned seed);

}  // namespace deuteron::fuzz
