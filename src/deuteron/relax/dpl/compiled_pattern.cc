#include "deuteron/relax/dpl/compiled_pattern.h"

#include <algorithm>

namespace deuteron::relax::dpl {

CompiledPattern::CompiledPattern(DFPattern pattern, const std::vector<const Object*>& linked)
    : pattern_(std::move(pattern)) {
  if (!pattern_.defined())
    DEUTERON_THROW(UsageError) << "a null pattern matches nothing; write one, for example Wildcard()";
  root_ = Add(pattern_);
  FindShared(linked);
  root_ops_ = RootOps(root_);
}

/// Parts come before what they are part of.
uint32_t CompiledPattern::Add(const DFPattern& pattern) {
  if (auto it = index_.find(pattern.get()); it != index_.end()) return it->second;
  std::vector<uint32_t> parts;
  for (const DFPattern& part : PartsOf(pattern)) parts.push_back(Add(part));
  Node node{pattern->kind, pattern.get()};
  node.first_part = static_cast<uint32_t>(parts_.size());
  node.num_parts = static_cast<uint32_t>(parts.size());
  parts_.insert(parts_.end(), parts.begin(), parts.end());
  for (const uint32_t part : parts) node.choices += nodes_[part].choices;
  if (node.kind == PatternKind::kCall && nodes_[parts[0]].kind == PatternKind::kExpr) {
    node.op = static_cast<const ExprPatternNode*>(nodes_[parts[0]].pattern)->expr.as<OpNode>();
    node.commutative =
        node.op != nullptr && parts.size() == 3 && (node.op->name == "relax.add" || node.op->name == "relax.multiply");
  }
  const bool chooses = node.commutative || node.kind == PatternKind::kOr || node.kind == PatternKind::kUnorderedTuple;
  node.choices += chooses ? 1 : 0;
  const auto index = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
  index_.emplace(pattern.get(), index);
  return index;
}

void CompiledPattern::FindShared(const std::vector<const Object*>& linked) {
  std::vector<uint32_t> uses(nodes_.size(), 0);
  for (const uint32_t part : parts_) ++uses[part];
  for (const Object* object : linked) {
    if (auto it = index_.find(object); it != index_.end()) uses[it->second] = 2;
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    Node& node = nodes_[i];
    for (uint32_t k = 0; k < node.num_parts; ++k) {
      const uint32_t p = part(node, k);
      // The name of an operator matches one expression only, however often it occurs.
      const bool fixed = nodes_[p].kind == PatternKind::kExpr &&
                         static_cast<const ExprPatternNode*>(nodes_[p].pattern)->expr->kind == RelaxKind::kOp;
      if (!nodes_[p].independent || (uses[p] > 1 && !fixed)) node.independent = false;
    }
  }
  if (uses[root_] > 1) nodes_[root_].independent = false;
}

std::optional<uint32_t> CompiledPattern::Find(const DFPattern& part) const {
  const auto it = index_.find(part.get());
  if (it == index_.end()) return std::nullopt;
  return it->second;
}

std::optional<std::vector<const OpNode*>> CompiledPattern::RootOps(uint32_t index) const {
  const Node& node = nodes_[index];
  switch (node.kind) {
    case PatternKind::kCall:
      if (node.op == nullptr) return std::nullopt;
      return std::vector<const OpNode*>{node.op};
    case PatternKind::kOr: {
      auto left = RootOps(part(node, 0));
      const auto right = RootOps(part(node, 1));
      if (!left || !right) return std::nullopt;
      for (const OpNode* op : *right) {
        if (std::find(left->begin(), left->end(), op) == left->end()) left->push_back(op);
      }
      return left;
    }
    case PatternKind::kAnd: {
      auto left = RootOps(part(node, 0));
      return left ? left : RootOps(part(node, 1));
    }
    case PatternKind::kType:
    case PatternKind::kDataType:
    case PatternKind::kShape:
    case PatternKind::kAttr:
      return RootOps(part(node, 0));
    case PatternKind::kExpr:
    case PatternKind::kVar:
    case PatternKind::kDataflowVar:
    case PatternKind::kGlobalVar:
    case PatternKind::kExternFunc:
    case PatternKind::kConstant:
    case PatternKind::kFunction:
    case PatternKind::kTuple:
    case PatternKind::kUnorderedTuple:
    case PatternKind::kTupleGetItem:
    case PatternKind::kNot:
    case PatternKind::kWildcard:
    case PatternKind::kPrimArray:
      return std::nullopt;
  }
  DEUTERON_UNREACHABLE();
}

}  // namespace deuteron::relax::dpl
