/// \file
/// Small and capital letters of ASCII, the same in every locale: in Turkish ones the capital of 'i' is another letter
/// than 'I'.
#pragma once

#include <algorithm>
#include <string>

namespace deuteron {

inline char SmallLetter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline char CapitalLetter(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
inline std::string SmallLetters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), SmallLetter);
  return text;
}

}  // namespace deuteron
