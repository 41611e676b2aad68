/// \file
/// XXH3 for vectors of more bytes than the target of the build has. Internal: see checksum.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace deuteron::runtime {

#if defined(__x86_64__)
/// XXH3_64bits with AVX2, twice as fast as with SSE2.
uint64_t Xxh3Avx2(const void* data, size_t bytes);
#endif

}  // namespace deuteron::runtime
