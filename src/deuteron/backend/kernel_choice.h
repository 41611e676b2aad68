/// \file
/// Which of the kernels that a library could compute it does: the choice for which the estimates of all kernels, and of
/// what lies between them, sum up to the least.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace deuteron::backend {

/// Kernels and the values between them. Each kernel is the library's or generated, and costs what it takes there; a
/// value costs something where not all who have to do with it are on one side. The least sum is a minimum cut of the
/// graph of both (D. M. Greig, B. T. Porteous, A. H. Seheult, "Exact Maximum A Posteriori Estimation for Binary
/// Images", 1989), found by Dinic's algorithm.
class KernelChoice {
 public:
  /// What is the library's, or generated, in any case.
  static constexpr size_t kLibrary = 0;
  static constexpr size_t kGenerated = 1;
  static constexpr size_t kFirstKernel = 2;

  KernelChoice() : edges_of_(2) {}

  /// A kernel with the seconds that it takes on either side; its number: they are counted from kFirstKernel.
  size_t AddKernel(double library_seconds, double generated_seconds);
  /// A value that costs so many seconds, once, unless its producer and all consumers are on one side. All kernels come
  /// before the first value.
  void AddValue(size_t producer, std::span<const size_t> consumers, double seconds);
  /// `kernel` may be the library's only if `producer` is.
  void Require(size_t kernel, size_t producer);
  /// What costs so many seconds, once, if any of `kernels` is on `side` (kLibrary, kGenerated): they share what is made
  /// for it. All kernels come before it.
  void AddShared(size_t side, std::span<const size_t> kernels, double seconds);

  /// For each kernel in order, whether the library computes it; generated code does where that makes no difference.
  std::vector<bool> Choose();

  /// Whether a choice (a value for each kernel) has that kernel, or end, computed by the library.
  static bool IsLibrary(const std::vector<bool>& choice, size_t kernel) {
    return kernel == kLibrary || (kernel != kGenerated && choice[kernel - kFirstKernel]);
  }
  /// What a choice takes.
  double SecondsOf(const std::vector<bool>& choice) const;

 private:
  struct Edge {
    size_t to;
    /// Picoseconds that are left: sums of whole numbers are the same in any order.
    int64_t capacity;
  };
  size_t AddNode();
  void AddEdge(size_t from, size_t to, int64_t capacity);
  std::vector<int64_t> Levels() const;
  bool Augment(const std::vector<int64_t>& levels, std::vector<size_t>* next);

  /// An edge and, at the next place, its reverse.
  std::vector<Edge> edges_;
  std::vector<std::vector<size_t>> edges_of_;
  struct Kernel {
    double library, generated;
  };
  std::vector<Kernel> kernels_;
  struct Value {
    size_t producer;
    std::vector<size_t> consumers;
    double seconds;
  };
  std::vector<Value> values_;
  struct Shared {
    size_t side;
    std::vector<size_t> kernels;
    double seconds;
  };
  std::vector<Shared> shared_;
};

}  // namespace deuteron::backend
