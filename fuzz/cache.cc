/// Any bytes are a note of the cache or none; what is one is the same when it is written and read again.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "check.h"
#include "deuteron/driver/files_note.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  // A line with the checksum that it has to have, so that what lies behind it is reached.
  if (data[0] % 4 != 0) {
    text = text.substr(0, text.find('\n'));
    text += "\n" + deuteron::ChecksumText(text) + "\n";
  }
  deuteron::AcceptsOrRefuses([&] {
    const auto note = deuteron::ParseFilesText(text);
    if (!note) return;
    const auto again = deuteron::ParseFilesText(deuteron::FilesText(*note));
    if (!again || again->key != note->key || again->files != note->files) std::abort();
  });
  return 0;
}
