/// \file
/// A pattern as a table: its nodes numbered, what is shared among them known. What matchers run on.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "deuteron/relax/dpl/pattern.h"

namespace deuteron::relax::dpl {

class CompiledPattern {
 public:
  struct Node {
    PatternKind kind;
    const DFPatternNode* pattern;
    /// PartsOf(pattern): a range of `parts`.
    uint32_t first_part = 0;
    uint32_t num_parts = 0;
    /// Of a call of an operator: that; else null.
    const OpNode* op = nullptr;
    /// A call whose first two arguments match in either order.
    bool commutative = false;
    /// No part of it, direct or not, occurs elsewhere too: any way in which it matches is as good as any other.
    bool independent = true;
    /// Alternatives in it: with many, results are kept.
    uint32_t choices = 0;
  };

  /// `linked`: patterns that take part in relations outside of this one, hence are never independent.
  explicit CompiledPattern(DFPattern pattern, const std::vector<const Object*>& linked = {});

  const DFPattern& pattern() const { return pattern_; }
  size_t size() const { return nodes_.size(); }
  const Node& node(uint32_t index) const { return nodes_[index]; }
  uint32_t part(const Node& node, uint32_t i) const { return parts_[node.first_part + i]; }
  uint32_t root() const { return root_; }
  /// The number of a pattern that is part of this one.
  std::optional<uint32_t> Find(const DFPattern& part) const;

  /// The operators whose calls this pattern may match; nothing: it may match other expressions too.
  const std::optional<std::vector<const OpNode*>>& root_ops() const { return root_ops_; }
  /// The same of one of its nodes.
  std::optional<std::vector<const OpNode*>> RootOps(uint32_t index) const;

 private:
  uint32_t Add(const DFPattern& pattern);
  void FindShared(const std::vector<const Object*>& linked);

  DFPattern pattern_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> parts_;
  std::unordered_map<const Object*, uint32_t> index_;
  uint32_t root_ = 0;
  std::optional<std::vector<const OpNode*>> root_ops_;
};

}  // namespace deuteron::relax::dpl
