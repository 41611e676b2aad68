/// \file
/// Groups the bindings of one dataflow block by patterns.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "deuteron/ir/transform/decision_log.h"
#include "deuteron/relax/dpl/fusion_pattern.h"
#include "deuteron/relax/dpl/matcher.h"
#include "deuteron/relax/transform/fusion/group_order.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax::fusion {

/// Applies patterns one after another. Bindings are indexed by the operator that they call, so that a pattern looks
/// only at those that its root may match.
class PatternPartition : private dpl::ValueLookup {
 public:
  struct Group {
    /// Its pattern, by number; ascending over the calls of Apply.
    uint32_t pattern = 0;
    /// In order of the block; the last is the root.
    std::vector<uint32_t> members;
    /// Composite and what the pattern's attrs_getter gave.
    Map<String, Any> attrs;
  };

  /// `function`: its name, for the log. With `compat`, what TVM does with overlaps and cycles.
  PatternPartition(const DataflowBlock& block, String function, bool compat, transform::DecisionLog* log);

  /// Groups what `pattern` matches; `attrs` for those groups, if the pattern has no attrs_getter.
  void Apply(uint32_t number, const FusionPattern& pattern, const dpl::CompiledPattern& compiled,
             const Map<String, Any>& attrs);

  const std::vector<Binding>& bindings() const { return bindings_; }
  /// The binding of a variable; UINT32_MAX for one of another block.
  uint32_t IndexOf(const Object* var) const {
    const uint32_t* index = index_of_var_.Find(var);
    return index == nullptr ? UINT32_MAX : *index;
  }
  bool any() const { return !groups_.empty(); }
  /// The group of a binding; null if it has none.
  const Group* group(uint32_t binding) const;
  uint32_t group_number(uint32_t binding) const { return group_of_[binding]; }
  static constexpr uint32_t kNone = UINT32_MAX;
  /// Bindings that have to come before one because they define symbols that it mentions.
  std::vector<uint32_t> SymbolDefinitions(uint32_t binding) const;

 private:
  struct Usages {
    Map<Var, Array<Var>> var_usages;
    Map<Expr, Var> value_to_bound_var;
  };
  /// The operator that a call is of, and those of its first two arguments' values: what refuses most patterns at once,
  /// without a look at the values themselves. Null: no call of an operator.
  struct Signature {
    const Object* op = nullptr;
    const Object* args[2] = {nullptr, nullptr};
    /// Of an argument that is another name of something.
    bool unknown = false;
  };
  class Filter;
  Signature SignatureOf(const Expr& value) const;
  const Expr* Find(const Object* var) const override;
  void AddBinding(const Binding& binding);
  void TryRoot(uint32_t root, uint32_t number, const FusionPattern& pattern, const Map<String, Any>& attrs,
               dpl::Matcher* matcher);
  std::vector<uint32_t> Members(uint32_t root, const dpl::CompiledPattern& compiled, const dpl::Matcher& matcher) const;
  PatternCheckContext CheckContext(uint32_t root, const std::vector<uint32_t>& members, const FusionPattern& pattern,
                                   const dpl::CompiledPattern& compiled, const dpl::Matcher& matcher);
  /// An earlier group that stands in the way; kNone: none.
  uint32_t Overlap(const std::vector<uint32_t>& members) const;
  const Usages& usages();
  GroupOrder& order();
  void Log(uint32_t root, const std::string& pattern, transform::Reason reason, std::string message) const;

  std::vector<Binding> bindings_;
  String function_;
  bool compat_;
  transform::DecisionLog* log_;
  PointerMap<uint32_t> index_of_var_;
  PointerMap<uint32_t> index_of_value_;
  /// Symbols by the match_casts that define them.
  PointerMap<uint32_t> symbol_definition_;
  /// All calls, and those of each operator.
  std::vector<uint32_t> calls_;
  PointerMap<std::vector<uint32_t>> calls_of_op_;
  /// By binding.
  std::vector<Signature> signatures_;
  std::vector<uint32_t> group_of_;
  std::vector<Group> groups_;
  uint32_t current_pattern_ = 0;
  std::unique_ptr<Usages> usages_;
  std::unique_ptr<GroupOrder> order_;
};

}  // namespace deuteron::relax::fusion
