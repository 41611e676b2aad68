/// How the way from a graph to fused kernels scales: microseconds and peak memory an operator, at 1,000 to 1,000,000.
///
///     scale_bench [LIMIT] [FAMILY]     the table; LIMIT: the most operators
///     scale_bench --check OPERATORS    no times: fails if a graph ten times as large takes more than ten times the
///                                      allocations, or too many kernels come out
///
/// Each row runs in a process of its own: its peak memory is what the passes take beyond what the program starts with.
/// mimalloc is told to give nothing back, so that what is held at the end of a row is the most that was.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "deuteron/relax/call_tir.h"
#include "deuteron/relax/transform/passes.h"
#include "scale_graphs.h"

namespace {
std::atomic<int64_t> allocations{0};
}  // namespace

void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace deuteron::bench {
namespace {

double Now() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
/// KiB of memory, other than of files, that the process holds: counted page by page, which getrusage is not.
int64_t HeldMemory() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string key; rollup >> key;) {
    int64_t kilobytes = 0;
    if (key == "Anonymous:" && rollup >> kilobytes) return kilobytes;
  }
  return 0;
}

/// Starts the program anew with an allocator that keeps what is freed, unless it was told already what to do.
void KeepFreedMemory(char** arguments) {
  if (std::getenv("MIMALLOC_PURGE_DELAY") != nullptr) return;
  setenv("MIMALLOC_PURGE_DELAY", "-1", 1);
  execv("/proc/self/exe", arguments);
}

struct Step {
  const char* name;
  transform::Pass pass;
};
std::vector<Step> Steps() {
  return {{"canonical", relax::CanonicalizeBindings()},
          {"legalize", relax::LegalizeOps()},
          {"annotate", relax::AnnotateTIROpPattern()},
          {"FuseOps", relax::FuseOps()},
          {"beyond", transform::Sequential({relax::FuseReductions(), relax::FuseAttention(), relax::FuseSiblings(),
                                            relax::RecomputeProducers()})},
          {"FuseTIR", relax::FuseTIR()}};
}

int64_t CountBindings(const IRModule& module) {
  int64_t count = 0;
  for (const relax::BindingBlock& block : Downcast<relax::Function>(module.Lookup("main"))->body->blocks) {
    count += static_cast<int64_t>(block->bindings.size());
  }
  return count;
}

/// Allocations that building and the passes take.
int64_t CountAllocations(const ScaleFamily& family, int64_t operators, double* left) {
  const int64_t before = allocations.load();
  IRModule module = family.build(operators);
  const auto count = static_cast<double>(CountBindings(module));
  const transform::PassContext::Scope scope(transform::PassContext{});
  for (const Step& step : Steps()) module = step.pass(std::move(module));
  *left = static_cast<double>(CountBindings(module)) / count;
  return allocations.load() - before;
}

void Row(const ScaleFamily& family, int64_t operators) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    // What is loaded and interned once is no part of the row.
    double left = 0;
    CountAllocations(family, 100, &left);
    const int64_t memory = HeldMemory();
    const double begin = Now();
    IRModule module = family.build(operators);
    const auto count = static_cast<double>(CountBindings(module));
    std::vector<double> times{Now()};
    const transform::PassContext::Scope scope(transform::PassContext{});
    for (const Step& step : Steps()) {
      module = step.pass(std::move(module));
      times.push_back(Now());
    }
    const double total = times.back() - begin;
    std::printf("%-10s %9.0f %8lld %7.2f", family.name, count, static_cast<long long>(CountBindings(module)),
                (times[0] - begin) / count * 1e6);
    for (size_t i = 1; i < times.size(); ++i) std::printf(" %9.2f", (times[i] - times[i - 1]) / count * 1e6);
    // From operators to fused kernels: what is wanted of it is a figure of its own.
    std::printf(" %8.2f %8.2f %7.2f\n", (times.back() - times[1]) / count * 1e6, total / count * 1e6,
                static_cast<double>(HeldMemory() - memory) / count);
    std::fflush(stdout);
    std::_Exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::printf("%-10s %9lld failed\n", family.name, static_cast<long long>(operators));
  }
}

void Table(int64_t limit, const std::string& only) {
  std::printf("%-10s %9s %8s %7s %9s %9s %9s %9s %9s %9s %8s %8s %7s\n", "us/op", "operators", "left", "build",
              "canonical", "legalize", "annotate", "FuseOps", "beyond", "FuseTIR", "lowering", "total", "KiB/op");
  for (const ScaleFamily& family : ScaleFamilies()) {
    if (!only.empty() && only != family.name) continue;
    // A shape is a few more digits of text: a tenth is enough to see.
    const int64_t most = std::strcmp(family.name, "shapes") == 0 ? limit / 10 : limit;
    for (int64_t operators = only.empty() ? 1000 : most; operators <= most; operators *= 10) Row(family, operators);
  }
}

int Check(int64_t operators) {
  int failures = 0;
  for (const ScaleFamily& family : ScaleFamilies()) {
    // Two are like others: of each kind of edge and of kernel there is one left.
    const std::string_view name = family.name;
    if (name == "shapes" || name == "skips" || name == "diamonds") continue;
    double left = 0;
    const int64_t small = CountAllocations(family, operators / 10, &left);
    const int64_t large = CountAllocations(family, operators, &left);
    const double growth = static_cast<double>(large) / static_cast<double>(small);
    const bool good = growth < 10.5 && left < 0.8;
    failures += !good;
    std::printf("%-10s %9lld allocations, %5.2f times those of a tenth; %.3f of the operators are left%s\n",
                family.name, static_cast<long long>(large), growth, left, good ? "" : "  FAILED");
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace deuteron::bench

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], "--check") == 0) return deuteron::bench::Check(std::atoll(argv[2]));
  deuteron::bench::KeepFreedMemory(argv);
  deuteron::bench::Table(argc > 1 ? std::atoll(argv[1]) : 1000000, argc > 2 ? argv[2] : "");
  return 0;
}
