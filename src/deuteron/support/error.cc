#include "deuteron/support/error.h"

namespace deuteron {

int ExitStatus(std::string_view error_kind) {
  if (error_kind == "UsageError") return 2;
  if (error_kind == "ModelError") return 3;
  if (error_kind == "UnsupportedError") return 4;
  if (error_kind == "MismatchError") return 5;
  return 1;
}

bool IsForMemory(std::string_view error_kind) { return error_kind == "MemoryError"; }

}  // namespace deuteron
