/// \file
/// How a thread computes with floating-point numbers.
#pragma once

#include <cstdint>
#if !defined(__aarch64__)
#include <xmmintrin.h>
#endif

namespace deuteron::runtime {

/// What a thread's floating-point unit is told: how to round, what is a denormal number's result.
class FloatMode {
 public:
  /// That of this thread.
  static FloatMode OfThread() { return FloatMode(Read()); }
  /// The same, with 0 for results that would be denormal numbers. They, and what is computed of them, take some CPUs a
  /// hundred times as long; gates of networks (sigmoids, and products of them) make many.
  FloatMode WithoutDenormals() const {
#if defined(__aarch64__)
    return *this;  // these do not
#else
    return FloatMode(bits_ | _MM_FLUSH_ZERO_ON);
#endif
  }
  bool operator==(const FloatMode& other) const = default;

 private:
  friend class FloatModeScope;
  explicit FloatMode(uint32_t bits) : bits_(bits) {}

#if defined(__aarch64__)
  static uint32_t Read() { return 0; }
  void Set() const {}
#else
  /// But for what has happened so far.
  static uint32_t Read() { return _mm_getcsr() & ~static_cast<uint32_t>(_MM_EXCEPT_MASK); }
  void Set() const { _mm_setcsr(bits_); }
#endif

  uint32_t bits_;
};

/// Sets a thread's mode, and what it was at the end.
class FloatModeScope {
 public:
  explicit FloatModeScope(FloatMode mode) : before_(FloatMode::OfThread()), changes_(before_ != mode) {
    if (changes_) mode.Set();
  }
  ~FloatModeScope() {
    if (changes_) before_.Set();
  }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  const FloatMode before_;
  const bool changes_;
};

}  // namespace deuteron::runtime
