/// \file
/// What a model may ask for, before it is asked of the machine (docs/limits.md).
///
/// Limits are those of a scope: of a compilation and of all that it calls in its thread. Threads that it makes are
/// given its scope. Code that no scope is around has the limits that hold unless others are given.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace deuteron {

struct Limits;
const Limits& CurrentLimits();
void CheckBudget(std::string_view place);

struct Limits {
#define DEUTERON_LIMIT(name, standard, most, unit, sentence) int64_t name = standard;
#include "deuteron/support/limits.def"
#undef DEUTERON_LIMIT
  bool operator==(const Limits&) const = default;
};

/// A row of limits.def.
struct LimitRow {
  const char* name;
  int64_t Limits::*field;
  /// Unless another is given, and the highest that can be.
  int64_t standard;
  int64_t most;
  const char* unit;
  const char* sentence;
};
/// In the order of the table.
std::span<const LimitRow> AllLimits();

/// Sets the limit of that name. A UsageError if there is none, or if it cannot be `value`.
void SetLimit(const std::string& name, int64_t value, Limits* limits);
/// The same of text: a number, perhaps with k, M, G, T (thousands) or Ki, Mi, Gi, Ti (of 1024) behind it.
void SetLimit(const std::string& name, const std::string& value, Limits* limits);

/// The limits of this thread while it lives.
class LimitScope {
 public:
  /// Time and memory are counted from here, or from where the scope around it began. `poll` is called by CheckBudget in
  /// this thread, not more often than a hundred times a second; what it throws ends what is under way. Empty: that of
  /// the scope around it.
  explicit LimitScope(const Limits& limits, std::function<void()> poll = {});
  ~LimitScope();
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;

  /// The scope of a thread, to be given to threads that work for it while it lives.
  class Shared {
   public:
    /// Of the calling thread.
    Shared();

   private:
    friend class LimitScope;
    friend const Limits& CurrentLimits();
    friend void CheckBudget(std::string_view place);
    Limits limits_;
    std::chrono::steady_clock::time_point begin_;
    int64_t bytes_at_begin_ = 0;
    bool is_scope_ = false;
    std::function<void()> poll_;
    std::thread::id poller_;
  };
  explicit LimitScope(const Shared& shared);

 private:
  friend const Limits& CurrentLimits();
  friend void CheckBudget(std::string_view place);

  const LimitScope* outer_;
  Shared state_;
  std::chrono::steady_clock::time_point measured_, polled_;
};

const Limits& CurrentLimits();

/// An UnsupportedError that names the limit if `amount` is more: "WHAT: 12 nodes, more than the limit nodes=10; …".
/// What is counted may be more than 64 bits hold.
void CheckLimit(int64_t Limits::*limit, double amount, std::string_view what);
/// The same against a value that is kept elsewhere.
void CheckLimit(int64_t Limits::*limit, double amount, std::string_view what, int64_t value);
/// The same of the time and the memory that the scope has taken until now, after its poll; `place` is what is under
/// way. Cheap enough for what is done a thousand times a second.
void CheckBudget(std::string_view place);

}  // namespace deuteron
