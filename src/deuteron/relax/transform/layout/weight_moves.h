/// \file
/// Weights on their way to the order in which kernels read them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "deuteron/relax/expr.h"

namespace deuteron::relax {

/// Once all are known, threads share out the small ones, and the parts of each large one.
class WeightMoves {
 public:
  /// `move` is called by any thread, and lets go of `weight` at its end.
  void Add(const Constant& weight, std::function<void()> move);
  /// Throws where compilation has taken longer than it may.
  void Run();

  /// Has the numbers of `packed`, of float16, which `weight` becomes, looked at once they are there.
  void MustBeFinite(const Constant& weight, const Constant& packed) { expected_finite_.emplace(weight.get(), packed); }
  /// Finds the weights of which some are infinite, after `Run`; whether there are more than before.
  bool FindInfinite();
  bool IsInfinite(const Constant& weight) const { return infinite_.count(weight.get()) != 0; }

 private:
  struct Move {
    int64_t bytes;
    std::function<void()> run;
  };
  std::vector<Move> small_, large_;
  std::map<const Object*, Constant> expected_finite_;
  std::set<const Object*> infinite_;
};

}  // namespace deuteron::relax
