/// \file
/// What the files of the verifier share.
#pragma once

#include <string>
#include <vector>

#include "deuteron/tir/analysis/access_sites.h"

namespace deuteron::tir {

/// A list of findings with an end.
class Findings {
 public:
  explicit Findings(size_t limit) : limit_(limit) {}
  void Add(std::string what) {
    if (!full()) list_.push_back(std::move(what));
  }
  bool full() const { return list_.size() >= limit_; }
  bool empty() const { return list_.empty(); }
  std::vector<std::string> Take() && { return std::move(list_); }

 private:
  size_t limit_;
  std::vector<std::string> list_;
};

void VerifyDefinitions(const PrimFunc& func, Findings* findings);
/// The others need a function whose definitions are right.
void VerifyAccesses(const PrimFunc& func, const FunctionAccesses& accesses, Findings* findings);
void VerifyRaces(const PrimFunc& func, const FunctionAccesses& accesses, Findings* findings);

/// Two iterations of `loop`, at equal positions of the loops around it, of which one stores to the element that the
/// other accesses, as text; empty if none are found.
std::string FindMeeting(const AccessSite& store, const AccessSite& other, const Frame* loop,
                        const SymbolValues& symbols);

/// `block "conv": ` or nothing.
std::string BlockPrefix(const SBlockRealizeNode* realize);
/// `for every n` has gone wrong: runs `find` under each assignment of the symbols; the finding under the first if
/// there was one under all.
template <typename Find>
std::string UnderAllAssignments(const std::vector<SymbolValues>& assignments, const Find& find) {
  std::string first;
  for (size_t i = 0; i < assignments.size(); ++i) {
    std::string found = find(assignments[i]);
    if (found.empty()) return "";
    if (i == 0) first = std::move(found);
  }
  return first;
}

}  // namespace deuteron::tir
