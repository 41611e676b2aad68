/// \file
/// How many processors this process may really use: its affinity mask, and the CPU quota of its control
/// group and of every group above it (a container sees all processors, but may not use them).
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>

#include "deuteron/runtime/thread_pool.h"
#include "deuteron/support/cgroup.h"
#include "deuteron/support/thread_placement.h"

namespace deuteron::runtime {
namespace {

/// Processors of the calling thread, those among them that it was only kept off.
int AffinityCount() {
  // Machines may have more processors than a fixed cpu_set_t holds.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(capacity);
    const size_t bytes = CPU_ALLOC_SIZE(capacity);
    const int status = sched_getaffinity(0, bytes, set);
    const int count = status == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (status == 0) return std::max(count, 1) + TakenFromThisThread();
  }
  return 1;
}

/// Processors that "quota period" allow; a large number if there is no limit.
double QuotaOf(const std::string& directory) {
  std::ifstream v2(directory + "/cpu.max");
  std::string quota;
  double period = 0;
  if (v2 >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
  std::ifstream v1_quota(directory + "/cpu.cfs_quota_us");
  std::ifstream v1_period(directory + "/cpu.cfs_period_us");
  double value = 0;
  if (v1_quota >> value && v1_period >> period && value > 0 && period > 0) return value / period;
  return 1e9;
}

double ReadCgroupQuota() {
  double quota = 1e9;
  ForEachCgroup("cpu", [&](const std::string& folder) { quota = std::min(quota, QuotaOf(folder)); });
  return quota;
}

/// Half a dozen files are read for it, and a compilation asks for it again and again: it is known for a second. Threads
/// that ask at once may both read them.
double CgroupQuota() {
  using Clock = std::chrono::steady_clock;
  static std::atomic<Clock::rep> known_until{std::numeric_limits<Clock::rep>::min()};
  static std::atomic<double> known{0};
  const Clock::duration now = Clock::now().time_since_epoch();
  if (now.count() >= known_until.load()) {
    known.store(ReadCgroupQuota());
    known_until.store((now + std::chrono::seconds(1)).count());
  }
  return known.load();
}

}  // namespace

int UsableThreads() {
  const double quota = CgroupQuota();
  const int affinity = AffinityCount();
  return quota < affinity ? std::max(static_cast<int>(quota), 1) : affinity;
}

}  // namespace deuteron::runtime
