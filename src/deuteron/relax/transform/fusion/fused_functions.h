/// \file
/// The functions that fusion makes, and their calls in the place of groups of bindings.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/relax/rewrite/pass_utils.h"
#include "deuteron/relax/transform/fusion/group_function.h"
#include "deuteron/support/pointer_map.h"

namespace deuteron::relax::fusion {

/// The functions made so far in a module, found by key or, failing that, by structure: groups that are
/// structurally equal share one.
class FusedFunctions {
 public:
  /// What becomes of a function that is made: another in its place, and what to append to its name.
  struct Finished {
    Function function;
    std::string suffix;
  };
  using Finish = std::function<Finished(Function)>;
  explicit FusedFunctions(const IRModule& module, Finish finish = nullptr);

  /// The function of a group that is finished.
  GlobalVar Get(const GroupFunction& group);
  /// Those that the module did not have yet.
  std::vector<std::pair<GlobalVar, BaseFunc>> TakeAdded() { return std::move(added_); }
  /// Whether a binding calls a kernel of the module that what the run computes may make fail: it divides integers by
  /// elements of a tensor, or asserts.
  bool MayFail(const Binding& binding) const;

 private:
  GlobalVar GetByStructure(const GroupFunction& group);
  /// Most passes make few functions, and then what the module has is not looked at.
  void IndexModule();

  IRModule module_;
  FunctionNames names_;
  Finish finish_;
  std::unordered_map<std::string, GlobalVar> by_key_;
  bool is_indexed_ = false;
  std::unordered_map<uint64_t, std::vector<std::pair<GlobalVar, BaseFunc>>> by_structure_;
  std::vector<std::pair<GlobalVar, BaseFunc>> added_;
  /// Of kernels that were asked about.
  mutable PointerMap<bool> may_fail_;
};

/// Puts calls in the place of the groups of one dataflow block. A call stands at the last binding of its group;
/// an order by dependencies between groups keeps the order of the bindings elsewhere.
class GroupEmitter {
 public:
  /// Groups of several bindings that call a kernel become functions. What else does:
  struct Wrapping {
    /// Groups of one call of a kernel.
    bool single_calls = false;
    /// Groups of several projections of tuples and nothing else.
    bool projections = false;
  };
  /// `bindings`: of the block. `group`: for each a number below their count, the same for the members of a group.
  GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group, const Wrapping& wrapping);
  /// A group becomes a function where `options` of its first binding, which outlive the emitter, are not null.
  GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group,
               const std::function<const GroupFunction::Options*(uint32_t first)>& options);

  /// Whether any group becomes a function.
  bool any() const;
  /// Groups, numbered by their first bindings.
  uint32_t group_of(uint32_t binding) const { return group_of_[binding]; }
  bool is_function(uint32_t group) const { return options_[group] != nullptr; }
  /// The name of a group's function once it is emitted.
  String name(uint32_t group) const { return group < names_.size() ? names_[group] : String(); }

  /// The binding of a variable; UINT32_MAX for one of another block.
  using BindingOf = std::function<uint32_t(const Object* var)>;
  /// Finds what crosses between groups, so that `Emit` may follow.
  /// `more_dependencies`: the bindings that have to come before one although it does not use their variables; may be
  /// empty.
  void Complete(const BindingOf& binding_of,
                const std::function<std::vector<uint32_t>(uint32_t)>& more_dependencies = {});
  /// The function of a group, once complete; none if it stays as it is or nothing uses it. Made anew: those of all
  /// groups together would take much more memory than the block.
  std::optional<GroupFunction> function(uint32_t group) const;
  /// The block's new bindings. A ModelError if groups depend on each other in a cycle.
  Array<Binding> Emit(FusedFunctions* functions);

 private:
  void AddMembers(const std::vector<uint32_t>& group);
  std::span<const uint32_t> members(uint32_t group) const {
    return {members_.data() + first_member_[group], members_.data() + first_member_[group + 1]};
  }
  uint32_t num_groups() const { return static_cast<uint32_t>(options_.size()); }
  void EmitCall(uint32_t number, FusedFunctions* functions, Array<Binding>* emitted);

  const std::vector<Binding>& bindings_;
  std::vector<uint32_t> group_of_;
  /// The bindings of group after group.
  std::vector<uint32_t> members_;
  std::vector<uint32_t> first_member_;
  /// Null for groups that stay as they are.
  std::vector<const GroupFunction::Options*> options_;
  /// The groups that each depends on.
  std::vector<std::vector<uint32_t>> depends_;
  /// For each function, the bindings whose variables others use, in order of use.
  std::vector<std::vector<uint32_t>> used_outside_;
  std::vector<String> names_;
};

}  // namespace deuteron::relax::fusion
