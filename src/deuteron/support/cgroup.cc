#include "deuteron/support/cgroup.h"

#include <algorithm>
#include <fstream>
#include <limits>

namespace deuteron {
namespace {

/// What version 1 writes where there is no limit is more than that.
constexpr int64_t kNone = int64_t{1} << 60;

/// The number in a file; nothing of "max".
bool ReadNumber(const std::string& path, int64_t* number) { return static_cast<bool>(std::ifstream(path) >> *number); }

/// The first of these rows of memory.stat.
int64_t StatOf(const std::string& path, std::initializer_list<const char*> rows) {
  std::ifstream file(path);
  std::string name;
  for (int64_t value = 0; file >> name >> value;) {
    if (std::any_of(rows.begin(), rows.end(), [&](const char* row) { return name == row; })) return value;
  }
  return 0;
}

}  // namespace

void ForEachCgroup(const std::string& controller, const std::function<void(const std::string& folder)>& visit) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    // "0::/path" (v2) or "3:cpu,cpuacct:/path" (v1)
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string root = "/sys/fs/cgroup";
    if (!controllers.empty()) {
      if (("," + controllers + ",").find("," + controller + ",") == std::string::npos) continue;
      root += "/" + controllers;
    }
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    while (true) {
      visit(root + path);
      const size_t slash = path.rfind('/');
      if (slash == std::string::npos || path.empty()) break;
      path.resize(slash);
    }
  }
}

int64_t MemoryLeftInCgroup() {
  int64_t left = std::numeric_limits<int64_t>::max();
  ForEachCgroup("memory", [&](const std::string& folder) {
    int64_t limit = 0, used = 0;
    const char* used_by = "/memory.current";
    if (!ReadNumber(folder + "/memory.max", &limit)) {
      used_by = "/memory.usage_in_bytes";
      if (!ReadNumber(folder + "/memory.limit_in_bytes", &limit)) return;
    }
    if (limit > kNone || !ReadNumber(folder + used_by, &used)) return;
    const int64_t dropped = StatOf(folder + "/memory.stat", {"total_inactive_file", "inactive_file"});
    left = std::min(left, std::max<int64_t>(limit - used + dropped, 0));
  });
  return left;
}

}  // namespace deuteron
