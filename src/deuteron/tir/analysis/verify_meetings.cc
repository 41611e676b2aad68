/// \file
/// Two iterations of a loop that reach one element of a buffer.
///
/// Indices are taken to be linear in the loops within that one: an equation an axis, of whole numbers within bounds,
/// between a store of one iteration and another access of another. Loops that both are in count by how far apart they
/// are. Unknowns are tried one after another, those of the greatest coefficients first; what the others cannot make up
/// for, by their bounds and common divisors, is left. A solution is then looked at as it stands, guards included, so
/// that what is found is so whether indices are linear or not.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "deuteron/tir/analysis/verify_internal.h"

namespace deuteron::tir {
namespace {

using Indices = std::vector<int64_t>;

/// One access, as a function of the loops within the concurrent one.
struct Linear {
  struct Term {
    const ForNode* loop;
    int64_t extent;
    Indices steps;
  };
  Indices first;
  std::vector<Term> terms;
};

/// The iteration of a loop at the store, less that at the other access; only one of them where `here` or `there` is
/// null.
struct Unknown {
  const ForNode* here = nullptr;
  const ForNode* there = nullptr;
  int64_t least = 0;
  int64_t most = 0;
  Indices steps;
  int64_t value = 0;
};

/// Whole numbers within bounds whose sums of products are given, an equation an axis.
class Equations {
 public:
  Equations(std::vector<Unknown> unknowns, size_t axes) : unknowns_(std::move(unknowns)) {
    std::sort(unknowns_.begin(), unknowns_.end(), [](const Unknown& a, const Unknown& b) { return Size(a) > Size(b); });
    rests_.assign(unknowns_.size() + 1, std::vector<Rest>(axes));
    for (size_t i = unknowns_.size(); i-- > 0;) {
      const Unknown& unknown = unknowns_[i];
      for (size_t axis = 0; axis < axes; ++axis) {
        const int64_t step = unknown.steps[axis];
        const auto [low, high] = std::minmax({step * unknown.least, step * unknown.most});
        const Rest& after = rests_[i + 1][axis];
        rests_[i][axis] = {after.least + low, after.most + high, std::gcd(after.divisor, step)};
      }
    }
  }

  /// Calls `found` with solutions until it says yes.
  bool Solve(const Indices& sums, const std::function<bool(const std::vector<Unknown>&)>& found) {
    return Try(0, sums, found);
  }

 private:
  /// What the unknowns from one on can sum up to.
  struct Rest {
    int64_t least = 0;
    int64_t most = 0;
    int64_t divisor = 0;

    bool Reaches(int64_t sum) const {
      return sum >= least && sum <= most && (divisor == 0 ? sum == 0 : sum % divisor == 0);
    }
  };

  static int64_t Size(const Unknown& unknown) {
    int64_t size = 0;
    for (const int64_t step : unknown.steps) size = std::max(size, std::abs(step));
    return size;
  }

  bool Try(size_t index, const Indices& sums, const std::function<bool(const std::vector<Unknown>&)>& found) {
    if (index == unknowns_.size()) return found(unknowns_);
    Unknown& unknown = unknowns_[index];
    // The nearest first.
    const int64_t middle = std::clamp<int64_t>(0, unknown.least, unknown.most);
    const int64_t farthest = std::max(unknown.most - middle, middle - unknown.least);
    Indices left(sums.size());
    for (int64_t distance = 0; distance <= farthest; ++distance) {
      for (const int64_t value : {middle + distance, middle - distance}) {
        if (value < unknown.least || value > unknown.most || (distance == 0 && value != middle)) continue;
        if (--budget_ < 0) return false;
        bool reaches = true;
        for (size_t axis = 0; axis < sums.size(); ++axis) {
          left[axis] = sums[axis] - value * unknown.steps[axis];
          reaches &= rests_[index + 1][axis].Reaches(left[axis]);
        }
        unknown.value = value;
        if (reaches && Try(index + 1, left, found)) return true;
        if (distance == 0) break;
      }
    }
    return false;
  }

  std::vector<Unknown> unknowns_;
  std::vector<std::vector<Rest>> rests_;
  /// Values that are tried, all in all.
  int budget_ = 2000;
};

class MeetingFinder {
 public:
  MeetingFinder(const AccessSite& store, const AccessSite& other, const Frame* loop, const SymbolValues& symbols)
      : store_{store, PathOf(store.frame)}, other_{other, PathOf(other.frame)}, loop_(loop), instance_(symbols) {}

  /// The two iterations, empty if none are found.
  std::string Find() {
    // The first iterations, and some in the middle for what is fused.
    for (const int64_t position : {0, 1, 2}) {
      for (const int64_t step : {1, -1, 2}) {
        if (position + step < 0) continue;
        std::string found = FindAt(position, position + step);
        if (!found.empty()) return found;
      }
    }
    return "";
  }

 private:
  struct Side {
    const AccessSite& site;
    std::vector<const Frame*> path;
  };

  std::optional<Indices> IndicesAt(const Side& side, const Instance::Choices& choices, bool guarded) {
    if (!(guarded ? instance_.Enter(side.path, choices) : instance_.EnterUnguarded(side.path, choices))) {
      return std::nullopt;
    }
    Indices values;
    for (const PrimExpr& index : side.site.indices) {
      const auto value = instance_.Eval(index);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    return values;
  }

  std::optional<Linear> LinearAt(const Side& side, int64_t position) {
    Instance::Choices choices{{loop_->loop, position}};
    const auto first = IndicesAt(side, choices, false);
    if (!first) return std::nullopt;
    Linear linear{*first, {}};
    for (const Frame* frame : side.path) {
      if (frame->kind != Frame::Kind::kLoop || frame->depth <= loop_->depth) continue;
      instance_.EnterUnguarded(side.path, choices);
      const auto extent = instance_.Eval(frame->loop->extent);
      if (!extent) return std::nullopt;
      if (*extent < 2) continue;
      choices[frame->loop] = 1;
      auto next = IndicesAt(side, choices, false);
      choices.erase(frame->loop);
      if (!next) return std::nullopt;
      for (size_t axis = 0; axis < next->size(); ++axis) {
        (*next)[axis] -= (*first)[axis];
        // Sums of a few of them stay far from overflow.
        constexpr int64_t kMost = int64_t{1} << 50;
        if (std::abs((*next)[axis]) > kMost / *extent) return std::nullopt;
      }
      linear.terms.push_back({frame->loop, *extent, *std::move(next)});
    }
    return linear;
  }

  static std::vector<Unknown> UnknownsOf(const Linear& here, const Linear& there) {
    std::vector<Unknown> unknowns;
    for (const Linear::Term& term : here.terms) {
      unknowns.push_back({.here = term.loop, .least = 0, .most = term.extent - 1, .steps = term.steps});
    }
    for (const Linear::Term& term : there.terms) {
      const auto same = std::find_if(unknowns.begin(), unknowns.end(), [&](const Unknown& unknown) {
        return unknown.here == term.loop && unknown.steps == term.steps;
      });
      if (same != unknowns.end()) {
        same->there = term.loop;
        same->most = std::min(same->most, term.extent - 1);
        same->least = -same->most;
        continue;
      }
      unknowns.push_back({.there = term.loop, .least = 1 - term.extent, .most = 0, .steps = term.steps});
    }
    return unknowns;
  }

  std::string FindAt(int64_t position, int64_t other_position) {
    const auto here = LinearAt(store_, position), there = LinearAt(other_, other_position);
    if (!here || !there) return "";
    Indices sums = there->first;
    for (size_t axis = 0; axis < sums.size(); ++axis) sums[axis] -= here->first[axis];
    std::string text;
    int looked_at = 0;
    Equations(UnknownsOf(*here, *there), sums.size()).Solve(sums, [&](const std::vector<Unknown>& unknowns) {
      text = TellIfSo(position, other_position, unknowns);
      // Guards may be against all.
      return !text.empty() || ++looked_at == 32;
    });
    return text;
  }

  /// Looks at a solution where loops that are only told apart, and those around, are at their first, middle and last.
  std::string TellIfSo(int64_t position, int64_t other_position, const std::vector<Unknown>& unknowns) {
    for (const int64_t place : {Instance::kFirst, Instance::kMiddle, Instance::kLast}) {
      Instance::Choices here, there;
      for (const Frame* frame : store_.path) {
        if (frame->kind == Frame::Kind::kLoop && frame->depth < loop_->depth) {
          here[frame->loop] = there[frame->loop] = place;
        }
      }
      here[loop_->loop] = position;
      there[loop_->loop] = other_position;
      for (const Unknown& unknown : unknowns) {
        const bool both = unknown.here != nullptr && unknown.there != nullptr;
        const int64_t spare = both ? unknown.most - std::abs(unknown.value) : 0;
        const int64_t begin = place == Instance::kFirst ? 0 : place == Instance::kMiddle ? spare / 2 : spare;
        if (unknown.here != nullptr) here[unknown.here] = begin + std::max<int64_t>(unknown.value, 0);
        if (unknown.there != nullptr) there[unknown.there] = begin + std::max<int64_t>(-unknown.value, 0);
      }
      const auto element = IndicesAt(store_, here, true);
      if (!element || IndicesAt(other_, there, true) != element) continue;
      return Tell(here, there, *element);
    }
    return "";
  }

  std::string Tell(const Instance::Choices& here, const Instance::Choices& there, const Indices& indices) {
    std::string element;
    for (const int64_t index : indices) element += (element.empty() ? "" : ", ") + std::to_string(index);
    instance_.Enter(store_.path, here);
    const std::string first = instance_.Describe(store_.path);
    instance_.Enter(other_.path, there);
    return "element [" + element + "] at " + first + " and at " + instance_.Describe(other_.path);
  }

  const Side store_;
  const Side other_;
  const Frame* loop_;
  Instance instance_;
};

}  // namespace

std::string FindMeeting(const AccessSite& store, const AccessSite& other, const Frame* loop,
                        const SymbolValues& symbols) {
  return MeetingFinder(store, other, loop, symbols).Find();
}

}  // namespace deuteron::tir
