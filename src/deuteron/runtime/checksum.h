/// \file
/// Checksums of what files hold: XXH3, at the speed of memory. They find accidents, not forgers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace deuteron::runtime {

/// 64 bits of bytes that are given piece by piece.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  void Add(const void* data, size_t bytes);
  uint64_t Value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// That of a tensor: of the checksums of its pieces, which up to `threads` threads share.
uint64_t TensorChecksum(const void* data, uint64_t bytes, int threads);

}  // namespace deuteron::runtime
