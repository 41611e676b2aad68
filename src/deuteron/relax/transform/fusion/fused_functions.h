/// \file
/// The functions that fusion makes, and their calls in the place of groups of bindings.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "deuteron/relax/transform/fusion/group_function.h"
#include "deuteron/relax/transform/pass_utils.h"

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

 private:
  struct KeyHash {
    size_t operator()(const std::vector<int64_t>& key) const;
  };
  GlobalVar GetByStructure(const GroupFunction& group);

  FunctionNames names_;
  Finish finish_;
  std::unordered_map<std::vector<int64_t>, GlobalVar, KeyHash> by_key_;
  std::unordered_map<uint64_t, std::vector<std::pair<GlobalVar, BaseFunc>>> by_structure_;
  std::vector<std::pair<GlobalVar, BaseFunc>> added_;
};

/// Puts calls in the place of the groups of one dataflow block. A call stands at the last binding of its group;
/// an order by dependencies between groups keeps the order of the bindings elsewhere.
class GroupEmitter {
 public:
  /// `bindings`: of the block. `group`: for each a number below their count, the same for the members of a group.
  /// Groups of several bindings become functions, unless they compute nothing; groups of one call of a kernel
  /// too if `wrap_single`.
  GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group, bool wrap_single);
  /// A group becomes a function where `options` of its first binding is not null.
  GroupEmitter(const std::vector<Binding>& bindings, const std::vector<uint32_t>& group,
               const std::function<const GroupFunction::Options*(uint32_t first)>& options);

  /// Whether any group becomes a function.
  bool any() const;
  /// Groups, numbered by their first bindings.
  uint32_t group_of(uint32_t binding) const { return group_of_[binding]; }
  bool is_function(uint32_t group) const { return functions_[group] != nullptr; }
  /// The name of a group's function once it is emitted.
  const String& name(uint32_t group) const { return names_[group]; }

  /// Completes the groups, so that `Emit` may follow. `node_of`: the binding of each variable. `more_dependencies`: the
  /// bindings that have to come before one although it does not use their variables; may be empty.
  void Complete(const std::unordered_map<const Object*, uint32_t>& node_of,
                const std::function<std::vector<uint32_t>(uint32_t)>& more_dependencies = {});
  /// The function of a group, once complete; null if it stays as it is or nothing uses it.
  const GroupFunction* function(uint32_t group) const;
  /// The block's new bindings. A ModelError if groups depend on each other in a cycle.
  Array<Binding> Emit(FusedFunctions* functions);

 private:
  void AddMembers(const std::vector<uint32_t>& group);
  void EmitCall(uint32_t number, FusedFunctions* functions, Array<Binding>* emitted);

  const std::vector<Binding>& bindings_;
  std::vector<uint32_t> group_of_;
  std::vector<std::vector<uint32_t>> members_;
  /// Null for groups that stay as they are.
  std::vector<std::unique_ptr<GroupFunction>> functions_;
  std::vector<std::vector<uint32_t>> depends_;
  std::vector<String> names_;
};

}  // namespace deuteron::relax::fusion
