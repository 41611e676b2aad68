/// \file
/// What this machine says of itself. Asked for the target `native` only. With $DEUTERON_HOST it is that of which the
/// variable has the CPU and figures ("x86-64-v3 -l2-bytes=256K"), for tests of what is made for others.
#pragma once

#include <string>
#include <vector>

#include "deuteron/target/machine.h"

namespace deuteron {

/// Those of the known features (cpu_table.h) that this CPU and the operating system have; sorted.
const std::vector<std::string>& HostFeatures();

/// The CPU of the table that is most like this one.
const std::string& HostCpu();

/// Threads by affinity and quota.
int64_t HostThreads();

/// Puts what the operating system tells of caches and pages into `machine`, whose figures are otherwise those of
/// HostCpu, and says on how many cores its threads run. A virtual machine is told how large the third level is, not by
/// how many others that is shared: no more of it falls to a thread than the table says.
void DescribeHost(Machine* machine);

}  // namespace deuteron
