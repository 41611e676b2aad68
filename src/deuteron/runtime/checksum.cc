#include "deuteron/runtime/checksum.h"

#include <algorithm>
#include <vector>

#include "deuteron/runtime/cpu_features.h"
#include "deuteron/runtime/thread_pool.h"
#include "deuteron/runtime/xxh3.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace deuteron::runtime {
namespace {

/// Stays in the second cache until a kernel reads it, and is worth a thread's while.
constexpr uint64_t kPieceBytes = 256 << 10;

uint64_t ChecksumOfPiece(const void* data, size_t bytes) {
#if defined(__x86_64__)
  // What the machine has is known by then. The compiler's own way asks the processor as each library is opened, which
  // takes a virtual machine a tenth of a millisecond.
  static const bool has_avx2 = MissingCpuFeatures({"avx2"}).empty();
  if (has_avx2) return Xxh3Avx2(data, bytes);
#endif
  return XXH3_64bits(data, bytes);
}

}  // namespace

struct Checksum::State {
  XXH3_state_t sum;
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->sum); }
Checksum::~Checksum() = default;

void Checksum::Add(const void* data, size_t bytes) {
  if (bytes > 0) XXH3_64bits_update(&state_->sum, data, bytes);
}

uint64_t Checksum::Value() const { return XXH3_64bits_digest(&state_->sum); }

uint64_t TensorChecksum(const void* data, uint64_t bytes, int threads) {
  struct Pieces {
    const char* data;
    uint64_t bytes;
    std::vector<uint64_t> sums;
  } pieces{static_cast<const char*>(data), bytes, std::vector<uint64_t>((bytes + kPieceBytes - 1) / kPieceBytes)};
  const auto add = [](void* closure, int64_t begin, int64_t end) {
    auto& [data, bytes, sums] = *static_cast<Pieces*>(closure);
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t offset = static_cast<uint64_t>(i) * kPieceBytes;
      sums[i] = ChecksumOfPiece(data + offset, std::min(kPieceBytes, bytes - offset));
    }
    return 0;
  };
  ParallelFor(threads, static_cast<int64_t>(pieces.sums.size()), 1, add, &pieces);
  return XXH3_64bits(pieces.sums.data(), pieces.sums.size() * sizeof(uint64_t));
}

}  // namespace deuteron::runtime
