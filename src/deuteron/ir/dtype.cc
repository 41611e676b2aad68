#include "deuteron/ir/dtype.h"

#include <ostream>

namespace deuteron {

DataType::DataType(std::string_view text) {
  if (text == "void" || text.empty()) {
    *this = Void();
  } else if (text == "handle") {
    *this = Handle();
  } else {
    data_ = ffi::StringToDLDataType(String(text.data(), text.size()));
  }
}

std::string DataType::ToString() const {
  if (is_void()) return "void";
  if (is_handle()) return "handle";
  return std::string(ffi::DLDataTypeToString(data_));
}

std::ostream& operator<<(std::ostream& os, DataType type) { return os << type.ToString(); }

}  // namespace deuteron
