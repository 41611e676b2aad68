#include "deuteron/runtime/xxh3.h"

#if defined(__x86_64__)
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace deuteron::runtime {

uint64_t Xxh3Avx2(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

}  // namespace deuteron::runtime
#endif
