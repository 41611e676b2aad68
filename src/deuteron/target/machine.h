/// \file
/// The model of the machine that code is compiled for: what fusion, schedules, parallelism and the choice of a library
/// may know of it. No constant that stands for a property of a machine lies elsewhere.
///
/// Where nothing is measured, figures are those of a table of CPUs (cpu_table.h); for the machine at hand caches, pages
/// and threads come from the operating system. Each can be set in a target's text (target.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "deuteron/ir/dtype.h"

namespace deuteron {

/// A cache of data.
struct Cache {
  /// Of one such cache; 0: there is none.
  int64_t bytes = 0;
  /// Lines of a set: addresses that are bytes / ways apart compete for so many places.
  int64_t ways = 8;
  /// Threads that share it, whether or not they are ours: each counts on its part only.
  int64_t sharers = 1;
  /// What a core loads from it in a cycle, line after line.
  double load_bytes_per_cycle = 0;

  /// What falls to one thread.
  int64_t Share() const { return bytes / std::max<int64_t>(sharers, 1); }
  /// Addresses so far apart fall into the same set.
  int64_t WayBytes() const { return std::max<int64_t>(bytes / std::max<int64_t>(ways, 1), 1); }

  bool operator==(const Cache&) const = default;
};

/// Operations of a core in a cycle, by the type of the operands; a multiply-add is two.
struct Arithmetic {
  double f64 = 0;
  /// Of all other types of numbers, too.
  double f32 = 0;
  /// Where the CPU does not compute in these, they are converted to float32.
  double f16 = 0;
  double bf16 = 0;
  /// Products of bytes, summed in 32 bits.
  double i8 = 0;

  bool operator==(const Arithmetic&) const = default;
};

/// A value: copied freely, compared by field.
struct Machine {
  int64_t vector_bits = 128;
  int64_t vector_registers = 16;
  /// Multiply-adds of whole vectors that a core starts in a cycle.
  int64_t vector_pipes = 1;
  /// Vectors that a core loads in a cycle.
  int64_t load_pipes = 2;
  /// Cycles from an addition to the next one that needs its result.
  int64_t latency = 4;
  /// Instructions of all kinds that a core finishes in a cycle of an ordinary loop.
  int64_t issue_width = 3;
  /// Of a core that computes vectors; 10^9 cycles a second.
  double ghz = 2.5;
  Arithmetic ops;

  Cache l1;
  Cache l2;
  Cache l3;
  /// Of the first level for instructions.
  int64_t code_bytes = 32 << 10;
  int64_t line_bytes = 64;
  int64_t page_bytes = 4096;
  /// Pages that a loop may step through again and again without waiting for their translation.
  int64_t near_pages = 160;
  /// Runs of memory that are prefetched at the same time.
  int64_t streams = 16;
  /// 10^9 bytes a second that are copied: by one core alone, and by all together at most.
  double core_gbps = 10;
  double memory_gbps = 40;

  /// Threads that a parallel loop may use, and the cores that these run on.
  int64_t threads = 1;
  int64_t cores = 1;
  /// From the begin of a parallel loop of no work to its end.
  double fork_join_us = 1;
  /// What a kernel may take of the stack of the thread that runs it.
  int64_t stack_bytes = 256 << 10;
  /// How often a kernel will be called in all, so that what it takes to make its code counts beside what that takes; 0:
  /// so often that it does not.
  int64_t expected_calls = 0;

  /// Lanes of a full vector of elements of `bits` bits.
  int64_t Lanes(int bits) const { return vector_bits / bits; }
  /// Operations of a core in a cycle, a multiply-add being two.
  double OpsPerCycle(DataType dtype) const;
  /// The same of all cores in a second.
  double OpsPerSecond(DataType dtype) const;
  /// Bytes that one of the threads in use copies in a cycle, all of them at it.
  double CopiedBytesPerCycle() const;

  bool operator==(const Machine&) const = default;
};

}  // namespace deuteron
