/// \file
/// Base 64 (RFC 4648), for the data of constants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace deuteron::script {

void AppendBase64(std::string_view bytes, std::string* out);
/// Writes the decoded bytes to `out`; false unless `text` is well formed and holds exactly `size` bytes.
bool DecodeBase64(std::string_view text, char* out, size_t size);

}  // namespace deuteron::script
