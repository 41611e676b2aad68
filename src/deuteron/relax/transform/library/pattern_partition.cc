#include "deuteron/relax/transform/library/pattern_partition.h"

#include <algorithm>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/rewrite/used_symbols.h"
#include "deuteron/relax/type_analysis.h"

namespace deuteron::relax::fusion {

using dpl::CompiledPattern;
using dpl::Matcher;
using dpl::PatternKind;
using transform::Reason;

/// What a pattern wants of signatures: necessary for a match.
class PatternPartition::Filter {
 public:
  explicit Filter(const CompiledPattern& pattern) : pattern_(pattern) { Add(pattern.root()); }

  bool Passes(const Signature& signature) const {
    if (any_ || signature.unknown) return true;
    return std::any_of(alternatives_.begin(), alternatives_.end(), [&](const Alternative& wanted) {
      if (wanted.op != signature.op) return false;
      if (Fits(wanted.args[0], signature.args[0]) && Fits(wanted.args[1], signature.args[1])) return true;
      return wanted.commutative && Fits(wanted.args[0], signature.args[1]) && Fits(wanted.args[1], signature.args[0]);
    });
  }

 private:
  using Ops = std::optional<std::vector<const OpNode*>>;
  struct Alternative {
    const Object* op;
    Ops args[2];
    bool commutative;
  };
  static bool Fits(const Ops& wanted, const Object* op) {
    return !wanted || std::find(wanted->begin(), wanted->end(), op) != wanted->end();
  }
  void Add(uint32_t index) {
    const CompiledPattern::Node& node = pattern_.node(index);
    if (node.kind == PatternKind::kOr) {
      Add(pattern_.part(node, 0));
      return Add(pattern_.part(node, 1));
    }
    const bool narrows = node.kind == PatternKind::kType || node.kind == PatternKind::kDataType ||
                         node.kind == PatternKind::kShape || node.kind == PatternKind::kAttr;
    if (narrows) return Add(pattern_.part(node, 0));
    if (node.op == nullptr) {
      any_ = true;
      return;
    }
    Alternative alternative{node.op, {}, node.commutative};
    for (uint32_t i = 0; i < 2 && i + 1 < node.num_parts; ++i)
      alternative.args[i] = pattern_.RootOps(pattern_.part(node, i + 1));
    alternatives_.push_back(std::move(alternative));
  }

  const CompiledPattern& pattern_;
  std::vector<Alternative> alternatives_;
  bool any_ = false;
};

PatternPartition::Signature PatternPartition::SignatureOf(const Expr& value) const {
  Signature signature;
  const auto* call = value.as<CallNode>();
  if (call == nullptr) return signature;
  signature.op = call->op.get();
  for (size_t i = 0; i < 2 && i < call->args.size(); ++i) {
    const uint32_t index = IndexOf(call->args[static_cast<int64_t>(i)].get());
    if (index == kNone || !bindings_[index]->IsInstance<VarBindingNode>()) continue;
    const Expr& operand = BoundValue(bindings_[index]);
    signature.unknown |= relax::IsVar(operand);
    if (const auto* inner = operand.as<CallNode>()) signature.args[i] = inner->op.get();
  }
  return signature;
}

PatternPartition::PatternPartition(const DataflowBlock& block, String function, bool compat,
                                   transform::DecisionLog* log)
    : function_(std::move(function)), compat_(compat), log_(log) {
  index_of_var_.Reserve(block->bindings.size());
  index_of_value_.Reserve(block->bindings.size());
  bindings_.reserve(block->bindings.size());
  for (const Binding& binding : block->bindings) {
    bindings_.push_back(binding);
    AddBinding(binding);
  }
  group_of_.assign(bindings_.size(), kNone);
}

namespace {
void NoteFirst(PointerMap<uint32_t>* map, const Object* key, uint32_t index) {
  if (const auto [value, is_new] = map->Insert(key); is_new) *value = index;
}
}  // namespace

void PatternPartition::AddBinding(const Binding& binding) {
  const auto index = static_cast<uint32_t>(bindings_.size() - 1);
  index_of_var_[binding->var.get()] = index;
  signatures_.emplace_back();
  if (const auto* cast = binding.as<MatchCastNode>()) {
    for (const tir::Var& symbol : DefinedSymbolicVars(cast->ty)) NoteFirst(&symbol_definition_, symbol.get(), index);
    return;
  }
  const Expr& value = BoundValue(binding);
  signatures_.back() = SignatureOf(value);
  if (!relax::IsVar(value)) NoteFirst(&index_of_value_, value.get(), index);
  if (const auto* call = value.as<CallNode>()) {
    calls_.push_back(index);
    if (call->op->kind == RelaxKind::kOp) calls_of_op_[call->op.get()].push_back(index);
  }
}

const PatternPartition::Group* PatternPartition::group(uint32_t binding) const {
  return group_of_[binding] == kNone ? nullptr : &groups_[group_of_[binding]];
}

/// Patterns do not look into what an earlier pattern has taken.
const Expr* PatternPartition::Find(const Object* var) const {
  const uint32_t index = IndexOf(var);
  if (index == kNone) return nullptr;
  const Group* taken = group(index);
  if (taken != nullptr && taken->pattern != current_pattern_) return nullptr;
  const Binding& binding = bindings_[index];
  return binding->IsInstance<VarBindingNode>() ? &BoundValue(binding) : nullptr;
}

void PatternPartition::Apply(uint32_t number, const FusionPattern& pattern, const CompiledPattern& compiled,
                             const Map<String, Any>& attrs) {
  current_pattern_ = number;
  Matcher matcher(compiled, *this);
  const Filter filter(compiled);
  const auto try_all = [&](const std::vector<uint32_t>& roots) {
    for (const uint32_t root : roots) {
      if (filter.Passes(signatures_[root])) TryRoot(root, number, pattern, attrs, &matcher);
    }
  };
  if (!compiled.root_ops()) return try_all(calls_);
  std::vector<uint32_t> roots;
  for (const OpNode* op : *compiled.root_ops()) {
    const std::vector<uint32_t>* calls = calls_of_op_.Find(op);
    if (calls == nullptr) continue;
    if (compiled.root_ops()->size() == 1) return try_all(*calls);
    roots.insert(roots.end(), calls->begin(), calls->end());
  }
  std::sort(roots.begin(), roots.end());
  try_all(roots);
}

void PatternPartition::TryRoot(uint32_t root, uint32_t number, const FusionPattern& pattern,
                               const Map<String, Any>& attrs, Matcher* matcher) {
  const Group* taken = group(root);
  if (taken != nullptr && taken->pattern != number) return;
  if (!matcher->Match(BoundValue(bindings_[root]))) return;
  const std::vector<uint32_t> members = Members(root, matcher->pattern(), *matcher);
  Map<String, Any> group_attrs = attrs;
  if (pattern.check || pattern.attrs_getter) {
    const PatternCheckContext context = CheckContext(root, members, pattern, matcher->pattern(), *matcher);
    if (pattern.check && !pattern.check(context)) return Log(root, pattern.name, Reason::kPatternCheckRefused, "");
    if (pattern.attrs_getter) {
      for (const auto& [key, value] : pattern.attrs_getter(context.annotated_expr)) group_attrs.Set(key, value);
    }
  }
  if (const uint32_t other = Overlap(members); other != kNone) {
    return Log(root, pattern.name, Reason::kPatternOverlap,
               "its values are computed in the match that ends at " +
                   std::string(bindings_[groups_[other].members.back()]->var->name_hint) + " already");
  }
  if (!compat_) {
    if (const uint32_t between = order().Contract(members); between != GroupOrder::kNone) {
      return Log(
          root, pattern.name, Reason::kPatternCycle,
          std::string(bindings_[between]->var->name_hint) + " needs a value of the match, and the match needs it");
    }
  }
  const auto group = static_cast<uint32_t>(groups_.size());
  for (const uint32_t member : members) group_of_[member] = group;
  groups_.push_back({number, members, std::move(group_attrs)});
}

/// The bindings of this block whose values calls, tuples and projections in the pattern matched.
std::vector<uint32_t> PatternPartition::Members(uint32_t root, const CompiledPattern& compiled,
                                                const Matcher& matcher) const {
  std::vector<uint32_t> members{root};
  for (uint32_t i = 0; i < compiled.size(); ++i) {
    const PatternKind kind = compiled.node(i).kind;
    const bool joins = kind == PatternKind::kCall || kind == PatternKind::kTupleGetItem ||
                       kind == PatternKind::kTuple || kind == PatternKind::kUnorderedTuple;
    if (!joins || matcher.matched(i) == nullptr) continue;
    if (const uint32_t* member = index_of_value_.Find(matcher.matched(i))) members.push_back(*member);
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

uint32_t PatternPartition::Overlap(const std::vector<uint32_t>& members) const {
  for (const uint32_t member : members) {
    const uint32_t number = group_of_[member];
    if (number == kNone || groups_[number].members.size() == 1) continue;
    const Group& other = groups_[number];
    // TVM notices only the end of an earlier match, and takes its other values away.
    if (compat_ && other.members.back() != member) continue;
    if (!std::includes(members.begin(), members.end(), other.members.begin(), other.members.end())) return number;
  }
  return kNone;
}

PatternCheckContext PatternPartition::CheckContext(uint32_t root, const std::vector<uint32_t>& members,
                                                   const FusionPattern& pattern, const CompiledPattern& compiled,
                                                   const Matcher& matcher) {
  PatternCheckContext context;
  context.matched_expr = BoundValue(bindings_[root]);
  for (const auto& [name, part] : pattern.annotation_patterns) {
    const auto node = compiled.Find(part);
    if (!node || matcher.matched(*node) == nullptr) continue;
    context.annotated_expr.Set(name, GetRef<Expr>(static_cast<const ExprNode*>(matcher.matched(*node))));
  }
  for (const uint32_t member : members)
    context.matched_bindings.Set(bindings_[member]->var, BoundValue(bindings_[member]));
  context.var_usages = usages().var_usages;
  context.value_to_bound_var = usages().value_to_bound_var;
  return context;
}

const PatternPartition::Usages& PatternPartition::usages() {
  if (usages_ != nullptr) return *usages_;
  usages_ = std::make_unique<Usages>();
  // In order of their first mention.
  std::vector<std::pair<Var, std::vector<Var>>> users;
  PointerMap<uint32_t> place;
  const auto note = [&](const Var& var) -> std::vector<Var>& {
    const auto [at, is_new] = place.Insert(var.get());
    if (is_new) {
      *at = static_cast<uint32_t>(users.size());
      users.emplace_back(var, std::vector<Var>());
    }
    return users[*at].second;
  };
  for (const Binding& binding : bindings_) {
    note(binding->var);
    if (binding->IsInstance<VarBindingNode>()) usages_->value_to_bound_var.Set(BoundValue(binding), binding->var);
    VisitLeaves(BoundValue(binding), [&](const Expr& leaf) {
      if (!relax::IsVar(leaf)) return;
      std::vector<Var>& list = note(Downcast<Var>(leaf));
      if (list.empty() || !list.back().same_as(binding->var)) list.push_back(binding->var);
    });
  }
  for (const auto& [var, list] : users) usages_->var_usages.Set(var, Array<Var>(list.begin(), list.end()));
  return *usages_;
}

std::vector<uint32_t> PatternPartition::SymbolDefinitions(uint32_t binding) const {
  std::vector<uint32_t> definitions;
  if (symbol_definition_.empty()) return definitions;
  for (const tir::Var& var : UsedSymbols(bindings_[binding])) {
    // A match_cast behind it only checks a symbol that is known already.
    const uint32_t* definition = symbol_definition_.Find(var.get());
    if (definition != nullptr && *definition < binding) definitions.push_back(*definition);
  }
  return definitions;
}

GroupOrder& PatternPartition::order() {
  if (order_ != nullptr) return *order_;
  order_ = std::make_unique<GroupOrder>(static_cast<uint32_t>(bindings_.size()));
  for (uint32_t i = 0; i < bindings_.size(); ++i) {
    VisitLeaves(BoundValue(bindings_[i]), [&](const Expr& leaf) {
      if (const uint32_t index = IndexOf(leaf.get()); index != kNone) order_->AddEdge(index, i);
    });
    for (const uint32_t definition : SymbolDefinitions(i)) order_->AddEdge(definition, i);
  }
  return *order_;
}

void PatternPartition::Log(uint32_t root, const std::string& pattern, Reason reason, std::string message) const {
  const Binding& binding = bindings_[root];
  log_->Add({.pass = "FuseOpsByPattern",
             .function = function_,
             .subject = binding->var->name_hint,
             .object = pattern,
             .reason = reason,
             .message = std::move(message),
             .subject_span = SpanOf(binding)});
}

}  // namespace deuteron::relax::fusion
