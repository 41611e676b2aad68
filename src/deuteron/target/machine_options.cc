#include "deuteron/target/machine_options.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

#include "deuteron/support/error.h"
#include "deuteron/target/target.h"

namespace deuteron {
namespace {

/// What an integer may be.
enum class Range { kCount, kBytes, kBytesOrNone, kPowerOfTwo, kVectorBits };

struct IntegerOption {
  std::string_view name;
  int64_t& (*figure)(Machine&);
  Range range = Range::kCount;
};

struct NumberOption {
  std::string_view name;
  double& (*figure)(Machine&);
};

constexpr IntegerOption kIntegers[] = {
    {"-vector-bits", [](Machine& m) -> int64_t& { return m.vector_bits; }, Range::kVectorBits},
    {"-vector-registers", [](Machine& m) -> int64_t& { return m.vector_registers; }},
    {"-vector-pipes", [](Machine& m) -> int64_t& { return m.vector_pipes; }},
    {"-load-pipes", [](Machine& m) -> int64_t& { return m.load_pipes; }},
    {"-latency", [](Machine& m) -> int64_t& { return m.latency; }},
    {"-issue-width", [](Machine& m) -> int64_t& { return m.issue_width; }},
    {"-l1-bytes", [](Machine& m) -> int64_t& { return m.l1.bytes; }, Range::kBytes},
    {"-l1-ways", [](Machine& m) -> int64_t& { return m.l1.ways; }},
    {"-l1-sharers", [](Machine& m) -> int64_t& { return m.l1.sharers; }},
    {"-l2-bytes", [](Machine& m) -> int64_t& { return m.l2.bytes; }, Range::kBytes},
    {"-l2-ways", [](Machine& m) -> int64_t& { return m.l2.ways; }},
    {"-l2-sharers", [](Machine& m) -> int64_t& { return m.l2.sharers; }},
    {"-l3-bytes", [](Machine& m) -> int64_t& { return m.l3.bytes; }, Range::kBytesOrNone},
    {"-l3-ways", [](Machine& m) -> int64_t& { return m.l3.ways; }},
    {"-l3-sharers", [](Machine& m) -> int64_t& { return m.l3.sharers; }},
    {"-code-bytes", [](Machine& m) -> int64_t& { return m.code_bytes; }, Range::kBytes},
    {"-line-bytes", [](Machine& m) -> int64_t& { return m.line_bytes; }, Range::kPowerOfTwo},
    {"-page-bytes", [](Machine& m) -> int64_t& { return m.page_bytes; }, Range::kPowerOfTwo},
    {"-near-pages", [](Machine& m) -> int64_t& { return m.near_pages; }},
    {"-streams", [](Machine& m) -> int64_t& { return m.streams; }},
    {"-threads", [](Machine& m) -> int64_t& { return m.threads; }},
    {"-cores", [](Machine& m) -> int64_t& { return m.cores; }},
    {"-stack-bytes", [](Machine& m) -> int64_t& { return m.stack_bytes; }, Range::kBytes},
    {"-expected-calls", [](Machine& m) -> int64_t& { return m.expected_calls; }},
};

constexpr NumberOption kNumbers[] = {
    {"-ghz", [](Machine& m) -> double& { return m.ghz; }},
    {"-f64-ops", [](Machine& m) -> double& { return m.ops.f64; }},
    {"-f32-ops", [](Machine& m) -> double& { return m.ops.f32; }},
    {"-f16-ops", [](Machine& m) -> double& { return m.ops.f16; }},
    {"-bf16-ops", [](Machine& m) -> double& { return m.ops.bf16; }},
    {"-i8-ops", [](Machine& m) -> double& { return m.ops.i8; }},
    {"-l1-load", [](Machine& m) -> double& { return m.l1.load_bytes_per_cycle; }},
    {"-l2-load", [](Machine& m) -> double& { return m.l2.load_bytes_per_cycle; }},
    {"-l3-load", [](Machine& m) -> double& { return m.l3.load_bytes_per_cycle; }},
    {"-core-gbps", [](Machine& m) -> double& { return m.core_gbps; }},
    {"-memory-gbps", [](Machine& m) -> double& { return m.memory_gbps; }},
    {"-fork-join-us", [](Machine& m) -> double& { return m.fork_join_us; }},
};

/// Above it a figure is a mistake, and products of figures may overflow.
constexpr int64_t kGreatest = int64_t{1} << 40;

std::string_view Describe(Range range) {
  switch (range) {
    case Range::kCount:
      return "a whole number from 1";
    case Range::kBytes:
      return "a number of bytes from 1 (65536, 64K, 1M)";
    case Range::kBytesOrNone:
      return "a number of bytes (65536, 64K, 1M), or 0 for none";
    case Range::kPowerOfTwo:
      return "a power of two from 16 (64, 4K, 2M)";
    case Range::kVectorBits:
      return "a power of two from 128";
  }
  DEUTERON_UNREACHABLE();
}

bool Allows(Range range, int64_t value) {
  switch (range) {
    case Range::kCount:
    case Range::kBytes:
      return value >= 1;
    case Range::kBytesOrNone:
      return value >= 0;
    case Range::kPowerOfTwo:
      return value >= 16 && std::has_single_bit(static_cast<uint64_t>(value));
    case Range::kVectorBits:
      return value >= 128 && std::has_single_bit(static_cast<uint64_t>(value));
  }
  DEUTERON_UNREACHABLE();
}

/// -1 if `text` is no number of the kind.
int64_t ReadInteger(std::string_view text, Range range) {
  int64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || value < 0 || value > kGreatest) return -1;
  if (end == last) return value;
  const std::string_view unit(end, static_cast<size_t>(last - end));
  if (range == Range::kCount || range == Range::kVectorBits || unit.size() != 1) return -1;
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 63;
  return shift < 63 && value <= (kGreatest >> shift) ? value << shift : -1;
}

[[noreturn]] void Refuse(std::string_view key, std::string_view allowed, std::string_view value) {
  DEUTERON_THROW(UsageError) << "target: " << key << " takes " << allowed << ", got '" << value << "'";
}

}  // namespace

void SetFigure(std::string_view key, std::string_view value, Machine* machine) {
  for (const IntegerOption& option : kIntegers) {
    if (option.name != key) continue;
    const int64_t number = ReadInteger(value, option.range);
    if (!Allows(option.range, number)) Refuse(key, Describe(option.range), value);
    option.figure(*machine) = number;
    return;
  }
  for (const NumberOption& option : kNumbers) {
    if (option.name != key) continue;
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number) || number <= 0) {
      Refuse(key, "a number above 0", value);
    }
    option.figure(*machine) = number;
    return;
  }
  DEUTERON_THROW(UsageError) << "target: unknown option '" << key
                             << "'; it takes -mcpu, -mattr, -mtriple, -num-cores, and\n"
                             << MachineOptions();
}

std::string FiguresThatDiffer(const Machine& machine, const Machine& base) {
  Machine own = machine;
  Machine other = base;
  std::string text;
  for (const IntegerOption& option : kIntegers) {
    const int64_t value = option.figure(own);
    if (value != option.figure(other)) text += fmt::format(" {}={}", option.name, value);
  }
  for (const NumberOption& option : kNumbers) {
    const double value = option.figure(own);
    if (value != option.figure(other)) text += fmt::format(" {}={}", option.name, value);
  }
  return text;
}

std::string MachineOptions() {
  std::string text;
  for (const IntegerOption& option : kIntegers)
    text += fmt::format("  {:18} {}\n", option.name, Describe(option.range));
  for (const NumberOption& option : kNumbers) text += fmt::format("  {:18} a number above 0\n", option.name);
  return text;
}

}  // namespace deuteron
