/// \file
/// The unit of compilation: functions of both levels by name.
#pragma once

#include <string_view>

#include "deuteron/ir/attrs.h"
#include "deuteron/ir/relax_expr.h"
#include "deuteron/ir/type.h"

namespace deuteron {

/// The name of a function of a module. Within one module there is one GlobalVar a name.
class GlobalVarNode : public RelaxExprNode {
 public:
  GlobalVarNode() : RelaxExprNode(RelaxKind::kGlobalVar) {}
  String name_hint;
  DEUTERON_NODE("deuteron.GlobalVar", GlobalVarNode, RelaxExprNode);
};
class GlobalVar : public RelaxExpr {
 public:
  explicit GlobalVar(String name_hint, Type ty = Type());
  DEUTERON_REF(GlobalVar, RelaxExpr, GlobalVarNode);
};

/// Base of relax::Function, relax::ExternFunc and tir::PrimFunc.
class BaseFuncNode : public RelaxExprNode {
 public:
  /// May be null (no attributes). Keys: "global_symbol" (public functions), "Primitive", "Composite",
  /// "Codegen", "op_pattern", "tirx.noalias", "num_input", …
  DictAttrs attrs;

  /// The attribute, if there.
  template <typename T>
  std::optional<T> GetAttr(std::string_view key) const {
    if (!attrs.defined()) return std::nullopt;
    return attrs.Get<T>(key);
  }
  /// There and neither 0 nor false.
  bool HasNonzeroAttr(std::string_view key) const {
    return attrs.defined() && attrs.Get<int64_t>(key).value_or(0) != 0;
  }
  DEUTERON_BASE_NODE("deuteron.BaseFunc", BaseFuncNode, RelaxExprNode);

 protected:
  using RelaxExprNode::RelaxExprNode;
};
class BaseFunc : public RelaxExpr {
 public:
  DEUTERON_REF(BaseFunc, RelaxExpr, BaseFuncNode);
};

/// `func` with an attribute set.
template <typename Func>
Func WithAttr(Func func, const String& key, Any value) {
  auto* node = CopyOnWrite(&func);
  node->attrs = DictAttrs::With(std::move(node->attrs), key, std::move(value));
  return func;
}
/// `func` without an attribute.
template <typename Func>
Func WithoutAttr(Func func, const String& key) {
  if (!func->attrs.defined() || !func->attrs->dict.count(key)) return func;
  auto* node = CopyOnWrite(&func);
  node->attrs = DictAttrs::Without(std::move(node->attrs), key);
  return func;
}

/// Functions by GlobalVar, in order of insertion. Passes take a module by value and change it by the
/// members below: in place where they hold the only reference, else in a copy.
class IRModuleNode : public Object {
 public:
  Map<GlobalVar, BaseFunc> functions = kEmpty;
  DictAttrs attrs;
  /// "vdevice" → [VDevice, …]
  Map<String, Array<ObjectRef>> global_infos = kEmpty;
  /// Derived from `functions`.
  Map<String, GlobalVar> global_vars = kEmpty;
  DEUTERON_TREE_NODE
  DEUTERON_NODE("deuteron.IRModule", IRModuleNode, Object);
};

class IRModule : public ObjectRef {
 public:
  /// An empty module.
  static IRModule Empty();
  /// Null if there is none of that name.
  GlobalVar FindGlobalVar(std::string_view name) const;
  /// A ModelError naming the functions that exist if there is none of that name.
  GlobalVar GetGlobalVar(std::string_view name) const;
  BaseFunc Lookup(const GlobalVar& var) const;
  BaseFunc Lookup(std::string_view name) const;
  /// Adds a function under `name`, or `name_1`, … if that is taken; the GlobalVar that it got.
  GlobalVar AddUnique(std::string_view name, BaseFunc func);
  /// Adds, or replaces the function of an existing variable.
  void Update(const GlobalVar& var, BaseFunc func);
  void Remove(const GlobalVar& var);
  DEUTERON_REF(IRModule, ObjectRef, IRModuleNode);
};

/// The same functions under the same names, up to renaming of variables. `map_free_vars` lets variables
/// that are free in what is compared correspond too. Constants are compared by content.
bool StructurallyEqual(const ObjectRef& a, const ObjectRef& b, bool map_free_vars = false);
/// Where two objects differ first, as a path; empty if they do not.
std::string FirstMismatch(const ObjectRef& a, const ObjectRef& b, bool map_free_vars = false);

}  // namespace deuteron
