/// \file
/// Numbers as text and back, the same in every locale: a program that Deuteron is part of may have chosen one whose
/// decimal point is a comma, and what is written here is read by compilers and parsers.
#pragma once

#include <string>

namespace deuteron {

/// `value` as printf writes it by `format`, which holds one conversion of a double.
std::string NumberText(double value, const char* format);

/// As strtod: of what is too large infinity, of what is too small the nearest there is.
double NumberOf(const std::string& text);

}  // namespace deuteron
