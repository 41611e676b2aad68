#include "deuteron/support/limits.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <vector>

#include "deuteron/support/error.h"
#include "deuteron/support/number_text.h"
#include "deuteron/support/suggest.h"

namespace deuteron {
namespace {

using Clock = std::chrono::steady_clock;

constexpr LimitRow kRows[] = {
#define DEUTERON_LIMIT(name, standard, most, unit, sentence) {#name, &Limits::name, standard, most, unit, sentence},
#include "deuteron/support/limits.def"
#undef DEUTERON_LIMIT
};

/// The memory is asked of the system, which takes longer than to look at a clock.
constexpr auto kBetweenMeasurements = std::chrono::milliseconds(5);
constexpr auto kBetweenPolls = std::chrono::milliseconds(10);

thread_local LimitScope* innermost = nullptr;

const LimitRow& RowOf(int64_t Limits::*limit) {
  for (const LimitRow& row : kRows) {
    if (row.field == limit) return row;
  }
  DEUTERON_UNREACHABLE();
}

/// Of the process, without what is mapped from files; 0 where that is not known.
int64_t PrivateBytes() {
  // Asked some hundred times a second: no stream.
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text{};
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  long long size = 0, resident = 0, shared = 0;
  if (length <= 0 || std::sscanf(text.data(), "%lld %lld %lld", &size, &resident, &shared) != 3) return 0;
  return (resident - shared) * sysconf(_SC_PAGESIZE);
}

/// Nothing if `text` is no number that 64 bits hold.
bool ReadAmount(std::string_view text, int64_t* amount) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *amount);
  if (error != std::errc() || *amount < 0) return false;
  const std::string_view suffix(rest, static_cast<size_t>(end - rest));
  if (suffix.empty()) return true;
  int64_t unit = 1;
  const int64_t step = suffix.ends_with('i') ? 1024 : 1000;
  const size_t power = std::string_view("kMGT").find(suffix[0] == 'K' && step == 1024 ? 'k' : suffix[0]);
  if (power == std::string_view::npos || suffix.size() != (step == 1024 ? 2u : 1u)) return false;
  for (size_t i = 0; i <= power; ++i) unit *= step;
  return !__builtin_mul_overflow(*amount, unit, amount);
}

std::string AmountText(double amount) {
  constexpr double kExact = 9e15;
  return NumberText(std::ceil(amount), amount < kExact ? "%.0f" : "%.3g");
}

}  // namespace

std::span<const LimitRow> AllLimits() { return kRows; }

void SetLimit(const std::string& name, int64_t value, Limits* limits) {
  std::vector<std::string_view> names;
  std::string known;
  for (const LimitRow& row : kRows) {
    if (name == row.name) {
      if (value < 0 || value > row.most) {
        DEUTERON_THROW(UsageError) << "the limit " << name << " is a number from 0 to " << row.most << ", not "
                                   << value;
      }
      limits->*row.field = value;
      return;
    }
    names.emplace_back(row.name);
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  DEUTERON_THROW(UsageError) << "there is no limit \"" << name << "\"" << DidYouMean(name, names)
                             << "; the limits are: " << known;
}

void SetLimit(const std::string& name, const std::string& value, Limits* limits) {
  int64_t amount = 0;
  // A name that there is not is the greater mistake.
  if (!ReadAmount(value, &amount)) {
    SetLimit(name, int64_t{0}, limits);
    DEUTERON_THROW(UsageError) << "the limit " << name << " is a number such as 1000, 20M or 4Gi, not \"" << value
                               << "\"";
  }
  SetLimit(name, amount, limits);
}

LimitScope::Shared::Shared() {
  if (innermost != nullptr) *this = innermost->state_;
}

LimitScope::LimitScope(const Limits& limits, std::function<void()> poll)
    : outer_(innermost), measured_(Clock::now()), polled_(measured_) {
  if (poll) {
    state_.poll_ = std::move(poll);
    state_.poller_ = std::this_thread::get_id();
  }
  if (!state_.is_scope_) {
    state_.is_scope_ = true;
    state_.begin_ = measured_;
    state_.bytes_at_begin_ = PrivateBytes();
  }
  state_.limits_ = limits;
  innermost = this;
}

LimitScope::LimitScope(const Shared& shared)
    : outer_(innermost), state_(shared), measured_(Clock::now()), polled_(measured_) {
  innermost = this;
}

LimitScope::~LimitScope() { innermost = const_cast<LimitScope*>(outer_); }

const Limits& CurrentLimits() {
  static const Limits standard;
  return innermost == nullptr ? standard : innermost->state_.limits_;
}

void CheckLimit(int64_t Limits::*limit, double amount, std::string_view what, int64_t value) {
  if (amount <= static_cast<double>(value)) return;
  const LimitRow& row = RowOf(limit);
  const std::string raise = value >= row.most
                                ? "and no more can be given"
                                : "more are given by --limit " + std::string(row.name) + "=NUMBER (docs/limits.md)";
  DEUTERON_THROW(UnsupportedError) << what << ": " << AmountText(amount) << " " << row.unit << ", more than the limit "
                                   << row.name << "=" << value << "; " << raise;
}

void CheckLimit(int64_t Limits::*limit, double amount, std::string_view what) {
  CheckLimit(limit, amount, what, CurrentLimits().*limit);
}

void CheckBudget(std::string_view place) {
  LimitScope* scope = innermost;
  if (scope == nullptr || !scope->state_.is_scope_) return;
  const auto now = Clock::now();
  if (scope->state_.poll_ && now - scope->polled_ >= kBetweenPolls &&
      scope->state_.poller_ == std::this_thread::get_id()) {
    scope->polled_ = now;
    scope->state_.poll_();
  }
  CheckLimit(&Limits::compile_seconds, std::chrono::duration<double>(now - scope->state_.begin_).count(), place);
  if (now - scope->measured_ < kBetweenMeasurements) return;
  scope->measured_ = now;
  CheckLimit(&Limits::compile_bytes, static_cast<double>(PrivateBytes() - scope->state_.bytes_at_begin_), place);
}

}  // namespace deuteron
