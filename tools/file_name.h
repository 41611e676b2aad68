/// \file
/// The names of files that hold tensors.
#pragma once

#include <cctype>
#include <string>

namespace deuteron {

/// A name with every character outside of [A-Za-z0-9._-] replaced by '_'.
inline std::string FileName(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_' && c != '-') c = '_';
  }
  return name;
}

}  // namespace deuteron
