/// \file
/// Tables of text. Internal to the reports.
#pragma once

#include <string>
#include <vector>

namespace deuteron::report {

/// Rows of equal length, the header first; columns as wide as their widest cell but for cells that no line has room
/// for, the last two aligned to the left, the others to the right.
std::string TextTable(const std::vector<std::vector<std::string>>& rows);

/// "a, b, … 3 more": as many as fit into `width`, at least one.
std::string JoinShort(const std::vector<std::string>& parts, size_t width);

}  // namespace deuteron::report
