/// \file
/// What is compiled for: the CPU's name and features, its vectors, caches and threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deuteron {

/// A CPU. A value: copied freely, compared by field.
struct Target {
  /// "native" or what an LLVM back end calls the CPU: "znver4", "x86-64-v3".
  std::string cpu = "native";
  /// LLVM target triple; empty = the host's.
  std::string triple;
  /// Features as LLVM names them ("avx512f", "fma"), sorted; those of `cpu` are implied where `cpu` is not
  /// "native".
  std::vector<std::string> features;
  int64_t vector_bits = 128;
  int64_t l1_bytes = int64_t{32} << 10;
  int64_t l2_bytes = int64_t{1} << 20;
  /// Threads that a parallel loop may use.
  int64_t threads = 1;

  bool HasFeature(std::string_view feature) const;
  /// Lanes of a full vector of elements of `bits` bits.
  int64_t Lanes(int bits) const { return vector_bits / bits; }
  /// Vector registers: 32 with AVX-512, else 16.
  int64_t vector_registers() const { return HasFeature("avx512f") ? 32 : 16; }

  /// This machine: features from the kernel's list, caches from sysfs, threads from affinity and cgroup quota.
  static Target Host();
  /// Parses "native" or "llvm [-mcpu=NAME] [-mattr=+a,-b] [-mtriple=T] [-vector-bits=N] [-threads=N]"; a
  /// UsageError otherwise.
  static Target Parse(std::string_view text);
  /// Parses back to an equal target on the same machine.
  std::string ToString() const;

  /// The innermost scoped target of this thread, or the host.
  static Target Current();

  bool operator==(const Target&) const = default;
};

/// Makes `target` current in this thread while it lives.
class TargetScope {
 public:
  explicit TargetScope(Target target);
  ~TargetScope();
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;

 private:
  Target target_;
  const Target* previous_;
};

}  // namespace deuteron
