/// Any bytes are a note of the cache or none; what is one is the same when it is written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "check.h"
#include "deuteron/runtime/cache_note.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  // With the checksum that it has to have, so that what lies before it is reached.
  if (data[0] % 4 != 0) text += deuteron::ChecksumText(text) + "\n";
  deuteron::AcceptsOrRefuses([&] {
    const auto note = deuteron::ParseNote(text);
    if (!note) return;
    if (deuteron::ParseNote(deuteron::TextOfNote(*note)) != note) std::abort();
  });
  return 0;
}
