#include "deuteron/relax/dpl/graph_matcher.h"

#include <algorithm>

#include "deuteron/relax/rewrite/pass_utils.h"

namespace deuteron::relax::dpl {
namespace {

std::vector<DFPattern> PatternsOf(const PatternContext& context) {
  std::vector<DFPattern> patterns;
  std::unordered_set<const Object*> seen;
  const auto note = [&](const DFPattern& pattern) {
    if (seen.insert(pattern.get()).second) patterns.push_back(pattern);
  };
  for (const UseConstraint& use : context.uses()) {
    note(use.producer);
    note(use.consumer);
  }
  for (const auto& group : context.same_shapes()) {
    for (const DFPattern& pattern : group) note(pattern);
  }
  if (patterns.empty()) {
    DEUTERON_THROW(UsageError) << "a PatternContext without relations matches nothing; write patterns in its Scope, or "
                                  "relate them by >> and ^";
  }
  return patterns;
}

std::vector<const Object*> Addresses(const std::vector<DFPattern>& patterns) {
  std::vector<const Object*> addresses;
  for (const DFPattern& pattern : patterns) addresses.push_back(pattern.get());
  return addresses;
}

bool Commutes(const Expr& value) {
  const auto* call = value.as<CallNode>();
  const auto* op = call != nullptr ? call->op.as<OpNode>() : nullptr;
  return op != nullptr && (op->name == "relax.add" || op->name == "relax.multiply");
}

}  // namespace

GraphMatcher::GraphMatcher(std::vector<DFPattern> patterns, std::vector<UseConstraint> uses,
                           std::vector<std::vector<DFPattern>> same_shapes, const Array<Binding>& block,
                           const Function& function)
    : patterns_(std::move(patterns)),
      uses_(std::move(uses)),
      same_shapes_(std::move(same_shapes)),
      compiled_(TuplePattern(Array<DFPattern>(patterns_.begin(), patterns_.end())), Addresses(patterns_)),
      assigned_(patterns_.size()) {
  for (uint32_t i = 0; i < patterns_.size(); ++i) number_.emplace(patterns_[i].get(), i);
  const ValueLookup& lookup = *this;
  matcher_ = std::make_unique<Matcher>(compiled_, lookup);
  AddBlock(block, function);
  OrderPatterns();
  starts_ = WithOps(*compiled_.Find(patterns_[order_[0]]), variables_);
}

GraphMatcher::GraphMatcher(const PatternContext& context, const Array<Binding>& block, const Function& function)
    : GraphMatcher(PatternsOf(context), context.uses(), context.same_shapes(), block, function) {}

const Expr* GraphMatcher::Find(const Object* var) const {
  const auto it = values_.find(var);
  return it == values_.end() ? nullptr : &it->second;
}

void GraphMatcher::AddBlock(const Array<Binding>& block, const Function& function) {
  std::unordered_set<const Object*> known;
  const auto note = [&](const Expr& var) {
    if (known.insert(var.get()).second) variables_.push_back(var);
  };
  for (const Binding& binding : block) {
    bindings_.push_back(binding);
    const Expr& value = BoundValue(binding);
    if (binding->IsInstance<VarBindingNode>()) {
      values_.emplace(binding->var.get(), value);
      if (!relax::IsVar(value)) var_of_value_.insert_or_assign(value.get(), binding->var);
    }
    VisitLeaves(value, [&](const Expr& leaf) {
      if (!relax::IsVar(leaf)) return;
      note(leaf);
      std::vector<Var>& users = users_[Canonical(leaf).get()];
      if (users.empty() || !users.back().same_as(binding->var)) users.push_back(binding->var);
    });
    note(binding->var);
  }
  if (!function.defined()) return;
  // Uses that are not of this block.
  std::unordered_set<const Object*> inside;
  for (const Binding& binding : bindings_) inside.insert(BoundValue(binding).get());
  VisitValues(function->body, [&](const Expr& value) {
    if (inside.count(value.get()) != 0) return;
    VisitLeaves(value, [&](const Expr& leaf) {
      if (relax::IsVar(leaf)) used_after_.insert(Canonical(leaf).get());
    });
  });
}

/// The variable behind names of names.
Expr GraphMatcher::Canonical(const Expr& expr) const {
  Expr current = expr;
  while (relax::IsVar(current)) {
    const Expr* value = Find(current.get());
    if (value == nullptr || !relax::IsVar(*value)) break;
    current = *value;
  }
  return current;
}

Expr GraphMatcher::VariableOf(const Expr& value) const {
  const auto it = var_of_value_.find(value.get());
  return it == var_of_value_.end() ? value : it->second;
}

/// First one whose operator is known; then always one that is related to an earlier one, if there is any.
void GraphMatcher::OrderPatterns() {
  std::vector<bool> done(patterns_.size(), false);
  const auto is_definite = [&](uint32_t i) { return compiled_.RootOps(*compiled_.Find(patterns_[i])).has_value(); };
  std::vector<std::vector<uint32_t>> related(patterns_.size());
  for (const UseConstraint& use : uses_) {
    const uint32_t producer = number_.at(use.producer.get());
    const uint32_t consumer = number_.at(use.consumer.get());
    related[producer].push_back(consumer);
    related[consumer].push_back(producer);
  }
  while (order_.size() < patterns_.size()) {
    uint32_t start = UINT32_MAX;
    for (uint32_t i = 0; i < patterns_.size(); ++i) {
      if (!done[i] && (start == UINT32_MAX || (is_definite(i) && !is_definite(start)))) start = i;
    }
    size_t next = order_.size();
    order_.push_back(start);
    done[start] = true;
    for (; next < order_.size(); ++next) {
      for (const uint32_t other : related[order_[next]]) {
        if (done[other]) continue;
        done[other] = true;
        order_.push_back(other);
      }
    }
  }
}

/// Of `exprs`, those that the pattern at `node` can match by their operators.
std::vector<Expr> GraphMatcher::WithOps(uint32_t node, const std::vector<Expr>& exprs) const {
  const auto ops = compiled_.RootOps(node);
  if (!ops) return exprs;
  std::vector<Expr> fitting;
  for (const Expr& expr : exprs) {
    const Expr* value = Find(Canonical(expr).get());
    const auto* call = value != nullptr ? value->as<CallNode>() : nullptr;
    if (call != nullptr && std::find(ops->begin(), ops->end(), call->op.get()) != ops->end()) fitting.push_back(expr);
  }
  return fitting;
}

/// What `consumer`'s value uses as argument `index`; all that it uses if that is -1.
std::vector<Expr> GraphMatcher::Operands(const Expr& consumer, int64_t index) const {
  std::vector<Expr> operands;
  const Expr* value = Find(Canonical(consumer).get());
  if (value == nullptr) return operands;
  if (index < 0 || Commutes(*value)) {
    VisitLeaves(*value, [&](const Expr& leaf) { operands.push_back(Canonical(leaf)); });
    return operands;
  }
  Array<Expr> args;
  if (const auto* call = value->as<CallNode>()) args = call->args;
  if (const auto* tuple = value->as<TupleNode>()) args = tuple->fields;
  if (const auto* item = value->as<TupleGetItemNode>()) args = {item->tuple};
  if (index < static_cast<int64_t>(args.size())) operands.push_back(Canonical(args[index]));
  return operands;
}

std::vector<Expr> GraphMatcher::Candidates(uint32_t at) const {
  const uint32_t number = order_[at];
  const uint32_t node = *compiled_.Find(patterns_[number]);
  // A part of an earlier pattern.
  if (const Object* value = matcher_->matched(node)) {
    return {VariableOf(GetRef<Expr>(static_cast<const ExprNode*>(value)))};
  }
  const auto users_of = [&](const Expr& expr) {
    const auto it = users_.find(Canonical(expr).get());
    if (it == users_.end()) return std::vector<Expr>();
    return WithOps(node, std::vector<Expr>(it->second.begin(), it->second.end()));
  };
  for (const UseConstraint& use : uses_) {
    const uint32_t producer = number_.at(use.producer.get());
    const uint32_t consumer = number_.at(use.consumer.get());
    if (producer == number && assigned_[consumer].defined()) return Operands(assigned_[consumer], use.index);
    if (consumer == number && assigned_[producer].defined()) return users_of(assigned_[producer]);
  }
  // A call of something that is matched already.
  const CompiledPattern::Node& pattern = compiled_.node(node);
  if (pattern.kind == PatternKind::kCall) {
    for (uint32_t i = 1; i < pattern.num_parts; ++i) {
      const Object* value = matcher_->matched(compiled_.part(pattern, i));
      if (value == nullptr) continue;
      const Expr operand = VariableOf(GetRef<Expr>(static_cast<const ExprNode*>(value)));
      if (relax::IsVar(operand)) return users_of(operand);
    }
  }
  return WithOps(node, variables_);
}

bool GraphMatcher::UsesHold(const UseConstraint& use) const {
  const Expr& producer = assigned_[number_.at(use.producer.get())];
  const Expr& consumer = assigned_[number_.at(use.consumer.get())];
  if (!producer.defined() || !consumer.defined()) return true;
  const Expr used = Canonical(producer);
  const std::vector<Expr> operands = Operands(consumer, use.index);
  if (std::none_of(operands.begin(), operands.end(), [&](const Expr& operand) { return operand.same_as(used); })) {
    return false;
  }
  if (!use.only || !relax::IsVar(used)) return true;
  if (used_after_.count(used.get()) != 0) return false;
  const Expr user = Canonical(consumer);
  const auto users = users_.find(used.get());
  return users == users_.end() || std::all_of(users->second.begin(), users->second.end(), [&](const Var& var) {
           return Canonical(var).same_as(user) || Canonical(var).same_as(used);
         });
}

bool GraphMatcher::ShapesAgree() {
  for (const auto& group : same_shapes_) {
    const TensorTypeNode* first = nullptr;
    for (const DFPattern& pattern : group) {
      const Expr& expr = assigned_[number_.at(pattern.get())];
      const auto* type = expr.ty().defined() ? expr.ty().as<TensorTypeNode>() : nullptr;
      if (type == nullptr || !type->has_shape()) return false;
      if (first == nullptr) first = type;
      if (first->shape->size() != type->shape->size()) return false;
      for (size_t i = 0; i < type->shape->size(); ++i) {
        if (!analyzer_.CanProveEqual((*first->shape)[i], (*type->shape)[i])) return false;
      }
    }
  }
  return true;
}

bool GraphMatcher::Try(size_t at, const Expr& candidate) {
  const uint32_t number = order_[at];
  if (taken_->count(candidate.get()) != 0) return false;
  for (const Expr& other : assigned_) {
    if (other.defined() && other.same_as(candidate)) return false;
  }
  assigned_[number] = candidate;
  bool holds = true;
  for (const UseConstraint& use : uses_) {
    if (number_.at(use.producer.get()) == number || number_.at(use.consumer.get()) == number)
      holds = holds && UsesHold(use);
  }
  const uint32_t node = *compiled_.Find(patterns_[number]);
  if (holds && matcher_->MatchPart(node, candidate, [&] { return Solve(at + 1); })) return true;
  assigned_[number] = Expr();
  return false;
}

bool GraphMatcher::Solve(size_t at) {
  if (at == order_.size()) return ShapesAgree();
  for (const Expr& candidate : Candidates(static_cast<uint32_t>(at))) {
    if (Try(at, Canonical(candidate))) return true;
  }
  return false;
}

bool GraphMatcher::Next(const std::unordered_set<const Object*>& taken) {
  taken_ = &taken;
  while (next_start_ < starts_.size()) {
    const Expr& start = starts_[next_start_++];
    matcher_->Reset();
    std::fill(assigned_.begin(), assigned_.end(), Expr());
    // Names of names are the same start.
    if (Canonical(start).same_as(start) && Try(0, start)) return true;
  }
  return false;
}

VarMatches GraphMatcher::variables() const {
  VarMatches matches;
  for (size_t i = 0; i < patterns_.size(); ++i) {
    if (relax::IsVar(assigned_[i])) matches.Set(patterns_[i], Downcast<Var>(assigned_[i]));
  }
  return matches;
}

std::optional<VarMatches> PatternContext::MatchDfb(const DataflowBlock& block, const Function& function) const {
  GraphMatcher matcher(*this, block->bindings, function);
  if (!matcher.Next()) return std::nullopt;
  return matcher.variables();
}

}  // namespace deuteron::relax::dpl
